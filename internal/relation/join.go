package relation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// JoinRequest is the part of a query or an aggregate that describes its joins.
type JoinRequest struct {
	Table      string // the base table, where the first hop starts
	Joins      []wire.JoinHop
	Fields     []string             // the base fields of the answer; no joined field may be named like one
	FieldTypes map[string]wire.Type // of base fields whose columns declare none
}

// JoinPlan is the joins of a request with columns as positions.
type JoinPlan struct {
	// Columns are the base's, then those that each hop adds under their "as", with
	// Column.Hop set.
	Columns []wire.Column

	width int // cells of a base row
	hops  []hop
}

// hop is one LEFT join.
type hop struct {
	from    int // -1: the base row, else an earlier hop
	fromAt  int // the key's position in the row of from
	toAt    int // the key's position in the row of this hop's table
	numeric bool
	out     []int // the cells that this hop adds
	index   *Index
}

// PlanJoin looks the names of a request's joins up: in the columns of the base
// table, and in those of the table of each hop. It refuses an unknown field (404), a
// repeated name (400), a fromTable
// other than the base table and those of earlier hops (400), and a fromTable reached
// by two hops (422).
func PlanJoin(base []wire.Column, tables [][]wire.Column, req JoinRequest) (*JoinPlan, error) {
	if len(tables) != len(req.Joins) {
		return nil, wire.Errorf(wire.CodeBadRequest, "joins: the request has %d hops, the source joins %d", len(req.Joins), len(tables))
	}
	p := &JoinPlan{width: len(base), Columns: slices.Clone(base)}
	taken := map[string]bool{}
	for _, f := range req.Fields {
		taken[f] = true
	}
	to := make([]names, len(tables))
	for i, columns := range tables {
		to[i] = namesOf(columns)
	}
	baseNames := namesOf(base)
	hops := map[string][]int{} // the hops that lead to a table
	for i, j := range req.Joins {
		place := func(member string) string { return fmt.Sprintf("joins[%d].%s", i, member) }
		h := hop{from: -1}
		fromColumns, fromNames := base, baseNames
		reached := len(hops[j.FromTable])
		if reached > 0 && j.FromTable != req.Table {
			h.from = hops[j.FromTable][0]
			fromColumns, fromNames = tables[h.from], to[h.from]
		}
		hops[j.ToTable] = append(hops[j.ToTable], i)
		switch {
		case reached > 1:
			return nil, wire.Errorf(wire.CodeUnsupported, "%s: several hops reach table %s, so a hop from it is ambiguous",
				place("fromTable"), terms.QuoteName(j.FromTable))
		case reached == 0 && j.FromTable != req.Table:
			return nil, wire.Errorf(wire.CodeBadRequest, "%s: must be the base table or the toTable of an earlier hop", place("fromTable"))
		}
		var matches int
		if h.fromAt, matches = fromNames.find(j.FromField); matches == 0 {
			return nil, noField(place("fromField"), j.FromTable, j.FromField)
		}
		if h.toAt, matches = to[i].find(j.ToField); matches == 0 {
			return nil, noField(place("toField"), j.ToTable, j.ToField)
		}
		fromType := fromColumns[h.fromAt].Type
		if h.from < 0 {
			fromType = cmp.Or(fromType, req.FieldTypes[j.FromField])
		}
		h.numeric = fromType.Numeric() && tables[i][h.toAt].Type.Numeric()
		for _, f := range j.Fields {
			at, matches := to[i].find(f.Field)
			if matches == 0 {
				return nil, noField(place("fields"), j.ToTable, f.Field)
			}
			as := cmp.Or(f.As, f.Field)
			if taken[as] {
				return nil, wire.Errorf(wire.CodeBadRequest, "%s: the name %s is taken; give the field another \"as\"",
					place("fields"), terms.QuoteName(as))
			}
			taken[as] = true
			h.out = append(h.out, at)
			p.Columns = append(p.Columns, wire.Column{Name: as, Type: cmp.Or(tables[i][at].Type, f.Type), Hop: i + 1})
		}
		p.hops = append(p.hops, h)
	}
	return p, nil
}

// Needed returns the columns of the i-th hop's table that the joins need: its key,
// what it adds, and the keys of later hops. Each is there once.
func (p *JoinPlan) Needed(i int) []int {
	h := &p.hops[i]
	needed := append([]int{h.toAt}, h.out...)
	for _, later := range p.hops[i+1:] {
		if later.from == i {
			needed = append(needed, later.fromAt)
		}
	}
	seen := map[int]bool{}
	return slices.DeleteFunc(needed, func(at int) bool {
		again := seen[at]
		seen[at] = true
		return again
	})
}

// Origin returns where a column of the joined rows comes from: the hop, 0 for the
// base table, and the position among the columns of its table.
func (p *JoinPlan) Origin(column int) (hop, at int) {
	at = column - p.width
	for i := range p.hops {
		if at < 0 {
			break
		}
		if at < len(p.hops[i].out) {
			return i + 1, p.hops[i].out[at]
		}
		at -= len(p.hops[i].out)
	}
	return 0, column
}

// Join executes the LEFT joins of a request. The relations are the tables of its
// hops, in their order, with their columns' own names. Those without an index are
// read before Join returns, and what the request needs of them is kept within the
// budget.
//
// Every base row yields at least one row. A row without a match gets nulls; one with
// several matches yields several rows, in the order of the hop's table. A null key
// matches nothing, and keys are equal as in [LinkHitRate]. The base is read while the
// joined rows are; they reuse one slice, which the caller must not write to.
func Join(base Relation, req JoinRequest, hops []Relation, budget *Budget) (Relation, error) {
	joiner, err := NewJoiner(base.Columns, req, hops, budget)
	if err != nil {
		return Relation{}, err
	}
	plan := joiner.plan
	return Relation{Columns: plan.Columns, Rows: func(yield func([]wire.Value, error) bool) {
		j := newJoiner(plan)
		for row, err := range base.Rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if !j.Each(row, yield) {
				return
			}
		}
	}}, nil
}

// Joiner joins base rows that come one by one.
type Joiner struct {
	plan    *JoinPlan
	row     []wire.Value   // the joined row
	matched [][]wire.Value // the current row of each hop; nil: no match
	key     []byte
}

// NewJoiner prepares a join like [Join], for base rows that it is given.
func NewJoiner(base []wire.Column, req JoinRequest, hops []Relation, budget *Budget) (*Joiner, error) {
	columns := make([][]wire.Column, len(hops))
	for i, h := range hops {
		columns[i] = h.Columns
	}
	plan, err := PlanJoin(base, columns, req)
	if err != nil {
		return nil, err
	}
	for i := range plan.hops {
		if err := plan.load(i, hops[i], req.Joins[i], budget); err != nil {
			return nil, err
		}
	}
	return newJoiner(plan), nil
}

func newJoiner(p *JoinPlan) *Joiner {
	return &Joiner{plan: p, row: make([]wire.Value, len(p.Columns)), matched: make([][]wire.Value, len(p.hops))}
}

// Each calls yield for every row that a base row becomes, and reports whether more
// are wanted.
func (j *Joiner) Each(base []wire.Value, yield func([]wire.Value, error) bool) bool {
	width := j.plan.width
	n := copy(j.row[:width], base)
	clear(j.row[n:width])
	return j.expand(0, width, yield)
}

// expand fills the cells of the i-th hop and of the later ones, for every match, and
// yields. It reports false if no more rows are wanted.
func (j *Joiner) expand(i, at int, yield func([]wire.Value, error) bool) bool {
	if i == len(j.plan.hops) {
		return yield(j.row, nil)
	}
	h := &j.plan.hops[i]
	from := j.row[:j.plan.width]
	if h.from >= 0 {
		from = j.matched[h.from]
	}
	end := at + len(h.out)
	n := -1
	var ok bool
	if j.key, ok = AppendJoinKey(j.key[:0], cell(from, h.fromAt), h.numeric); ok {
		n = h.index.first(j.key)
	}
	if n < 0 {
		j.matched[i] = nil
		clear(j.row[at:end])
		return j.expand(i+1, end, yield)
	}
	for ; n >= 0; n = h.index.next[n] {
		j.matched[i] = h.index.rows[n]
		for k, c := range h.out {
			j.row[at+k] = cell(j.matched[i], c)
		}
		if !j.expand(i+1, end, yield) {
			return false
		}
	}
	return true
}
