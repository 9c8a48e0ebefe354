package enginetest

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
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
