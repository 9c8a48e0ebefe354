package sqlsourcetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// report counts what was tried.
type report struct {
	mu         sync.Mutex
	queries    int
	nontrivial int // answers that are neither empty nor everything
	aggregates int
	declined   int
	links      int
	cells      map[wire.Op]map[string]int // by operator and column
}

func newReport() *report { return &report{cells: map[wire.Op]map[string]int{}} }

// add counts a question that was answered.
func (r *report) add(q question, declined bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case q.link != nil:
		r.links++
		return
	case q.Path == wire.PathAggregate:
		r.aggregates++
		if declined {
			r.declined++
		}
	default:
		r.queries++
		if q.tells {
			r.nontrivial++
		}
	}
	for f := range q.Filters() {
		if r.cells[f.Op] == nil {
			r.cells[f.Op] = map[string]int{}
		}
		r.cells[f.Op][f.Field]++
	}
}

func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d queries and counts, of which %d (%.0f %%) keep some rows and not all; %d aggregates, %d declined; %d links\n",
		r.queries, r.nontrivial, 100*float64(r.nontrivial)/float64(max(1, r.queries)), r.aggregates, r.declined, r.links)
	columns := map[string]bool{}
	fmt.Fprintf(&b, "%-18s", "column")
	for _, op := range terms.Operators[wire.Op]() {
		fmt.Fprintf(&b, "%11s", op)
		for name := range r.cells[op] {
			columns[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		fmt.Fprintf(&b, "\n%-18s", name)
		for _, op := range terms.Operators[wire.Op]() {
			fmt.Fprintf(&b, "%11d", r.cells[op][name])
		}
	}
	return b.String()
}
