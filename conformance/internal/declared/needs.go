package declared

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Needs returns the condition that the document declares all of some things: a route by its path, and the rest by the
// names of the document: operators, sort, offset, join, dateBucket and credentialSchema, which must have a required
// field. "sort: multi" stands for several sort keys.
func Needs(what ...string) func(*Document) string {
	for _, name := range what {
		new(Document).lacks(name) // panics at once if there is no such thing
	}
	return func(d *Document) string {
		for _, name := range what {
			if why := d.lacks(name); why != "" {
				return why
			}
		}
		return ""
	}
}

// lacks returns how the document says that it does not declare something, or "".
func (d *Document) lacks(what string) (why string) {
	c, declares := &d.Capabilities, false
	switch what {
	case "operators":
		declares, why = len(c.Operators) > 0, "operators is empty"
	case "sort":
		declares, why = c.Sort != wire.SortNone, "capabilities.sort is none"
	case "sort: multi":
		declares, why = c.Sort == wire.SortMulti, fmt.Sprintf("capabilities.sort is %s", c.Sort)
	case "offset":
		declares, why = c.Offset, "capabilities.offset is false"
	case "join":
		declares, why = c.Join, "capabilities.join is false"
	case "dateBucket":
		declares, why = c.DateBucket, "capabilities.dateBucket is false"
	case "credentialSchema":
		declares, why = len(d.Required()) > 0, "credentialSchema has no required field"
	default:
		if routes.At(what) == nil {
			panic(fmt.Sprintf("conformance: no document declares %s", what))
		}
		declares, why = d.Offers(what), "endpoints does not list "+name(what)
	}
	if declares {
		return ""
	}
	return why
}

// NeedsAny returns the condition that the document lists one of several optional routes.
func NeedsAny(paths ...string) func(*Document) string {
	var names []string
	for _, path := range paths {
		names = append(names, name(path))
	}
	holds := func(d *Document) bool { return slices.ContainsFunc(paths, d.Offers) }
	return Only(holds, "endpoints lists neither "+strings.Join(names, " nor "))
}

// Only returns the condition that holds of a document, and why a check that lacks it does not apply.
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
