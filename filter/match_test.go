package filter_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func column(t wire.Type) []wire.Column { return []wire.Column{{Name: "c", Type: t}} }

// The second implementation of the rules knows values of the wire only, and so
// no invalid ones: these compare with nothing.

func oracleCompare(a, b wire.Value, t wire.Type) (order int, ok bool) {
	if a.Kind() == wire.KindInvalid || b.Kind() == wire.KindInvalid {
		return 0, false
	}
	return oracle.Compare(a, b, t)
}

func oracleMatch(cell wire.Value, f wire.Filter, t wire.Type) bool {
	return cell.Kind() != wire.KindInvalid && oracle.Match(cell, f, t)
}

func compileOne(t testing.TB, f wire.Filter, typ wire.Type) *filter.Matcher {
	t.Helper()
	f.Field = "c"
	return testkit.Must(filter.Compile(wire.Where{And: []wire.Filter{f}}, column(typ)))(t)
}

// passes reports whether a row passes the filters. Match must fail for a row with a cell
// that has no value, and for no other.
func passes(t testing.TB, m *filter.Matcher, row ...wire.Value) bool {
	t.Helper()
	ok, err := m.Match(row)
	if invalid := slices.ContainsFunc(row, func(v wire.Value) bool { return v.Kind() == wire.KindInvalid }); invalid != (err != nil) {
		t.Fatalf("%v: %v", row, err)
	}
	return ok
}

func TestOperators(t *testing.T) {
	ops := filter.Operators()
	assert.Equal(t, "[eq neq gt gte lt lte in nin contains includes startswith isnull notnull]", fmt.Sprint(ops),
		"the protocol's thirteen, in its order")
	ops[0] = "changed"
	assert.Equal(t, wire.OpEq, filter.Operators()[0], "the slice is the caller's own")
}

// TestMatchOracle compares every operator on every type with the second
// implementation of the rules, for all pairs of the pool.
func TestMatchOracle(t *testing.T) {
	values := pool(t)
	for _, typ := range []wire.Type{"", wire.TypeNumber, wire.TypeString, wire.TypeDatetime} { // one of each rule
		for _, op := range filter.Operators() {
			for _, v := range values {
				if v.Kind() == wire.KindInvalid {
					continue // refused, see TestRefusalsNameTheField
				}
				f := wire.Filter{Op: op}
				switch terms.ShapeOf(op) {
				case terms.ShapeValue:
					f.Value = v
				case terms.ShapeMember:
					f.Values = []wire.Value{v}
				}
				p := compileOne(t, f, typ)
				for _, cell := range values {
					if want, got := oracleMatch(cell, f, typ), passes(t, p, cell); want != got {
						t.Fatalf("%q: cell %s %s, %s %s %s: got %v, want %v", typ, kindName(cell.Kind()), cell, op, kindName(v.Kind()), v, got, want)
					}
				}
			}
		}
	}
}

// TestLists compares prepared lists of every length with a linear search.
func TestLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	values := pool(t)
	legal := values[:0:0]
	for _, v := range values {
		if v.Kind() != wire.KindInvalid {
			legal = append(legal, v)
		}
	}
	for _, typ := range allTypes {
		for _, size := range []int{0, 1, 2, 3, 7, 8, 9, 16, 30, 60} {
			list := make([]wire.Value, size)
			for i := range list {
				list[i] = legal[rng.IntN(len(legal))]
				if rng.IntN(3) == 0 {
					list[i] = wire.Text(plainDecimal(rng))
				}
			}
			in, nin := compileOne(t, wire.Filter{Op: wire.OpIn, Values: list}, typ), compileOne(t, wire.Filter{Op: wire.OpNin, Values: list}, typ)
			for _, cell := range slices.Concat(list, legal) {
				want := oracleMatch(cell, wire.Filter{Op: wire.OpIn, Values: list}, typ)
				if got := passes(t, in, cell); got != want {
					t.Fatalf("%q: %s in %v: got %v", typ, cell, list, got)
				}
				if got := passes(t, nin, cell); got == want {
					t.Fatalf("%q: %s nin %v: got %v", typ, cell, list, got)
				}
			}
		}
	}
}

func TestGroups(t *testing.T) {
	// Every truth table of up to three groups of up to two filters.
	columns := []wire.Column{{Name: "t"}, {Name: "f"}}
	row := []wire.Value{wire.Bool(true), wire.Bool(false)}
	shapes := [][]bool{{}, {true}, {false}, {true, true}, {true, false}, {false, true}, {false, false}}
	compile := func(truth []bool) (filters []wire.Filter) {
		for _, b := range truth {
			f := wire.Filter{Field: "f", Op: wire.OpEq, Value: wire.Bool(true)}
			if b {
				f.Field = "t"
			}
			filters = append(filters, f)
		}
		return filters
	}
	all := func(truth []bool) bool { return !strings.Contains(fmt.Sprint(truth), "false") }
	check := func(and []bool, or ...[]bool) {
		want := len(or) == 0
		var groups [][]wire.Filter
		for _, g := range or {
			want = want || all(g)
			groups = append(groups, compile(g))
		}
		p := testkit.Must(filter.Compile(wire.Where{And: compile(and), Or: groups}, columns))(t)
		require.Equal(t, want && all(and), passes(t, p, row...), "and %v, or %v", and, or)
	}
	for _, and := range shapes {
		check(and)
		for _, a := range shapes {
			check(and, a)
			for _, b := range shapes {
				check(and, a, b)
				for _, c := range shapes {
					check(and, a, b, c)
				}
			}
		}
	}
}

func TestRowsOfAnyLength(t *testing.T) {
	columns := []wire.Column{{Name: "a"}, {Name: "b"}}
	isnull := testkit.Must(filter.Compile(wire.Where{And: []wire.Filter{{Field: "b", Op: wire.OpIsNull}}}, columns))(t)
	assert.True(t, passes(t, isnull), "no cells at all")
	assert.True(t, passes(t, isnull, wire.Int(1)), "the cell is missing at the end")
	assert.False(t, passes(t, isnull, wire.Int(1), wire.Int(2)), "the cell is there")
	assert.False(t, passes(t, isnull, wire.Int(1), wire.Int(2), wire.Null()), "more cells than columns")
	var zero filter.Matcher
	assert.True(t, passes(t, &zero), "the zero Matcher matches every row")
}

// TestInvalidCells checks that a row fails if a filter compares a cell without a value,
// whatever its other filters say, and only then. TestMatchOracle does so for every operator.
func TestInvalidCells(t *testing.T) {
	nan := wire.Float(math.NaN())
	is := func(name string, v wire.Value) wire.Filter { return wire.Filter{Field: name, Op: wire.OpEq, Value: v} }
	columns := []wire.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	yes, no := is("a", wire.Int(1)), is("a", wire.Int(2))
	for _, where := range []wire.Where{
		{And: []wire.Filter{no, is("b", wire.Int(1))}},
		{And: []wire.Filter{is("b", wire.Int(1)), no}},
		{And: []wire.Filter{no}, Or: [][]wire.Filter{{is("b", wire.Int(1))}}},
		{Or: [][]wire.Filter{{yes}, {no, is("b", wire.Int(1))}}},
	} {
		m := testkit.Must(filter.Compile(where, columns))(t)
		_, err := m.Match([]wire.Value{wire.Int(1), nan})
		require.ErrorContains(t, err, `column "b", which a filter compares: NaN`, "%v", where)
		ok := testkit.Must(m.Match([]wire.Value{wire.Int(1), wire.Int(1), nan}))(t, "no filter compares c: %v", where)
		require.Equal(t, len(where.And) == 0, ok, "%v", where)
	}
}

func TestContainsDeepAndLong(t *testing.T) {
	p := compileOne(t, wire.Filter{Op: wire.OpContains, Value: wire.Text("x")}, wire.TypeArray)
	nested := func(depth int, open, middle, end string) wire.Value {
		return wire.Text("[" + strings.Repeat(open, depth) + middle + strings.Repeat(end, depth) + `,"x"]`)
	}
	for _, c := range []struct {
		why  string
		cell wire.Value
		want bool
	}{
		{"deep arrays before the element", nested(1024, "[", "", "]"), true},
		{"deep objects before the element", nested(1024, `{"a":`, "1", "}"), true},
		{"arrays and objects in turn", nested(500, `[{"a":`, "1", "}]"), true},
		{"with a period that is no power of two", nested(300, `[[{"a":`, "1", "}]]"), true},
		{"one too deep is taken as malformed", nested(1025, "[", "", "]"), false},
		{"millions too deep cost no stack", nested(4<<20, "[", "", "]"), false},
		{"brackets that never close", wire.Text(strings.Repeat("[", 4<<20)), false},
		{"objects that never close", wire.Text("[" + strings.Repeat(`{"":`, 1<<20)), false},
		{"a million elements", wire.Text("[" + strings.Repeat(`"y",`, 1<<20) + `"x"]`), true},
		{"a million elements and a fault", wire.Text("[" + strings.Repeat(`"x",`, 1<<20) + `]`), false},
		{"siblings at many depths", wire.Text(`[[[],{},[1,[2,{"a":[3]}]]],{"a":{},"b":[]},"x"]`), true},
		{"an array closed as an object", wire.Text(`[[{}},"x"]`), false},
		{"an object closed as an array", wire.Text(`[{"a":[]],"x"]`), false},
		{"a key without a value", wire.Text(`[{"a"},"x"]`), false},
		{"a value without a key", wire.Text(`[{1},"x"]`), false},
		{"an empty member", wire.Text(`[{"a":1,,"b":2},"x"]`), false},
	} {
		assert.Equal(t, c.want, passes(t, p, c.cell), c.why)
	}
}

func TestLongOperandsStayLinear(t *testing.T) {
	// Four megabytes of digits on both sides: a comparison that is worse than
	// linear would not return [rule filter-6d].
	nines := strings.Repeat("9", 4<<20)
	for _, c := range []struct {
		op          wire.Op
		cell, value string
		want        bool
	}{
		{wire.OpEq, nines, nines, true},
		{wire.OpLt, nines, nines + "0", true},
		{wire.OpEq, "0." + nines, "+00." + nines + "000", true},
		{wire.OpGt, "-" + nines, "-1" + nines, true},
		{wire.OpEq, "1" + strings.Repeat("0", 4<<20), "1", false},
		{wire.OpEq, "1." + strings.Repeat("0", 4<<20), "1", true},
		{wire.OpNeq, nines + "e1", "1", false},
	} {
		p := compileOne(t, wire.Filter{Op: c.op, Value: wire.Text(c.value)}, wire.TypeDecimal)
		assert.Equal(t, c.want, passes(t, p, wire.Text(c.cell)), "%d digits %s %d digits", len(c.cell), c.op, len(c.value))
		assert.False(t, passes(t, p, wire.Text("x")))
		for _, short := range []wire.Value{wire.Float(1.5), wire.Int(-1 << 63)} {
			passes(t, p, short)
			filter.Compare(wire.Text(c.cell), short, wire.TypeDecimal)
		}
	}
}

func TestMatchFromManyGoroutines(t *testing.T) {
	rows := reference.Rows(200)
	for name, p := range typical(t) {
		want := make([]bool, len(rows))
		for i, row := range rows {
			want[i] = passes(t, p, row...)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i, row := range rows {
					if ok, err := p.Match(row); ok != want[i] || err != nil {
						t.Errorf("%s: row %d differs", name, i)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestCompileKeepsNothing(t *testing.T) {
	// A request's slices may be reused once Compile has returned.
	values := []wire.Value{wire.Text("a"), wire.Text("b")}
	and := []wire.Filter{{Field: "c", Op: wire.OpIn, Values: values}}
	p := testkit.Must(filter.Compile(wire.Where{And: and}, column("")))(t)
	values[0], values[1], and[0] = wire.Text("x"), wire.Null(), wire.Filter{}
	assert.True(t, passes(t, p, wire.Text("b")))
	assert.False(t, passes(t, p, wire.Text("x")))
}

func TestSplit(t *testing.T) {
	filters := func(text string) (list []wire.Filter) {
		for field := range strings.FieldsSeq(strings.TrimPrefix(text, "-")) {
			list = append(list, wire.Filter{Field: field, Op: wire.OpEq})
		}
		return list
	}
	groups := func(text string) (list [][]wire.Filter) {
		if text == "-" {
			return nil
		}
		list = [][]wire.Filter{}
		for _, group := range strings.Split(text, "|")[1:] {
			list = append(list, filters(group))
		}
		return list
	}
	for _, c := range testkit.Table(t, "testdata/split.tsv", 6) {
		where := wire.Where{And: filters(c[0]), Or: groups(c[1])}
		var asked []wire.Filter
		pushed, all := filter.Split(where, func(f wire.Filter) bool {
			asked = append(asked, f)
			return f.Field != "no"
		})
		assert.Equal(t, slices.Concat(where.And, slices.Concat(where.Or...)), asked, "%s: every filter is asked for, those of And first", c[5])
		assert.Equal(t, wire.Where{And: filters(c[2]), Or: groups(c[3])}, pushed, c[5])
		assert.Equal(t, c[4], fmt.Sprint(all), c[5])
	}
}

func TestSplitSharesNothing(t *testing.T) {
	and := []wire.Filter{{Field: "a"}, {Field: "b"}}
	or := [][]wire.Filter{{{Field: "c"}}, {{Field: "d"}}}
	pushed, _ := filter.Split(wire.Where{And: and, Or: or}, func(wire.Filter) bool { return true })
	pushed.And[0].Field, pushed.Or[0] = "x", nil
	_ = append(pushed.And, wire.Filter{Field: "y"})
	assert.Equal(t, "a", and[0].Field, "the request is not changed")
	assert.NotNil(t, or[0], "the request is not changed")
}

func TestMain(m *testing.M) { testrun.Main(m) }
