package oracle_test

import (
	"fmt"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// draw makes choices from bytes, so that the same bytes make the same tables
// and requests, and a fuzzer can change one choice at a time.
type draw struct {
	data []byte
	pool []wire.Value
}

func (d *draw) below(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := int(d.data[0])
	d.data = d.data[1:]
	return b % n
}

func oneOf[T any](d *draw, choices []T) T { return choices[d.below(len(choices))] }

var (
	allTypes = []wire.Type{"", wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean, wire.TypeDate,
		wire.TypeDatetime, wire.TypeJSON, wire.TypeArray, wire.TypeReference}
	allOps = []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpIn, wire.OpNin,
		wire.OpContains, wire.OpIncludes, wire.OpStartsWith, wire.OpIsNull, wire.OpNotNull}
	allFns = []wire.AggFunc{wire.AggCount, wire.AggSum, wire.AggMin, wire.AggMax, wire.AggCountDistinct}
	grains = []wire.Grain{"", wire.GrainYear, wire.GrainQuarter, wire.GrainMonth, wire.GrainDay}
)

// values returns edge cases of the rules.
func values(t testing.TB) (pool []wire.Value) {
	for _, line := range testkit.Table(t, "testdata/values.tsv", 1) {
		pool = append(pool, cells.Row(t, line[0])...)
	}
	return pool
}

func (d *draw) value() wire.Value { return oneOf(d, d.pool) }

// fitting draws a value that mostly belongs to a type.
func (d *draw) fitting(t wire.Type) wire.Value {
	if d.below(6) == 0 {
		return d.value()
	}
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		return oneOf(d, []wire.Value{wire.Null(), wire.Int(1), wire.Int(-3), wire.Decimal("1.00"), wire.Text("+1"),
			wire.Float(2.5), wire.Decimal("2.500"), wire.Decimal("-0.0"), wire.Decimal("99999999999999999999.5"), wire.Float(0.1), wire.Float(0.2)})
	case wire.TypeBoolean:
		return oneOf(d, []wire.Value{wire.Null(), wire.Bool(true), wire.Bool(false), wire.Text("true")})
	case wire.TypeDate, wire.TypeDatetime:
		return oneOf(d, []wire.Value{wire.Null(), wire.Text("2024-05-01"), wire.Text("2024-05-01T00:00:00Z"),
			wire.Text("2024-04-30T23:30:00-01:00"), wire.Text("2024-12-31T23:59:59.999Z"),
			wire.Text("2016-12-31T23:59:60Z"), wire.Text("1969-12-31"), wire.Text("0000-02-29")})
	}
	return d.value()
}

func (d *draw) table(name string) *oracle.Table {
	t := &oracle.Table{Name: name, PrimaryKey: []string{"id"}, Columns: []wire.Column{{Name: "id", Type: wire.TypeNumber}}}
	for i := range 1 + d.below(3) {
		t.Columns = append(t.Columns, wire.Column{Name: fmt.Sprintf("c%d", i), Type: oneOf(d, allTypes)})
	}
	for i := range d.below(9) {
		row := []wire.Value{wire.Int(int64(i))}
		for _, c := range t.Columns[1:] {
			row = append(row, d.fitting(c.Type))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// field draws the name of a column, sometimes of one that does not exist.
func (d *draw) field(t *oracle.Table) string {
	if d.below(25) == 24 {
		return "absent"
	}
	return oneOf(d, t.Columns).Name
}

func (d *draw) filter(t *oracle.Table) wire.Filter {
	f := wire.Filter{Field: d.field(t), Op: oneOf(d, allOps)}
	if d.below(30) == 29 {
		f.Op = "like"
	}
	operand := func() wire.Value { // often one of the table's own cells
		if i := t.Index(f.Field); i >= 0 && len(t.Rows) > 0 && d.below(2) == 0 {
			return oneOf(d, t.Rows)[i]
		}
		return d.value()
	}
	switch terms.ShapeOf(f.Op) {
	case terms.ShapeValue:
		f.Value = operand()
	case terms.ShapeMember:
		f.Values = []wire.Value{}
		for range d.below(4) {
			f.Values = append(f.Values, operand())
		}
	}
	if d.below(30) == 29 {
		f.Value = wire.Text("x")
	}
	return f
}

func (d *draw) filters(t *oracle.Table) (and []wire.Filter, or [][]wire.Filter) {
	and = []wire.Filter{}
	for range d.below(3) {
		and = append(and, d.filter(t))
	}
	for range d.below(3) {
		group := []wire.Filter{}
		for range d.below(3) {
			group = append(group, d.filter(t))
		}
		or = append(or, group)
	}
	return and, or
}

func (d *draw) types(t *oracle.Table) map[string]wire.Type {
	types := map[string]wire.Type{}
	for _, c := range t.Columns {
		if d.below(3) == 0 {
			types[c.Name] = oneOf(d, allTypes[1:])
		}
	}
	return types
}

func (d *draw) query(t *oracle.Table) *wire.QueryRequest {
	q := &wire.QueryRequest{Table: t.Name, Where: wire.Where{FieldTypes: d.types(t)}, Fields: []string{},
		Sort: []wire.SortKey{}, Envelope: wire.Envelope{TimeoutMS: 1000}}
	q.And, q.Or = d.filters(t)
	for range d.below(3) {
		q.Sort = append(q.Sort, wire.SortKey{Field: d.field(t), Dir: oneOf(d, []wire.Direction{wire.Asc, wire.Desc}), Collate: d.below(2) == 0})
	}
	for _, c := range t.Columns {
		if d.below(3) != 2 {
			q.Fields = append(q.Fields, c.Name)
		}
	}
	q.Limit, q.Offset = int64(d.below(5)), int64(d.below(4))
	return q
}

func (d *draw) aggregate(t *oracle.Table) *wire.AggregateRequest {
	a := &wire.AggregateRequest{Table: t.Name, Where: wire.Where{FieldTypes: d.types(t)}, GroupBy: []wire.GroupKey{},
		Measures: []wire.Measure{}, Limit: wire.AggregateLimit, Envelope: wire.Envelope{TimeoutMS: 1000}}
	a.And, a.Or = d.filters(t)
	for i := range d.below(3) {
		a.GroupBy = append(a.GroupBy, wire.GroupKey{Field: d.field(t), As: fmt.Sprintf("g%d", i), Grain: oneOf(d, grains)})
	}
	for i := range d.below(4) {
		m := wire.Measure{Fn: oneOf(d, allFns), As: fmt.Sprintf("m%d", i)}
		if m.Fn != wire.AggCount || d.below(2) == 0 {
			m.Field = d.field(t)
		}
		a.Measures = append(a.Measures, m)
	}
	for _, c := range t.Columns {
		// A field in both fieldTypes and stringFields would have two types.
		if d.below(6) == 5 && a.FieldTypes[c.Name] == "" {
			a.StringFields = append(a.StringFields, c.Name)
		}
	}
	return a
}
