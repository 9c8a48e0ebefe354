package oracle

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// VerifyGroups compares the rows of an aggregate with the right answer and
// returns nil if they agree. The groups may be in any order, and a key in any
// spelling that [Same] accepts; numbers must be exact. VerifyGroups reads an
// absent member as null and ignores members that were not requested.
//
// If the request can only be declined or refused, every answer differs. The
// caller must check whether the groups reach the limit of the request.
func VerifyGroups(tables Tables, req *wire.AggregateRequest, got []map[string]wire.Value) *Difference {
	return Reading{}.VerifyGroups(tables, req, got)
}

// VerifyGroups does what the function [VerifyGroups] does, under another reading
// of the protocol.
func (r Reading) VerifyGroups(tables Tables, req *wire.AggregateRequest, got []map[string]wire.Value) *Difference {
	want, err := r.aggregate(tables, req)
	if err != nil {
		return refused(err, len(got))
	}
	rows := make([][]wire.Value, len(got))
	for i, members := range got {
		for _, c := range want.Columns {
			rows[i] = append(rows[i], members[c.Name])
		}
	}
	keys := want.Columns[:len(req.GroupBy)]

	// Several groups can have the same canonical key: JSON groups by its text,
	// and so do numbers under SplitGroups.
	left := map[string][]int{} // the groups of a key that are not yet answered
	for i, row := range want.Rows {
		id := canonicalRow(row, keys)
		left[id] = append(left[id], i)
	}
	for i, row := range rows {
		id := canonicalRow(row, keys)
		group := ""
		if len(keys) > 0 {
			group = " " + showRow(row, keys)
		}
		if len(left[id]) == 0 {
			return &Difference{
				Detail:   fmt.Sprintf("row %d: the group%s does not exist, or is answered before", i, group),
				Expected: count(len(want.Rows), "group"), Received: showRow(row, want.Columns),
			}
		}
		found := -1
		for n, candidate := range left[id] {
			if canonicalRow(row, want.Columns) == canonicalRow(want.Rows[candidate], want.Columns) {
				found = n
				break
			}
		}
		if found < 0 {
			right, n := want.Rows[left[id][0]], len(keys)
			at := wrongMeasure(want, right, row, n)
			shown := append(keys[:n:n], want.Columns[at])
			return &Difference{
				Detail:   fmt.Sprintf("row %d: the group%s has another %s", i, group, describeMeasure(req.Measures[at-n])),
				Expected: showRow(append(right[:n:n], right[at]), shown), Received: showRow(append(row[:n:n], row[at]), shown),
			}
		}
		left[id] = append(left[id][:found:found], left[id][found+1:]...)
	}
	if len(rows) == len(want.Rows) {
		return nil
	}
	var lost [][]wire.Value
	for i, row := range want.Rows {
		for _, index := range left[canonicalRow(row, keys)] {
			if index == i {
				lost = append(lost, row)
			}
		}
	}
	return &Difference{
		Detail:   fmt.Sprintf("%d of %s missing", len(lost), count(len(want.Rows), "group")),
		Expected: showRows(lost, want.Columns), Received: count(len(rows), "group") + " without it",
	}
}

// wrongMeasure returns the place of the first measure in which two rows differ; measures stand from a place on.
func wrongMeasure(t *Table, want, got []wire.Value, from int) int {
	for at := from; at < len(t.Columns); at++ {
		if !Same(want[at], got[at], t.Columns[at].Type) {
			return at
		}
	}
	return from
}

// describeMeasure names a measure, and its function and column if the name does not say them.
func describeMeasure(m wire.Measure) string {
	if m.Field == "" {
		return m.As
	}
	return fmt.Sprintf("%s (%s of %q)", m.As, m.Fn, m.Field)
}
