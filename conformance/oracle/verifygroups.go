package oracle

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// VerifyGroups holds the rows of an aggregate against the right answer; nil means
// that they agree. The groups may come in any order (E3), and a key in any
// spelling that [Same] takes for it; numbers are exact. A member that is absent
// reads as null, one that was not asked for is ignored.
//
// For a request that can only be declined or refused (E1, E7) every answer
// differs. That the groups reach the request's limit (E6) is for the caller.
func VerifyGroups(tables Tables, req *wire.AggregateRequest, got []map[string]wire.Value) *Difference {
	return Reading{}.VerifyGroups(tables, req, got)
}

// VerifyGroups is the function of that name under another reading of the
// protocol.
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

	// A row of the same key may stand for several groups: JSON of different
	// spelling is several groups (A7), and numbers are under SplitGroups.
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
			right := want.Rows[left[id][0]]
			return &Difference{
				Detail:   fmt.Sprintf("row %d: the group%s has another %s", i, group, wrongMeasure(want, right, row, len(keys))),
				Expected: showRow(right, want.Columns), Received: showRow(row, want.Columns),
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

// wrongMeasure names the first measure in which two rows differ.
func wrongMeasure(t *Table, want, got []wire.Value, from int) string {
	for i, c := range t.Columns[from:] {
		if !Same(want[from+i], got[from+i], c.Type) {
			return c.Name
		}
	}
	return "measure"
}
