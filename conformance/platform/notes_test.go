package platform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestNotesOfCounts asks for counts that contradict an exact size of 1. Live data may move, so
// that they are answered, with a note.
func TestNotesOfCounts(t *testing.T) {
	t.Parallel()
	h := tabled(numbered(1, false), wire.Limits{}, connector.Omit{})
	for path, body := range map[string]string{
		wire.PathSize:        `{"size":{"rows":1,"exact":true}}`,
		wire.PathCount:       `{"count":77}`,
		wire.PathCardinality: `{"columns":{"half":{"distinct":2,"nonNull":5},"id":{"distinct":0,"nonNull":1}}}`,
		wire.PathLinkHitRate: `{"fromNonNull":9,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`,
	} {
		h = instead(h, path, body)
	}
	conn := connectTo(t, h, nil)
	ask := func() []string {
		_, n, err := conn.Count(t.Context(), &wire.CountRequest{Table: "numbered"})
		require.NoError(t, err)
		_, some, err := conn.Count(t.Context(), &wire.CountRequest{Table: "numbered",
			Where: wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpGt, Value: wire.Int(0)}}}})
		require.NoError(t, err)
		require.Empty(t, some.Notes, "a count of some rows is not compared")
		_, cells, err := conn.Cardinality(t.Context(), "numbered", "half", "id")
		require.NoError(t, err)
		_, link, err := conn.LinkHitRate(t.Context(), &wire.LinkHitRateRequest{FromTable: "numbered", FromColumn: "half",
			ToTable: "numbered", ToColumn: "id"})
		require.NoError(t, err)
		return append(append(n.Notes, cells.Notes...), link.Notes...)
	}
	require.Len(t, ask(), 1, "the unique field alone, while no size is known")
	_, stats, err := conn.Size(t.Context(), "numbered")
	require.NoError(t, err)
	require.Empty(t, stats.Notes)
	require.Equal(t, []string{
		`table "numbered": 77 rows are counted, and the exact size is 1`,
		`table "numbered", field "half": 5 cells are not null, and the exact size is 1 rows`,
		`table "numbered", field "id" is unique: 0 of 1 cells are different`,
		`table "numbered", field "half": 9 cells are not null, and the exact size is 1 rows`,
	}, ask())
}

// TestNoteOfADeclaredOperator filters rows here that a declared operator should have left out. The
// connector says that it did not filter, so that the rows are right; the answer has a note.
func TestNoteOfADeclaredOperator(t *testing.T) {
	t.Parallel()
	h := bodies(unclaimed(tabled(numbered(9, true), wire.Limits{}, connector.Omit{}),
		`{"served":{"filters":false,"sort":false,"window":false}}`+"\n"), func(_ string, body map[string]any) { delete(body, "and") })
	for id, notes := range map[int64][]string{
		0: nil, // all rows pass
		4: {`table "numbered": the connector declares gt, and left rows in that do not pass; they were filtered here`},
	} {
		conn := connectTo(t, h, nil)
		answer, err := conn.Query(t.Context(), &wire.QueryRequest{Table: "numbered", Fields: []string{"id"},
			Where: wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpGt, Value: wire.Int(id)}}}})
		require.NoError(t, err)
		rows := int64(0)
		for _, err := range answer.All() {
			require.NoError(t, err)
			rows++
		}
		require.Equal(t, 9-id, rows)
		require.Equal(t, notes, answer.Stats.Notes)
	}
}
