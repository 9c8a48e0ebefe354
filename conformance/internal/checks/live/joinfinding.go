package live

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shorterJoin returns the finding about a join that is answered wrongly. It names the
// columns that differ, and asks for them and the key alone: the finding is about that
// answer if it is wrong too.
func (p *liveRun) shorterJoin(
	req *wire.QueryRequest, join string, base *wire.Table, tables oracle.Tables, right, got *oracle.Table, first *oracle.Difference,
) *check.Finding {
	differing := differingColumns(base, right, got)
	last, shown := p.Last, differing
	if len(right.Rows) != len(got.Rows) { // every column differs, and one shows it
		differing, shown = nil, []int{len(right.Columns) - 1}
	}
	if small := narrowed(req, base, right, shown); small != nil {
		if _, rows, f := p.ask(base, small); f == nil && rows != nil {
			if d := oracle.Verify(tables, small, rows.Rows); d != nil {
				req, first, last = small, d, p.Last
			}
		}
	}
	what := ""
	if len(differing) > 0 {
		var names []string
		for _, i := range differing {
			names = append(names, columnOf(req, right.Columns[i].Name))
		}
		what = fmt.Sprintf(" (columns that differ: %s)", session.Some(names, maxNamed))
	}
	return check.Differs(first.Expected, first.Received, "%s: %s%s", join, first.Detail, what).From(last)
}

// maxNamed is how many columns a finding names.
const maxNamed = 6

// differingColumns returns the columns in which an answer differs from the right one, row
// by row of the base table's key.
func differingColumns(base *wire.Table, right, got *oracle.Table) (list []int) {
	var key []int
	for i, c := range right.Columns {
		if c.Hop == 0 && (len(base.PrimaryKey) == 0 || slices.Contains(base.PrimaryKey, c.Name)) {
			key = append(key, i)
		}
	}
	pick := func(rows [][]wire.Value, column int) (cells [][]wire.Value) {
		for _, row := range rows {
			var some []wire.Value
			for _, i := range append(key[:len(key):len(key)], column) {
				some = append(some, row[i])
			}
			cells = append(cells, some)
		}
		return cells
	}
	for i := range right.Columns {
		if !slices.Contains(key, i) && !session.SpelledAlike(pick(right.Rows, i), pick(got.Rows, i)) {
			list = append(list, i)
		}
	}
	return list
}

// narrowed returns the request with the base table's key, what filters and sort keys name,
// and the columns that differ, or nil if that is no less.
func narrowed(req *wire.QueryRequest, base *wire.Table, right *oracle.Table, differing []int) *wire.QueryRequest {
	small := *req
	needed := session.Needed(base.PrimaryKey, req.Where, req.Sort)
	joined := map[string]bool{}
	for _, i := range differing {
		if c := right.Columns[i]; c.Hop == 0 {
			needed = append(needed, c.Name)
		} else {
			joined[c.Name] = true
		}
	}
	small.Fields = slices.DeleteFunc(slices.Clone(req.Fields), func(name string) bool { return !slices.Contains(needed, name) })
	small.Joins = slices.Clone(req.Joins)
	for n := range small.Joins {
		small.Joins[n].Fields = slices.DeleteFunc(slices.Clone(req.Joins[n].Fields), func(f wire.JoinField) bool { return !joined[f.As] })
	}
	if len(differing) == 0 || len(req.Or) > 0 || len(session.Members(&small)) >= len(session.Members(req)) {
		return nil
	}
	return &small
}

// columnOf returns a column of an answer as its table's: those of a hop have names of
// their own.
func columnOf(req *wire.QueryRequest, name string) string {
	for _, hop := range req.Joins {
		for _, f := range hop.Fields {
			if f.As == name {
				return terms.QuoteName(hop.ToTable) + "." + terms.QuoteName(f.Field)
			}
		}
	}
	return terms.QuoteName(name)
}
