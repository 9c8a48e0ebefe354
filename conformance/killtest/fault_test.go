package killtest

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
	// first is the check, or the facet, that a report names first where that is none of kills, or "a, or b" where chance
	// decides, and because says why it is right: most often, an earlier check asks the same.
	first, because string
	// client is the rule by which the platform's client refuses an answer of it. The client judges the form of answers, and
	// rows that contradict what was claimed or described; it need not notice any other fault.
	client string
	// harmless is why the client takes all answers of one that fails a check about their form.
	harmless string
	// options is added to those of a run over the corpus, such as a mode or a
	// second tenant.
	options func(*grading)
	// build makes the connector.
	build func() http.Handler
}

// refused returns the fault with the rule by which the platform's client refuses it.
func (f fault) refused(rule string) fault {
	f.client = rule
	return f
}

// accepted returns the fault with why the platform's client takes it.
func (f fault) accepted(why string) fault {
	f.harmless = why
	return f
}

// behind returns the fault with what a report names before what it is named for, and why.
func (f fault) behind(first, because string) fault {
	f.first, f.because = first, because
	return f
}

// overLiveData returns faults that are graded over live data, unless they say otherwise.
func overLiveData(faults []fault) []fault {
	for i := range faults {
		if faults[i].options == nil {
			faults[i].options = live
		}
	}
	return faults
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
