package conformance

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// judgedClaims asks a question and holds what the served line claims, and the
// filter law, against the rows. Whether the answer is right is not asked.
func (i *inquiry) judgedClaims(q *question) *complaint {
	t, st, c := i.streamed(q)
	if c != nil {
		return c
	}
	wrong := func(kind, expected, received, format string, args ...any) *complaint {
		return &complaint{kind: kind, detail: fmt.Sprintf(format, args...), expected: expected, received: received, request: st.request}
	}
	name := wire.QuoteName(q.table.Name)
	if at, ok := oracle.Unmatched(t, q.and, nil, q.types); !ok {
		if st.served.Filters {
			return wrong("filters", "only rows that pass", fmt.Sprintf("row %d, which does not", at), "served.filters is claimed of %s, although %s in row %d", name, broken(q, t, at), at)
		}
		return wrong("filters", "only rows that pass the filters whose operators are declared", fmt.Sprintf("row %d, which does not", at),
			"row %d of %s answered although %s", at, name, broken(q, t, at))
	}
	if at, ok := oracle.Unmatched(t, nil, q.or, q.types); !ok && st.served.Filters {
		return wrong("filters", "only rows that pass", fmt.Sprintf("row %d, which does not", at), "served.filters is claimed of %s, although %s in row %d", name, broken(q, t, at), at)
	}
	if at, ok := oracle.Sorted(t, q.sort, q.types); !ok && st.served.Sort {
		return wrong("sort", "rows in the requested order", fmt.Sprintf("row %d, which belongs before row %d", at, at-1), "served.sort is claimed of %s, although row %d is out of order", name, at)
	}
	if tooEarly(q.query(), st.served) {
		return wrong("window too early", "served.window only together with served.filters and served.sort", shownClaims(st),
			"served.window is claimed of %s, and filters and sort are not both served", name)
	}
	if q.limit == 0 && q.offset == 0 {
		return nil
	}
	return i.judgedWindow(q, t, st, wrong)
}

// judgedWindow holds the number of rows that the platform ends up with against
// the window: a claim that is too large leaves rows beyond it, and a window that
// was cut without being claimed is cut twice. How many rows there are is asked of
// the connector itself, so that a filter that is judged wrongly is no fault of a
// claim.
func (i *inquiry) judgedWindow(q *question, t *oracle.Table, st *stream, wrong func(kind, expected, received, format string, args ...any) *complaint) *complaint {
	finished := func(q *question, t *oracle.Table, served wire.Served) int {
		final, err := oracle.Finish(t, q.query(), served)
		if err != nil {
			panic(err) // every field was asked for
		}
		return len(final.Rows)
	}
	window := func(all int) int {
		left := max(0, int64(all)-q.offset)
		if q.limit > 0 {
			left = min(left, q.limit)
		}
		return int(left)
	}
	got := finished(q, t, st.served)
	if right, err := oracle.Count(q.known(), q.count()); err == nil && got == window(int(right)) {
		return nil
	}
	whole := *q
	whole.limit, whole.offset = 0, 0
	all, other, c := i.streamed(&whole)
	i.last = st.request
	if c != nil {
		return nil // of this another check speaks
	}
	want := window(finished(&whole, all, other.served))
	claim, name := "claimed", wire.QuoteName(q.table.Name)
	if !st.served.Window {
		claim = "not claimed"
	}
	expected, received := fmt.Sprintf("%d rows in the end", want), fmt.Sprintf("%s, which leave %d", shownClaims(st), got)
	switch {
	case got > want:
		return wrong("window", expected, received, "served.window is %s of %s, and rows beyond the window are answered", claim, name)
	case got < want:
		return wrong("window", expected, received, "served.window is %s of %s, and rows are missing", claim, name)
	}
	return nil
}
