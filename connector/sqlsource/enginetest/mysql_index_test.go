package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLPlansOfTypes asks the engine how it executes requests about columns whose
// exact condition hides the index.
func TestMySQLPlansOfTypes(t *testing.T) {
	t.Parallel()
	db := newMySQL(t).as(t, func(c *mysql.Config) { c.Params = map[string]string{"sql_mode": "''"} })
	for _, statement := range []string{
		"CREATE TABLE events (id INT PRIMARY KEY, code VARCHAR(40) COLLATE utf8mb4_bin, born YEAR, day DATE, body VARBINARY(20)," +
			" name VARCHAR(40) COLLATE utf8mb4_general_ci, stamp TIMESTAMP NULL, part VARCHAR(40) COLLATE utf8mb4_nopad_bin," +
			" hidden INT, INDEX (part(3)), INDEX (hidden) IGNORED)",
		"INSERT INTO events SELECT seq, CONCAT('code ', LPAD(seq, 6, '0')), 1902 + seq % 250," +
			" IF(seq % 3 = 0, '0000-00-00', DATE '2000-01-01' + INTERVAL seq * 7919 % 9000 DAY), CONCAT('body ', seq), CONCAT('name ', seq)," +
			" FROM_UNIXTIME(seq * 1000), CONCAT('part ', seq), seq FROM seq_1_to_50000",
		"ALTER TABLE events ADD INDEX (code), ADD INDEX (born), ADD INDEX (day), ADD INDEX (body), ADD INDEX (name), ADD INDEX (stamp)",
		"CREATE TABLE places (id INT PRIMARY KEY, code VARCHAR(40), day DATE, UNIQUE (code), INDEX (day))",
		"INSERT INTO places SELECT seq, seq, DATE '2000-01-01' + INTERVAL seq DAY FROM seq_1_to_20000",
		"CREATE TABLE visits (id INT PRIMARY KEY, code VARCHAR(40), day DATE)",
		"INSERT INTO visits SELECT seq, seq, DATE '2000-01-01' + INTERVAL seq DAY FROM seq_1_to_20000",
		"ANALYZE TABLE events, places, visits",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	key := func(column string) []string { return []string{`table=t0 .*key=` + column + ` `} }
	scan := []string{`table=t0 type=ALL`}
	sort := []string{`filesort`, `table=t0 type=ALL`}
	explainAll(t, &db.database, "EXPLAIN ", []plan{
		{why: "greater text, filled with blanks", ask: filterOf("code", "gt", "code 049990"), want: key("code"), never: scan},
		{why: "lesser text, filled with blanks", ask: filterOf("code", "lte", "code 000010"), want: key("code"), never: scan},
		{why: "equal text, whatever its case", ask: filterOf("name", "eq", "name 7"), want: key("name"), never: scan},
		{why: "equal bytes", ask: filterOf("body", "eq", "Ym9keSA3"), want: key("body"), never: scan},
		{why: "a year", ask: filterOf("born", "gt", "2150"), want: key("born"), never: scan},
		{why: "first dates, behind zero dates", ask: firstBy("day", false), want: key("day"), never: sort},
		{why: "last dates, before zero dates", ask: firstBy("day", true), want: key("day"), never: sort},
		{why: "the least date", ask: extremeOf("day", "min"), want: key("day"), never: sort},
		{why: "last years", ask: firstBy("born", true), want: key("born"), never: sort},
		{why: "first timestamps", ask: firstBy("stamp", false), want: key("stamp"), never: sort},
		{why: "first texts, filled with blanks", ask: firstBy("code", false), want: key("code")},
		{why: "last texts, filled with blanks", ask: firstBy("code", true), want: key("code")},
		{why: "the greatest text, filled with blanks", ask: extremeOf("code", "max"), want: key("code"), never: scan},
		{why: "text in another order", ask: firstBy("name", false), want: []string{`filesort`}},
		{why: "an index of prefixes", ask: firstBy("part", false), want: []string{`filesort`}},
		{why: "an index that is ignored", ask: firstBy("hidden", false), want: []string{`filesort`}},
		{why: "a join of a number and a text", ask: joinOn("id", "code"), want: []string{`table=t1 .*type=(eq_)?ref .*key=code `}},
		{why: "a join of a text and a number", ask: joinOn("code", "id"), want: []string{`table=t1 .*type=eq_ref .*key=PRIMARY `}},
		{why: "a join of dates", ask: joinOn("day", "day"), want: []string{`table=t1 .*type=ref .*key=day `}},
	})
}

// TestMySQLMisordered says of an index in the order of a case-insensitive collation that
// it serves no sort and no comparison: in the plan, and in the discovery of a table that
// has many rows.
func TestMySQLMisordered(t *testing.T) {
	t.Parallel()
	db := newMySQL(t)
	db.execute(t, `
		CREATE TABLE many (id INT PRIMARY KEY, code VARCHAR(20) COLLATE utf8mb4_bin, name VARCHAR(20) COLLATE utf8mb4_general_ci,
			INDEX (code), INDEX (name));
		INSERT INTO many SELECT seq, seq, seq FROM seq_1_to_200001;
		CREATE TABLE few (id INT PRIMARY KEY, name VARCHAR(20) COLLATE utf8mb4_general_ci UNIQUE)`)
	var seen plans
	caller := db.caller(t, &sqlsource.Options{Observe: seen.add})
	for _, c := range []struct {
		why   string
		ask   wire.Request
		noted string // "" where nothing is
	}{
		{"sorted by a binary collation", firstBy("code", false), ""},
		{"compared by a binary collation", filterOf("code", "gt", "9"), ""},
		{"equal, which every collation finds", filterOf("name", "eq", "9"), ""},
		{"sorted by another one", firstBy("name", true), `The index of "name" does not serve the sort`},
		{"compared by another one", filterOf("name", "gt", "9999"), `The index of "name" does not serve the filter`},
	} {
		ask := *c.ask.(*wire.QueryRequest)
		ask.Table, ask.Fields, ask.Joins = "many", []string{"id"}, nil
		_, err := caller.Query(ask)
		require.NoError(t, err, c.why)
		summary, _ := seen.take()
		if c.noted == "" {
			require.NotContains(t, summary, "does not serve", c.why)
		} else {
			require.Contains(t, summary, c.noted, c.why)
		}
	}
	_, warnings := db.discover(t, nil, time.Hour)
	require.Contains(t, warnings, `In table "many", a sort or a comparison by the field "name" reads the whole table`)
	require.NotContains(t, warnings, `the field "code"`)
	require.NotContains(t, warnings, `In table "few"`, "where it costs nothing, nothing is said")
}

// TestMySQLBeyondIntegers filters columns of each integer type by what their type cannot hold. MariaDB
// takes it for the least value of the type in a NOT IN that an index serves.
func TestMySQLBeyondIntegers(t *testing.T) {
	t.Parallel()
	db := newMySQL(t)
	types := []struct{ name, least, below, greatest, above string }{
		{"TINYINT", "-128", "-129", "127", "128"},
		{"TINYINT UNSIGNED", "0", "-1", "255", "256"},
		{"SMALLINT", "-32768", "-32769", "32767", "32768"},
		{"SMALLINT UNSIGNED", "0", "-1", "65535", "65536"},
		{"MEDIUMINT", "-8388608", "-8388609", "8388607", "8388608"},
		{"MEDIUMINT UNSIGNED", "0", "-1", "16777215", "16777216"},
		{"INT", "-2147483648", "-2147483649", "2147483647", "2147483648"},
		{"INT UNSIGNED", "0", "-1", "4294967295", "4294967296"},
		{"BIGINT", "-9223372036854775808", "-9223372036854775809", "9223372036854775807", "9223372036854775808"},
		{"BIGINT UNSIGNED", "0", "-1", "18446744073709551615", "18446744073709551616"},
	}
	for i, c := range types {
		name := fmt.Sprintf("t%d", i)
		db.execute(t, fmt.Sprintf("CREATE TABLE %s (id INT PRIMARY KEY, n %s, filler CHAR(200), INDEX (n))", name, c.name))
		db.execute(t, fmt.Sprintf(`INSERT INTO %s SELECT seq, ELT(1 + seq %% 5, %s, %s, 1, 2, NULL), REPEAT('x', 200) FROM seq_1_to_100`,
			name, c.least, c.greatest))
		db.execute(t, "ANALYZE TABLE "+name)
	}
	caller := db.caller(t, nil).Unverified()
	for i, c := range types {
		list := func(op wire.Op, values ...string) wire.Filter {
			f := wire.Filter{Field: "n", Op: op}
			for _, v := range values {
				f.Values = append(f.Values, wire.Text(v))
			}
			return f
		}
		for _, asked := range []struct {
			filter wire.Filter
			want   int64 // 20 rows of each value
		}{
			{list(wire.OpNin, "1", c.below), 80},
			{list(wire.OpNin, "1", c.above), 80},
			{list(wire.OpNin, c.below, c.above), 100},
			{list(wire.OpNin, c.below), 100},
			{list(wire.OpNin, c.least, c.greatest), 60},
			{list(wire.OpIn, "1", c.below, c.above), 20},
			{list(wire.OpIn, c.below, c.above), 0},
			{list(wire.OpIn, c.least, c.greatest), 40},
			{wire.Filter{Field: "n", Op: wire.OpEq, Value: wire.Text(c.below)}, 0},
			{wire.Filter{Field: "n", Op: wire.OpEq, Value: wire.Text(c.greatest)}, 20},
			{wire.Filter{Field: "n", Op: wire.OpNeq, Value: wire.Text(c.above)}, 80},
			{wire.Filter{Field: "n", Op: wire.OpGte, Value: wire.Text(c.below)}, 80},
			{wire.Filter{Field: "n", Op: wire.OpLt, Value: wire.Text(c.below)}, 0},
		} {
			count, err := caller.Count(wire.CountRequest{Table: fmt.Sprintf("t%d", i), Where: wire.Where{And: []wire.Filter{asked.filter}}})
			require.NoError(t, err)
			assert.Equal(t, asked.want, count, "%s: %s %v %v", c.name, asked.filter.Op, asked.filter.Value, asked.filter.Values)
		}
	}
}
