package conformance_test

import (
	"cmp"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestUnusualLimits grades connectors that declare ceilings and keep to them, or
// spell cells in ways that no sentence forbids: none fails.
func TestUnusualLimits(t *testing.T) {
	t.Parallel()
	// first serves the first rows of every table.
	first := func(rows int, count func(all, served int) *int64) func() http.Handler {
		return func() http.Handler {
			var tables []memsource.Table
			for _, table := range corpus.Tables() {
				all := len(table.Rows)
				table.Rows = table.Rows[:min(all, rows)]
				table.RowCount = count(all, len(table.Rows))
				tables = append(tables, memsource.Table(table))
			}
			return serve(connector.Definition{Limits: wire.Limits{RowsPerTableMax: int64(rows)}}, source(tables...), nil)
		}
	}
	known := func(all, _ int) *int64 {
		n := int64(all)
		return &n
	}
	for i, u := range []struct {
		name, why string
		build     func() http.Handler
	}{
		{"a ceiling that is obeyed", "rowsPerTableMax is a ceiling of the source", first(1000, known)},
		{"a ceiling that is obeyed, of tables of unknown size", "rowCount is optional",
			first(1000, func(int, int) *int64 { return nil })},
		{"a ceiling that is all it knows", "a source that stops there counts no further", first(1000, func(_, served int) *int64 {
			n := int64(served)
			return &n
		})},
		{"a low ceiling", "the manifest can still be read", first(20, known)},
		{"pages without a limit end too", "the platform plans its reads within pageSizeMax", func() http.Handler {
			return requests(wire.PathQuery, func(body map[string]any) bool {
				if _, limited := body["limit"]; !limited {
					body["limit"] = 2000
				}
				return true
			})(serve(connector.Definition{Limits: wire.Limits{PageSizeMax: 2000}}, corpusSource(), nil))
		}},
		{"booleans as texts", "a value is a string, a number, a boolean or null", booleansAsTexts},
		{"documents with blanks", "JSON text, with or without blanks", documentsWithBlanks},
	} {
		if !testrun.Runs(i, 8) {
			continue
		}
		for _, mode := range []conformance.Mode{conformance.ModeFixture, conformance.ModeLive} {
			t.Run(u.name+" "+string(mode), func(t *testing.T) {
				t.Parallel()
				r := grade(t, u.build(), grading{Options: conformance.Options{Mode: mode, Requests: testrun.Budget(200)}})
				for _, o := range r.Failures() {
					t.Errorf("%s: but %s %s: %s\nexpected %s\nreceived %s\n%s", u.why, o.ID, o.Title, o.Detail, o.Expected, o.Received,
						cmp.Or(o.Request.Body, "no body"))
				}
				require.Equal(t, conformance.ExitPass, r.Exit(), "%v", r.Err())
			})
		}
	}
}
