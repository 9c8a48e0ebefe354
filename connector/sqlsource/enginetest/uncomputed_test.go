package enginetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// uncomputedOf makes views of a column n over ten thousand rows or more, of which a
// late one cannot be computed, or sent.
type uncomputedOf struct {
	script string
	views  []uncomputed
	passes []string // views whose failure passes
}

type uncomputed struct {
	view, why string
	says      string // of the error, besides the view
	// sent reports that the engine computes the value, which then cannot be sent.
	sent bool
}

// TestUncomputed reads the views: the stream ends in an error line, and a count of
// the values is refused, and both say which view, and why, and nothing of a cell.
func TestUncomputed(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, e.uncomputed.script)
		readUncomputed(t, db, e.uncomputed)
		if e == &postgres {
			t.Run("pgxrows", func(t *testing.T) { readUncomputed(t, db.with(pgxrows.PostgreSQL()), e.uncomputed) })
		}
	})
}

// slow leaves time to a machine that does much else.
var slow = wire.Envelope{TimeoutMS: 120_000}

func readUncomputed(t *testing.T, db *database, of uncomputedOf) {
	caller := db.caller(t, nil).Unverified()
	for _, v := range of.views {
		t.Run(v.why, func(t *testing.T) {
			caller := caller.In(t)
			told := func(err error) {
				t.Helper()
				require.Error(t, err)
				assert.Equal(t, wire.CodeUnsupported, code(err), "%v", err)
				assert.ErrorContains(t, err, terms.QuoteName(v.view))
				assert.ErrorContains(t, err, v.says)
				assert.NotContains(t, strings.ToLower(err.Error()), "secret")
			}
			answer, err := caller.Query(wire.QueryRequest{Table: v.view, Envelope: slow, Sort: []wire.SortKey{}, Fields: []string{"n"}})
			told(err)
			require.NotNil(t, answer, "the stream has begun")
			assert.NotEmpty(t, answer.Rows)
			if v.sent {
				return
			}
			_, err = caller.Aggregate(wire.AggregateRequest{Table: v.view, Envelope: slow, Measures: []wire.Measure{
				{Fn: wire.AggCountDistinct, Field: "n", As: "n"},
			}})
			told(err)
			_, err = caller.Count(wire.CountRequest{Table: v.view, Envelope: slow, Where: wire.Where{And: []wire.Filter{
				{Field: "n", Op: wire.OpIn, Values: []wire.Value{wire.Int(-7)}},
			}}})
			told(err)
			assert.NotErrorIs(t, err, connector.ErrDecline)
		})
	}
	for _, view := range of.passes {
		_, err := caller.Query(wire.QueryRequest{Table: view, Sort: []wire.SortKey{}, Fields: []string{"n"}})
		require.Equal(t, wire.CodeTimeout, code(err), "%s: %v", view, err)
		_, err = caller.Cardinality(view, "n")
		require.Equal(t, wire.CodeTimeout, code(err), "%s: %v", view, err)
	}
}
