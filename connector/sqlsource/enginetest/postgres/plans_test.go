package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

// TestRequestPlans asks the engine how it executes what requests become: by an index, and
// without a sort of more than the ties of a few rows.
func TestRequestPlans(t *testing.T) {
	db, own := database(t)
	for _, statement := range []string{
		`CREATE TABLE events (id int PRIMARY KEY, day date, moment timestamptz, amount numeric(12,2),
			label text COLLATE "C" NOT NULL, rank int, whole int NOT NULL)`,
		`INSERT INTO events SELECT i, date '2000-01-01' + i * 7919 % 9000,
			timestamptz '2024-01-01 00:00+00' + i * 7919 % 31000000 * interval '1 s', i * 7919 % 1000000 / 100.0,
			'label ' || lpad((i * 7919 % 1000000)::text, 6, '0'),
			CASE WHEN i % 5 > 0 THEN i * 31 % 1000003 END, i FROM generate_series(1, 50000) i`,
		`CREATE INDEX ON events (day); CREATE INDEX ON events (moment); CREATE INDEX ON events (amount);
			CREATE INDEX ON events (label); CREATE INDEX ON events (rank); CREATE INDEX ON events (whole)`,
		`CREATE TABLE places (id int PRIMARY KEY, code text NOT NULL UNIQUE)`,
		`INSERT INTO places SELECT i, 'place ' || i FROM generate_series(1, 20000) i`,
		`CREATE TABLE visits (id int PRIMARY KEY, code text, place int)`,
		`INSERT INTO visits SELECT i, 'place ' || i * 31 % 20000, i * 31 % 20000 FROM generate_series(1, 20000) i`,
		`ANALYZE events, places, visits`,
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	scan := []string{`Seq Scan on events`}
	sort := append([]string{`-> +Sort`, `^QUERY PLAN=Sort`}, scan...)
	byIndex := func(column string) []string {
		return []string{`Index (Only )?Scan (Backward )?using events_` + column + `_idx`}
	}
	bitmap := func(column string) []string {
		return []string{`(Bitmap )?Index (Only )?Scan (Backward )?(on|using) events_` + column + `_idx`}
	}
	hashed := []string{`Hash (Left|Right) Join`}
	suite.Plans(t, sqlsource.PostgreSQL(), stdlib.GetConnector(*own), db, "EXPLAIN ", []suite.Plan{
		{Why: "equal text", Ask: suite.FilterOf("label", "eq", "label 007919"), Want: bitmap("label"), Never: scan},
		{Why: "greater text", Ask: suite.FilterOf("label", "gt", "label 999900"), Want: bitmap("label"), Never: scan},
		{Why: "a day of an instant", Ask: suite.RangeOf("moment", "2024-03-01T00:00:00Z", "2024-03-01T06:00:00Z"),
			Want: bitmap("moment"), Never: scan},
		{Why: "first dates", Ask: suite.FirstBy("day", false), Want: byIndex("day"), Never: sort},
		{Why: "last dates", Ask: suite.FirstBy("day", true), Want: byIndex("day"), Never: sort},
		{Why: "first instants", Ask: suite.FirstBy("moment", false), Want: byIndex("moment"), Never: sort},
		{Why: "last instants", Ask: suite.FirstBy("moment", true), Want: byIndex("moment"), Never: sort},
		{Why: "last decimals", Ask: suite.FirstBy("amount", true), Want: byIndex("amount"), Never: sort},
		{Why: "first texts", Ask: suite.FirstBy("label", false), Want: byIndex("label"), Never: sort},
		{Why: "last texts", Ask: suite.FirstBy("label", true), Want: byIndex("label"), Never: sort},
		{Why: "first nullable integers", Ask: suite.FirstBy("rank", false), Want: byIndex("rank"), Never: sort},
		{Why: "last nullable integers", Ask: suite.FirstBy("rank", true), Want: byIndex("rank"), Never: sort},
		{Why: "last integers", Ask: suite.FirstBy("whole", true), Want: byIndex("whole"), Never: sort},
		{Why: "the latest instant", Ask: suite.ExtremeOf("moment", "max"), Want: byIndex("moment"), Never: sort},
		{Why: "the least date", Ask: suite.ExtremeOf("day", "min"), Want: byIndex("day"), Never: sort},
		{Why: "the greatest text", Ask: suite.ExtremeOf("label", "max"), Want: byIndex("label"), Never: sort},
		{Why: "a join on text", Ask: suite.JoinOn("code", "code"), Want: hashed},
		{Why: "a join on an integer", Ask: suite.JoinOn("place", "id"), Want: hashed},
		{Why: "a page of a join", Ask: suite.PageOf(suite.JoinOn("place", "id")),
			Want: []string{`Index Scan using visits_pkey`}, Never: []string{`Seq Scan on visits`}},
		{Why: "a link of an integer", Ask: suite.LinkOn("place", "id"), Want: []string{`Hash .*Join|Index Only Scan using places_pkey`}},
	})
}
