package enginetest

import (
	"cmp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteDatetimes tells the values of a datetime column that SQL compares from those
// that are left to the library, and spells the former all alike. Comparisons do not look
// at Valid, so whatever cannot be sent must be left.
func TestSQLiteDatetimes(t *testing.T) {
	t.Parallel()
	c := sqlsource.SQLite().Column("d", sqlengine.CatalogColumn{Name: "d", DataType: "DATETIME"})
	require.True(t, c.Loose.GuardsValid)
	db := newSQLite(t, "CREATE TABLE t (d DATETIME)")
	for _, v := range []struct {
		why, literal string
		left         bool
	}{
		{"null", "NULL", false},
		{"a day", "'2024-02-29'", false},
		{"a blank", "'2024-02-29 23:59:58'", false},
		{"T and Z", "'2024-02-29T23:59:58Z'", false},
		{"a blank and Z", "'2024-02-29 23:59:58Z'", false},
		{"T alone", "'2024-02-29T23:59:58'", false},
		{"the first second", "'0000-01-01T00:00:00Z'", false},
		{"the last second", "'9999-12-31 23:59:59'", false},
		{"a fraction", "'2024-02-29T23:59:58.5Z'", false},
		{"zeros behind a fraction", "'2024-02-29 23:59:58.500'", false},
		{"nine digits", "'2024-02-29T23:59:58.123456789Z'", false},
		{"ten digits", "'2024-02-29T23:59:58.1234567891Z'", true},
		{"an offset", "'2024-02-29T23:59:58+01:00'", true},
		{"an offset of nothing", "'2024-02-29T23:59:58+00:00'", true},
		{"a small z", "'2024-02-29T23:59:58z'", true},
		{"two Z", "'2024-02-29T23:59:58ZZ'", true},
		{"a blank behind", "'2024-02-29 23:59:58 '", true},
		{"a second T", "'2024-02-29T23:59:58T'", true},
		{"no seconds", "'2024-02-29 23:59'", true},
		{"a day that does not exist", "'2023-02-29'", true},
		{"a moment of that day", "'2023-02-29T12:00:00Z'", true},
		{"a fraction of that day", "'2023-02-29T12:00:00.5Z'", true},
		{"hour 24", "'2024-02-28 24:00:00'", true},
		{"a leap second", "'2016-12-31T23:59:60Z'", true},
		{"words", "'now'", true},
		{"no text", "''", true},
		{"a time", "'23:59:58'", true},
		{"a NUL behind", "CAST(x'323032342d30322d32392032333a35393a3538006162' AS TEXT)", true},
		{"a NUL behind a fraction", "CAST(x'323032342d30322d32392032333a35393a35382e35006162' AS TEXT)", true},
		{"a blob of that text", "CAST('2024-02-29 23:59:58' AS BLOB)", true},
		{"seconds since 1970", "1709251198", true},
		{"a Julian day", "2460370.25", true},
	} {
		_, err := db.Exec("DELETE FROM t; INSERT INTO t VALUES (" + v.literal + ")")
		require.NoError(t, err, v.why)
		var left bool
		var cell any
		var key *string
		row := db.QueryRow("SELECT " + c.Loose.Guard + ", " + c.Cell + ", " + c.Key + " FROM t")
		require.NoError(t, row.Scan(&left, &cell, &key), v.why)
		require.Equal(t, v.left, left, v.why)
		if left || cell == nil {
			continue
		}
		sent, err := c.Decode(cell)
		require.NoError(t, err, v.why)
		require.Equal(t, wire.KindDatetime, sent.Kind(), "%s: what is compared can be sent", v.why)
		at, err := time.Parse(time.RFC3339Nano, string(sent.AppendText(nil)))
		require.NoError(t, err, v.why)
		require.Equal(t, at.Format("2006-01-02 15:04:05.000000000"), *key, v.why)
	}
}

// TestSQLiteNear looks for datetimes near a moment by an index, and without one. It finds
// at least those that meet a comparison, however they are spelled.
func TestSQLiteNear(t *testing.T) {
	t.Parallel()
	db := newSQLite(t, "CREATE TABLE t (d DATETIME); CREATE INDEX t_d ON t (d)")
	moment := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	var values []any
	for _, apart := range []time.Duration{0, time.Second, time.Minute, time.Hour, 23 * time.Hour, 24 * time.Hour, 48 * time.Hour} {
		for _, at := range []time.Time{moment.Add(-apart), moment.Add(apart), moment.Add(apart + 12*time.Hour + time.Second/2)} {
			for _, minutes := range []int{0, 60, 1439, -60, -1439} {
				local := at.In(time.FixedZone("", minutes*60))
				values = append(values, local.Format("2006-01-02T15:04:05.999999999-07:00"), local.Format("2006-01-02 15:04:05.999999999 -0700 XYZ"))
			}
			values = append(values, at.Unix(), at.Format("2006-01-02 15:04:05.999"), at.Format("2006-01-02T15:04:05.999Z"),
				at.Format("2006-01-02 15:04:05.999999999000Z"), at.Format(time.DateOnly))
		}
	}
	tx, err := db.Begin()
	require.NoError(t, err)
	for _, v := range values {
		_, err := tx.Exec("INSERT INTO t VALUES (?)", v)
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit())
	compare := map[string]func(int) bool{
		"=": func(c int) bool { return c == 0 }, "<": func(c int) bool { return c < 0 }, "<=": func(c int) bool { return c <= 0 },
		">": func(c int) bool { return c > 0 }, ">=": func(c int) bool { return c >= 0 },
	}
	tables, _, err := sqlsource.SQLite().Catalog(t.Context(), db, "", []string{"t"})
	require.NoError(t, err)
	for _, indexed := range []bool{true, false} {
		own := tables[0].Columns[0]
		own.Indexed, own.Want = indexed, wire.TypeDatetime // numbers count seconds
		c := sqlsource.SQLite().Column("d", own)
		for _, arg := range []time.Time{moment, moment.Add(-time.Second), moment.Add(12*time.Hour + time.Second/2)} {
			for sign, holds := range compare {
				var args []any
				near := c.Index.Near(sign, arg.Format("2006-01-02 15:04:05.000000000"), func(v any) string {
					args = append(args, v)
					return "?" + strconv.Itoa(len(args))
				})
				require.Equal(t, near == "", sign == "=" && !indexed)
				rows, err := db.Query("SELECT +d, "+cmp.Or(near, "1")+" FROM t", args...)
				require.NoError(t, err)
				found := 0
				for rows.Next() {
					var value any
					var selected bool
					require.NoError(t, rows.Scan(&value, &selected))
					cell, err := c.Decode(value)
					require.NoError(t, err)
					at, err := time.Parse(time.RFC3339Nano, string(cell.AppendText(nil)))
					require.NoError(t, err, value)
					if holds(at.Compare(arg)) {
						found++
						require.True(t, selected, "%v %s %v, indexed: %t", value, sign, arg, indexed)
					}
				}
				require.NoError(t, rows.Err())
				require.Positive(t, found, sign)
			}
		}
	}
}

// TestSQLiteNumbersInDates asks columns of dates that have numbers: none says that they
// count seconds, so 20240101 is not 23 August 1970. A tenant verifies each answer against
// the rows.
func TestSQLiteNumbersInDates(t *testing.T) {
	t.Parallel()
	const day, number = "'2024-01-01'", "20240101"
	for _, c := range []struct {
		why, declared, values string
		want                  wire.Type // asked for by the host
		is                    wire.Type
		cells                 string
		unsent                string // how many discovery warns of
	}{
		{"one among datetimes", "DATETIME", day + ", " + number + ", '2024-01-02 10:00:00'", "", wire.TypeDatetime,
			"2024-01-01T00:00:00Z|null|2024-01-02T10:00:00Z", "1"},
		{"one among dates", "DATE", day + ", " + number + ", '2024-01-02'", "", wire.TypeDate, "2024-01-01|null|2024-01-02", "1"},
		{"nothing else among dates", "DATE", number + ", 20240102, 20231231", "", wire.TypeNumber, "20240101|20240102|20231231", ""},
		{"nothing else among datetimes", "DATETIME", number + ", 20240102, 20231231", "", wire.TypeNumber, "20240101|20240102|20231231", ""},
		{"a Julian day among datetimes", "TIMESTAMP", day + ", 2460369.5, '2024-01-02'", "", wire.TypeDatetime,
			"2024-01-01T00:00:00Z|null|2024-01-02T00:00:00Z", "1"},
		{"the host says that they count", "INTEGER", "1704067200, 0, NULL", wire.TypeDatetime, wire.TypeDatetime,
			"2024-01-01T00:00:00Z|1970-01-01T00:00:00Z|null", ""},
		{"so does the declared type", "UNIXEPOCH", "1704067200, 0, " + day, "", wire.TypeDatetime,
			"2024-01-01T00:00:00Z|1970-01-01T00:00:00Z|2024-01-01T00:00:00Z", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			values := strings.Split(c.values, ", ")
			db := newSQLite(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, d "+c.declared+"); CREATE INDEX t_d ON t (d); INSERT INTO t VALUES "+
				"(1, "+values[0]+"), (2, "+values[1]+"), (3, "+values[2]+")")
			tenant := db.caller(t, &sqlsource.Options{Tables: map[string]sqlsource.TableOptions{
				"t": {Columns: map[string]sqlsource.ColumnOptions{"d": {Type: c.want}}},
			}})
			found, err := tenant.Discover()
			require.NoError(t, err)
			require.Equal(t, c.is, found.Tables[0].Field("d").Type)
			warnings := strings.Join(found.Warnings, "\n")
			if c.unsent == "" {
				require.NotContains(t, warnings, "cannot be sent")
			} else {
				require.Contains(t, warnings, c.unsent+` values of the field "d" cannot be sent`)
			}
			answer, err := tenant.Query(wire.QueryRequest{Table: "t", Fields: []string{"d"}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}}})
			require.NoError(t, err)
			require.Equal(t, c.cells, strings.Join(spelled(answer.Rows, ""), "|"))
			nulls := int64(strings.Count(c.cells, "null"))
			n, err := tenant.Count(wire.CountRequest{Table: "t", Where: wire.Where{And: []wire.Filter{{Field: "d", Op: wire.OpIsNull}}}})
			require.NoError(t, err)
			require.Equal(t, nulls, n)
			for _, value := range []string{"1970-08-23T06:21:41Z", "2024-01-01", "20240101"} {
				for _, op := range []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGte, wire.OpLt} {
					where := wire.Where{And: []wire.Filter{{Field: "d", Op: op, Value: wire.Text(value)}}}
					_, err = tenant.Count(wire.CountRequest{Table: "t", Where: where})
					require.NoError(t, err)
					for _, dir := range []wire.Direction{wire.Asc, wire.Desc} {
						_, err = tenant.Query(wire.QueryRequest{
							Table: "t", Where: where, Fields: []string{"id", "d"}, Sort: []wire.SortKey{{Field: "d", Dir: dir}}, Limit: 2,
						})
						require.NoError(t, err)
					}
				}
			}
			_, err = tenant.Cardinality("t", "d")
			require.NoError(t, err)
			_, err = tenant.Aggregate(wire.AggregateRequest{
				Table: "t", GroupBy: []wire.GroupKey{{Field: "d", As: "d"}}, Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}},
			})
			if err != nil {
				require.ErrorIs(t, err, connector.ErrDecline)
			}
		})
	}
}
