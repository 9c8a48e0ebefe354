package enginetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPostgresDomains reads domains as their base types, through any number of domains.
func TestPostgresDomains(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, `
		CREATE DOMAIN whole AS integer;
		CREATE DOMAIN positive AS whole CHECK (VALUE > 0);
		CREATE DOMAIN counted AS positive NOT NULL;
		CREATE DOMAIN cents AS numeric(8,2);
		CREATE DOMAIN price AS cents CHECK (VALUE >= 0);
		CREATE DOMAIN second AS timestamptz(0);
		CREATE DOMAIN instant AS second;
		CREATE DOMAIN tag AS text;
		CREATE DOMAIN tags AS tag[];
		CREATE DOMAIN texts AS text[];
		CREATE TABLE t (id counted PRIMARY KEY, n positive, filled counted, price price, at instant, wholes positive[], tags tags, texts texts);
		CREATE VIEW joined AS SELECT u.n, t.filled FROM (VALUES (1), (99)) u(n) LEFT JOIN t ON t.n = u.n;
		INSERT INTO t VALUES (1, 9, 1, 1.5, '2024-02-29 12:00:00.7+00', '{1,2}', '{a,b}', '{a,b}'), (2, 10, 2, 10, NULL, NULL, NULL, NULL)`)
	caller := db.caller(t, nil)
	d, err := caller.Discover()
	require.NoError(t, err)
	require.Len(t, d.Tables, 2)
	joined, table := d.Tables[0], d.Tables[1]
	want := map[string]struct {
		kind     wire.Type
		nullable bool
	}{
		"id":     {wire.TypeNumber, false},
		"n":      {wire.TypeNumber, true},
		"filled": {wire.TypeNumber, false},
		"price":  {wire.TypeDecimal, true},
		"at":     {wire.TypeDatetime, true},
		"wholes": {wire.TypeArray, true},
		"tags":   {wire.TypeArray, true},
		"texts":  {wire.TypeArray, true},
	}
	require.Len(t, table.Fields, len(want))
	for _, f := range table.Fields {
		assert.Equal(t, want[f.Name].kind, f.Type, f.Name)
		assert.Equal(t, want[f.Name].nullable, f.Nullable, f.Name)
	}
	assert.True(t, joined.Fields[1].Nullable, "an outer join makes nulls of a domain that is NOT NULL")

	answer, err := caller.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{{Field: "n", Dir: wire.Desc}},
		Fields: []string{"n", "price", "at", "wholes", "tags", "texts"}})
	require.NoError(t, err)
	require.Len(t, answer.Rows, 2)
	assert.Equal(t, int64(10), answer.Rows[0][0].Int64(), "10 > 9")
	var cells []string
	for _, v := range answer.Rows[1] {
		cells = append(cells, string(v.AppendText(nil)))
	}
	assert.Equal(t, []string{"9", "1.50", "2024-02-29T12:00:01Z", "[1,2]", `["a","b"]`, `["a","b"]`}, cells)
	for _, f := range []wire.Filter{
		{Field: "n", Op: wire.OpGt, Value: wire.Int(9)},
		{Field: "price", Op: wire.OpGte, Value: wire.Decimal("9.999")},
		{Field: "wholes", Op: wire.OpIsNull},
	} {
		n, err := caller.Count(wire.CountRequest{Table: "t", Where: wire.Where{And: []wire.Filter{f}}})
		require.NoError(t, err)
		assert.Equal(t, int64(1), n, f.Field)
	}
	for _, field := range []string{"tags", "texts"} {
		answer, err := caller.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id"}, Where: wire.Where{
			And: []wire.Filter{{Field: field, Op: wire.OpContains, Value: wire.Text("b")}},
		}})
		require.NoError(t, err)
		assert.Len(t, answer.Rows, 1, field)
	}
}
