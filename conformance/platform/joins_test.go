package platform_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// staff is a table that refers to itself, with keys of both kinds.
func staff(omit connector.Omit, limits wire.Limits) http.Handler {
	people := memsource.Table{Table: wire.Table{Name: "people", StoresRows: true, PrimaryKey: []string{"id"}, ForeignKeys: []wire.ForeignKey{
		{Field: "boss", TargetTable: "people", TargetField: "id"}}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber, Unique: true},
		{Name: "boss", Type: wire.TypeNumber, Nullable: true},
		{Name: "boss_text", Type: wire.TypeString, Nullable: true},
		{Name: "name", Type: wire.TypeString},
	}}, Rows: [][]wire.Value{
		{wire.Int(1), wire.Null(), wire.Null(), wire.Text("Ada")},
		{wire.Int(2), wire.Int(1), wire.Text("1"), wire.Text("Bo")},
		{wire.Int(3), wire.Int(2), wire.Text("02"), wire.Text("Cy")},
		{wire.Int(4), wire.Int(9), wire.Text("1.0"), wire.Text("Di")},
		{wire.Int(5), wire.Int(1), wire.Text("1"), wire.Text("Ed")},
	}}
	src, err := memsource.New([]memsource.Table{people}, nil)
	if err != nil {
		panic(err)
	}
	return built(connector.Definition{Limits: limits}, src, omit)
}

// TestJoins executes joins here that the corpus does not have.
func TestJoins(t *testing.T) {
	t.Parallel()
	hop := func(from, to, as string) wire.JoinHop {
		return wire.JoinHop{FromTable: "people", FromField: from, ToTable: "people", ToField: to,
			Fields: []wire.JoinField{{Field: "name", As: as}}}
	}
	here := connectTo(t, staff(connector.Omit{Join: true}, wire.Limits{Concurrency: 1}), nil)
	there := connectTo(t, staff(connector.Omit{}, wire.Limits{}), nil)
	for _, c := range []struct {
		why  string
		req  wire.QueryRequest
		want string
	}{
		{"query-6: a null key, and one without a match, keep their row", wire.QueryRequest{Joins: []wire.JoinHop{hop("boss", "id", "b")}},
			"[[1 null] [2 Ada] [3 Bo] [4 null] [5 Ada]]"},
		{"query-6: several matches give several rows", wire.QueryRequest{Joins: []wire.JoinHop{hop("id", "boss", "r")}},
			"[[1 Bo] [1 Ed] [2 Cy] [3 null] [4 null] [5 null]]"},
		{"measure-2b: text and numbers are equal as text", wire.QueryRequest{Joins: []wire.JoinHop{hop("boss_text", "id", "b")}},
			"[[1 null] [2 Ada] [3 null] [4 null] [5 Ada]]"},
		{"query-6a: a hop from the base table, though a hop has reached it",
			wire.QueryRequest{Joins: []wire.JoinHop{hop("boss", "id", "b"), hop("id", "id", "own")}},
			"[[1 null Ada] [2 Ada Bo] [3 Bo Cy] [4 null Di] [5 Ada Ed]]"},
		{"query-15: the window counts joined rows", wire.QueryRequest{Joins: []wire.JoinHop{hop("id", "boss", "r")}, Offset: 1, Limit: 2},
			"[[1 Ed] [2 Cy]]"},
	} {
		req := c.req
		req.Table, req.Fields = "people", []string{"id"}
		req.Sort = []wire.SortKey{{Field: "id", Dir: wire.Asc}}
		for name, conn := range map[string]*platform.Connection{"here": here, "by the connector": there} {
			rows, _, err := casetest.Rows(t.Context(), conn, &req)
			require.NoError(t, err)
			require.Equal(t, c.want, fmt.Sprint(rows), "%s, %s", c.why, name)
			answer, err := conn.Query(t.Context(), &req)
			require.NoError(t, err)
			for i, column := range answer.Columns {
				require.Equal(t, i, column.Hop, "id, then one column of each hop")
			}
		}
	}
}

// TestLinksOfBothKinds compares keys as a join does (measure-2b).
func TestLinksOfBothKinds(t *testing.T) {
	t.Parallel()
	conn := connectTo(t, staff(connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointLinkHitRate}}, wire.Limits{}), nil)
	for column, want := range map[string]*wire.LinkHitRate{
		"boss":      {FromNonNull: 4, OrphanCount: 1, OrphanRate: 0.25, OrphanSamples: []string{"9"}},
		"boss_text": {FromNonNull: 4, OrphanCount: 2, OrphanRate: 0.5, OrphanSamples: []string{"02", "1.0"}},
	} {
		rate, work, err := conn.LinkHitRate(t.Context(), &wire.LinkHitRateRequest{
			FromTable: "people", FromColumn: column, ToTable: "people", ToColumn: "id"})
		require.NoError(t, err)
		require.Equal(t, want, rate)
		require.True(t, work.Counted)
	}
}

// TestHops joins a hop from a field that nobody asked for, where the hop before it has a
// match and where it has none.
func TestHops(t *testing.T) {
	t.Parallel()
	people := wire.Table{Name: "people", StoresRows: true, Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber},
		{Name: "team", Type: wire.TypeNumber}}}
	teams := wire.Table{Name: "teams", StoresRows: true, Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber},
		{Name: "name", Type: wire.TypeString}, {Name: "city", Type: wire.TypeNumber}}}
	cities := wire.Table{Name: "cities", StoresRows: true, Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber},
		{Name: "name", Type: wire.TypeString}}}
	src, err := memsource.New([]memsource.Table{
		{Table: people, Rows: [][]wire.Value{{wire.Int(1), wire.Int(1)}, {wire.Int(2), wire.Int(9)}, {wire.Int(3), wire.Int(2)}}},
		{Table: teams, Rows: [][]wire.Value{{wire.Int(1), wire.Text("red"), wire.Int(7)}, {wire.Int(2), wire.Text("blue"), wire.Int(8)}}},
		{Table: cities, Rows: [][]wire.Value{{wire.Int(7), wire.Text("Ulm")}}},
	}, nil)
	require.NoError(t, err)
	conn := connectTo(t, built(connector.Definition{}, src, connector.Omit{Join: true}), nil)
	rows, _, err := casetest.Rows(t.Context(), conn, &wire.QueryRequest{Table: "people", Fields: []string{"id"}, Joins: []wire.JoinHop{
		{FromTable: "people", FromField: "team", ToTable: "teams", ToField: "id", Fields: []wire.JoinField{{Field: "name", As: "team"}}},
		{FromTable: "teams", FromField: "city", ToTable: "cities", ToField: "id", Fields: []wire.JoinField{{Field: "name", As: "city"}}}}})
	require.NoError(t, err)
	require.Equal(t, "[[1 red Ulm] [2 null null] [3 blue null]]", fmt.Sprint(rows))
}

// TestJoinedRowsBeyondTheLimit does not take the base table's number of rows for
// that of the joined ones.
func TestJoinedRowsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	h := bodies(staff(connector.Omit{}, wire.Limits{RowsPerTableMax: 5}), func(path string, body map[string]any) {
		if path == wire.PathQuery {
			body["limit"] = 5 // a source that reads no further
		}
	})
	_, _, err := casetest.Rows(t.Context(), connectTo(t, h, nil), &wire.QueryRequest{Table: "people", Fields: []string{"id"},
		Joins: []wire.JoinHop{{FromTable: "people", FromField: "id", ToTable: "people", ToField: "boss"}}})
	require.ErrorIs(t, err, platform.ErrReach, "there are six joined rows of five people")
}
