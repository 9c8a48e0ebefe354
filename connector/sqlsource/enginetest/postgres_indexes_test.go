package enginetest

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// indexedColumns are columns with an index each, with values that do not fit or
// that the engine orders in its own way, and operands to compare them with.
var indexedColumns = []struct {
	name, sql string
	value     string // of row n
	odd       string // values that are null on the wire, or that lie at an edge
	args      []any
	// equality and order say for which conditions the plan must use the index.
	equality, order bool
}{
	{"small", "smallint", "n % 30000", "-32768", []any{int64(7), int64(1 << 40), int64(-1 << 40)}, true, true},
	{"whole", "int", "n", "", []any{int64(7), int64(1 << 40)}, true, true},
	{"number", "oid", "n::oid", "4294967295", []any{int64(7), int64(4294967295)}, true, true},
	{"money", "numeric(12,2)", "n / 100.0", "NaN", []any{"7.5", "-1", "70"}, true, true},
	{"anynumeric", "numeric", "n / 100.0", "NaN,Infinity,-Infinity,1.50,1.500", []any{"7.5", "1.5", "70"}, true, true},
	{"cash", "money", "n::numeric::money", "-1", []any{"7", "7.001", "70.999", "999999999999999"}, true, true},
	{"half", "real", "n + 0.1", "NaN,Infinity,-Infinity", []any{7.5, 1e300, float64(float32(7.1))}, true, true},
	{"double", "float8", "n + 0.1", "NaN,Infinity,-Infinity", []any{7.5, 7.1}, true, true},
	{"day", "date", "date '2000-01-01' + n", "infinity,-infinity,10000-01-01,0001-12-31 BC", []any{"2001-02-03", "9999-12-31"}, true, true},
	{"local", "timestamp", "timestamp '2000-01-01' + n * interval '1 hour'", "infinity,-infinity,10000-01-01,0001-12-31 BC",
		[]any{"2001-02-03 04:00:00.000000"}, true, true},
	{"instant", "timestamptz", "timestamptz '2000-01-01 00:00+00' + n * interval '1 hour'", "infinity,-infinity,11000-01-01,0001-01-01 BC",
		[]any{"2001-02-03 04:00:00.000000"}, true, true},
	{"uuid", "uuid", "md5(n::text)::uuid", "", []any{"c4ca4238-a0b9-2382-0dcc-509a6f75849b", "c4ca", "", "C4", "c4ca4238a", "zz",
		"c4ca4238-a0b9-2382-0dcc-509a6f75849b1", "~"}, true, true},
	{"bytes", "bytea", "convert_to(n::text, 'UTF8')", "", []any{"MTA=", "MTA", "MTB=", ""}, true, false},
	{"c", `text COLLATE "C"`, "n::text", "é,Z,a", []any{"70", "é"}, true, true},
	{"posix", `text COLLATE "POSIX"`, "n::text", "é,Z,a", []any{"70", "é"}, true, false},
	{"word", `varchar(20) COLLATE "C"`, "n::text", "é,Z,a", []any{"70", "é"}, true, true},
	{"other", `text COLLATE "en-x-icu"`, "n::text", "é,Z,a", []any{"70", "é"}, true, false},
	{"blind", `text COLLATE blind`, "n::text", "é,Z,z", []any{"70", "é", "Z"}, true, false},
	{"char", `char(8) COLLATE "C"`, "n::text", "é,Z,a", []any{"70", "é", "7 "}, true, true},
}

// signs are what a column is compared by.
var signs = []string{"=", "<", "<=", ">", ">="}

// indexed returns a table of indexedColumns, described by the flavor.
func indexed(t *testing.T, db *postgresDatabase) (*sql.Tx, map[string]sqlengine.Column) {
	t.Helper()
	var definitions, indexes, values, odd []string
	for _, c := range indexedColumns {
		definitions = append(definitions, c.name+" "+c.sql)
		indexes = append(indexes, "CREATE INDEX ON t ("+c.name+")")
		values = append(values, c.value)
		for _, v := range strings.Split(c.odd, ",") {
			if v != "" {
				odd = append(odd, fmt.Sprintf("INSERT INTO t (%s) VALUES ('%s')", c.name, v))
			}
		}
	}
	for _, statement := range []string{
		`CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
		"CREATE TABLE t (" + strings.Join(definitions, ", ") + ")",
		"INSERT INTO t SELECT " + strings.Join(values, ", ") + " FROM generate_series(1, 20000) n",
		strings.Join(odd, "; "), strings.Join(indexes, "; "), "INSERT INTO t (whole) VALUES (NULL)", "ANALYZE t",
	} {
		db.execute(t, statement)
	}
	flavor := db.flavor
	tx, err := db.Begin()
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	require.NoError(t, flavor.Capabilities().Session(t.Context(), tx))
	tables, _, err := flavor.Catalog(t.Context(), tx, "", []string{"t"})
	require.NoError(t, err)
	require.Len(t, tables, 1)
	columns := map[string]sqlengine.Column{}
	for i, c := range tables[0].Columns {
		columns[c.Name] = flavor.Column("t0."+flavor.Quote(c.Name), c)
		assert.Equal(t, indexedColumns[i].order || c.Name == "bytes", c.Indexed, "%s: an index that keeps the order of the key", c.Name)
	}
	return tx, columns
}

// conditions returns the exact comparison of a column, and the one that stands
// beside it for the index.
func conditions(c sqlengine.Column, sign string, arg any) (exact, near string, args []any) {
	bind := func(arg any) string {
		args = append(args, arg)
		return fmt.Sprintf("$%d", len(args))
	}
	exact = c.Raw + " " + sign + " " + c.Bind(bind(arg))
	switch {
	case sign == "=" && c.Index.Equal != nil:
		near = c.Index.Equal([]any{arg}, bind)
	case c.Index.Near != nil:
		near = c.Index.Near(sign, arg, bind)
	}
	return exact, near, args
}

// TestPostgresNear compares each column with operands: the condition for the index holds
// wherever the exact one does.
func TestPostgresNear(t *testing.T) {
	t.Parallel()
	db := newPostgres(t)
	tx, columns := indexed(t, db)
	for _, own := range indexedColumns {
		c := columns[own.name]
		for _, arg := range own.args {
			for _, sign := range signs {
				exact, near, args := conditions(c, sign, arg)
				if near == "" {
					continue
				}
				lost := count(t, tx, "("+exact+") AND NOT coalesce("+near+", false)", args)
				assert.Zero(t, lost, "%s %s %v: rows that %s loses", own.name, sign, arg, near)
			}
		}
	}
}

func count(t *testing.T, tx *sql.Tx, condition string, args []any) (n int) {
	t.Helper()
	require.NoError(t, tx.QueryRow("SELECT count(*) FROM t t0 WHERE "+condition, args...).Scan(&n), condition)
	return n
}

// TestPostgresSorted orders each column by its index: the order is that of the key, and
// what it leaves out is null on the wire. Equal keys are equal for a join.
func TestPostgresSorted(t *testing.T) {
	t.Parallel()
	db := newPostgres(t)
	tx, columns := indexed(t, db)
	for _, own := range indexedColumns {
		c := columns[own.name]
		var wrong int
		if c.Index.Sorted != "" {
			within := c.Index.Within
			if within == "" {
				within = c.Raw + " IS NOT NULL"
			}
			assert.Zero(t, count(t, tx, "NOT coalesce("+within+", false) AND ("+c.Key+") IS NOT NULL", nil), own.name)
			assert.Zero(t, count(t, tx, within+" AND ("+c.Key+") IS NULL", nil), own.name)
			require.NoError(t, tx.QueryRow("SELECT count(*) FROM (SELECT "+c.Key+" AS k, lag("+c.Key+") OVER w AS before, "+c.Index.Sorted+
				" = lag("+c.Index.Sorted+") OVER w AS same FROM t t0 WHERE "+within+" WINDOW w AS (ORDER BY "+c.Index.Sorted+
				")) o WHERE before > k OR same <> (before = k)").Scan(&wrong), own.name)
			assert.Zero(t, wrong, own.name)
		}
		if c.Index.Plain != "" {
			require.NotEmpty(t, c.Index.PlainKind, own.name)
			require.NoError(t, tx.QueryRow("SELECT count(*) FROM (SELECT "+c.Key+" AS k, count(DISTINCT "+c.Index.Plain+
				") AS n FROM t t0 GROUP BY 1) g WHERE k IS NOT NULL AND n > 1").Scan(&wrong), own.name)
			assert.Zero(t, wrong, "%s: equal keys that are not equal as %s", own.name, c.Index.Plain)
		}
	}
}

// TestPostgresPlans asks the server how it would run the conditions: by the index. It may
// not choose to read a whole table, which so small a one invites it to.
func TestPostgresPlans(t *testing.T) {
	t.Parallel()
	db := newPostgres(t)
	tx, columns := indexed(t, db)
	_, err := tx.Exec("SET LOCAL enable_seqscan = off")
	require.NoError(t, err)
	for _, own := range indexedColumns {
		c := columns[own.name]
		for _, sign := range []string{"=", ">"} {
			if sign == "=" && !own.equality || sign == ">" && !own.order {
				continue
			}
			exact, near, args := conditions(c, sign, own.args[0])
			condition := exact
			if near != "" {
				condition += " AND " + near
			}
			if c.Valid != "" {
				condition += " AND " + c.Valid
			}
			plan := strings.Join(linesOf(t, tx, "", "EXPLAIN "+"SELECT * FROM t t0 WHERE "+condition, args...), "\n")
			assert.Regexp(t, `(?s)Index.*Cond: .*`+own.name, plan, "%s %s", own.name, sign)
		}
		if !own.order {
			continue
		}
		for _, direction := range []string{"", " DESC"} {
			where := ""
			if c.Index.Within != "" {
				where = " WHERE " + c.Index.Within
			} else if direction != "" {
				where = " WHERE " + c.Raw + " IS NOT NULL"
			}
			plan := strings.Join(linesOf(t, tx, "", "EXPLAIN "+"SELECT * FROM t t0"+where+" ORDER BY "+c.Index.Sorted+direction+" LIMIT 10"), "\n")
			assert.Contains(t, plan, "Index Scan", "%s%s", own.name, direction)
			assert.NotContains(t, plan, "Sort", "%s%s", own.name, direction)
		}
	}
}
