package duckdb_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// read returns the rows of a statement as the flavor reads them, on a connection of
// its own, up to a number of rows; 0: all of them.
func read(ctx context.Context, t testing.TB, conn *sql.Conn, limit int, statement string, columns ...*sqlengine.Column) ([]string,
	error) {
	t.Helper()
	var rows []string
	for values, err := range duckdb.Flavor().ReadRows(ctx, conn, statement, nil, columns) {
		if err != nil {
			return rows, err
		}
		rows = append(rows, fmt.Sprint(values))
		if len(rows) == limit {
			break
		}
	}
	return rows, nil
}

// column returns a column of the catalog as the flavor reads it.
func column(ref, dataType string, precision, scale int, want wire.Type) *sqlengine.Column {
	c := duckdb.Flavor().Column(ref, sqlengine.CatalogColumn{DataType: dataType, Precision: precision, Scale: scale})
	c.Decode = c.Decoder()
	if want != "" {
		c.Type = want
	}
	return &c
}

// TestChunks reads every type in chunks and, where something wraps the driver's
// connection, as the driver returns it. Both are the same cells, in chunks that are
// full, and in columns that the host asks for as another type.
func TestChunks(t *testing.T) {
	db, c := reach(t, "")
	wrapped := sqlsourcetest.Intercept(c, func(string, []sqldriver.NamedValue) error { return nil })
	types, definitions := types(t), []string(nil)
	for i, own := range types {
		definitions = append(definitions, fmt.Sprintf("c%d %s", i, own.SQL))
	}
	testkit.Must(db.Exec("CREATE TABLE every (" + strings.Join(definitions, ", ") + ")"))(t)
	for i, own := range types {
		for _, value := range own.Literals {
			testkit.Must(db.Exec(fmt.Sprintf("INSERT INTO every (c%d) VALUES (%s)", i, value.SQL)))(t)
		}
	}
	testkit.Must(db.Exec("INSERT INTO every SELECT e.* FROM every e, range(15)"))(t)
	tables, _, err := duckdb.Flavor().Catalog(t.Context(), db, "", []string{"every"})
	require.NoError(t, err)
	for i, own := range tables[0].Columns {
		for _, want := range []wire.Type{"", wire.TypeJSON} {
			cell := column(own.Name, own.DataType, own.Precision, own.Scale, want)
			statement := "SELECT " + cell.Cell + " FROM every ORDER BY rowid"
			chunks := testkit.Must(read(t.Context(), t, duckdb.Connected(t, db), 0, statement, cell))(t, types[i].Name)
			require.Greater(t, len(chunks), 2048, "more than one chunk")
			rows := testkit.Must(read(t.Context(), t, duckdb.Connected(t, wrapped), 0, statement, cell))(t, types[i].Name)
			require.Equal(t, rows, chunks, types[i].Name)
		}
	}
}

// TestStream leaves an answer that has no end, and an answer whose next chunk never comes,
// while it is fetched. After the transaction, the connection can be used again.
func TestStream(t *testing.T) {
	for _, c := range []struct {
		name, statement string
		limits          []int
	}{
		{"no end", "SELECT range FROM range(1000000000000)", []int{1, 5000}},
		{"a long search", "SELECT range FROM range(1000000000000000000) WHERE range < 6144 OR range = 999999999999999999",
			[]int{1, 3000, 6144}},
	} {
		for _, limit := range c.limits {
			t.Run(fmt.Sprint(c.name, " ", limit), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // fails if a goroutine goes on
					db, _ := reach(t, "")
					defer func() { require.NoError(t, db.Close()) }()
					conn := testkit.Must(db.Conn(t.Context()))(t)
					defer func() { require.NoError(t, conn.Close()) }()
					_, err := conn.ExecContext(t.Context(), "SET streaming_buffer_size = '1 byte'") // or it searches before it shows any row
					require.NoError(t, err)
					tx := testkit.Must(conn.BeginTx(t.Context(), nil))(t)
					n := column("range", "BIGINT", 0, 0, "")
					rows := testkit.Must(read(t.Context(), t, conn, limit, c.statement, n))(t)
					require.Len(t, rows, limit)
					require.Equal(t, fmt.Sprintf("[%d]", limit-1), rows[limit-1])
					require.NoError(t, tx.Rollback())
					rows = testkit.Must(read(t.Context(), t, conn, 0, "SELECT range FROM range(3)", n))(t)
					require.Equal(t, []string{"[0]", "[1]", "[2]"}, rows)
				})
			})
		}
	}
}

// TestStreamFails fails in the middle of an answer: nothing takes that for its end.
func TestStreamFails(t *testing.T) {
	conn := duckdb.Connected(t, open(t, ""))
	n := column("range", "BIGINT", 0, 0, "")
	const fails = "SELECT CAST(CASE WHEN range < 300000 THEN '1' ELSE 'secret' END AS BIGINT) AS range FROM range(400000)"
	rows, err := read(t.Context(), t, conn, 0, fails, n)
	require.ErrorContains(t, err, "Conversion Error")
	require.NotEmpty(t, rows)
	require.Equal(t, "22P02", duckdb.Flavor().State(err))
	_, err = read(t.Context(), t, conn, 0, "SELECT FROM", n)
	require.ErrorContains(t, err, "Parser Error")
	_, err = read(t.Context(), t, conn, 0, "SELECT range FROM gone", n)
	require.Equal(t, "42P01", duckdb.Flavor().State(err))
}

// TestStreamIsCancelled ends the context before the first row and between two, and the
// connection's next statement is not interrupted.
func TestStreamIsCancelled(t *testing.T) {
	conn := duckdb.Connected(t, open(t, ""))
	n := column("range", "BIGINT", 0, 0, "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := read(ctx, t, conn, 0, "SELECT count(*) AS range FROM range(1000000000000) a, range(1000000)", n)
	require.Equal(t, "57014", duckdb.Flavor().State(err))
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		for _, err = range duckdb.Flavor().ReadRows(ctx, conn, "SELECT range FROM range(1000000000000)", nil,
			[]*sqlengine.Column{n}) {
			if seen++; seen == 3000 {
				cancel()
			}
		}
		cancel()
		require.Error(t, err)
		rows := testkit.Must(read(t.Context(), t, conn, 0, "SELECT range FROM range(1)", n))(t)
		require.Equal(t, []string{"[0]"}, rows)
	}
}

// TestStreamAllocates reads many rows, for which little is allocated: the memory of texts,
// that many of them share.
func TestStreamAllocates(t *testing.T) {
	conn := duckdb.Connected(t, open(t, ""))
	const rows = 100_000
	statement := fmt.Sprintf(`SELECT range, range / 8, CAST(range AS DECIMAL(12,2)), DATE '2024-01-01' + CAST(range %% 500 AS INTEGER),
		TIMESTAMP '2024-01-01' + INTERVAL (range) SECOND, range > 5, 'text ' || range, CAST(range AS HUGEINT) FROM range(%d)`, rows)
	var columns []*sqlengine.Column
	for _, typ := range []string{"BIGINT", "DOUBLE", "DECIMAL(12,2)", "DATE", "TIMESTAMP", "BOOLEAN", "VARCHAR", "HUGEINT"} {
		columns = append(columns, column("c", typ, 12, 2, ""))
	}
	allocated := testing.AllocsPerRun(1, func() {
		got := 0
		for _, err := range duckdb.Flavor().ReadRows(t.Context(), conn, statement, nil, columns) {
			require.NoError(t, err)
			got++
		}
		require.Equal(t, rows, got)
	})
	require.Less(t, allocated, float64(rows/50))
}
