package connector_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// A ledgerEntry maps one rule of docs/protocol.md to the tests that prove that this library keeps it, and to the checks
// of the conformance program that find a connector which breaks it.
type ledgerEntry struct {
	Rule     string
	Tests    []string // "package:Test" or "package:Test/case"
	Checks   []string // ids of the conformance program
	Reason   string   // why no test can prove the rule, or whom else it binds
	Unjudged string   // why no check can find a connector that breaks the rule
}

// TestLedger requires one entry for each rule of the rulebook, in its order,
// with either tests that exist or a reason why there are none.
func TestLedger(t *testing.T) {
	var want, got []string
	for _, r := range rules.All() {
		want = append(want, r.ID)
	}
	declared := map[string][]string{} // by the name of a test the packages that have it
	require.NoError(t, filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, f := range testFunction.FindAllSubmatch(text, -1) {
			declared[string(f[1])] = append(declared[string(f[1])], filepath.ToSlash(dir))
		}
		return nil
	}))
	for _, e := range testkit.Cases[ledgerEntry](t, "testdata/ledger.json") {
		got = append(got, e.Rule)
		assert.NotEqual(t, len(e.Tests) == 0, e.Reason == "", "%s: want either tests or a reason", e.Rule)
		for _, name := range e.Tests {
			pkg, function, _ := strings.Cut(name, ":")
			function, _, _ = strings.Cut(function, "/")
			assert.Contains(t, declared[function], pkg, "%s: there is no test %s, but in these packages", e.Rule, name)
		}
	}
	require.Equal(t, want, got, "the ledger and docs/protocol.md must have the same rules in the same order")
}

// TestLedgerRan fails when a test that the ledger names did not run, or did not pass. It reads the records of the plain
// run and of that in full, which CI makes with go test -json and names in LEDGER_RUN.
func TestLedgerRan(t *testing.T) {
	records := filepath.SplitList(os.Getenv("LEDGER_RUN"))
	if len(records) == 0 {
		t.Skip("no record of a run: CI sets LEDGER_RUN to the output of `go test -json ./...`")
	}
	passed := map[string]bool{}
	for _, record := range records {
		lines := bufio.NewScanner(bytes.NewReader(testkit.Must(os.ReadFile(record))(t)))
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var event struct{ Action, Package, Test string }
			if json.Unmarshal(lines.Bytes(), &event) == nil && event.Action == "pass" && event.Test != "" {
				passed[strings.TrimPrefix(event.Package, module+"/")+":"+event.Test] = true
			}
		}
		require.NoError(t, lines.Err())
	}
	require.NotEmpty(t, passed)
	for _, e := range testkit.Cases[ledgerEntry](t, "testdata/ledger.json") {
		for _, name := range e.Tests {
			assert.True(t, passed[name], "%s did not run and pass; it proves rule %s", name, e.Rule)
		}
	}
}

// TestLedgerChecks requires checks that exist, for each binding rule that can be broken visibly. Each check that can
// fail a connector must defend a binding rule, and each advice a decision of ours [rule verdict-14].
func TestLedgerChecks(t *testing.T) {
	defends := map[string][]rules.Status{}
	checks := testkit.Must((&conformance.Options{Mode: conformance.ModeBoth}).Checks())(t)
	for _, c := range checks {
		defends[c.ID] = nil
	}
	for _, e := range testkit.Cases[ledgerEntry](t, "testdata/ledger.json") {
		rule, _ := rules.Lookup(e.Rule)
		switch {
		case len(e.Checks) > 0 && e.Unjudged != "":
			t.Errorf("%s: both checks and a reason for none", e.Rule)
		case rule.Status == rules.Binds && len(e.Checks) == 0 && e.Unjudged == "" && e.Reason == "":
			t.Errorf("%s binds connectors: want checks, or a reason why there are none", e.Rule)
		}
		for _, id := range e.Checks {
			statuses, ok := defends[id]
			assert.True(t, ok, "%s: there is no check %s", e.Rule, id)
			defends[id] = append(statuses, rule.Status)
		}
	}
	for _, c := range checks {
		want := rules.Binds
		if c.Advice {
			want = rules.Decision
		}
		assert.Contains(t, defends[c.ID], want, "check %s (%s): no rule of this status names it", c.ID, c.Title)
	}
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// TestReadme compares the connector in the README with examples/hello, which is compiled.
func TestReadme(t *testing.T) {
	readme := testkit.Must(os.ReadFile("../README.md"))(t)
	hello := testkit.Must(os.ReadFile("../examples/hello/main.go"))(t)
	require.Contains(t, string(readme), "```go\n"+string(hello)+"```")
	require.LessOrEqual(t, strings.Count(string(hello), "\n"), 75, "a connector in 75 lines")
}
