package conformance_test

import (
	"net/http"
)

// fault is one deliberately broken connector: what it does wrong, and the
// checks that must find it.
type fault struct {
	name string
	why  string // which rule only this breaks
	// kills are the checks that must fail, or advise. What else the same fault
	// cannot but break is reviewed in the kill matrix.
	kills []string
	// options is added to those of a run over the corpus, such as a mode or a
	// second tenant.
	options func(*grading)
	// build makes the connector.
	build func() http.Handler
}

// grading returns how the fault is graded.
func (f fault) grading() (g grading) {
	if f.options != nil {
		f.options(&g)
	}
	return g
}
