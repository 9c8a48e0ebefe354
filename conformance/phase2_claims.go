package conformance

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// What a stream claims is held against its rows throughout phase 2. An operator
// that finds the wrong rows, a sort in the wrong order and a window cut in the
// wrong place have checks of their own, P2.3 to P2.7; P2.9 is for claims of what
// was not done at all.

// The parts of a claim, as lies remembers them.
const (
	claimFilters = "filters"
	claimSort    = "sort"
	claimWindow  = "window"
)

// hear holds a stream against P2.9c, windows claimed too early, and P2.9d, the
// filter law.
func (x *exam) hear(a *asked) {
	req, served := a.req, a.st.served
	if served.Window && req.Limit+req.Offset > 0 {
		x.watch.hold("P2.9c", when(tooEarly(req, served), func() *finding {
			return &finding{detail: fmt.Sprintf("table %s: a window is claimed, and filters and sort are not both served: what is left of it loses rows", req.Table),
				expected: `"window":false, and all rows`, received: shownClaims(a.st), request: a.st.request}
		}))
	}
	var law []wire.Filter
	for _, filter := range req.And {
		if x.document().operator(filter.Op) {
			law = append(law, filter)
		}
	}
	if len(law) == 0 {
		return
	}
	if served.Filters {
		x.watch.hold("P2.9d", nil) // the final rows are judged
		return
	}
	at, ok := oracle.Unmatched(a.rows, law, nil, req.FieldTypes)
	if !ok && !x.lawful(a.rows, law, req.FieldTypes) {
		x.watch.hold("P2.9d", &finding{detail: fmt.Sprintf("table %s: row %d does not satisfy a filter whose operator is declared", req.Table, at),
			expected: "no row that the declared operators drop", received: oracleRow(a.rows, a.rows.Rows[at]), request: a.st.request})
		return
	}
	x.watch.hold("P2.9d", nil)
}

// tooEarly reports whether a window is claimed without the claims it needs, where
// that loses rows. A limit over rows that nothing else changes can be cut twice.
func tooEarly(req *wire.QueryRequest, served wire.Served) bool {
	filters := len(req.And)+len(req.Or) > 0 || req.Offset > 0
	return served.Window && req.Limit+req.Offset > 0 && (!served.Filters && filters || !served.Sort && len(req.Sort) > 0)
}

// lawful looks again, with dates compared as text.
func (x *exam) lawful(rows *oracle.Table, law []wire.Filter, types map[string]wire.Type) bool {
	req := &wire.QueryRequest{Table: rows.Name, Where: wire.Where{And: law, FieldTypes: types}}
	for _, c := range rows.Columns {
		if c.Hop == 0 {
			req.Fields = append(req.Fields, c.Name)
		}
	}
	bare := *rows
	bare.Columns = rows.Columns[:len(req.Fields)]
	for _, filter := range law {
		if bare.Index(filter.Field) < 0 {
			return false
		}
	}
	cut := make([][]wire.Value, len(rows.Rows))
	for i, row := range rows.Rows {
		cut[i] = row[:len(req.Fields)]
	}
	bare.Rows = cut
	return oracle.Reading{DatesAsText: true}.Verify(oracle.Tables{rows.Name: &bare}, req, cut) == nil
}

func shownClaims(st *stream) string {
	return fmt.Sprintf(`"filters":%t,"sort":%t,"window":%t and %d rows`, st.served.Filters, st.served.Sort, st.served.Window, len(st.table.Rows))
}

// claimsHeld notes the claims of a stream whose final rows are right.
func (x *exam) claimsHeld(a *asked) {
	served := a.st.served
	if served.Filters && len(a.req.And)+len(a.req.Or) > 0 {
		x.watch.hold("P2.9a", nil)
	}
	if served.Sort && len(a.req.Sort) > 0 {
		x.watch.hold("P2.9b", nil)
	}
}

// liesExplain finds out whether an answer is wrong because something that was
// claimed was not done, and right once it is done.
func (x *exam) liesExplain(f *fixture, a *asked, req *wire.QueryRequest) result {
	served := a.st.served
	hasFilters := len(req.And)+len(req.Or) > 0
	if tooEarly(req, served) {
		return blocked("P2.9c", "a window is claimed before filters and sort are served")
	}
	right := func(a *asked, served wire.Served) bool {
		final, err := oracle.Finish(a.rows, req, served)
		return err == nil && x.verify(f.truth, req, final.Rows) == nil
	}
	if served.Window && req.Limit+req.Offset > 0 && x.lies(f, claimWindow) {
		if uncut := (wire.Served{Filters: served.Filters, Sort: served.Sort}); !right(a, uncut) {
			return result{}
		}
		return blocked("P2.9c", "served.window is claimed of rows that are not cut")
	}
	var wide *asked
	again := func() *asked {
		if wide == nil {
			wide, _ = x.askQuery(f, widened(*req))
		}
		return wide
	}
	op := x.undeclared(req.And, req.Or)
	if served.Filters && hasFilters && (op != "" || x.lies(f, claimFilters)) {
		if w := again(); w != nil && right(w, wire.Served{Sort: served.Sort}) {
			detail := fmt.Sprintf("table %s: served.filters is true, and no filter was applied", req.Table)
			if op != "" {
				detail = fmt.Sprintf("table %s: served.filters is true, and the filter with %s was not applied", req.Table, op)
			}
			x.watch.hold("P2.9a", &finding{detail: detail, expected: "served.filters false, or filtered rows", received: shownClaims(w.st), request: w.st.request})
			return blocked("P2.9a", detail)
		}
		if x.lies(f, claimFilters) {
			return blocked("P2.9a", "served.filters is claimed of filters that are not applied")
		}
	}
	if served.Sort && len(req.Sort) > 0 && x.lies(f, claimSort) {
		return blocked("P2.9b", "served.sort is claimed of rows that are not sorted")
	}
	return result{}
}

// lies probes whether a part of the claims means nothing: a plain filter that
// is claimed and drops no row, a plain sort that is claimed and moves none, a
// plain limit that is claimed and cuts none.
func (x *exam) lies(f *fixture, part string) bool {
	lying, known := f.lies[part]
	if known {
		return lying
	}
	f.lies[part] = false // while it is found out
	switch part {
	case claimFilters:
		f.lies[part] = x.lyingFilters(f)
	case claimSort:
		f.lies[part] = x.lyingSort(f)
	case claimWindow:
		f.lies[part] = x.lyingWindow(f)
	}
	return f.lies[part]
}

func (x *exam) lyingWindow(f *fixture) bool {
	t := f.found.tables["types"]
	if t == nil || t.Field("id") == nil {
		return false
	}
	a, _ := x.askQuery(f, wire.QueryRequest{Table: "types", Fields: []string{"id"}, Limit: 7})
	if a == nil || !a.st.served.Window {
		return false
	}
	lying := len(a.rows.Rows) == len(f.truth["types"].Rows)
	x.watch.hold("P2.9c", when(lying, func() *finding {
		return &finding{detail: "table types: served.window is true, and rows beyond the limit are answered", expected: "7 rows", received: shownClaims(a.st), request: a.st.request}
	}))
	return lying
}

func (x *exam) lyingFilters(f *fixture) bool {
	t := f.found.tables["types"]
	if t == nil || t.Field("id") == nil {
		return false
	}
	a, _ := x.askQuery(f, wire.QueryRequest{Table: "types", Fields: []string{"id"}, Where: wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Int(7)}}}})
	if a == nil || !a.st.served.Filters {
		return false
	}
	lying := len(a.rows.Rows) == len(f.truth["types"].Rows)
	x.watch.hold("P2.9a", when(lying, func() *finding {
		return &finding{detail: "table types: served.filters is true, and no filter was applied", expected: "the row whose id is 7", received: shownClaims(a.st), request: a.st.request}
	}))
	return lying
}

func (x *exam) lyingSort(f *fixture) bool {
	t := f.found.tables["documents"]
	if t == nil || t.Field("id") == nil || t.Field("label") == nil || x.document().Capabilities.Sort == wire.SortNone {
		return false
	}
	req := wire.QueryRequest{Table: "documents", Fields: []string{"id", "label"}}
	plain, _ := x.askQuery(f, req)
	req.Sort = []wire.SortKey{{Field: "label", Dir: wire.Desc}}
	a, _ := x.askQuery(f, req)
	if plain == nil || a == nil || !a.st.served.Sort || len(plain.rows.Rows) < 2 {
		return false
	}
	_, sorted := oracle.Sorted(a.rows, req.Sort, nil)
	unmoved := slices.EqualFunc(plain.rows.Rows, a.rows.Rows, func(a, b []wire.Value) bool { return a[0].String() == b[0].String() })
	lying := !sorted && unmoved
	x.watch.hold("P2.9b", when(lying, func() *finding {
		return &finding{detail: "table documents: served.sort is true, and the rows stand as they do without a sort", expected: "rows by label, descending", received: shownClaims(a.st), request: a.st.request}
	}))
	return lying
}

// filtersClaimed, sortClaimed, windowClaimed and filterLaw make sure that there
// are streams to hold against P2.9; the verdict is passed at the end of the run.
func filtersClaimed(x *exam) {
	x.lies(x.corpusServed(), claimFilters)
	x.hearCases("P2.4a", "P2.4d")
	for _, op := range operatorsInOrder {
		if !x.document().operator(op) { // claiming what was left out is easily done
			x.hearCases(operatorCheck(op))
		}
	}
}

func sortClaimed(x *exam) {
	x.lies(x.corpusServed(), claimSort)
	x.hearCases("P2.6b")
}

func windowClaimed(x *exam) {
	x.lies(x.corpusServed(), claimWindow)
	x.hearCases("P2.7a", "P2.7d")
}

func filterLaw(x *exam) { x.hearCases("P2.4a") }

// hearCases asks the cases of other checks, unless those are asked anyway.
func (x *exam) hearCases(ids ...string) {
	f := x.corpusServed()
	for _, id := range ids {
		if slices.ContainsFunc(x.checks, func(c Check) bool { return c.ID == id }) {
			continue
		}
		for _, c := range corpusCases()[id] {
			x.judgeCase(f, &c)
		}
	}
}
