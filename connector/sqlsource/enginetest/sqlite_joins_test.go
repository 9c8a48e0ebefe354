package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteJoinOfNumbers joins integers with numbers of which each is an integer or a
// real. The engine does so exactly.
func TestSQLiteJoinOfNumbers(t *testing.T) {
	db := newSQLite(t, `
CREATE TABLE ids (id INTEGER PRIMARY KEY);
INSERT INTO ids VALUES (0), (1), (9007199254740992), (9007199254740993), (-9223372036854775808), (9223372036854775807);
CREATE TABLE numbers (name TEXT, n NUMERIC)`)
	var want []string
	for _, c := range []struct{ why, number, id string }{
		{"an integer", "1", "1"},
		{"a whole real", "1.0", "1"},
		{"minus zero", "-0.0", "0"},
		{"another real", "1.5", "null"},
		{"an integer that no real is", "9007199254740993", "9007199254740993"},
		{"a real beside it", "9.007199254740992e15", "9007199254740992"},
		{"a real above all integers", "9223372036854775807.0", "null"},
		{"a text", "'n/a'", "null"},
		{"no value", "NULL", "null"},
	} {
		_, err := db.Exec("INSERT INTO numbers VALUES (?, "+c.number+")", c.why)
		require.NoError(t, err)
		want = append(want, c.why+": "+c.id)
	}
	tenant := db.caller(t, nil).Unverified()
	req := joinOn("n", "id")
	req.Table, req.Fields = "numbers", []string{"name"}
	req.Joins[0].FromTable, req.Joins[0].ToTable = "numbers", "ids"
	answer, err := tenant.Query(*req)
	require.NoError(t, err)
	var got []string
	for _, row := range answer.Rows {
		got = append(got, fmt.Sprintf("%s: %s", row[0].Text(), row[1]))
	}
	require.Equal(t, want, got)
}

// TestSQLiteLargeJoins joins 100,000 rows with as many, which memory does not hold.
func TestSQLiteLargeJoins(t *testing.T) {
	t.Parallel()
	skipShort(t)
	script := sqlitePlans.script
	for _, c := range [][2]string{{"i < 10000)", "i < 100000)"}, {"% 10000", "% 100000"}, {"i < 20000)", "i < 10)"}} {
		script = strings.ReplaceAll(script, c[0], c[1])
	}
	tenant := newSQLite(t, script).caller(t, nil).Unverified()
	for _, keys := range [][2]string{{"place", "id"}, {"code", "code"}} {
		answer, err := tenant.Query(*joinOn(keys[0], keys[1]))
		require.NoError(t, err, keys)
		matched := 0
		for _, row := range answer.Rows {
			if !row[1].IsNull() {
				matched++
			}
		}
		require.Len(t, answer.Rows, 100_000, keys)
		require.Equal(t, 99_999, matched, keys)
		count, err := tenant.Aggregate(wire.AggregateRequest{
			Table: "visits", Where: wire.Where{And: []wire.Filter{}}, GroupBy: []wire.GroupKey{}, Limit: wire.AggregateLimit,
			Joins:    joinOn(keys[0], keys[1]).Joins,
			Measures: []wire.Measure{{Fn: wire.AggCount, Field: "theirs", As: "matched"}},
		})
		require.NoError(t, err, keys)
		require.Equal(t, "99999", count[0]["matched"].String(), keys)
	}
}
