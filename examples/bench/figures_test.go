package main

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestFigureOfABenchmark(t *testing.T) {
	const lines = "goos: linux\n\n" +
		"BenchmarkS1-2 \t 33\t 0 allocs/row\t 12.84 x-encoding-json\t 12.10 x-encoding-json-lower\t 13.06 x-encoding-json-upper\n" +
		"BenchmarkS10/money \t 3\t 8.2 x-shopspring\t 8.1 x-shopspring-lower\n" +
		"BenchmarkS7-16 \t 3933326\t 361.2 ns/op\t 0 B/op\t 0 allocs/op\n" +
		"BenchmarkS11-2 \t 7\t many x-encoding-json\n"
	for _, c := range []struct {
		why, bench, against, metric string
		want, wrong                 string
	}{
		{"a ratio with its quartiles", "S1", "maps", "x-encoding-json", "12.8x (12.1 to 13.1)", ""},
		{"a number, on 16 processors", "S7", "", "allocs/op", "0 allocations", ""},
		{"a rival that was left out of the benchmark", "S1", "maps", "x-maps", "", "BenchmarkS1-2 reports no x-maps"},
		{"a ratio without quartiles, on one processor", "S10/money", "shopspring", "x-shopspring", "", "reports no x-shopspring-upper"},
		{"the beginning of another's name", "S", "maps", "x-encoding-json", "", "printed no BenchmarkS"},
		{"no number", "S11", "maps", "x-encoding-json", "", "invalid syntax"},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, err := (&figure{bench: c.bench, against: c.against, metric: c.metric}).of(lines)
			require.Equal(t, c.want, got)
			if c.wrong == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.wrong)
			}
		})
	}
}

// Every figure that is kept is one that its benchmark reports.
func TestFiguresText(t *testing.T) {
	var lines strings.Builder
	for _, f := range figures {
		lines.WriteString("Benchmark" + f.bench + "-2 1 5 " + f.metric + " 4 " + f.metric + "-lower 6 " + f.metric + "-upper\n")
	}
	_, err := figuresText("", nil, lines.String())
	require.ErrorContains(t, err, "BenchmarkS9/mean-2 reports no x-expr", "each line above has one rival")
	lines.Reset()
	lines.WriteString("BenchmarkS9/mean-2 1")
	for _, rival := range selectorNames[1:] {
		lines.WriteString(" 5 x-" + rival + " 4 x-" + rival + "-lower 6 x-" + rival + "-upper")
	}
	for _, f := range figures {
		lines.WriteString("\nBenchmark" + f.bench + "-2 1 5 " + f.metric + " 4 " + f.metric + "-lower 6 " + f.metric + "-upper")
	}
	text := testkit.Must(figuresText("- Date: today\n", []result{{id: "S8", figure: "14.2 MB", met: true}}, lines.String()))(t)
	require.Contains(t, string(text), "\n- Date: today\n")
	require.Contains(t, string(text), "| S8 | peak resident memory of a whole `/query` | <= 24 MB, within 10 % | 14.2 MB | met |\n")
	require.Contains(t, string(text), "| S9/mean | six typical filters | cel-go | 5.0x (4.0 to 6.0) |\n")
	require.Contains(t, string(text), "| S7 | a row with three filters on, from `Row` to a socket |  | 5 allocations |\n")
	require.Contains(t, string(text), "-bench 'S(1|2|7|10|11)$|S9$/mean$' ", "the command can be pasted")
}

func TestQuartiles(t *testing.T) {
	for _, c := range []struct {
		why               string
		values            []int64
		lower, mid, upper int64
	}{
		{"one value is all of them", []int64{7}, 7, 7, 7},
		{"of an even number the upper of two", []int64{4, 1, 3, 2}, 2, 3, 4},
		{"an outlier moves none of them", []int64{900, 5, 1, 4, 2, 3, 6, 7}, 3, 5, 7},
	} {
		t.Run(c.why, func(t *testing.T) {
			lower, mid, upper := quartiles(c.values)
			require.Equal(t, []int64{c.lower, c.mid, c.upper}, []int64{lower, mid, upper})
		})
	}
}

// A ratio is taken turn by turn: a machine that slows down slows both sides.
func TestFirstRowsHaveQuartiles(t *testing.T) {
	ours, theirs := []time.Duration{}, []time.Duration{}
	for i := range 8 {
		ours = append(ours, time.Millisecond<<i)
		theirs = append(theirs, time.Millisecond<<i*time.Duration(10+i))
	}
	r := sooner(timings{serverSDK: ours, serverNode: theirs})
	require.True(t, r.met)
	require.Equal(t, "14.0x (12.0 to 16.0), quartiles of 8: 16ms (4ms to 64ms) against 224ms (48ms to 1.02s)", r.figure)
	require.Equal(t, errNoNode.Error(), (sooner(timings{serverSDK: ours})).why)
}

// pairs are decimals as text, each with the one it is compared with.
var pairs = []struct{ name, a, b string }{
	{"money", "12345.67", "12345.70"},
	{"scales", "12345.6", "12345.600"},
	{"magnitudes", "9.99", "123456.78"},
	{"long", "123456789012345678901234567890.123456789", "123456789012345678901234567890.123456788"},
}

var compared10 int

// BenchmarkS10 compares two decimals that are text: a "row" here is a pair.
// "shopspring-parsed" parses its operands beforehand and is no rival, because cells
// come as text. It shows the cost of comparing without parsing.
func BenchmarkS10(b *testing.B) {
	const n = 5000
	for _, p := range pairs {
		b.Run(p.name, func(b *testing.B) {
			x, y := wire.Text(p.a), wire.Text(p.b)
			d, e := decimal.RequireFromString(p.a), decimal.RequireFromString(p.b)
			duel(b, n,
				side{"filter", func() {
					for range n {
						compared10, _ = filter.Compare(x, y, wire.TypeDecimal)
					}
				}},
				side{"shopspring", func() {
					for range n {
						d, _ := decimal.NewFromString(p.a)
						e, _ := decimal.NewFromString(p.b)
						compared10 = d.Cmp(e)
					}
				}},
				side{"shopspring-parsed", func() {
					for range n {
						compared10 = d.Cmp(e)
					}
				}})
		})
	}
}

func TestDecimalsCompareTheSame(t *testing.T) {
	for _, p := range pairs {
		order, ok := filter.Compare(wire.Text(p.a), wire.Text(p.b), wire.TypeDecimal)
		require.True(t, ok, p.name)
		require.Equal(t, decimal.RequireFromString(p.a).Cmp(decimal.RequireFromString(p.b)), order, p.name)
	}
}
