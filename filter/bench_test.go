package filter_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

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

func BenchmarkDecimalCompare(b *testing.B) {
	for _, pair := range []struct{ name, a, b string }{
		{"money", "12345.67", "12345.70"},
		{"scales", "12345.6", "12345.600"},
		{"large", "123456789012345678901234567890.123456789", "123456789012345678901234567890.123456788"},
	} {
		x, y := wire.Text(pair.a), wire.Text(pair.b)
		b.Run(pair.name+"/filter", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sinkInt, _ = filter.Compare(x, y, wire.TypeDecimal)
			}
		})
		b.Run(pair.name+"/shopspring", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, _ := decimal.NewFromString(pair.a)
				q, _ := decimal.NewFromString(pair.b)
				sinkInt = p.Cmp(q)
			}
		})
		b.Run(pair.name+"/shopspring-parsed", func(b *testing.B) { // for orientation: parsing left out
			p, q := decimal.RequireFromString(pair.a), decimal.RequireFromString(pair.b)
			b.ReportAllocs()
			for b.Loop() {
				sinkInt = p.Cmp(q)
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	const n = 1024
	rows := reference.Rows(n)
	for name, p := range typical(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				sinkBool, _ = p.Match(rows[i%n])
				i++
			}
		})
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
		p, err := filter.Compile(wire.Where{And: []wire.Filter{c.filter}}, []wire.Column{{Name: "c", Type: c.typ}})
		require.NoError(b, err)
		row := []wire.Value{c.cell}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sinkBool, _ = p.Match(row)
			}
		})
	}
}

func BenchmarkOrder(b *testing.B) {
	rows := reference.Rows(1024)
	for _, field := range []string{"amount", "price", "created_at", "name", "region"} {
		o, err := filter.CompileOrder([]wire.SortKey{{Field: field, Dir: wire.Desc}}, reference.Columns, nil, []string{"id"})
		require.NoError(b, err)
		b.Run(field, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				sinkInt = o.Compare(rows[i%1024], rows[(i+1)%1024])
				i++
			}
		})
	}
}

func BenchmarkAppendKey(b *testing.B) {
	rows := reference.Rows(1024)
	var key []byte
	for at, c := range reference.Columns {
		b.Run(c.Name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				key = filter.AppendKey(key[:0], rows[i%1024][at], c.Type)
				i++
			}
		})
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
