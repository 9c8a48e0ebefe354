package memsource

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/fold"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// JoinRequest is the part of a query or an aggregate that describes its joins.
type JoinRequest struct {
	// Table is the base table, where the first hop starts.
	Table string
	// Joins are the hops.
	Joins []wire.JoinHop
	// Fields are the base fields of the answer. No joined field may be named
	// like one of them. An aggregate has none.
	Fields []string
	// FieldTypes are the types of base fields whose columns declare none.
	FieldTypes map[string]wire.Type
}

// Join executes the LEFT joins of a query or an aggregate, for a
// connector.Joiner whose upstream cannot join. hops are the tables of req.Joins,
// one for each hop in the same order, with their columns' own names. A table
// that two hops reach is given twice.
//
// The joined relation has the base's columns first, then those of each hop
// under their "as", with Column.Hop set: begin with its Columns, and range over
// its Rows. Every base row yields at least one row. A row without a match gets
// nulls; a row with several matches yields several rows, in the order of the
// hop's table, so sorted rows stay sorted. A null key matches nothing, and keys
// are equal as in [LinkHitRate].
//
// Join reads the hops' tables to their end before it returns. Of each row it
// keeps, within the budget, the cells that the request needs. Over budget it
// refuses the request with 422 ([BudgetError]). The base is read while the
// joined rows are; they reuse one slice, which the caller must not write to.
//
// Join refuses an unknown field (404), a repeated name (400), a fromTable that
// is neither the base table nor that of an earlier hop (400), and a fromTable
// that two hops have reached (422).
func Join(base Relation, req JoinRequest, hops []Relation, budget Budget) (Relation, error) {
	if len(hops) != len(req.Joins) {
		return Relation{}, connector.BadRequest("joins: the request has %d hops, the source joins %d", len(req.Joins), len(hops))
	}
	columns := make([][]wire.Column, len(hops))
	for i, h := range hops {
		columns[i] = h.Columns
	}
	plan, err := planJoin(base.Columns, columns, req)
	if err != nil {
		return Relation{}, err
	}
	tally := budget.open()
	for i := range plan.hops {
		h := &plan.hops[i]
		keep := plan.compact(i)
		index := newIndex(h.numeric)
		var kept []wire.Value
		for row, err := range hops[i].Rows {
			if err != nil {
				return Relation{}, err
			}
			kept = kept[:0]
			for _, at := range keep {
				kept = append(kept, cell(row, at))
			}
			if kept[h.toAt].IsNull() {
				continue // matches nothing
			}
			if kept[h.toAt].Kind() == wire.KindInvalid {
				return Relation{}, invalidCell(req.Joins[i].ToTable, req.Joins[i].ToField, kept[h.toAt].Err())
			}
			if !tally.spend(fold.RowSize(kept) + index.add(fold.KeepRow(kept), h.toAt)) {
				return Relation{}, tally.over(
					connector.Unsupported("the join cannot be executed: table %s is too large to hold", wire.QuoteName(req.Joins[i].ToTable)),
					"the joined rows of table %q", req.Joins[i].ToTable)
			}
		}
		h.index = index
	}
	return Relation{Columns: plan.columns, Rows: plan.rows(base.Rows)}, nil
}

// joinPlan is the joins of a request with columns as positions.
type joinPlan struct {
	width   int           // cells of a base row
	columns []wire.Column // of the joined rows
	hops    []hop
}

// hop is one LEFT join.
type hop struct {
	from    int // -1: the base row, else an earlier hop
	fromAt  int // the key's position in the row of from
	toAt    int // the key's position in the row of this hop's table
	numeric bool
	out     []int // the cells that this hop adds
	index   *index
}

// planJoin resolves the hops of a request against the columns of their tables.
func planJoin(base []wire.Column, tables [][]wire.Column, req JoinRequest) (*joinPlan, error) {
	p := &joinPlan{width: len(base), columns: slices.Clone(base)}
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
			return nil, connector.Unsupported(
				"joins[%d].fromTable: two hops reached table %s, so a hop from it is ambiguous", i, wire.QuoteName(j.FromTable))
		case reached == 0 && j.FromTable != req.Table:
			return nil, connector.BadRequest("joins[%d].fromTable: must be the base table or the toTable of an earlier hop", i)
		}
		var matches int
		if h.fromAt, matches = fromNames.find(j.FromField); matches == 0 {
			return nil, noField(j.FromTable, j.FromField)
		}
		if h.toAt, matches = to[i].find(j.ToField); matches == 0 {
			return nil, noField(j.ToTable, j.ToField)
		}
		fromType := fromColumns[h.fromAt].Type
		if h.from < 0 {
			fromType = typeOf(fromColumns[h.fromAt], req.FieldTypes)
		}
		h.numeric = fromType.Numeric() && tables[i][h.toAt].Type.Numeric()
		for _, f := range j.Fields {
			at, matches := to[i].find(f.Field)
			if matches == 0 {
				return nil, noField(j.ToTable, f.Field)
			}
			as := f.As
			if as == "" {
				as = f.Field
			}
			if taken[as] {
				return nil, connector.BadRequest(
					"joins[%d].fields: the name %s is taken; give the field another \"as\"", i, wire.QuoteName(as))
			}
			taken[as] = true
			t := tables[i][at].Type
			if t == "" {
				t = f.Type
			}
			h.out = append(h.out, at)
			p.columns = append(p.columns, wire.Column{Name: as, Type: t, Hop: i + 1})
		}
		p.hops = append(p.hops, h)
	}
	return p, nil
}

// compact returns the cells of a hop's table that the join needs, and changes
// the plan to find them at their positions in that list.
func (p *joinPlan) compact(i int) (keep []int) {
	places := map[int]int{}
	place := func(at int) int {
		k, ok := places[at]
		if !ok {
			k = len(keep)
			places[at], keep = k, append(keep, at)
		}
		return k
	}
	h := &p.hops[i]
	h.toAt = place(h.toAt)
	for k, at := range h.out {
		h.out[k] = place(at)
	}
	for k := range p.hops[i+1:] {
		if later := &p.hops[i+1+k]; later.from == i {
			later.fromAt = place(later.fromAt)
		}
	}
	return keep
}

// rows joins the base rows one by one.
func (p *joinPlan) rows(base Rows) Rows {
	return func(yield func([]wire.Value, error) bool) {
		joined := make([]wire.Value, len(p.columns))
		matched := make([][]wire.Value, len(p.hops)) // the current row of each hop; nil: none
		var key []byte
		// expand fills the cells of hop i and of the later ones, for every match,
		// and yields. It reports false if no more rows are wanted.
		var expand func(base []wire.Value, i, at int) bool
		expand = func(base []wire.Value, i, at int) bool {
			if i == len(p.hops) {
				return yield(joined, nil)
			}
			h := &p.hops[i]
			from := base
			if h.from >= 0 {
				from = matched[h.from]
			}
			next := at + len(h.out)
			var ok bool
			n := -1
			if key, ok = fold.AppendJoinKey(key[:0], cell(from, h.fromAt), h.numeric); ok {
				n = h.index.first(key)
			}
			if n < 0 {
				matched[i] = nil
				clear(joined[at:next])
				return expand(base, i+1, next)
			}
			for ; n >= 0; n = h.index.next[n] {
				matched[i] = h.index.rows[n]
				for k, c := range h.out {
					joined[at+k] = cell(matched[i], c)
				}
				if !expand(base, i+1, next) {
					return false
				}
			}
			return true
		}
		for row, err := range base {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range p.width {
				joined[i] = cell(row, i)
			}
			if !expand(row, 0, p.width) {
				return
			}
		}
	}
}

// index finds the rows of a table by a key, in the table's order.
type index struct {
	numeric bool
	rows    [][]wire.Value
	next    []int            // the next row with the same key, for each row; -1: none
	chains  map[string]chain // by key
	key     []byte
}

// chain is the first and the last row of a key.
type chain struct{ head, tail int }

func newIndex(numeric bool) *index {
	return &index{numeric: numeric, chains: map[string]chain{}}
}

// add adds a row whose key is at a position, and returns the bytes that this
// costs beside the row's own. It leaves out a row that matches nothing.
func (x *index) add(row []wire.Value, at int) (bytes int) {
	var ok bool
	if x.key, ok = fold.AppendJoinKey(x.key[:0], cell(row, at), x.numeric); !ok {
		return 0
	}
	n := len(x.rows)
	x.rows = append(x.rows, row)
	x.next = append(x.next, -1)
	if c, known := x.chains[string(x.key)]; known {
		x.next[c.tail] = n
		c.tail = n
		x.chains[string(x.key)] = c
		return 8
	}
	x.chains[string(x.key)] = chain{n, n}
	return 8 + 16 + fold.KeySize(x.key)
}

// first returns the first row of a key, or -1.
func (x *index) first(key []byte) int {
	if c, ok := x.chains[string(key)]; ok {
		return c.head
	}
	return -1
}
