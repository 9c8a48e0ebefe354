package enginetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// misfits has values that do not fit their columns, and columns whose declared
// type says nothing, or is wrong.
const misfits = `
	CREATE TABLE loose (id INTEGER PRIMARY KEY, n INTEGER, u TEXT UNIQUE, a, f REAL, d DATE, at UNIXEPOCH, b BOOLEAN,
		m DECIMAL(10,2), j JSON, x BLOB, imported ANY, bin BINARY(4), flag BOOLEAN, us DATE, ms TIMESTAMP);
	INSERT INTO loose VALUES
		(1, 120, '1', 1, 1.5, '2024-02-29', '2024-02-29 10:00:00', 1, 10.25, '{"a": 1}', x'00ff', '120', x'01',
			't', '02/29/2024', 1709164800000),
		(2, 60, x'31', x'31', 'n/a', '2024-03-01', '2024-02-29T01:00:00+01:00', 0, '10', '[1]', 'text', '60', 'a',
			'f', '12/01/2023', 1709164800001),
		(3, 'n/a', 'x', '1', x'31', 'soon', 1709164800, 'true', 'n/a', x'7b7d', x'05', '5.5', NULL, NULL, NULL, NULL),
		(4, x'31', x'ff', 1.5, 9e999, '2024-02-30', 2460369.5, x'31', x'31', 'not json', NULL, NULL, NULL, NULL, NULL, NULL),
		(5, 1.5, NULL, NULL, NULL, '2024-02-01', x'31', NULL, 1e300, '5', NULL, NULL, 5, NULL, NULL, NULL),
		(6, 9007199254740993, 'a', 'b', -0.0, '2024-02-02', 'soon', 0, NULL, NULL, x'31', '6', x'02', NULL, NULL, NULL),
		(7, '', 'ä', NULL, 0.1, '2024-02-03', '2024-02-29', 2, 0.1, '"x"', x'06', '7', NULL, NULL, NULL, NULL);
	CREATE TABLE keyed (k TEXT NOT NULL PRIMARY KEY, v INT);
	INSERT INTO keyed VALUES ('1', 1), (x'31', 2), ('a', 3), ('b', 4);
	CREATE TABLE switches (state BOOLEAN NOT NULL PRIMARY KEY);
	INSERT INTO switches VALUES (0), (1), (2);
	CREATE TABLE anything (k NOT NULL PRIMARY KEY);
	INSERT INTO anything VALUES (1), ('1'), ('a');
	CREATE VIEW seen AS SELECT id, id * 60 AS product, count(*) OVER () AS counted, CASE WHEN id > 3 THEN 'x' ELSE id * 40 END AS mixed,
		u || '' AS text, a, x, CAST(id * 60 AS TEXT) AS digits, max(id, 2) * 1.5 AS half FROM loose WHERE typeof(u) <> 'blob';
	CREATE VIEW compound AS SELECT n FROM loose UNION ALL SELECT '5' UNION ALL SELECT '5.0'`

// TestSQLiteMisfits reads and asks columns with values that do not fit them, in every
// encoding. Our own judge accepts all of it.
func TestSQLiteMisfits(t *testing.T) {
	t.Parallel()
	skipShort(t)
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		t.Run(encoding, func(t *testing.T) {
			db := newSQLite(t, "PRAGMA encoding = '"+encoding+"';"+misfits)
			t.Run("judged", func(t *testing.T) {
				skipShort(t)
				if encoding == "UTF-16be" {
					t.Skip("judged as UTF-16le is")
				}
				target, done := conformance.InProcess(db.handler(t, nil), token)
				defer done()
				conformancetest.Test(t, target, &conformance.Options{Mode: conformance.ModeLive})
			})
			tenant := db.caller(t, nil)
			d, err := tenant.Discover()
			require.NoError(t, err)
			t.Run("described", func(t *testing.T) { describedMisfits(t, d, encoding) })
			t.Run("read", func(t *testing.T) { readMisfits(t, tenant) })
			t.Run("asked", func(t *testing.T) { askedMisfits(t, tenant) })
		})
	}
}

// describedMisfits looks at types, keys and warnings.
func describedMisfits(t *testing.T, d *wire.Discovery, encoding string) {
	tables := byName(d)
	for _, c := range []struct {
		why, table, field string
		want              wire.Type
	}{
		{"one value of another type changes nothing", "loose", "n", wire.TypeNumber},
		{"no type, and several kinds of values", "loose", "a", wire.TypeString},
		{"an import of numbers", "loose", "imported", wire.TypeNumber},
		{"true and false as letters", "loose", "flag", wire.TypeString},
		{"dates that no date is spelled like", "loose", "us", wire.TypeString},
		{"milliseconds are beyond all years", "loose", "ms", wire.TypeNumber},
		{"an expression of numbers", "seen", "product", wire.TypeNumber},
		{"a count", "seen", "counted", wire.TypeNumber},
		{"an expression of several kinds", "seen", "mixed", wire.TypeString},
		{"an expression of texts that are numbers", "seen", "digits", wire.TypeString},
		{"an expression of reals", "seen", "half", wire.TypeNumber},
		{"a column that SQLite calls a BLOB", "seen", "a", wire.TypeString},
	} {
		assert.Equal(t, c.want, tables[c.table].Field(c.field).Type, c.why)
	}
	assert.Equal(t, encoding == "UTF-8", tables["loose"].Field("u").Unique, "the blob x'31' is null beside the text 1")
	assert.Empty(t, tables["keyed"].PrimaryKey, "a key with a null")
	assert.Empty(t, tables["switches"].PrimaryKey, "1 and 2 are both true")
	assert.Empty(t, tables["anything"].PrimaryKey, "1 and '1' are one text")
	if encoding == "UTF-8" { // in the other encoding nothing on texts is pushed anyway
		warnings := strings.Join(d.Warnings, "\n")
		assert.Contains(t, warnings, `In table "loose", the field "a" has 1 values of another kind than the database compares`)
		assert.NotContains(t, warnings, `In table "loose", the field "n" has`)
	}
	for field, n := range map[string]string{"n": "3", "u": "2", "a": "1", "f": "3", "d": "2", "at": "2", "b": "2", "m": "2", "j": "2"} {
		want := n + ` values of the field "` + field + `" cannot be sent`
		assert.True(t, slices.ContainsFunc(d.Warnings, func(w string) bool {
			return strings.Contains(w, `table "loose"`) && strings.Contains(w, want)
		}), want)
	}
}

// readMisfits reads cells: a value that does not fit is null.
func readMisfits(t *testing.T, tenant *connectortest.Tenant) {
	for _, c := range []struct{ field, want string }{
		{"n", `120|60|null|null|1.5|9007199254740993|null`},
		{"u", `1|null|x|null|null|a|ä`},
		{"a", `1|null|1|1.5|null|b|null`},
		{"f", `1.5|null|null|null|null|0|0.1`},
		{"d", `2024-02-29|2024-03-01|null|null|2024-02-01|2024-02-02|2024-02-03`},
		{"at", `2024-02-29T10:00:00Z|2024-02-29T00:00:00Z|2024-02-29T00:00:00Z|2024-02-29T00:00:00Z|null|null|2024-02-29T00:00:00Z`},
		{"b", `true|false|null|null|null|false|true`},
		{"j", `{"a":1}|[1]|null|null|5|null|"x"`},
		{"x", `AP8=|null|BQ==|null|null|MQ==|Bg==`},
		{"bin", `AQ==|null|null|null|null|Ag==|null`},
	} {
		answer, err := tenant.Query(wire.QueryRequest{
			Table: "loose", Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}}, Fields: []string{c.field}, Limit: 9,
		})
		require.NoError(t, err)
		assert.Equal(t, c.want, strings.Join(spelled(answer.Rows, ""), "|"), c.field)
	}
}

// askedMisfits counts by filters.
func askedMisfits(t *testing.T, tenant *connectortest.Tenant) {
	for _, c := range []struct {
		why, table, field string
		op                wire.Op
		value             wire.Value
		want              int64
	}{
		{"numbers by value", "seen", "product", wire.OpLt, wire.Text("120"), 1},
		{"numbers by value, without a declared type", "loose", "imported", wire.OpGt, wire.Text("60"), 1},
		{"a null matches nothing", "loose", "n", wire.OpNeq, wire.Int(60), 3},
		{"nor does a blob", "loose", "u", wire.OpEq, wire.Text("1"), 1},
		{"a number and a text are one text", "loose", "a", wire.OpEq, wire.Text("1"), 2},
		{"the digits of a number", "loose", "id", wire.OpStartsWith, wire.Text("1"), 1},
		{"the letters of a text", "loose", "u", wire.OpIncludes, wire.Text("ä"), 1},
		{"what is not null", "loose", "n", wire.OpNotNull, wire.Null(), 4},
		{"what is null", "loose", "at", wire.OpIsNull, wire.Null(), 2},
	} {
		f := wire.Filter{Field: c.field, Op: c.op, Value: c.value}
		n, err := tenant.Count(wire.CountRequest{Table: c.table, Where: wire.Where{And: []wire.Filter{f}}})
		require.NoError(t, err, c.why)
		assert.Equal(t, c.want, n, c.why)
	}
	counts, err := tenant.Cardinality("loose", "n", "u", "a", "x", "d")
	require.NoError(t, err)
	for field, want := range map[string]wire.Cardinality{
		"n": {NonNull: 4, Distinct: 4}, "u": {NonNull: 4, Distinct: 4}, "x": {NonNull: 4, Distinct: 4}, "d": {NonNull: 5, Distinct: 5},
	} {
		if counts[field] != nil { // not counted in UTF-16
			assert.Equal(t, want, *counts[field], field)
		}
	}
}
