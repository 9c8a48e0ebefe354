package enginetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// mysqlSample is a database of what is rare elsewhere. hand is a table's whole content
// as the platform must see it, in SQL written by hand: text, ordered by its rows.
var mysqlSample = []struct {
	table, why string
	make       []string
	hand       string // empty: the table must not be listed
	types      string // of the columns
	key        string
	links      string
}{
	{
		table: "staff", why: "a key of its own rows",
		make: []string{
			"CREATE TABLE staff (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, boss INT UNSIGNED, born YEAR," +
				" FOREIGN KEY (boss) REFERENCES staff (id))",
			"INSERT INTO staff VALUES (1, NULL, 1901), (2, 1, 2155), (3, 1, 0000)",
		},
		hand:  "SELECT id, boss, born + 0 FROM staff ORDER BY id",
		types: "number number number", key: "id", links: "boss>staff.id",
	},
	{
		table: "lines", why: "keys of several columns",
		make: []string{
			"CREATE TABLE orders (shop INT, number INT, PRIMARY KEY (shop, number))",
			"INSERT INTO orders VALUES (1, 1), (1, 2), (2, 1)",
			"CREATE TABLE `lines` (shop INT, number INT, at INT, price DECIMAL(30,10), PRIMARY KEY (shop, number, at)," +
				" FOREIGN KEY (shop, number) REFERENCES orders (shop, number))",
			"INSERT INTO `lines` VALUES (1, 1, 1, 0.1), (1, 2, 1, -99999999999999999999.9999999999), (2, 1, 7, 5)",
		},
		hand:  "SELECT shop, number, at, CAST(price AS CHAR) FROM `lines` ORDER BY 1, 2, 3",
		types: "number number number decimal", key: "shop,number,at", links: "number>orders.number,shop>orders.shop",
	},
	{
		table: "kinds", why: "lists, sets, bits and numbers at their limits",
		make: []string{
			"CREATE TABLE kinds (id BIGINT UNSIGNED PRIMARY KEY, mood ENUM('', 'b', 'a', 'Ä')," +
				" flags SET('x', 'y', 'z'), bits BIT(64), one BIT(1), tiny TINYINT UNSIGNED)",
			"INSERT INTO kinds VALUES (18446744073709551615, 'Ä', 'x,z', 18446744073709551615, 1, 255)",
			"INSERT INTO kinds VALUES (0, '', '', 0, 0, 0), (9223372036854775808, 'b', NULL, NULL, NULL, NULL)",
		},
		hand: "SELECT id, mood, flags, bits + 0, ELT(one + 1, 'false', 'true'), tiny FROM kinds ORDER BY id",
	},
	{
		table: "times", why: "zero dates, and times beyond a day",
		make: []string{
			"CREATE TABLE times (id INT PRIMARY KEY, d DATE, dt DATETIME(3), ts TIMESTAMP(6) NULL, t TIME(2))",
			"INSERT INTO times VALUES (1, '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '838:59:59')",
			"INSERT INTO times VALUES (2, '2024-02-00', '2024-00-01 01:02:03', '1970-01-01 00:00:01', '-838:59:59')",
			"INSERT INTO times VALUES (3, '9999-12-31', '9999-12-31 23:59:59.999', '2038-01-19 03:14:07.999999', '24:00:00.05')",
		},
		hand: `SELECT id, IF(MONTH(d) > 0 AND DAY(d) > 0, CAST(d AS CHAR), NULL),
			IF(MONTH(dt) > 0, DATE_FORMAT(dt, '%Y-%m-%dT%H:%i:%s.999Z'), NULL),
			IF(MONTH(ts) > 0, DATE_FORMAT(ts, '%Y-%m-%dT%H:%i:%s.%fZ'), NULL), CAST(t AS CHAR) FROM times ORDER BY id`,
		types: "number date datetime datetime string",
	},
	{
		table: "scripts", why: "texts in other character sets",
		make: []string{
			"CREATE TABLE scripts (id INT PRIMARY KEY, l VARCHAR(20) CHARACTER SET latin1, u VARCHAR(20) CHARACTER SET utf16," +
				" c VARCHAR(20) CHARACTER SET cp1250, b VARCHAR(20) CHARACTER SET big5, k VARCHAR(20) CHARACTER SET koi8r)",
			"INSERT INTO scripts VALUES (1, 'é€', '😀', 'ěšč', '中文', 'Привет'), (2, 'a ', 'a', '', ' ', NULL)",
		},
		hand: `SELECT id, CONVERT(l USING utf8mb4), CONVERT(u USING utf8mb4), CONVERT(c USING utf8mb4), CONVERT(b USING utf8mb4),
			CONVERT(k USING utf8mb4) FROM scripts ORDER BY id`,
	},
	{
		table: "made", why: "columns that the engine computes, one of which is not shown by *",
		make: []string{
			"CREATE TABLE made (id INT PRIMARY KEY, twice INT AS (id * 2) VIRTUAL," +
				" half DECIMAL(5,1) AS (id / 2) STORED, hidden INT INVISIBLE DEFAULT 7)",
			"INSERT INTO made (id) VALUES (1), (3)",
		},
		hand: "SELECT id, twice, half, hidden FROM made ORDER BY id",
	},
	{
		table: "parts", why: "partitions",
		make: []string{
			"CREATE TABLE parts (id INT, day DATE, PRIMARY KEY (id, day)) PARTITION BY RANGE COLUMNS (day)" +
				" (PARTITION old VALUES LESS THAN ('2000-01-01'), PARTITION new VALUES LESS THAN (MAXVALUE))",
			"INSERT INTO parts VALUES (1, '1999-12-31'), (2, '2000-01-01')",
		},
		hand: "SELECT id, CAST(day AS CHAR) FROM parts ORDER BY id", key: "id,day",
	},
	{
		table: "versions", why: "the rows of today, in a table that keeps those before",
		make: []string{
			"CREATE TABLE versions (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING",
			"INSERT INTO versions VALUES (1, 1), (2, 1)", "UPDATE versions SET v = 2 WHERE id = 1", "DELETE FROM versions WHERE id = 2",
		},
		hand: "SELECT id, v FROM versions ORDER BY id",
	},
	{
		table: "seen", why: "a view",
		make: []string{"CREATE VIEW seen AS SELECT id, UPPER('x') AS x, 1.50 AS n FROM staff"},
		hand: "SELECT id, x, n FROM seen ORDER BY id", types: "number string decimal",
	},
	{table: "counter", why: "a sequence is no table", make: []string{"CREATE SEQUENCE counter"}},
	{
		table: "odd `name`", why: "names that need quotes",
		make: []string{
			"CREATE TABLE `odd ``name``` (`select` INT PRIMARY KEY, `a.b` INT, `ä?` INT)",
			"INSERT INTO `odd ``name``` VALUES (1, 2, 3)",
		},
		hand: "SELECT * FROM `odd ``name```",
	},
}

// TestMySQLSample reads every table of the sample whole, and compares each cell.
func TestMySQLSample(t *testing.T) {
	db := newMySQL(t).as(t, func(c *mysql.Config) {
		c.Params = map[string]string{"time_zone": "'+00:00'", "sql_mode": "''"}
	})
	var wide []string
	for i := range 900 {
		wide = append(wide, fmt.Sprintf("c%03d TINYINT", i))
	}
	tables := append(slices.Clip(mysqlSample), mysqlSample[0])
	last := &tables[len(tables)-1]
	last.table, last.why, last.key, last.types, last.links = "wide", "nine hundred columns", "", "", ""
	last.make = []string{"CREATE TABLE wide (" + strings.Join(wide, ", ") + ")", "INSERT INTO wide (c000, c899) VALUES (1, 2)"}
	last.hand = "SELECT * FROM wide"
	for _, s := range tables {
		for _, statement := range s.make {
			_, err := db.Exec(statement)
			require.NoError(t, err, statement)
		}
	}
	caller := db.caller(t, nil).Unverified()
	d, err := caller.Discover()
	require.NoError(t, err)
	listed := map[string]wire.Table{}
	for _, table := range d.Tables {
		listed[table.Name] = table
	}
	for _, s := range tables {
		t.Run(s.table, func(t *testing.T) {
			table, found := listed[s.table]
			require.Equal(t, s.hand != "", found, s.why)
			if !found {
				return
			}
			var types, links, fields []string
			for _, f := range table.Fields {
				types = append(types, string(f.Type))
				fields = append(fields, f.Name)
			}
			for _, k := range table.ForeignKeys {
				links = append(links, k.Field+">"+k.TargetTable+"."+k.TargetField)
			}
			slices.Sort(links)
			if s.types != "" {
				require.Equal(t, s.types, strings.Join(types, " "), s.why)
			}
			if s.key != "" {
				require.Equal(t, s.key, strings.Join(table.PrimaryKey, ","), s.why)
			}
			require.Equal(t, s.links, strings.Join(links, ","), s.why)
			answer, err := caller.In(t).Query(wire.QueryRequest{
				Table: s.table, Fields: fields, Sort: []wire.SortKey{{Field: fields[0], Dir: wire.Asc}},
			})
			require.NoError(t, err, s.why)
			require.Equal(t, linesOf(t, db, "|", s.hand), spelled(answer.Rows, "|"), s.why)
		})
	}
	require.Contains(t, slices.Collect(maps.Keys(listed)), "orders")
	rows, err := caller.Aggregate(wire.AggregateRequest{Table: "lines", Limit: wire.AggregateLimit,
		Measures: []wire.Measure{{Fn: wire.AggSum, Field: "price", As: "s"}}})
	require.NoError(t, err)
	require.Equal(t, linesOf(t, db, "", "SELECT CAST(SUM(price) AS CHAR) FROM `lines`")[0], fmt.Sprint(rows[0]["s"]))
}
