package memsource

import (
	"encoding/binary"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Aggregate groups the rows that match a request's filters and computes the
// measures of each group. It is the answer of a connector.Aggregator and a
// connector.DateAggregator that read rows. Every number is exact; a request that
// cannot be answered exactly is declined.
//
//   - count counts rows, or the non-null cells of its field; count_distinct the
//     distinct non-null cells. min, max and sum over nothing are null
//     [rule aggregate-1b].
//   - sum is a string of plain digits, with the largest scale of its addends:
//     10,000 times 0.1 is "1000.0". It works for number and decimal columns; a
//     float adds the digits that it has on the wire.
//   - min and max are spelled as in the first row that has them. They work for
//     numbers, text and dates.
//   - Groups and distinct values compare like filters: 1.5 and 1.50 are one
//     group, spelled as in its first row. Groups come in the order of their
//     first rows. Null is a group. Text always compares byte for byte; a field
//     of an undeclared type that stringFields names is text [rule aggregate-5].
//   - A grain answers the period's first day in UTC, for date and datetime
//     columns, and for undeclared columns that hold only dates.
//   - Joined rows ([Join]) may be grouped by their base fields and by the "as"
//     of their hops. Aggregate ignores the request's Joins.
//
// Aggregate declines (connector.ErrDecline, 204; the error says why):
//
//   - a sum or grain over another type; a min or max over booleans, json or
//     arrays;
//   - a cell that does not fit its column's declared type, such as "n/a" among
//     numbers or a malformed date;
//   - a min or max over an undeclared column that mixes numbers and other text,
//     which have no common order;
//   - a field name that several columns have;
//   - what exceeds the budget ([BudgetError]): groups and their keys, distinct
//     values and sums.
//
// It never cuts the answer: it refuses req.Limit or more groups with 422
// [rule aggregate-6]; a limit of zero means none. It refuses an unknown field
// with 404, in a filter with 422, and a malformed request with 400.
func Aggregate(rel Relation, req *wire.AggregateRequest, budget Budget) (*connector.AggregateAnswer, error) {
	a, err := planAggregate(rel.Columns, req)
	if err != nil {
		return nil, err
	}
	a.tally = budget.open()
	if len(a.keys) == 0 {
		a.groups = append(a.groups, a.newGroup(nil)) // exactly one row
	}
	for row, err := range rel.Rows {
		if err != nil {
			return nil, err
		}
		if !a.match.Match(row) {
			continue
		}
		if err := a.add(row); err != nil {
			return nil, err
		}
	}
	return a.answer(), nil
}

// aggregation is an aggregate that is being computed.
type aggregation struct {
	table    string
	limit    int64
	match    *filter.Program
	keys     []groupKey
	measures []measure
	tally    *tally

	groups []group
	byKey  map[string]int // the groups' numbers
	key    []byte
	values []wire.Value // the keys of the current row
}

type groupKey struct {
	field string
	at    int
	typ   wire.Type
	grain wire.Grain
}

type measure struct {
	fn       wire.Fn
	field    string // empty: rows are counted
	at       int
	typ      wire.Type
	distinct map[string]struct{} // of a count_distinct: group number and value
}

type group struct {
	keys   []wire.Value
	totals []total
}

// total is one measure of one group so far.
type total struct {
	n    int64      // of a count
	best wire.Value // of a min or max; null over nothing
	sum  *sum       // nil over nothing
}

// totalBytes and sumBytes are the bytes that a total and a sum count.
const (
	totalBytes = 48
	sumBytes   = 128
)

// planAggregate resolves the fields of a request. It refuses or declines what it
// can judge without rows; a refusal has precedence.
func planAggregate(columns []wire.Column, req *wire.AggregateRequest) (*aggregation, error) {
	if len(req.GroupBy)+len(req.Measures) == 0 {
		return nil, connector.BadRequest("groupBy and measures are both empty")
	}
	a := &aggregation{table: req.Table, limit: req.Limit, byKey: map[string]int{}}
	var err, declined error
	if a.match, err = filter.Compile(req.Where, columns); err != nil {
		return nil, err
	}
	resolve := func(field string) (int, wire.Type, error) {
		at, matches := find(columns, field)
		if matches == 0 {
			return 0, "", noField(req.Table, field)
		}
		if matches > 1 && declined == nil {
			declined = decline("several columns are named %q", field)
		}
		t := columns[at].Type
		if t == "" && slices.Contains(req.StringFields, field) {
			t = wire.TypeString
		}
		if t == "" && columns[at].Hop == 0 {
			t = req.FieldTypes[field]
		}
		return at, t, nil
	}
	for i, g := range req.GroupBy {
		k := groupKey{field: g.Field, grain: g.Grain}
		if k.at, k.typ, err = resolve(g.Field); err != nil {
			return nil, err
		}
		switch {
		case g.Grain == "":
		case !g.Grain.Known():
			return nil, connector.BadRequest("groupBy[%d].grain: must be year, quarter, month or day", i)
		case k.typ != "" && k.typ != wire.TypeDate && k.typ != wire.TypeDatetime && declined == nil:
			declined = decline("a grain over field %q, which is no date", g.Field)
		}
		a.keys = append(a.keys, k)
	}
	for i, m := range req.Measures {
		k := measure{fn: m.Fn, field: m.Field}
		if m.Field == "" && m.Fn != wire.FnCount {
			return nil, connector.BadRequest("measures[%d].field: required for every fn but count", i)
		}
		if !m.Fn.Known() {
			return nil, connector.BadRequest("measures[%d].fn: must be count, sum, min, max or count_distinct", i)
		}
		if m.Field != "" {
			if k.at, k.typ, err = resolve(m.Field); err != nil {
				return nil, err
			}
		}
		switch {
		case m.Fn == wire.FnCountDistinct:
			k.distinct = map[string]struct{}{}
		case declined != nil:
		case m.Fn == wire.FnSum && !k.typ.Numeric():
			declined = decline("a sum over field %q, which is no number", m.Field)
		case m.Fn == wire.FnMin || m.Fn == wire.FnMax:
			switch k.typ {
			case wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
				declined = decline("a minimum or maximum over field %q, whose type has no order", m.Field)
			}
		}
		a.measures = append(a.measures, k)
	}
	if declined != nil {
		return nil, declined
	}
	return a, nil
}

// newGroup returns a group with a copy of its keys.
func (a *aggregation) newGroup(keys []wire.Value) group {
	return group{keys: keepRow(keys), totals: make([]total, len(a.measures))}
}

// add folds one row into its group.
func (a *aggregation) add(row []wire.Value) error {
	n := 0
	if len(a.keys) > 0 {
		var err error
		if n, err = a.groupOf(row); err != nil {
			return err
		}
	}
	for i := range a.measures {
		m := &a.measures[i]
		t := &a.groups[n].totals[i]
		if m.field == "" {
			t.n++
			continue
		}
		v := cell(row, m.at)
		if v.IsNull() {
			continue
		}
		if v.Kind() == wire.KindInvalid {
			return invalidCell(a.table, m.field, v.Err())
		}
		if err := a.fold(m, t, v, n); err != nil {
			return err
		}
	}
	return nil
}

// groupOf returns the number of a row's group, which may be new.
func (a *aggregation) groupOf(row []wire.Value) (int, error) {
	a.key, a.values = a.key[:0], a.values[:0]
	for i := range a.keys {
		k := &a.keys[i]
		v, typ := cell(row, k.at), k.typ
		if v.Kind() == wire.KindInvalid {
			return 0, invalidCell(a.table, k.field, v.Err())
		}
		if k.grain != "" && !v.IsNull() {
			var ok bool
			if v, ok = periodStart(v, k.grain); !ok {
				return 0, decline("a grain over field %q, which has a value that is no date", k.field)
			}
			typ = wire.TypeDate
		}
		a.values = append(a.values, v)
		a.key = filter.AppendKey(a.key, v, typ)
	}
	if n, known := a.byKey[string(a.key)]; known {
		return n, nil
	}
	n := len(a.groups)
	if a.limit > 0 && int64(n)+1 >= a.limit {
		return 0, connector.Unsupported(
			"the aggregate has %d groups or more: group by fewer or coarser fields, or filter more", a.limit)
	}
	if !a.tally.spend(keySize(a.key) + rowSize(a.values) + totalBytes*len(a.measures)) {
		return 0, a.over()
	}
	a.byKey[string(a.key)] = n
	a.groups = append(a.groups, a.newGroup(a.values))
	return n, nil
}

// fold adds a non-null value to a total of the n-th group.
func (a *aggregation) fold(m *measure, t *total, v wire.Value, n int) error {
	switch m.fn {
	case wire.FnCount:
		t.n++
	case wire.FnCountDistinct:
		a.key = binary.AppendUvarint(a.key[:0], uint64(n))
		a.key = filter.AppendKey(a.key, v, m.typ)
		if _, known := m.distinct[string(a.key)]; known {
			return nil
		}
		m.distinct[string(a.key)] = struct{}{}
		t.n++
		if !a.tally.spend(keySize(a.key)) {
			return a.over()
		}
	case wire.FnSum:
		before := 0
		if t.sum == nil {
			t.sum = new(sum)
			before = -sumBytes
		} else {
			before = t.sum.size()
		}
		if !t.sum.add(v) {
			return decline("a sum over field %q, which has a value that is no number", m.field)
		}
		if grown := t.sum.size() - before; grown > 0 && !a.tally.spend(grown) {
			return a.over()
		}
	case wire.FnMin, wire.FnMax:
		return a.extreme(m, t, v)
	}
	return nil
}

// extreme adds a value to a minimum or maximum. It declines a value that has no
// order among the values of its column, because the answer would depend on the
// order of the rows.
func (a *aggregation) extreme(m *measure, t *total, v wire.Value) error {
	switch m.typ {
	case wire.TypeNumber, wire.TypeDecimal:
		if !isNumber(v) {
			return decline("a minimum or maximum over field %q, which has a value that is no number", m.field)
		}
	case wire.TypeDate, wire.TypeDatetime:
		if _, ok := filter.Instant(v); !ok {
			return decline("a minimum or maximum over field %q, which has a value that is no date", m.field)
		}
	case "":
		if !t.best.IsNull() && isNumber(v) != isNumber(t.best) {
			return decline("a minimum or maximum over field %q, which declares no type and mixes numbers and other text", m.field)
		}
	}
	if !t.best.IsNull() {
		c, _ := filter.Compare(v, t.best, m.typ)
		if m.fn == wire.FnMin && c >= 0 || m.fn == wire.FnMax && c <= 0 {
			return nil
		}
	}
	if !a.tally.spend(len(v.Text()) - len(t.best.Text())) {
		return a.over()
	}
	t.best = v.Clone()
	return nil
}

func (a *aggregation) over() error {
	return a.tally.over(connector.ErrDecline, "the groups and distinct values of table %q", a.table)
}

// answer returns the groups as the protocol wants them: keys, then measures.
func (a *aggregation) answer() *connector.AggregateAnswer {
	answer := &connector.AggregateAnswer{Rows: make([][]wire.Value, 0, len(a.groups))}
	for _, g := range a.groups {
		row := make([]wire.Value, 0, len(a.keys)+len(a.measures))
		row = append(row, g.keys...)
		for i, m := range a.measures {
			t := &g.totals[i]
			switch {
			case m.fn == wire.FnCount || m.fn == wire.FnCountDistinct:
				row = append(row, wire.Int(t.n))
			case m.fn == wire.FnSum && t.sum != nil:
				row = append(row, t.sum.value())
			default:
				row = append(row, t.best)
			}
		}
		answer.Rows = append(answer.Rows, row)
	}
	return answer
}
