package filter_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// longCells returns values whose digits, text or fraction outgrow any buffer.
func longCells() []wire.Value {
	return append(texts(
		strings.Repeat("7", 5000), "-0."+strings.Repeat("0", 5000)+"1", "2024-05-01T12:00:00."+strings.Repeat("1", 5000)+"Z",
		`["`+strings.Repeat("x", 5000)+`","b",[1,{"a":[null]}],12.5,true]`,
	), wire.Float(-5e-324), wire.Float(1.7976931348623157e308), wire.DatetimeWidth(noon, 9))
}

// counted skips a test that counts allocations where the race detector makes some.
func counted(t *testing.T) {
	t.Helper()
	if testrun.Race {
		t.Skip("the race detector allocates; run without -race")
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	counted(t)
	cells := append(pool(t), longCells()...)
	for _, typ := range allTypes {
		for _, op := range filter.Operators() {
			var programs []*filter.Matcher
			for _, f := range operands(t, op) {
				programs = append(programs, compileOne(t, f, typ))
			}
			for _, cell := range cells {
				row := []wire.Value{cell}
				if cell.Kind() == wire.KindInvalid || op == wire.OpContains && mayAllocate(cell) {
					continue
				}
				allocs := testing.AllocsPerRun(3, func() {
					for _, p := range programs {
						sinkBool, _ = p.Match(row)
					}
				})
				if allocs != 0 {
					t.Errorf("%s on %q: %v allocations for the %s %.60q", op, typ, allocs, kindName(cell.Kind()), cell)
				}
			}
		}
	}
}

// operands returns filters that reach every prepared form of a value.
func operands(t testing.TB, op wire.Op) (filters []wire.Filter) {
	values := append(texts("b", "12.5", strings.Repeat("7", 5000), "2024-05-01T12:00:00.123456789123Z", ""),
		wire.Null(), wire.Int(5), wire.Float(0.1), wire.Bool(true), wire.Date(noon))
	switch terms.ShapeOf(op) {
	case terms.ShapeNullary:
		return []wire.Filter{{Op: op}}
	case terms.ShapeMember:
		var many []wire.Value
		for range 10 {
			for i, v := range pool(t) {
				if v.Kind() != wire.KindInvalid {
					many = append(many, v, wire.Int(int64(i)))
				}
			}
		}
		return []wire.Filter{{Op: op}, {Op: op, Values: values[:1]}, {Op: op, Values: values}, {Op: op, Values: many}}
	}
	for _, v := range values {
		filters = append(filters, wire.Filter{Op: op, Value: v})
	}
	return filters
}

// mayAllocate reports whether contains may allocate for a cell: one with
// escapes, with numbers too large for a double, or with a malformed array.
func mayAllocate(cell wire.Value) bool {
	s := strings.TrimLeft(cell.Text(), " ")
	return strings.HasPrefix(s, "[") && (strings.Contains(s, `\`) || strings.Contains(s, "1e999") ||
		!strings.HasSuffix(strings.TrimRight(s, " "), "]") || strings.Contains(s, "\xff"))
}

func TestOrderAllocatesNothing(t *testing.T) {
	counted(t)
	values := append(pool(t), longCells()...)
	for _, typ := range allTypes {
		for _, dir := range []wire.Direction{wire.Asc, wire.Desc} {
			o := testkit.Must(filter.CompileOrder([]wire.SortKey{{Field: "c", Dir: dir}},
				append(column(typ), wire.Column{Name: "d", Type: typ}), nil, []string{"d"}))(t)
			rows := make([][]wire.Value, len(values))
			for i, v := range values {
				rows[i] = []wire.Value{v, v}
			}
			for i, a := range rows {
				if allocs := testing.AllocsPerRun(1, func() {
					for _, b := range rows {
						sinkInt = o.Compare(a, b)
					}
				}); allocs != 0 {
					t.Errorf("%q: %v allocations against the %s %.60q", typ, allocs, kindName(values[i].Kind()), values[i])
				}
			}
		}
	}
}

func TestCompareAndKeyAllocateNothing(t *testing.T) {
	counted(t)
	values := append(pool(t), longCells()...)
	key := make([]byte, 0, 1<<15)
	for _, typ := range allTypes {
		for _, a := range values {
			allocs := testing.AllocsPerRun(1, func() {
				for _, b := range values {
					sinkInt, _ = filter.Compare(a, b, typ)
				}
				key = filter.AppendKey(key[:0], a, typ)
			})
			assert.Zero(t, allocs, "%q: the %s %.60q", typ, kindName(a.Kind()), a)
		}
	}
}

// TestVariadicRowStaysOnTheStack checks that a row passed as variadic arguments
// is not moved to the heap, because Match retains nothing of it.
func TestVariadicRowStaysOnTheStack(t *testing.T) {
	counted(t)
	p := compileOne(t, wire.Filter{Op: wire.OpIn, Values: texts("a", "b")}, "")
	o := testkit.Must(filter.CompileOrder(nil, column(""), nil, nil))(t)
	row := func(values ...wire.Value) { sinkBool, _ = p.Match(values) }
	pair := func(a, b wire.Value) { sinkInt = o.Compare([]wire.Value{a}, []wire.Value{b}) }
	text := strings.Repeat("b", 3)
	assert.Zero(t, testing.AllocsPerRun(100, func() { row(wire.Text(text), wire.Int(7), wire.Float(1.5)) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { pair(wire.Text(text), wire.Int(7)) }))
}
