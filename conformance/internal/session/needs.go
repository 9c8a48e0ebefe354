package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The conditions under which checks apply, as [Check.Needs] takes them.

// NeedsEndpoint returns the condition that the document lists an optional route.
func NeedsEndpoint(e wire.Endpoint) func(*Document) string { return Route{Endpoint: e}.Needs }

// NeedsAny returns the condition that the document lists one of several optional routes.
func NeedsAny(routes ...wire.Endpoint) func(*Document) string {
	var names []string
	for _, e := range routes {
		names = append(names, string(e))
	}
	holds := func(d *Document) bool { return slices.ContainsFunc(routes, d.Has) }
	return Only(holds, "endpoints lists neither "+strings.Join(names, " nor "))
}

// NeedsOperators returns the condition that the document declares operators.
func NeedsOperators(ops ...wire.Op) func(*Document) string {
	var all []func(*Document) string
	for _, op := range ops {
		all = append(all, Only(func(d *Document) bool { return d.Declares(op) }, fmt.Sprintf("operators does not list %s", op)))
	}
	return All(all...)
}

// Only returns the condition that holds of a document, and why a check that lacks it does
// not apply.
func Only(holds func(*Document) bool, why string) func(*Document) string {
	return func(d *Document) string {
		if holds(d) {
			return ""
		}
		return why
	}
}

// All returns the condition that all conditions hold.
func All(conditions ...func(*Document) string) func(*Document) string {
	return func(d *Document) string {
		for _, needs := range conditions {
			if why := needs(d); why != "" {
				return why
			}
		}
		return ""
	}
}

// The conditions of several checks: the document declares an operator, a route that counts, a
// sort, an offset or joins, or requires credentials.
var (
	NeedsAnyOperator = Only(func(d *Document) bool { return len(d.Capabilities.Operators) > 0 }, "operators is empty")
	NeedsNumbers     = NeedsAny(wire.EndpointCount, wire.EndpointAggregate)
	NeedsSort        = Only(func(d *Document) bool { return d.Capabilities.Sort != wire.SortNone }, "capabilities.sort is none")
	NeedsOffset      = Only(func(d *Document) bool { return d.Capabilities.Offset }, "capabilities.offset is false")
	NeedsJoin        = Only(func(d *Document) bool { return d.Capabilities.Join }, "capabilities.join is false")
	NeedsCredentials = Only(func(d *Document) bool { return len(d.Required()) > 0 }, "credentialSchema has no required field")
)

// NeedsGrain is the condition that the document declares grains of dates in aggregates.
var NeedsGrain = All(NeedsEndpoint(wire.EndpointAggregate),
	Only(func(d *Document) bool { return d.Capabilities.DateBucket }, "capabilities.dateBucket is false"))

// NeedsSorts applies if the document declares several sort keys.
func NeedsSorts(d *Document) string {
	if d.Capabilities.Sort == wire.SortMulti {
		return ""
	}
	return fmt.Sprintf("capabilities.sort is %s", d.Capabilities.Sort)
}
