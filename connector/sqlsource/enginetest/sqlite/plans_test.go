package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

const plansScript = `
CREATE TABLE events (id INTEGER PRIMARY KEY, day DATE, moment DATETIME, amount NUMERIC, label TEXT NOT NULL,
  rank INTEGER, whole INTEGER NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO events SELECT i, date('2000-01-01', (i * 7919 % 9000) || ' days'),
  strftime('%Y-%m-%d %H:%M:%S', 1704067200 + i * 7919 % 31000000, 'unixepoch'), i * 7919 % 1000000 / 100.0,
  printf('label %06d', i * 7919 % 1000000), CASE WHEN i % 5 > 0 THEN i * 31 % 1000003 END, i FROM n;
CREATE INDEX events_day ON events (day);
CREATE INDEX events_moment ON events (moment);
CREATE INDEX events_amount ON events (amount);
CREATE INDEX events_label ON events (label);
CREATE INDEX events_rank ON events (rank);
CREATE INDEX events_whole ON events (whole);
CREATE TABLE places (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO places SELECT i, 'place ' || i FROM n;
CREATE TABLE visits (id INTEGER PRIMARY KEY, code TEXT, place INTEGER);
INSERT INTO visits SELECT id, 'place ' || (id * 31 % 10000), id * 31 % 10000 FROM places;
ANALYZE`

// TestRequestPlans asks the engine how it executes what requests become: by an index, and
// without a sort of more than ties.
func TestRequestPlans(t *testing.T) {
	suite.SkipShort(t)
	file := filepath.Join(t.TempDir(), "plans.sqlite")
	db := open(t, file, plansScript)
	scan := []string{`SCAN t0\s*$`}
	sort := append([]string{`TEMP B-TREE FOR ORDER BY`}, scan...)
	byIndex := func(column string) []string {
		return []string{`(SEARCH|SCAN) t0 USING (COVERING )?INDEX events_` + column + `\b`}
	}
	search := func(column string) []string {
		return []string{`SEARCH t0 USING (COVERING )?INDEX events_` + column + `\b`}
	}
	suite.Plans(t, sqlsource.SQLite(), fileConnector{db.Driver(), file}, db, "EXPLAIN QUERY PLAN ", []suite.Plan{
		{Why: "equal text", Ask: suite.FilterOf("label", "eq", "label 007919"), Want: search("label"), Never: scan},
		{Why: "greater text", Ask: suite.FilterOf("label", "gt", "label 999900"), Want: search("label"), Never: scan},
		{Why: "a day of a datetime", Ask: suite.RangeOf("moment", "2024-03-01T00:00:00Z", "2024-03-01T06:00:00Z"),
			Want: search("moment"), Never: scan},
		{Why: "first dates", Ask: suite.FirstBy("day", false), Want: byIndex("day"), Never: sort},
		{Why: "last dates", Ask: suite.FirstBy("day", true), Want: byIndex("day"), Never: sort},
		{Why: "first datetimes, of which a few are sorted", Ask: suite.FirstBy("moment", false), Want: search("moment"), Never: scan},
		{Why: "last datetimes, of which a few are sorted", Ask: suite.FirstBy("moment", true), Want: search("moment"), Never: scan},
		{Why: "last decimals", Ask: suite.FirstBy("amount", true), Want: byIndex("amount"), Never: sort},
		{Why: "first texts", Ask: suite.FirstBy("label", false), Want: byIndex("label"), Never: sort},
		{Why: "last texts", Ask: suite.FirstBy("label", true), Want: byIndex("label"), Never: sort},
		{Why: "first nullable integers", Ask: suite.FirstBy("rank", false), Want: byIndex("rank"), Never: sort},
		{Why: "last nullable integers", Ask: suite.FirstBy("rank", true), Want: byIndex("rank"), Never: sort},
		{Why: "last integers", Ask: suite.FirstBy("whole", true), Want: byIndex("whole"), Never: sort},
		{Why: "the latest datetime", Ask: suite.ExtremeOf("moment", "max"), Want: search("moment"), Never: scan},
		{Why: "the least date", Ask: suite.ExtremeOf("day", "min"), Want: byIndex("day"), Never: sort},
		{Why: "the greatest text", Ask: suite.ExtremeOf("label", "max"), Want: byIndex("label"), Never: sort},
		{Why: "a join on text", Ask: suite.JoinOn("code", "code"),
			Want: []string{`SEARCH t1 USING (COVERING )?INDEX sqlite_autoindex_places_1 \(code=\?\)`}},
		{Why: "a join on an integer", Ask: suite.JoinOn("place", "id"), Want: []string{`SEARCH t1 USING INTEGER PRIMARY KEY`}},
	})
}
