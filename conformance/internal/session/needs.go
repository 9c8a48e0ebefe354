package session

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The conditions under which checks apply, as [Check.Needs] takes them.

// NeedsEndpoint returns the condition that the document lists an optional route.
func NeedsEndpoint(e wire.Endpoint) func(*Document) string { return Route{Endpoint: e}.Needs }

// NeedsOperators returns the condition that the document declares operators.
func NeedsOperators(ops ...wire.Op) func(*Document) string {
	return func(d *Document) string {
		for _, op := range ops {
			if !d.Declares(op) {
				return fmt.Sprintf("operators does not list %s", op)
			}
		}
		return ""
	}
}

// NeedsAnyOperator applies if the document declares an operator.
func NeedsAnyOperator(d *Document) string {
	return unless(len(d.Capabilities.Operators) > 0, "operators is empty")
}

// NeedsNumbers applies if the document lists /count or /aggregate.
func NeedsNumbers(d *Document) string {
	return unless(d.Has(wire.EndpointCount) || d.Has(wire.EndpointAggregate), "endpoints lists neither count nor aggregate")
}

// NeedsSort applies if the document declares a sort.
func NeedsSort(d *Document) string {
	return unless(d.Capabilities.Sort != wire.SortNone, "capabilities.sort is none")
}

// NeedsSorts applies if the document declares several sort keys.
func NeedsSorts(d *Document) string {
	return unless(d.Capabilities.Sort == wire.SortMulti, fmt.Sprintf("capabilities.sort is %s", d.Capabilities.Sort))
}

// NeedsOffset applies if the document declares offset.
func NeedsOffset(d *Document) string {
	return unless(d.Capabilities.Offset, "capabilities.offset is false")
}

// NeedsJoin applies if the document declares join.
func NeedsJoin(d *Document) string { return unless(d.Capabilities.Join, "capabilities.join is false") }

// NeedsCredentials applies if the document requires credentials.
func NeedsCredentials(d *Document) string {
	return unless(len(d.Required()) > 0, "credentialSchema has no required field")
}

func unless(holds bool, why string) string {
	if holds {
		return ""
	}
	return why
}
