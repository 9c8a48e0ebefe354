package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// figure is a ratio or a number that a benchmark reports, as FIGURES.md has it.
type figure struct {
	bench   string // without "Benchmark"
	work    string
	against string // empty if it is no ratio
	metric  string // its unit in the benchmark's line
}

// figures are those of the benchmarks that are kept.
var figures = []figure{
	{"S1", "encode rows to lines", "`encoding/json` on maps", "x-encoding-json"},
	{"S2", "an author's row to bytes", "maps and `encoding/json`", "x-maps"},
	{"S7", "a row with three filters on, from `Row` to a socket", "", "allocs/op"},
	{"S9/mean", "six typical filters", "naive over maps", "x-naive"},
	{"S9/mean", "six typical filters", "expr-lang", "x-expr"},
	{"S9/mean", "six typical filters", "expr-lang, its machine kept", "x-expr-vm"},
	{"S9/mean", "six typical filters", "cel-go", "x-cel"},
	{"S10/money", "compare two decimals that are text", "`shopspring/decimal`, parsing included", "x-shopspring"},
	{"S10/scales", "compare two decimals that are text", "`shopspring/decimal`, parsing included", "x-shopspring"},
	{"S10/magnitudes", "compare two decimals that are text", "`shopspring/decimal`, parsing included", "x-shopspring"},
	{"S10/long", "compare two decimals that are text", "`shopspring/decimal`, parsing included", "x-shopspring"},
	{"S11", "read the stream, strictly", "`encoding/json` into maps", "x-encoding-json"},
}

// benchArgs are the arguments of go that take them.
var benchArgs = []string{"test", "-run", "^$", "-bench", "S(1|2|7|10|11)$|S9$/mean$", "-benchtime", "1s", "-timeout", "1h", "."}

// machine returns what is known of the run before it begins.
func machine(ctx context.Context, args []string) string {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "- %s: %s\n", name, value) }
	line("Date", time.Now().Format(time.DateOnly))
	line("Processor", fmt.Sprintf("%s, %d cores", valueOf("/proc/cpuinfo", "model name"), runtime.NumCPU()))
	load, _ := os.ReadFile("/proc/loadavg")
	before, _, _ := strings.Cut(string(load), " ")
	line("Load average of the minute before", before)
	node, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		node = []byte("none")
	}
	line("Go and Node", runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+", "+strings.TrimSpace(string(node)))
	line("Command", "`go run -C examples/bench . "+strings.Join(args, " ")+"`")
	return b.String()
}

// valueOf returns the first value of a name in a file of lines such as "name : value".
func valueOf(file, name string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// keepFigures runs the benchmarks and writes their figures and the results to a file.
func keepFigures(ctx context.Context, file, about string, results []result, progress io.Writer) error {
	fmt.Fprintln(progress, "benchmarks: go", strings.Join(benchArgs, " "))
	cmd := exec.CommandContext(ctx, "go", benchArgs...)
	cmd.Stderr = progress
	// Its test binary is a child of go's, and keeps the pipe open.
	cmd.WaitDelay = 5 * time.Second
	lines, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("the benchmarks failed: %w\n%s", err, lines)
	}
	text, err := figuresText(about, results, string(lines))
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// figuresText returns the text of FIGURES.md. lines are what the benchmarks printed.
func figuresText(about string, results []result, lines string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# The figures of one run\n\nWritten by the command below. README.md beside it says what they are; " +
		"a test in docs holds the README's table \"How fast\" against them.\n\n" + about +
		"\n## Whole processes\n\nMedians; in parentheses the range over the rounds, for S6 the quartiles.\n\n")
	if err := printTable(&b, results); err != nil {
		return nil, err
	}
	b.WriteString("\n## In one process\n\n`go " + strings.Join(quoted(benchArgs), " ") +
		"`: medians; in parentheses the quartiles over the turns.\n\n| Goal | Work | Instead | Figure |\n|---|---|---|---|\n")
	for _, f := range figures {
		figure, err := f.of(lines)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.bench, f.work, f.against, figure)
	}
	return b.Bytes(), nil
}

// quoted returns arguments as a shell takes them.
func quoted(args []string) []string {
	all := make([]string, len(args))
	for i, a := range args {
		if all[i] = a; strings.ContainsAny(a, "^$|()") {
			all[i] = "'" + a + "'"
		}
	}
	return all
}

// of finds the figure in the lines of the benchmarks.
func (f *figure) of(lines string) (string, error) {
	for line := range strings.Lines(lines) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		name, _, _ := strings.Cut(fields[0], "-") // and the number of processors
		if name != "Benchmark"+f.bench || len(fields) < 4 {
			continue
		}
		values := map[string]float64{}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return "", fmt.Errorf("%s: %w", fields[0], err)
			}
			values[fields[i+1]] = v
		}
		wanted := []string{f.metric}
		if f.against != "" {
			wanted = append(wanted, f.metric+"-lower", f.metric+"-upper")
		}
		for _, metric := range wanted {
			if _, ok := values[metric]; !ok {
				return "", fmt.Errorf("%s reports no %s", fields[0], metric)
			}
		}
		if f.against == "" {
			return fmt.Sprintf("%.0f allocations", values[f.metric]), nil
		}
		return fmt.Sprintf("%.1fx (%.1f to %.1f)", values[f.metric], values[wanted[1]], values[wanted[2]]), nil
	}
	return "", errors.New("the benchmarks printed no Benchmark" + f.bench)
}
