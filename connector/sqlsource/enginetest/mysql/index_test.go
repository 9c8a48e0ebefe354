package mysql

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

// TestPlansOfTypes asks the engine how it executes requests about columns whose
// exact condition hides the index.
func TestPlansOfTypes(t *testing.T) {
	_, own := database(t)
	own.Params = map[string]string{"sql_mode": "''"}
	db := open(t, own)
	t.Cleanup(func() { _ = db.Close() })
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
	c, err := mysql.NewConnector(own)
	require.NoError(t, err)
	suite.Plans(t, sqlsource.MySQL(), c, db, "EXPLAIN ", []suite.Plan{
		{Why: "greater text, filled with blanks", Ask: suite.FilterOf("code", "gt", "code 049990"), Want: key("code"), Never: scan},
		{Why: "lesser text, filled with blanks", Ask: suite.FilterOf("code", "lte", "code 000010"), Want: key("code"), Never: scan},
		{Why: "equal text, whatever its case", Ask: suite.FilterOf("name", "eq", "name 7"), Want: key("name"), Never: scan},
		{Why: "equal bytes", Ask: suite.FilterOf("body", "eq", "Ym9keSA3"), Want: key("body"), Never: scan},
		{Why: "a year", Ask: suite.FilterOf("born", "gt", "2150"), Want: key("born"), Never: scan},
		{Why: "first dates, behind zero dates", Ask: suite.FirstBy("day", false), Want: key("day"), Never: sort},
		{Why: "last dates, before zero dates", Ask: suite.FirstBy("day", true), Want: key("day"), Never: sort},
		{Why: "the least date", Ask: suite.ExtremeOf("day", "min"), Want: key("day"), Never: sort},
		{Why: "last years", Ask: suite.FirstBy("born", true), Want: key("born"), Never: sort},
		{Why: "first timestamps", Ask: suite.FirstBy("stamp", false), Want: key("stamp"), Never: sort},
		{Why: "first texts, filled with blanks", Ask: suite.FirstBy("code", false), Want: key("code")},
		{Why: "last texts, filled with blanks", Ask: suite.FirstBy("code", true), Want: key("code")},
		{Why: "the greatest text, filled with blanks", Ask: suite.ExtremeOf("code", "max"), Want: key("code"), Never: scan},
		{Why: "text in another order", Ask: suite.FirstBy("name", false), Want: []string{`filesort`}},
		{Why: "an index of prefixes", Ask: suite.FirstBy("part", false), Want: []string{`filesort`}},
		{Why: "an index that is ignored", Ask: suite.FirstBy("hidden", false), Want: []string{`filesort`}},
		{Why: "a join of a number and a text", Ask: suite.JoinOn("id", "code"), Want: []string{`table=t1 .*type=(eq_)?ref .*key=code `}},
		{Why: "a join of a text and a number", Ask: suite.JoinOn("code", "id"), Want: []string{`table=t1 .*type=eq_ref .*key=PRIMARY `}},
		{Why: "a join of dates", Ask: suite.JoinOn("day", "day"), Want: []string{`table=t1 .*type=ref .*key=day `}},
	})
}
