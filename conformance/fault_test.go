package conformance_test

import (
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance"
)

// fault is one deliberately broken connector: what it does wrong, and the
// checks that must find it.
type fault struct {
	name string
	why  string // which rule only this breaks
	// kills are the checks that must fail, or advise: an id or, of a check with facets, an id and a facet, such as
	// "P2.3: eq". What else the same fault
	// cannot but break is reviewed in the kill matrix.
	kills []string
	// options is added to those of a run over the corpus, such as a mode or a
	// second tenant.
	options func(*grading)
	// build makes the connector.
	build func() http.Handler
}

// killers returns the ids of the checks that must fail.
func (f fault) killers() (ids []string) {
	for _, kill := range f.kills {
		id, _, _ := strings.Cut(kill, ": ")
		ids = append(ids, id)
	}
	return ids
}

// killed reports whether a kill is about the outcome: its finding names the facet.
func killed(kill string, o *conformance.Outcome) bool {
	_, facet, _ := strings.Cut(kill, ": ")
	return facet == "" || slices.ContainsFunc(o.Broken, func(name string) bool {
		return name == facet || strings.HasPrefix(name, facet+" on a column of type ")
	})
}

// grading returns how the fault is graded.
func (f fault) grading() (g grading) {
	if f.options != nil {
		f.options(&g)
	}
	return g
}
