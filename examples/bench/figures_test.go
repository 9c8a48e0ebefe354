package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	text, err := figuresText("- Date: today\n", []result{{id: "S8", figure: "14.2 MB", met: true}}, lines.String())
	require.NoError(t, err)
	require.Contains(t, string(text), "\n- Date: today\n")
	require.Contains(t, string(text), "| S8 | peak resident memory of a whole `/query` | <= 24 MB, within 10 % | 14.2 MB | met |\n")
	require.Contains(t, string(text), "| S9/mean | six typical filters | cel-go | 5.0x (4.0 to 6.0) |\n")
	require.Contains(t, string(text), "| S7 | a row with three filters on, from `Row` to a socket |  | 5 allocations |\n")
	require.Contains(t, string(text), "-bench 'S(1|2|7|10|11)$|S9$/mean$' ", "the command can be pasted")
}
