package killtest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestFixturePasses grades the corpus served by memsource, and by the oracle without a twist: every check of phase 2 passes.
func TestFixturePasses(t *testing.T) {
	t.Parallel()
	for i, served := range []struct {
		name  string
		build func() http.Handler
	}{{"memsource", usual}, {"oracle", right}} {
		if !testrun.Runs(i, 2) {
			continue
		}
		t.Run(served.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, served.build(), grading{Options: conformance.Options{Phases: []int{2}}})
			for _, o := range r.Outcomes {
				require.Equal(t, conformance.Pass, o.Verdict, "%s %s: %s %s\nexpected %s\nreceived %s\n%+v", o.ID,
					o.Title, o.Reason, o.Detail, o.Expected, o.Received, o.Request)
				if !strings.HasPrefix(o.ID, "A.") {
					require.NotZero(t, o.Cases, o.ID)
				}
			}
			filters := r.Coverage().Filters // every operator is exercised on every type
			for _, op := range filter.Operators() {
				for _, columnType := range []wire.Type{wire.TypeString, wire.TypeNumber, wire.TypeDecimal,
					wire.TypeBoolean, wire.TypeDate, wire.TypeDatetime, wire.TypeJSON, wire.TypeArray, wire.TypeReference} {
					require.NotZero(t, filters[string(op)+" "+string(columnType)], "%s on %s", op, columnType)
				}
			}
		})
	}
}

// bare is a source that does nothing but hand out all rows.
func bare(tables []corpus.Table) connectors.Source {
	return connectors.Source{Tables: inMemory(tables)}
}

// supersets answers every query with all rows of its table and claims nothing.
// It may say so of itself, or have operators to declare and never a chance.
func supersets(served string) func() http.Handler {
	return over(ofCorpus(connector.Definition{}, connector.Omit{Operators: filter.Operators()}), bodies(func(body map[string]any) {
		body["and"], body["sort"] = []any{}, []any{}
		delete(body, "or")
	}, wire.PathQuery), unwindowed, batched(func() int { return 1 }), stating(func() string { return served }))
}

// TestFixtureIsLenient grades connectors that are legal and unlike the usual: whatever is judged passes, and what is not is
// skipped with a reason that is no fault.
func TestFixtureIsLenient(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, l := range []struct {
		name, why string
		judged    string // a check that must have been judged all the same
		build     func() http.Handler
	}{
		{"a source of three methods", "every optional route may be absent", "P2.3", func() http.Handler {
			return serve(connector.Definition{}, bare(corpus.Tables()), nil)
		}},
		{"nothing is declared", "a connector that pushes nothing is correct but slower", "P2.5", func() http.Handler {
			return serve(connector.Definition{}, bare(corpus.Tables()), &connector.Options{Omit: connector.Omit{
				Endpoints: []wire.Endpoint{wire.EndpointCount}, Operators: filter.Operators(), Sort: wire.SortNone, Offset: true,
			}})
		}},
		{"supersets, one row a line, no served line",
			"a stream without a served line counts as serving none of the three", "P2.3", supersets("")},
		{"supersets that say so", "a filter that is not pushed may be answered with a superset", "P2.6",
			supersets(`{"served":{"filters":false,"sort":false,"window":false}}` + "\n")},
		{"one sort key, no offset", "the document declares what it does", "P2.6", ofCorpus(
			connector.Definition{Limits: wire.Limits{PageSizeMax: 100, RowsPerTableMax: 6000}},
			connector.Omit{Sort: wire.SortSingle, Offset: true})},
		{"other types that are honest", "both compare by digits; a key may be a reference; an array is JSON", "P2.1", func() http.Handler {
			tables := corpus.Tables()
			for i := range tables {
				for n, f := range tables[i].Fields {
					switch {
					case f.Type == wire.TypeNumber && tables[i].Name != "numbers" && tables[i].Name != "types":
						tables[i].Fields[n].Type = wire.TypeDecimal
					case f.Type == wire.TypeArray:
						tables[i].Fields[n].Type = wire.TypeJSON
					case f.Type == wire.TypeReference:
						tables[i].Fields[n].Type = wire.TypeString
					}
				}
			}
			return serve(connector.Definition{}, bare(tables), nil)
		}},
		{"dates compare as text", "comparing as instants is our decision, not known behaviour", "P2.3", func() http.Handler {
			return twisted(on(func(_ string, cell wire.Value, f wire.Filter, _ wire.Type) bool {
				return oracle.Match(cell, f, wire.TypeString)
			}, wire.TypeDate, wire.TypeDatetime))
		}},
	} {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, l.build(), grading{Options: conformance.Options{Phases: []int{2}}})
			r.nothingFound(t, l.why, conformance.Blocked)
			for _, o := range r.Outcomes {
				require.False(t, o.Verdict == conformance.Skip && o.Detail == "", o.ID)
			}
			r.has(t, conformance.Pass, l.judged)
			require.Equal(t, check.ExitPass, r.Exit())
		})
	}
}

// TestFixtureMissing grades connectors without the corpus, with another one, and with the right manifest over wrong data.
func TestFixtureMissing(t *testing.T) {
	t.Parallel()
	serveTables := func(edit func(tables []corpus.Table) []corpus.Table) http.Handler {
		return plain(inMemory(edit(corpus.Tables()))...)
	}
	for i, c := range []struct {
		name    string
		edit    func(tables []corpus.Table) []corpus.Table
		problem string
		exit    int
	}{
		{"no manifest", func(tables []corpus.Table) []corpus.Table { return tables[1:] },
			"the fixture corpus is not loaded", check.ExitNotRun},
		{"no row", func(tables []corpus.Table) []corpus.Table {
			tables[0].Rows = nil
			return tables
		}, "has 0 rows, not one", check.ExitNotRun},
		{"another version", func(tables []corpus.Table) []corpus.Table {
			tables[0].Rows[0][1] = wire.Text("0")
			return tables
		}, "the version in table", check.ExitNotRun},
		{"another digest", func(tables []corpus.Table) []corpus.Table {
			tables[0].Rows[0][2] = wire.Text(strings.Repeat("0", 64))
			return tables
		}, "the digest in table", check.ExitNotRun},
		{"wrong data under the right manifest", func(tables []corpus.Table) []corpus.Table {
			i := slices.IndexFunc(tables, func(t corpus.Table) bool { return t.Name == "codes" })
			tables[i].Rows = tables[i].Rows[1:]
			return tables
		}, "", check.ExitFail},
	} {
		if !testrun.Runs(i, 3) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, serveTables(c.edit), grading{Options: conformance.Options{Phases: []int{2}, Match: `^P2`}})
			require.Equal(t, c.exit, r.Exit(), "%v", r.Err())
			if c.problem == "" {
				require.Empty(t, r.Problem)
				return
			}
			require.Contains(t, r.Problem, c.problem)
			require.Contains(t, r.Problem, "-fixture DIR")
			require.Zero(t, r.Summary().Passed+r.Summary().Failed)
		})
	}
	t.Run("a failed check beats it", func(t *testing.T) {
		broken := answers(func(body map[string]any, _ int) (any, int) {
			return body, http.StatusMovedPermanently
		}, wire.PathCheck)(serveTables(func(tables []corpus.Table) []corpus.Table { return tables[1:] }))
		r := grade(t, broken, grading{Options: conformance.Options{Phases: []int{0, 2}}})
		require.NotEmpty(t, r.Problem)
		require.Equal(t, check.ExitFail, r.Exit())
	})
	t.Run("mode live does not want it", func(t *testing.T) {
		r := grade(t, serveTables(func(tables []corpus.Table) []corpus.Table { return tables[1:3] }),
			grading{Options: conformance.Options{Mode: conformance.ModeLive, Phases: []int{0}}})
		require.Empty(t, r.Problem)
	})
}

// TestFixtureSurvives grades connectors whose answers have little to do with the
// questions: they fail, and the program goes on to its end.
func TestFixtureSurvives(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	discovery := func(edit func(table map[string]any)) func() http.Handler {
		return over(usual, eachTable(func(table map[string]any) {
			if table["name"] != manifestTable {
				edit(table)
			}
		}))
	}
	but := func(wrong any) func() http.Handler {
		return over(usual, cells(func(name string, v any) any {
			if name == "name" || name == "version" || name == "digest" {
				return v
			}
			return wrong
		}))
	}
	routes := func(edit func(body map[string]any)) func() http.Handler {
		return over(usual, edits(edit, wire.PathCount, wire.PathAggregate, wire.PathSize, wire.PathCardinality, wire.PathLinkHitRate))
	}
	for _, h := range []struct {
		name  string
		build func() http.Handler
	}{
		{"every cell is null", but(nil)},
		{"every cell is a text", but("x")},
		{"every cell is a number", but(1e300)},
		{"rows without members", func() http.Handler {
			manifest := true
			return lines(func(line []byte, emit func(...string)) {
				if kind(line) == "rows" && !manifest {
					emit(`{"rows":[{}]}`, "\n")
					return
				}
				manifest = manifest && kind(line) != "end"
				emit(string(line))
			})(usual())
		}},
		{"rows twice", over(usual, lines(func(line []byte, emit func(...string)) {
			emit(string(line))
			if kind(line) == "rows" && !strings.Contains(string(line), "digest") {
				emit(string(line))
			}
		}))},
		{"every type is json", discovery(func(table map[string]any) {
			for _, field := range table["fields"].([]any) {
				field.(map[string]any)["type"] = "json"
			}
		})},
		{"no fields", discovery(func(table map[string]any) { table["fields"], table["primaryKey"] = []any{}, []any{} })},
		{"keys of nowhere", discovery(func(table map[string]any) {
			table["primaryKey"] = []any{"nowhere"}
			table["foreignKeys"] = []any{map[string]any{"field": "nowhere", "targetTable": "nowhere", "targetField": "nowhere"}}
		})},
		{"no groups, no columns", routes(func(body map[string]any) {
			if _, ok := body["rows"]; ok {
				body["rows"] = []any{map[string]any{}}
			}
			if _, ok := body["columns"]; ok {
				body["columns"] = map[string]any{"other": nil}
			}
			if _, ok := body["orphanSamples"]; ok {
				body["orphanSamples"] = []any{"", "nobody"}
			}
		})},
	} {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, h.build(), grading{Options: conformance.Options{Phases: []int{2}, Match: `^(P2\.([0-9]|1[0-6])[a-z]|A\.)`}})
			require.Empty(t, r.Problem)
			require.Equal(t, check.ExitFail, r.Exit())
			require.NotEmpty(t, r.Failures())
			for _, o := range r.Failures() {
				require.NotEmpty(t, o.Detail, o.ID)
				require.Less(t, len(o.Detail)+len(o.Expected)+len(o.Received), 2000, o.ID)
			}
		})
	}
}
