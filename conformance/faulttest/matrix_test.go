package faulttest

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

var update = flag.Bool("update", false, "write MATRIX.md")

// matrixFile lists every fault, and how many of its runs the live mode finds.
const matrixFile = "MATRIX.md"

// run is one fault on one data set.
type run struct {
	fault  *fault
	at     Site
	set    *Set
	effect effect
	detail string
	found  string // the first check that fails; empty when none does
}

func (r *run) String() string {
	return fmt.Sprintf("%s: %s, on %s/%d at %s.%s",
		r.fault.connector, r.fault.name, r.set.Name, r.set.Seed, r.at.Table, r.at.Column)
}

// library generates and loads each data set once.
type library struct {
	dir  string
	sync sync.Mutex
	sets map[string]*Set
}

func newLibrary(t *testing.T) *library { return &library{dir: t.TempDir(), sets: map[string]*Set{}} }

// open returns a set, and the file that holds it as a database.
func (l *library) open(t *testing.T, name string, seed uint64) (*Set, string) {
	l.sync.Lock()
	defer l.sync.Unlock()
	key := fmt.Sprintf("%s-%d", name, seed)
	file := filepath.Join(l.dir, key+".sqlite")
	if l.sets[key] == nil {
		l.sets[key] = Generate(name, seed)
		require.NoError(t, load(l.sets[key], file))
	}
	return l.sets[key], file
}

// try plants a fault and, if it can be seen at all, grades the connector. It reports
// false if the set has no place for the fault.
func (l *library) try(t *testing.T, f *fault, name string, seed uint64, requests int) (r *run, ok bool) {
	set, file := l.open(t, name, seed)
	at, ok := f.site(set)
	if !ok {
		return nil, false
	}
	r = &run{fault: f, at: at, set: set}
	h, release := f.plant(set, file, at)
	r.effect, r.detail = effectOf(h, set, at.Table)
	release()
	if r.effect != visible {
		return r, true
	}
	report := grade(t, conformance.Options{Requests: requests}, true, func() (http.Handler, func()) {
		return f.plant(set, file, at)
	})
	if failures := report.Failures(); len(failures) > 0 {
		r.found = failures[0].ID
	}
	if r.found == "" {
		t.Logf("missed: %s: %s", r, first(strings.ReplaceAll(r.detail, "\n", " "), 300))
	}
	return r, true
}

// TestRealistic measures which part of the faults that change an answer the live mode
// finds. The fault and its connector are names of subtests. In the environment,
// FAULTS_RUNS is the number of data sets for each fault (1 unless it is set), FAULTS_SEED
// the first of their seeds, and FAULTS_REQUESTS the budget of requests; MATRIX.md is then
// not compared.
func TestRealistic(t *testing.T) {
	if !testrun.Whole() {
		t.Skip("takes minutes; set CONFORMANCE_MATRIX=whole")
	}
	runs, seed, requests := setting("FAULTS_RUNS", 1), setting("FAULTS_SEED", 1), setting("FAULTS_REQUESTS", 0)
	l := newLibrary(t)
	all := faults()
	rows := make([]row, len(all))
	t.Run("fault", func(t *testing.T) {
		for i, f := range all {
			t.Run(f.connector+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				rows[i].fault = &f
				for k := range runs {
					set := Generators[(i+k)%len(Generators)]
					if r, ok := l.try(t, &f, set.Name, uint64(seed+k), requests); ok {
						rows[i].add(r)
					}
				}
				t.Log(rows[i].String())
			})
		}
	})
	visible, found := total(rows)
	t.Logf("found %d of %d runs with an effect: %.1f %%", found, visible, percent(found, visible))
	if slices.ContainsFunc(rows, func(r row) bool { return r.fault == nil }) {
		return // -run chose some faults
	}
	got := matrix(rows)
	if *update {
		require.NoError(t, os.WriteFile(matrixFile, got, 0o644))
	}
	if runs != 1 || seed != 1 || requests != 0 {
		return
	}
	want, err := os.ReadFile(matrixFile)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	require.GreaterOrEqual(t, percent(found, visible), 95.0)
}

// setting returns a number from the environment.
func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// TestSample checks that all faults are listed, and that some of them do and are found as
// the matrix says, by whichever check.
func TestSample(t *testing.T) {
	listed, err := os.ReadFile(matrixFile)
	require.NoError(t, err)
	l := newLibrary(t)
	for i, f := range faults() {
		require.Contains(t, string(listed), "| "+f.name+" | "+f.kind+" | "+f.connector+" |", "write "+matrixFile+" anew")
		if i%30 > 0 || testrun.Race && i > 0 {
			continue
		}
		r := row{fault: &f}
		if one, ok := l.try(t, &f, Generators[i%len(Generators)].Name, 1, 0); ok {
			r.add(one)
		}
		outcome := r.String()
		outcome = outcome[:strings.LastIndex(strings.TrimSuffix(outcome, " |"), "|")]
		require.True(t, strings.Contains(string(listed), outcome), "%s does not list %s; write it anew", matrixFile, outcome)
	}
}

// row sums up the runs of a fault.
type row struct {
	fault            *fault
	runs, consistent int
	visible, found   int
	checks           map[string]int
}

func (r *row) add(one *run) {
	r.runs++
	r.consistent += btoi(one.effect == consistent)
	r.visible += btoi(one.effect == visible)
	if one.found != "" {
		r.found++
		if r.checks == nil {
			r.checks = map[string]int{}
		}
		r.checks[one.found]++
	}
}

// String returns the line of the matrix.
func (r *row) String() string {
	var checks []string
	for id := range r.checks {
		checks = append(checks, id)
	}
	slices.SortFunc(checks, func(a, b string) int { return cmp.Or(r.checks[b]-r.checks[a], strings.Compare(a, b)) })
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %d | %s |", r.fault.name, r.fault.kind, r.fault.connector,
		r.runs, r.consistent, r.visible, r.found, strings.Join(checks, " "))
}

func total(rows []row) (visible, found int) {
	for _, r := range rows {
		visible, found = visible+r.visible, found+r.found
	}
	return visible, found
}

func percent(part, of int) float64 { return 100 * float64(part) / float64(max(of, 1)) }

// matrix returns MATRIX.md.
func matrix(rows []row) []byte {
	var b bytes.Buffer
	visible, found := total(rows)
	fmt.Fprintf(&b, `# What the live mode finds

Each fault is planted at one column or one table of a connector that is right otherwise, over data sets that the
conformance program has not seen. *Runs* are the data sets that have a place for the fault. *Consistent* are the runs
where the connector answers exactly as a right one over other rows would: nobody sees that who does not know the rows.
*Effect* are the runs where some answer contradicts the rows that the connector serves itself. *Found* are those of them
where a check of the live mode fails, and *first* the checks that failed first. Runs that are neither change no answer.

**%d faults, %d runs with an effect, %d found: %.1f %%.**

Written by `+"`CONFORMANCE_MATRIX=whole go test -run TestRealistic . -update`"+` in this folder.

| fault | kind | connector | runs | consistent | effect | found | first |
|---|---|---|---|---|---|---|---|
`, len(rows), visible, found, percent(found, visible))
	for _, r := range rows {
		b.WriteString(r.String() + "\n")
	}
	b.WriteString("\n## Why some are missed\n\n")
	for _, r := range rows {
		if r.found < r.visible {
			why := cmp.Or(misses[r.fault.name], "no reason known.")
			fmt.Fprintf(&b, "- %s: %s: %s\n", r.fault.connector, r.fault.name, why)
		}
	}
	return b.Bytes()
}

// misses are the faults that are not always found, and why.
var misses = map[string]string{
	"lists are cut after 100 members":    "a list of 101 and more members has to be asked of the one column.",
	"nulls come last only ascending":     "the one column has to be sorted downwards, among all columns of a source.",
	"numbers are sorted as text":         "the one column has to be sorted, among all columns of a source.",
	"the row count of discovery is old":  "a row count may be an estimate, so it is advice.",
	"the sign is ignored by the sort":    "the one column has to be sorted, among all columns of a source.",
	"a text ends at its first semicolon": "a value of few rows has to be the operand.",
	"keys are cut after 255 letters":     "the longest value of the column has to be the operand.",
	"lists are cut after 10 values":      "a list of 11 to 50 members has to be asked of the one column.",

	"an empty text is sent, which the vendor ignores": "the vendor is sent conditions of and: eq of the empty text has to be asked alone.",
	"line breaks become blanks but not in the index":  "a value with a line break has to be the operand of eq or in.",
}
