package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	"github.com/google/cel-go/cel"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// typical is one of six filters a person asks of the reference table, in the
// protocol's form and as one would write it for the two expression engines.
//
// The expressions are the cheapest that select the same rows of this table:
// amounts as floats and instants as texts, where the protocol compares exact
// digits and instants whatever their spelling.
type typical struct {
	wire.Where
	name, expr, cel string
}

// typicals returns the six filters.
func typicals(t testing.TB) (six []typical) {
	t.Helper()
	var read []struct {
		Name, Expr, CEL string
		And, Or         json.RawMessage
	}
	require.NoError(t, json.Unmarshal(testkit.Must(os.ReadFile("testdata/filters.json"))(t), &read))
	for _, r := range read {
		var asked wire.CountRequest
		or := cmp.Or(string(r.Or), "[]")
		body := fmt.Appendf(nil, `{"table":"t","and":%s,"or":%s,"credentials":{},"timeoutMs":1}`, r.And, or)
		require.NoError(t, wire.Decode(body, &asked))
		six = append(six, typical{asked.Where, r.Name, r.Expr, r.CEL})
	}
	require.Len(t, six, 6)
	return six
}

// selector tells whether row i of a sample passes.
type selector func(i int) bool

// The ways to filter, in the order of selectors.
var selectorNames = []string{"filter", "naive", "expr", "expr-vm", "cel"}

// selectors are the ways to filter the same rows: cells for ours, and for the
// others the maps that encoding/json makes of the row. "expr" runs an expression
// as its documentation begins with, "expr-vm" with a machine kept by hand, which
// is faster and not safe for concurrent use.
func selectors(t testing.TB, f typical, cells [][]wire.Value, rows []map[string]any) []selector {
	program := testkit.Must(filter.Compile(f.Where, columns))(t)
	ours := func(i int) bool { ok, err := program.Match(cells[i]); return ok && err == nil }

	naive := func(i int) bool { return naiveMatch(rows[i], f.And, f.Or) }

	env := maps.Clone(rows[0])
	delete(env, "region") // may be nil: any type
	kinds := map[wire.Type]*cel.Type{wire.TypeNumber: cel.DoubleType, wire.TypeBoolean: cel.BoolType}
	var options []cel.EnvOption
	for _, c := range columns {
		kind := cmp.Or(kinds[c.Type], cel.StringType)
		if c.Name == "region" {
			kind = cel.DynType
		}
		options = append(options, cel.Variable(c.Name, kind))
	}
	compiled := testkit.Must(expr.Compile(f.expr, expr.Env(env), expr.AllowUndefinedVariables(), expr.AsBool()))(t)
	byExpr := func(i int) bool { return testkit.Must(expr.Run(compiled, rows[i]))(t).(bool) }
	machine := vm.VM{}
	byMachine := func(i int) bool { return testkit.Must(machine.Run(compiled, rows[i]))(t).(bool) }

	celEnv := testkit.Must(cel.NewEnv(options...))(t)
	ast, issues := celEnv.Compile(f.cel)
	require.NoError(t, issues.Err())
	planned := testkit.Must(celEnv.Program(ast, cel.EvalOptions(cel.OptOptimize)))(t)
	byCEL := func(i int) bool {
		v, _, err := planned.Eval(rows[i])
		if err != nil {
			t.Fatal(err)
		}
		return v.Value().(bool)
	}
	return []selector{ours, naive, byExpr, byMachine, byCEL}
}

// sample is the first n rows, as cells and as maps.
func sample(t testing.TB, n int) ([][]wire.Value, []map[string]any) {
	cells, maps := make([][]wire.Value, n), make([]map[string]any, n)
	for i := range n {
		var o order
		o.at(i)
		cells[i] = o.cells(nil)
		require.NoError(t, json.Unmarshal(testkit.Must(json.Marshal(o.object()))(t), &maps[i]))
	}
	return cells, maps
}

// naiveMatch is what one writes at first: the filters of the request, looked at
// again for each row, over maps. Like the expressions it takes numbers for
// floats and instants for texts.
func naiveMatch(row map[string]any, and []wire.Filter, or [][]wire.Filter) bool {
	for i := range and {
		if !naiveTest(row[and[i].Field], &and[i]) {
			return false
		}
	}
	return len(or) == 0 || slices.ContainsFunc(or, func(group []wire.Filter) bool { return naiveMatch(row, group, nil) })
}

func naiveTest(cell any, f *wire.Filter) bool {
	switch {
	case f.Op == wire.OpIsNull, f.Op == wire.OpNotNull:
		return (cell == nil) == (f.Op == wire.OpIsNull)
	case cell == nil:
		return f.Op == wire.OpNin
	}
	switch f.Op {
	case wire.OpIn, wire.OpNin:
		listed := slices.ContainsFunc(f.Values, func(v wire.Value) bool { return naiveCompare(cell, v) == 0 })
		return listed == (f.Op == wire.OpIn)
	case wire.OpIncludes:
		return strings.Contains(naiveText(cell), f.Value.String())
	case wire.OpStartsWith:
		return strings.HasPrefix(naiveText(cell), f.Value.String())
	}
	c := naiveCompare(cell, f.Value)
	switch f.Op {
	case wire.OpEq:
		return c == 0
	case wire.OpNeq:
		return c != 0
	case wire.OpGt:
		return c > 0
	case wire.OpGte:
		return c >= 0
	case wire.OpLt:
		return c < 0
	}
	return c <= 0
}

// naiveCompare compares as numbers what are numbers, anything else as text.
func naiveCompare(cell any, value wire.Value) int {
	a, b := naiveText(cell), value.String()
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return strings.Compare(a, b)
	}
	return cmp.Compare(x, y)
}

func naiveText(cell any) string {
	switch v := cell.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// All ways select the same rows, some and not all.
func TestFiltersSelectTheSame(t *testing.T) {
	const n = 3000
	cells, maps := sample(t, n)
	for _, f := range typicals(t) {
		t.Run(f.name, func(t *testing.T) {
			ways := selectors(t, f, cells, maps)
			selected := 0
			for i := range n {
				want := ways[0](i)
				if want {
					selected++
				}
				for k, way := range ways {
					require.Equal(t, want, way(i), "%s, row %d", selectorNames[k], i)
				}
			}
			require.Greater(t, selected, n/20)
			require.Less(t, selected, n*19/20)
		})
	}
}

// BenchmarkS9 matches rows against each of the six filters. "mean" does all six
// one after the other, so that its ns/row and its ratios are those of the means.
func BenchmarkS9(b *testing.B) {
	const n, times = 1024, 10
	cells, maps := sample(b, n)
	ways := make([][]selector, len(selectorNames)) // by way, by filter
	six := typicals(b)
	for _, f := range six {
		for k, s := range selectors(b, f, cells, maps) {
			ways[k] = append(ways[k], s)
		}
	}
	match := func(b *testing.B, from, to int) {
		var sides []side
		for k, name := range selectorNames {
			sides = append(sides, side{name, func() {
				for _, s := range ways[k][from:to] {
					for range times {
						for i := range n {
							matched = s(i)
						}
					}
				}
			}})
		}
		duel(b, n*times*(to-from), sides[0], sides[1:]...)
	}
	b.Run("mean", func(b *testing.B) { match(b, 0, len(six)) })
	for i, f := range six {
		b.Run(f.name, func(b *testing.B) { match(b, i, i+1) })
	}
}

var matched bool
