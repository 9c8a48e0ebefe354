package generate

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// assessClaims judges what the served line claims, and that
// every row satisfies the filters whose operators are declared. It does not judge
// whether the answer is right.
func (a *Runner) assessClaims(q *Question, st *session.Stream, t *oracle.Table) *Complaint {
	name := terms.QuoteName(q.Table.Name)
	if at, ok := oracle.Unmatched(t, q.And, nil, q.FieldTypes); !ok {
		received := fmt.Sprintf("row %d, which does not", at)
		if st.Served.Filters {
			return wrong("filters", st.Request, check.Differs("only rows that pass", received,
				"served.filters is claimed of %s, although %s in row %d", name, brokenFilter(q, t, at), at))
		}
		return wrong("filters", st.Request, check.Differs("only rows that pass the filters whose operators are declared", received,
			"row %d of %s answered although %s%s", at, name, brokenFilter(q, t, at), byClaim(q, t, st.Served)))
	}
	if at, ok := oracle.Unmatched(t, nil, q.Or, q.FieldTypes); !ok && st.Served.Filters {
		return wrong("filters", st.Request, check.Differs("only rows that pass", fmt.Sprintf("row %d, which does not", at),
			"served.filters is claimed of %s, although %s in row %d", name, brokenFilter(q, t, at), at))
	}
	if at, ok := oracle.Sorted(t, q.Sort, q.FieldTypes); !ok && st.Served.Sort {
		return wrong("sort", st.Request, check.Differs("rows in the requested order",
			fmt.Sprintf("row %d, which belongs before row %d", at, at-1),
			"served.sort is claimed of %s, although row %d is out of order", name, at))
	}
	if session.WindowTooEarly(q.Query(), st.Served) {
		return wrong("window too early", st.Request, check.Differs(
			"served.window only together with served.filters and served.sort", st.ShowClaims(),
			"served.window is claimed of %s, and filters and sort are not both served", name))
	}
	if q.Limit == 0 && q.Offset == 0 {
		return nil
	}
	return a.judgeWindow(q, t, st)
}

// judgeWindow compares the number of rows that the platform ends up with with the
// window. A window that is claimed and not cut leaves rows beyond it; one that was
// cut and not claimed is cut twice. judgeWindow asks the connector itself how many
// rows there are, so that a filter that is applied wrongly is no fault of a claim.
func (a *Runner) judgeWindow(q *Question, t *oracle.Table, st *session.Stream) *Complaint {
	finished := func(q *Question, t *oracle.Table, served wire.Served) int {
		final, err := oracle.Finish(t, q.Query(), served)
		if err != nil {
			panic(err) // every field was asked for
		}
		return len(final.Rows)
	}
	window := func(all int) int {
		left := max(0, int64(all)-q.Offset)
		if q.Limit > 0 {
			left = min(left, q.Limit)
		}
		return int(left)
	}
	got := finished(q, t, st.Served)
	if right, err := oracle.Count(q.known(), q.count()); err == nil && got == window(int(right)) {
		return nil
	}
	whole := *q
	whole.Limit, whole.Offset = 0, 0
	other := a.ExchangeWith(a.Ctx, a.call(&whole)).Stream
	all, c := table(&whole, other)
	if c != nil {
		return nil // another check reports this
	}
	want := window(finished(&whole, all, other.Served))
	claim, name := "claimed", terms.QuoteName(q.Table.Name)
	if !st.Served.Window {
		claim = "not claimed"
	}
	problem := "rows are missing"
	switch {
	case got == want:
		return nil
	case got > want:
		problem = "rows beyond the window are answered"
	}
	return wrong("window", st.Request, check.Differs(fmt.Sprintf("%d rows in the end", want),
		fmt.Sprintf("%s, which leave %d", st.ShowClaims(), got), "served.window is %s of %s, and %s", claim, name, problem))
}
