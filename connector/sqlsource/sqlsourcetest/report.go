package sqlsourcetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// note is what one filter tried.
type note struct {
	op     wire.Op
	column string
	edge   string
}

// report counts what was tried.
type report struct {
	mu         sync.Mutex
	queries    int
	nontrivial int // answers that are neither empty nor everything
	aggregates int
	declined   int
	links      int
	cells      map[[2]string]int // operator, column
	edges      map[[2]string]int // operator, edge
}

func newReport() *report {
	return &report{cells: map[[2]string]int{}, edges: map[[2]string]int{}}
}

func (r *report) query(notes []note, matched, rows int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queries++
	if matched > 0 && matched < rows {
		r.nontrivial++
	}
	for _, n := range notes {
		r.cells[[2]string{string(n.op), n.column}]++
		r.edges[[2]string{string(n.op), n.edge}]++
	}
}

func (r *report) aggregate(declined bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aggregates++
	if declined {
		r.declined++
	}
}

func (r *report) link() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links++
}

func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d queries and counts, of which %d (%.0f %%) keep some rows and not all; %d aggregates, %d declined; %d links\n",
		r.queries, r.nontrivial, 100*float64(r.nontrivial)/float64(max(1, r.queries)), r.aggregates, r.declined, r.links)
	b.WriteString(matrix("column", r.cells))
	b.WriteString(matrix("edge", r.edges))
	return b.String()
}

// matrix returns counts as a table: operators across, the others down.
func matrix(title string, counts map[[2]string]int) string {
	names := map[string]bool{}
	for k := range counts {
		names[k[1]] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s", title)
	for _, op := range filter.Operators() {
		fmt.Fprintf(&b, "%11s", op)
	}
	b.WriteByte('\n')
	for _, name := range slices.SortedFunc(maps.Keys(names), cmp.Compare) {
		fmt.Fprintf(&b, "%-18s", name)
		for _, op := range filter.Operators() {
			fmt.Fprintf(&b, "%11d", counts[[2]string{string(op), name}])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
