package connector_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
)

// The ledger maps every sentence of the protocol to the tests that prove that
// this SDK keeps it, and to the checks of the conformance program that find a
// connector which does not; or to the reason why there are none. Sentences are
// found by this file, not by hand, so none can be forgotten.

type ledgerEntry struct {
	Section  string   `json:"section"`
	Sentence string   `json:"sentence"`
	Tests    []string `json:"tests,omitempty"`    // "package:Test" or "package:Test/case"
	Checks   []string `json:"checks,omitempty"`   // ids of the conformance program
	Reason   string   `json:"reason,omitempty"`   // why no test can prove it, or whom else it binds
	Unjudged string   `json:"unjudged,omitempty"` // why no check can find it broken, where a test can; else Reason says it
}

// sentences splits the protocol: a row of a table is one sentence, prose is
// split at full stops, headings name the section.
func sentences(t *testing.T) (list []ledgerEntry) {
	t.Helper()
	data, err := os.ReadFile("testdata/ledger/protocol.md")
	require.NoError(t, err)
	section := ""
	seen := map[string]int{}
	add := func(text string) {
		text = strings.TrimSpace(text)
		if text == "" {
			return
		}
		// The same words may stand twice in a section; number the later ones.
		key := section + "\x00" + text
		if seen[key]++; seen[key] > 1 {
			text = fmt.Sprintf("%s (%d)", text, seen[key])
		}
		list = append(list, ledgerEntry{Section: section, Sentence: text})
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			section = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case strings.HasPrefix(line, "|"):
			header := i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "|---")
			if !header && !strings.HasPrefix(line, "|---") {
				add(strings.Trim(line, "| "))
			}
		default:
			line = regexp.MustCompile(`^(\d+\.|-|\*) `).ReplaceAllString(line, "")
			for _, s := range fullStop.Split(line, -1) {
				add(strings.TrimSuffix(s, "."))
			}
		}
	}
	return list
}

var fullStop = regexp.MustCompile(`\.\s+`)

func readLedger(t *testing.T) []ledgerEntry {
	t.Helper()
	data, err := os.ReadFile("testdata/ledger/ledger.json")
	require.NoError(t, err)
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	var list []ledgerEntry
	require.NoError(t, dec.Decode(&list))
	return list
}

// TestLedger fails when a sentence of the protocol has no entry, when an entry
// has no sentence, neither tests nor a reason, or both, and when it names a
// test that does not exist.
func TestLedger(t *testing.T) {
	key := func(e ledgerEntry) string { return e.Section + ": " + e.Sentence }
	want := map[string]bool{}
	for _, s := range sentences(t) {
		want[key(s)] = true
	}
	require.Greater(t, len(want), 200, "the protocol was not read")
	declared := declaredTests(t)
	have := map[string]bool{}
	for _, e := range readLedger(t) {
		switch {
		case !want[key(e)]:
			t.Errorf("no such sentence in the protocol: %s", key(e))
		case have[key(e)]:
			t.Errorf("two entries for: %s", key(e))
		case (len(e.Tests) == 0) == (e.Reason == ""):
			t.Errorf("want either tests or a reason: %s", key(e))
		}
		have[key(e)] = true
		for _, name := range e.Tests {
			pkg, function, _ := strings.Cut(name, ":")
			function, _, _ = strings.Cut(function, "/")
			if !declared[pkg+":"+function] {
				t.Errorf("no test %s, named for: %s", name, key(e))
			}
		}
	}
	for s := range want {
		if !have[s] {
			t.Errorf("no entry for: %s", s)
		}
	}
}

// TestLedgerRan fails when a test that the ledger names did not run, or did not
// pass. It reads the record of a whole run, which CI makes with go test -json
// and names in LEDGER_RUN.
func TestLedgerRan(t *testing.T) {
	record := os.Getenv("LEDGER_RUN")
	if record == "" {
		t.Skip("no record of a run: CI sets LEDGER_RUN to the output of `go test -json ./...`")
	}
	f, err := os.Open(record)
	require.NoError(t, err)
	defer f.Close()
	passed := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Action == "pass" && event.Test != "" {
			passed[strings.TrimPrefix(event.Package, module+"/")+":"+event.Test] = true
		}
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, passed)
	for _, e := range readLedger(t) {
		for _, name := range e.Tests {
			if !passed[name] {
				t.Errorf("%s did not run and pass; it is to prove: %s", name, e.Sentence)
			}
		}
	}
}

// TestLedgerChecks fails when a sentence that a connector can break names no
// check and no reason why it cannot be seen from outside, when it names a check
// that does not exist, and when a check that can fail a connector defends no
// sentence (J3).
func TestLedgerChecks(t *testing.T) {
	defended := map[string]bool{}
	for _, c := range conformance.Checks() {
		defended[c.ID] = c.Advice
	}
	for _, e := range readLedger(t) {
		switch {
		case len(e.Checks) > 0 && e.Unjudged != "":
			t.Errorf("both checks and a reason for none: %s", e.Sentence)
		case len(e.Checks) == 0 && e.Unjudged == "" && e.Reason == "":
			t.Errorf("neither checks nor a reason for none: %s", e.Sentence)
		}
		for _, id := range e.Checks {
			if _, ok := defended[id]; !ok {
				t.Errorf("no check %s, named for: %s", id, e.Sentence)
			}
			defended[id] = true
		}
	}
	for _, c := range conformance.Checks() {
		if !defended[c.ID] {
			t.Errorf("check %s (%s) defends no sentence of the ledger", c.ID, c.Title)
		}
	}
}

// declaredTests are the test functions of the repository, as "package:Test".
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz") || strings.HasPrefix(f.Name.Name, "Example")) {
				tests[filepath.ToSlash(dir)+":"+f.Name.Name] = true
			}
		}
		return nil
	})
	require.NoError(t, err)
	return tests
}

// TestReadme keeps the connector that the README shows the one that is
// compiled.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	hello, err := os.ReadFile("../examples/hello/main.go")
	require.NoError(t, err)
	require.Contains(t, string(readme), "```go\n"+string(hello)+"```")
	require.LessOrEqual(t, strings.Count(string(hello), "\n"), 45, "a connector in 45 lines")
}
