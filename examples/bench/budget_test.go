package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The budget of a row: what each step between an author's row and the bytes of the
// answer costs. A step runs alone over the same rows. What it shares with others,
// such as making the row, is another step, and is subtracted.

// step is one row of the budget.
type step struct {
	name string
	less string // the step whose cost this one includes; empty: none
	make func(t testing.TB) (run func(rows int))
}

// steps returns the steps in the order of the table.
func steps(t testing.TB) []step {
	all := []step{
		{"production", "", func(testing.TB) func(int) {
			return func(rows int) {
				var o order
				for i := range rows {
					o.at(i)
				}
			}
		}},
		{"cells", "production", func(testing.TB) func(int) {
			return func(rows int) {
				var o order
				cells := make([]wire.Value, 0, len(columns))
				for i := range rows {
					o.at(i)
					cells = o.cells(cells[:0])
				}
			}
		}},
		// Rows without members go the whole way, and nothing of them is encoded but {}.
		{"way", "cells", ask([]string{})},
		{"encode", "", encode(reference.Names())},
		{"encode/none", "", encode(nil)},
	}
	for _, c := range columns {
		all = append(all, step{"encode/" + c.Name, "encode/none", encode([]string{c.Name})})
	}
	for _, f := range typicals(t) {
		all = append(all, step{"filter/" + f.name, "", match(f)})
	}
	return append(all, step{"whole", "", ask(reference.Names())})
}

// encode returns a step that encodes rows at hand, of some columns, into batches of
// the size that a stream has.
func encode(names []string) func(testing.TB) func(int) {
	return func(t testing.TB) func(int) {
		var from []int
		for _, name := range names {
			from = append(from, slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == name }))
		}
		batch := testkit.Must(lines.NewLayout(names, from))(t).NewBatch()
		cells, _ := sample(t, 1024)
		return func(rows int) {
			for i := range rows {
				if batch.Size() > 44<<10 || batch.Len() == wire.MaxBatchRows {
					batch.Reset()
				}
				if err := batch.Append(cells[i%len(cells)]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// match returns a step that matches rows at hand against a filter.
func match(f typical) func(testing.TB) func(int) {
	return func(t testing.TB) func(int) {
		m := testkit.Must(filter.Compile(f.Where, columns))(t)
		cells, _ := sample(t, 1024)
		return func(rows int) {
			for i := range rows {
				if _, err := m.Match(cells[i%len(cells)]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// ask returns a step that runs a request for some fields through the whole handler.
func ask(fields []string) func(testing.TB) func(int) {
	return func(t testing.TB) func(int) {
		q := query()
		q.Fields = fields
		body := testkit.Must(wire.EncodeRequest(q))(t)
		return func(rows int) {
			serveInto(t, testkit.Must(newConnector(rows))(t), body, &discardWriter{})
		}
	}
}

// The sizes of a step's two runs under Valgrind. Their difference is free of what a
// run does once.
const fewRows, manyRows = 4_000, 24_000

// BenchmarkBudget reports what a row costs in each step: instr/row and ns/row. The
// instructions are counted under Valgrind, where neighbours on the machine make no
// difference; without it they are left out. The time is the processor's.
func BenchmarkBudget(b *testing.B) {
	instructions, times := map[string]float64{}, map[string]float64{}
	for _, s := range steps(b) {
		b.Run(s.name, func(b *testing.B) {
			const rows = 50_000
			n, run := 0, s.make(b)
			run(rows)
			began := processorTime()
			for b.Loop() {
				run(rows)
				n += rows
			}
			times[s.name] = float64(processorTime()-began) / float64(n)
			b.ReportMetric(times[s.name]-times[s.less], "ns/row")
			b.ReportMetric(0, "ns/op")
			if valgrind, err := exec.LookPath("valgrind"); err == nil {
				few, many := instructionsOf(b, valgrind, s.name, fewRows), instructionsOf(b, valgrind, s.name, manyRows)
				instructions[s.name] = float64(many-few) / (manyRows - fewRows)
				b.ReportMetric(instructions[s.name]-instructions[s.less], "instr/row")
			}
		})
	}
}

// stepVariable tells a process of [instructionsOf] which step to run.
const stepVariable = "BENCH_STEP"

// TestStep runs one step of the budget, for the benchmark. By itself it runs each.
func TestStep(t *testing.T) {
	only := os.Getenv(stepVariable)
	rows := 100
	if only != "" {
		rows = testkit.Must(strconv.Atoi(os.Getenv(stepVariable + "_ROWS")))(t)
	}
	for _, s := range steps(t) {
		if only == "" || only == s.name {
			s.make(t)(rows)
		}
	}
}

var counted = regexp.MustCompile(`I\s+refs:\s+([\d,]+)`)

// instructionsOf returns how many instructions a process executes that runs a step.
func instructionsOf(b *testing.B, valgrind, name string, rows int) int {
	cmd := exec.CommandContext(b.Context(), valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file="+os.DevNull,
		os.Args[0], "-test.run=^TestStep$")
	// Valgrind runs one thread at a time, and Go's signals to threads disturb it.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOGC=off",
		stepVariable+"="+name, fmt.Sprintf("%s_ROWS=%d", stepVariable, rows))
	text, err := cmd.CombinedOutput()
	require.NoError(b, err, string(text))
	m := counted.FindSubmatch(text)
	require.NotNil(b, m, string(text))
	return testkit.Must(strconv.Atoi(strings.ReplaceAll(string(m[1]), ",", "")))(b)
}
