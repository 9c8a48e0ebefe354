package mysql

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

// TestRequestPlans asks the engine how it executes what requests become: by an index, and
// without a sort.
func TestRequestPlans(t *testing.T) {
	_, own := database(t)
	own.Params = nil
	db := open(t, own)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{
		"CREATE TABLE events (id INT PRIMARY KEY, day DATE, moment DATETIME, amount DECIMAL(12,2)," +
			" label VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL, `rank` INT, whole INT NOT NULL)",
		"INSERT INTO events SELECT seq, DATE '2000-01-01' + INTERVAL seq * 7919 % 9000 DAY," +
			" TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq * 7919 % 31000000 SECOND, seq * 7919 % 1000000 / 100," +
			" CONCAT('label ', LPAD(seq * 7919 % 1000000, 6, '0')), CASE WHEN seq % 5 > 0 THEN seq * 31 % 1000003 END, seq FROM seq_1_to_50000",
		"ALTER TABLE events ADD INDEX (day), ADD INDEX (moment), ADD INDEX (amount), ADD INDEX (label), ADD INDEX (`rank`), ADD INDEX (whole)",
		"CREATE TABLE places (id INT PRIMARY KEY, code VARCHAR(40) NOT NULL UNIQUE)",
		"INSERT INTO places SELECT seq, CONCAT('place ', seq) FROM seq_1_to_20000",
		"CREATE TABLE visits (id INT PRIMARY KEY, code VARCHAR(40), place INT)",
		"INSERT INTO visits SELECT id, CONCAT('place ', id * 31 % 20000), id * 31 % 20000 FROM places",
		"ANALYZE TABLE events, places, visits",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	key := func(column string) []string { return []string{`table=t0 .*key=` + column + ` `} }
	scan := []string{`table=t0 type=ALL`, `type=index .*Using where`}
	sort := append([]string{`filesort`}, scan[:1]...)
	c, err := mysql.NewConnector(own)
	require.NoError(t, err)
	suite.Plans(t, sqlsource.MySQL(), c, db, "EXPLAIN ", []suite.Plan{
		{Why: "equal text", Ask: suite.FilterOf("label", "eq", "label 007919"), Want: key("label"), Never: scan},
		{Why: "greater text", Ask: suite.FilterOf("label", "gt", "label 999900"), Want: key("label"), Never: scan},
		{Why: "a day of an instant", Ask: suite.RangeOf("moment", "2024-03-01T00:00:00Z", "2024-03-01T06:00:00Z"),
			Want: key("moment"), Never: scan},
		{Why: "first dates", Ask: suite.FirstBy("day", false), Want: key("day"), Never: sort},
		{Why: "last dates", Ask: suite.FirstBy("day", true), Want: key("day"), Never: sort},
		{Why: "first instants", Ask: suite.FirstBy("moment", false), Want: key("moment"), Never: sort},
		{Why: "last instants", Ask: suite.FirstBy("moment", true), Want: key("moment"), Never: sort},
		{Why: "last decimals", Ask: suite.FirstBy("amount", true), Want: key("amount"), Never: sort},
		{Why: "first texts", Ask: suite.FirstBy("label", false), Want: key("label"), Never: scan[:1]},
		{Why: "last texts", Ask: suite.FirstBy("label", true), Want: key("label"), Never: scan[:1]},
		{Why: "first nullable integers", Ask: suite.FirstBy("rank", false), Want: key("rank"), Never: sort},
		{Why: "last nullable integers", Ask: suite.FirstBy("rank", true), Want: key("rank"), Never: sort},
		{Why: "last integers", Ask: suite.FirstBy("whole", true), Want: key("whole"), Never: sort},
		{Why: "the latest instant", Ask: suite.ExtremeOf("moment", "max"), Want: key("moment"), Never: sort},
		{Why: "the least date", Ask: suite.ExtremeOf("day", "min"), Want: key("day"), Never: sort},
		{Why: "the greatest text", Ask: suite.ExtremeOf("label", "max"), Want: key("label"), Never: sort},
		{Why: "a join on text", Ask: suite.JoinOn("code", "code"), Want: []string{`table=t1 .*type=(eq_)?ref .*key=code `}},
		{Why: "a join on an integer", Ask: suite.JoinOn("place", "id"), Want: []string{`table=t1 .*type=eq_ref .*key=PRIMARY `}},
		{Why: "a page of a join", Ask: suite.PageOf(suite.JoinOn("place", "id")),
			Want: []string{`select_type=DERIVED table=t0 type=index .*key=PRIMARY .*Extra= $`}},
		{Why: "a link of an integer", Ask: suite.LinkOn("place", "id"), Never: []string{`Block Nested Loop|join buffer`}},
	})
}
