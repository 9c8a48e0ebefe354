package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLColumnGrants serves the columns that a user may read, on every route, and
// says what is left out and which privilege is missing.
func TestMySQLColumnGrants(t *testing.T) {
	db := newMySQL(t)
	for _, statement := range []string{
		"CREATE TABLE secrets (id INT PRIMARY KEY, v INT)",
		"CREATE TABLE partly (id INT PRIMARY KEY, w INT, v INT, UNIQUE KEY (v))",
		"CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES partly (id))",
		"CREATE TABLE keyless (v INT, w INT, PRIMARY KEY (v, w))",
		"INSERT INTO secrets VALUES (3, 30)",
		"INSERT INTO partly VALUES (1, 10, 3), (2, 20, NULL)",
		"INSERT INTO keyless VALUES (1, 1), (2, 1)",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	base := db.config.DBName + "."
	reader := db.user(t, "SELECT (id, w), INSERT (v) ON "+base+"partly",
		"SELECT (w), INSERT (v) ON "+base+"keyless", "INSERT ON "+base+"secrets",
		"SELECT (id), INSERT ON "+base+"child")
	caller := reader.caller(t, nil).Unverified()

	d, err := caller.Discover()
	require.NoError(t, err)
	described := map[string][]string{}
	for _, table := range d.Tables {
		for _, f := range table.Fields {
			described[table.Name] = append(described[table.Name], f.Name)
		}
		require.Empty(t, table.ForeignKeys, table.Name)
		if table.Name == "keyless" {
			require.Empty(t, table.PrimaryKey)
		} else {
			require.Equal(t, []string{"id"}, table.PrimaryKey)
		}
	}
	require.Equal(t, map[string][]string{"partly": {"id", "w"}, "keyless": {"w"}, "child": {"id"}}, described)
	warnings := strings.Join(d.Warnings, "\n")
	for _, want := range []string{
		`table "secrets" is left out, because the user of the database does not have the privilege SELECT`,
		`In table "child", the foreign key () is left out because the user may not read all of its columns`,
		`In table "keyless", the primary key ("w") is left out because the user may not read all of its columns`,
	} {
		require.Contains(t, warnings, want)
	}

	answer, err := caller.Query(wire.QueryRequest{Table: "partly", Fields: []string{"id", "w"},
		Sort: []wire.SortKey{{Field: "w", Dir: wire.Desc}}, Limit: 5})
	require.NoError(t, err)
	require.Equal(t, [][]wire.Value{{wire.Int(2), wire.Int(20)}, {wire.Int(1), wire.Int(10)}}, answer.Rows)
	answer, err = caller.Query(wire.QueryRequest{Table: "keyless", Fields: []string{"w"}, Sort: []wire.SortKey{}, Limit: 5})
	require.NoError(t, err)
	require.Len(t, answer.Rows, 2, "rows that are equal in all readable columns")
	n, err := caller.Count(wire.CountRequest{Table: "partly"})
	require.NoError(t, err)
	require.Equal(t, int64(2), n)
	size, err := caller.Size("partly")
	require.NoError(t, err)
	require.Equal(t, int64(2), size.Rows)
	counts, err := caller.Cardinality("partly", "id", "w")
	require.NoError(t, err)
	require.Equal(t, int64(2), counts["w"].Distinct)
	groups, err := caller.Aggregate(wire.AggregateRequest{Table: "partly", GroupBy: []wire.GroupKey{{Field: "id", As: "id"}},
		Measures: []wire.Measure{{Fn: wire.AggSum, Field: "w", As: "s"}}, Limit: wire.AggregateLimit})
	require.NoError(t, err)
	require.Len(t, groups, 2)
	_, err = caller.Query(wire.QueryRequest{Table: "partly", Fields: []string{"v"}, Sort: []wire.SortKey{}})
	require.Error(t, err, "a column that may not be read does not exist")
}

// TestMySQLBooleans tells booleans from small numbers by what the catalog proves, so
// that a column has one type whatever its rows are.
func TestMySQLBooleans(t *testing.T) {
	db := newMySQL(t)
	for _, statement := range []string{
		`CREATE TABLE t (k TINYINT(1) PRIMARY KEY, plain TINYINT(1), checked BOOLEAN CHECK (checked IN (0, 1)),
			ranged TINYINT UNSIGNED CHECK (ranged BETWEEN 0 AND 1), three TINYINT(1) CHECK (three IN (0, 1, 2)),
			uniq TINYINT(1) UNIQUE CHECK (uniq IN (0, 1)), one BIT(1), two BIT(2), said TINYINT(1))`,
		"INSERT INTO t (k, plain, checked, one, two, said) SELECT seq, seq, seq % 2, seq % 2, seq % 4, seq % 2 FROM seq_1_to_60",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	options := &sqlsource.Options{Tables: map[string]sqlsource.TableOptions{
		"t": {Columns: map[string]sqlsource.ColumnOptions{"said": {Type: wire.TypeBoolean}}},
	}}
	caller := db.caller(t, options).Unverified()
	d, err := caller.Discover()
	require.NoError(t, err)
	types := map[string]wire.Type{}
	for _, f := range d.Tables[0].Fields {
		types[f.Name] = f.Type
	}
	require.Equal(t, map[string]wire.Type{
		"k": wire.TypeNumber, "plain": wire.TypeNumber, "three": wire.TypeNumber, "two": wire.TypeNumber,
		"uniq":    wire.TypeNumber, // a key: what refers to it may lack the constraint
		"checked": wire.TypeBoolean, "ranged": wire.TypeBoolean, "one": wire.TypeBoolean,
		"said": wire.TypeBoolean,
	}, types)
	seen := map[string]bool{}
	for offset := int64(0); offset < 60; offset += 7 {
		answer, err := caller.Query(wire.QueryRequest{Table: "t", Fields: []string{"k", "plain", "checked", "said"},
			Sort: []wire.SortKey{}, Offset: offset, Limit: 7})
		require.NoError(t, err)
		for _, row := range answer.Rows {
			seen[row[0].Text()+"/"+fmt.Sprint(row[0], row[1])] = true
			require.Equal(t, row[0], row[1])
			require.Equal(t, wire.Bool(row[0].Int64()%2 == 1), row[2])
			require.Equal(t, row[2], row[3])
		}
	}
	require.Len(t, seen, 60)
}

// TestMySQLZerofill spells a number in one way wherever it is read.
func TestMySQLZerofill(t *testing.T) {
	db := newMySQL(t)
	for _, statement := range []string{
		"CREATE TABLE t (id INT PRIMARY KEY, d DECIMAL(6,2) ZEROFILL, i INT(6) ZEROFILL, b BIGINT ZEROFILL)",
		"INSERT INTO t VALUES (1, 1.5, 7, 18446744073709551615), (2, 20, 123, 9), (3, 1.5, 7, 8)",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	caller := db.caller(t, nil).Unverified()
	query := func(filters ...wire.Filter) string {
		answer, err := caller.Query(wire.QueryRequest{Table: "t", Fields: []string{"d", "i", "b"},
			Sort: []wire.SortKey{{Field: "d", Dir: wire.Asc}}, Where: wire.Where{And: filters}})
		require.NoError(t, err)
		return fmt.Sprint(answer.Rows)
	}
	all := "[[1.50 7 18446744073709551615] [1.50 7 8] [20.00 123 9]]"
	require.Equal(t, all, query())
	for _, c := range []struct {
		why    string
		filter wire.Filter
		want   string
	}{
		{"equal", wire.Filter{Field: "d", Op: wire.OpEq, Value: wire.Text("20.0")}, "[[20.00 123 9]]"},
		{"a prefix", wire.Filter{Field: "d", Op: wire.OpStartsWith, Value: wire.Text("1.5")},
			"[[1.50 7 18446744073709551615] [1.50 7 8]]"},
		{"no padding inside", wire.Filter{Field: "i", Op: wire.OpIncludes, Value: wire.Text("0")}, "[]"},
		{"a prefix of a large number", wire.Filter{Field: "b", Op: wire.OpStartsWith, Value: wire.Text("9")}, "[[20.00 123 9]]"},
	} {
		require.Equal(t, c.want, query(c.filter), c.why)
	}
	groups, err := caller.Aggregate(wire.AggregateRequest{Table: "t", GroupBy: []wire.GroupKey{{Field: "i", As: "i"}}, Limit: wire.AggregateLimit,
		Measures: []wire.Measure{
			{Fn: wire.AggMin, Field: "d", As: "least"}, {Fn: wire.AggMax, Field: "b", As: "most"}, {Fn: wire.AggSum, Field: "d", As: "sum"},
		}})
	require.NoError(t, err)
	got := map[string]string{}
	for _, g := range groups {
		got[fmt.Sprint(g["i"])] = fmt.Sprint(g["least"], g["most"], g["sum"])
	}
	require.Equal(t, map[string]string{"7": "1.50 18446744073709551615 3.00", "123": "20.00 9 20.00"}, got)
}
