package filter_test

import (
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Run with -count=10 and compare the medians of neighbouring benchmarks.
// Absolute figures cannot be compared across machines.

var (
	sinkInt  int
	sinkBool bool
)

// bench measures what one iteration does.
func bench(b *testing.B, name string, iteration func(i int)) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			iteration(i)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	const n = 1024
	rows := reference.Rows(n)
	for name, p := range typical(b) {
		bench(b, name, func(i int) { sinkBool, _ = p.Match(rows[i%n]) })
	}
}

// BenchmarkMatchText measures cells that are text, as a file or an API gives
// them, and long lists.
func BenchmarkMatchText(b *testing.B) {
	var many []wire.Value
	for i := range 1000 {
		many = append(many, wire.Int(int64(i*7)))
	}
	for _, c := range []struct {
		name   string
		typ    wire.Type
		filter wire.Filter
		cell   wire.Value
	}{
		{"datetime", wire.TypeDatetime, wire.Filter{Op: wire.OpGte, Value: wire.Text("2024-04-01T00:00:00Z")}, wire.Text("2024-05-06T07:08:09Z")},
		{"undeclared-number", "", wire.Filter{Op: wire.OpGte, Value: wire.Int(100)}, wire.Text("123.45")},
		{"undeclared-text", "", wire.Filter{Op: wire.OpEq, Value: wire.Text("shipped")}, wire.Text("shipped")},
		{"float", wire.TypeNumber, wire.Filter{Op: wire.OpGte, Value: wire.Text("12.5")}, wire.Float(12.345)},
		{"in-1000-numbers", wire.TypeNumber, wire.Filter{Op: wire.OpIn, Values: many}, wire.Text("3500.0")},
		{"in-1000-numbers-int", wire.TypeNumber, wire.Filter{Op: wire.OpIn, Values: many}, wire.Int(3500)},
		{"in-1000-texts", wire.TypeString, wire.Filter{Op: wire.OpIn, Values: many}, wire.Text("3500")},
		{"contains", wire.TypeArray, wire.Filter{Op: wire.OpContains, Value: wire.Text("blue")},
			wire.Text(`["red","green","blue","a longer element"]`)},
		{"long-decimal", wire.TypeDecimal, wire.Filter{Op: wire.OpEq, Value: wire.Text(strings.Repeat("9", 1000))},
			wire.Text(strings.Repeat("9", 1000))},
	} {
		c.filter.Field = "c"
		p := testkit.Must(filter.Compile(wire.Where{And: []wire.Filter{c.filter}}, []wire.Column{{Name: "c", Type: c.typ}}))(b)
		row := []wire.Value{c.cell}
		bench(b, c.name, func(int) { sinkBool, _ = p.Match(row) })
	}
}

func BenchmarkOrder(b *testing.B) {
	rows := reference.Rows(1024)
	for _, field := range []string{"amount", "price", "created_at", "name", "region"} {
		o := testkit.Must(filter.CompileOrder([]wire.SortKey{{Field: field, Dir: wire.Desc}}, reference.Columns, nil, []string{"id"}))(b)
		bench(b, field, func(i int) { sinkInt = o.Compare(rows[i%1024], rows[(i+1)%1024]) })
	}
}

func BenchmarkAppendKey(b *testing.B) {
	rows := reference.Rows(1024)
	var key []byte
	for at, c := range reference.Columns {
		bench(b, c.Name, func(i int) { key = filter.AppendKey(key[:0], rows[i%1024][at], c.Type) })
	}
}

// typical returns realistic filters on the reference table, by their names.
func typical(t testing.TB) map[string]*filter.Matcher {
	t.Helper()
	matchers := map[string]*filter.Matcher{}
	for _, c := range testkit.Table(t, "testdata/typical.tsv", 3) {
		var req wire.CountRequest
		cells.Decode(t, c[1], &req)
		matchers[c[0]] = testkit.Must(filter.Compile(req.Where, reference.Columns))(t)
	}
	return matchers
}
