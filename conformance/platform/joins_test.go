package platform_test

import (
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
