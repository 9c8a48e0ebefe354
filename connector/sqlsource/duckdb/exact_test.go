package duckdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// lakeCase is a folder whose table t is served as its files have it.
type lakeCase struct {
	why     string
	files   map[string]string // their contents; in a .parquet, the statement whose answer is written
	options *duckdb.FolderOptions
	fields  string   // of the table t, such as "n number, s string"; empty: it is left out
	rows    string   // a line each, cells separated by |, null is ~; empty: they are not compared
	warns   []string // what the warnings of discovery say; none: there are none
}

// write writes the files of a case below a new folder.
func (c *lakeCase) write(t testing.TB) (dir string) {
	t.Helper()
	made := map[string]string{}
	for name, content := range c.files {
		if strings.HasSuffix(name, ".parquet") {
			made[name] = content
		}
	}
	dir = makeFiles(t, made)
	for name, content := range c.files {
		if made[name] == "" {
			file := filepath.Join(dir, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		}
	}
	return dir
}

// check compares what is served with what the case wants.
func (c *lakeCase) check(t *testing.T) {
	t.Helper()
	tenant := serve(t, c.write(t), c.options).As(nil).In(t)
	d := testkit.Must(tenant.Discover())(t, c.why)
	fields, names := "", []string(nil)
	for _, table := range d.Tables {
		if table.Name != "t" {
			continue
		}
		for _, f := range table.Fields {
			fields += ", " + f.Name + " " + string(f.Type)
			names = append(names, f.Name)
		}
	}
	require.Equal(t, c.fields, strings.TrimPrefix(fields, ", "), "%s; %v", c.why, d.Warnings)
	warned := strings.Join(d.Warnings, "\n")
	for _, text := range c.warns {
		require.Contains(t, warned, text, c.why)
	}
	if c.warns == nil {
		require.Empty(t, d.Warnings, c.why)
	}
	if c.rows != "" {
		require.Equal(t, c.rows, rowsOf(t, tenant, names), c.why)
	}
}

// rowsOf returns the rows of the table t, in their order.
func rowsOf(t *testing.T, tenant *connectortest.Tenant, fields []string) string {
	t.Helper()
	answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: fields}))(t)
	var lines []string
	for _, row := range answer.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			if cells[i] = v.String(); v.IsNull() {
				cells[i] = "~"
			}
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return strings.Join(lines, "\n")
}

// TestParquetDrift serves files of one table whose schemas differ: each value is the one
// that is stored, or the table is left out by name.
func TestParquetDrift(t *testing.T) {
	for name, c := range map[string]lakeCase{
		"an integer, then a fraction": {
			why:    "trinodb/trino#1245: the first file's BIGINT made 12.75 a 13",
			files:  map[string]string{"t/1.parquet": "SELECT 7::BIGINT AS n", "t/2.parquet": "SELECT 12.75::DOUBLE AS n"},
			fields: "n number", rows: "7\n12.75",
			warns: []string{`t: column "n" is BIGINT in 1.parquet and DOUBLE in 2.parquet`},
		},
		"an integer that no double holds": {
			why:    "duckdb/duckdb#2877: a type that holds both by rounding is none",
			files:  map[string]string{"t/1.parquet": "SELECT 9007199254740993::BIGINT AS n", "t/2.parquet": "SELECT 0.1::DOUBLE AS n"},
			fields: "n string", rows: "9007199254740993\n0.1",
			warns: []string{`"n" is BIGINT in 1.parquet and DOUBLE in 2.parquet`, "string"},
		},
		"decimals of two scales": {
			why: "duckdb/duckdb#8146: the first file's DECIMAL(5,2) made 1.255 a 1.26",
			files: map[string]string{
				"t/1.parquet": "SELECT 1.25::DECIMAL(5,2) AS n", "t/2.parquet": "SELECT 1.255::DECIMAL(7,3) AS n",
				"t/3.parquet": "SELECT 99999.999::DECIMAL(8,3) AS n", "t/4.parquet": "SELECT 12::INTEGER AS n",
			},
			fields: "n decimal", rows: "1.250\n1.255\n99999.999\n12.000", warns: []string{`"n"`},
		},
		"decimals that no type holds": {
			why: "36 digits before the dot in one file, 20 behind it in another",
			files: map[string]string{
				"t/1.parquet": "SELECT 999999999999999999999999999999999999.5::DECIMAL(38,1) AS n",
				"t/2.parquet": "SELECT 0.00000000000000000001::DECIMAL(30,20) AS n",
			},
			fields: "n string", rows: "999999999999999999999999999999999999.5\n0.00000000000000000001", warns: []string{`"n"`},
		},
		"a date, then a time": {
			why: "the first file's DATE cut the time of day",
			files: map[string]string{
				"t/1.parquet": "SELECT DATE '2024-01-31' AS d", "t/2.parquet": "SELECT TIMESTAMP '2024-02-01 10:30:00.25' AS d",
				"t/3.parquet": "SELECT TIMESTAMPTZ '2024-02-01 10:30:00+02' AS d",
			},
			fields: "d datetime", rows: "2024-01-31T00:00:00.000000Z\n2024-02-01T10:30:00.250000Z\n2024-02-01T08:30:00.000000Z",
			warns: []string{`"d"`},
		},
		"a number, then a code": {
			why:    "duckdb/duckdb#10588: '007' became 7, and a text that is no number an error",
			files:  map[string]string{"t/1.parquet": "SELECT 12::INTEGER AS n", "t/2.parquet": "SELECT '007' AS n UNION ALL SELECT 'x'"},
			fields: "n string", rows: "12\n007\nx", warns: []string{`"n"`},
		},
		"every type with a text": {
			why: "the text of a cell is as the cell alone would be spelled",
			files: map[string]string{
				"t/1.parquet": `SELECT 0.15::DECIMAL(2,2) AS a, 0.1::FLOAT AS b, 1e21::DOUBLE AS c, true AS d, DATE '2024-02-29' AS e,
					TIMESTAMP '2024-02-29 01:02:03' AS f, TIMESTAMP_NS '2024-02-29 01:02:03.000000001' AS g,
					TIME '12:30:00' AS h, '00000000-0000-0000-0000-000000000001'::UUID AS i, 18446744073709551615::UBIGINT AS j`,
				"t/2.parquet": "SELECT 'x' AS a, 'x' AS b, 'x' AS c, 'x' AS d, 'x' AS e, 'x' AS f, 'x' AS g, 'x' AS h, 'x' AS i, 'x' AS j",
			},
			fields: "a string, b string, c string, d string, e string, f string, g string, h string, i string, j string",
			rows: "0.15|0.10000000149011612|1e+21|true|2024-02-29|2024-02-29T01:02:03.000000Z|" +
				"2024-02-29T01:02:03.000000001Z|12:30:00|00000000-0000-0000-0000-000000000001|18446744073709551615\n" +
				"x|x|x|x|x|x|x|x|x|x",
			warns: []string{`"a"`, `"j"`},
		},
		"two widths of floats": {
			why: "the first file's FLOAT made 16777217 a 16777216",
			files: map[string]string{
				"t/1.parquet": "SELECT 1.5::FLOAT AS n", "t/2.parquet": "SELECT 16777217::DOUBLE AS n",
			},
			fields: "n number", rows: "1.5\n16777217", warns: []string{`"n"`},
		},
		"integers of two widths and signs": {
			why: "duckdb/duckdb#1214: the first file's INTEGER could not hold a BIGINT of the second",
			files: map[string]string{
				"t/1.parquet": "SELECT 1::TINYINT AS a, 2::INTEGER AS b, 3::UBIGINT AS c",
				"t/2.parquet": "SELECT 300::SMALLINT AS a, 9223372036854775807::BIGINT AS b, -1::INTEGER AS c",
			},
			fields: "a number, b number, c number", rows: "1|2|3\n300|9223372036854775807|-1", warns: []string{`"a"`, `"b"`, `"c"`},
		},
		"columns that come and go": {
			why: "pola-rs/polars#20926: a column that only a later file has vanished without a word",
			files: map[string]string{
				"t/1.parquet": "SELECT 1 AS a, 'x' AS b", "t/2.parquet": "SELECT 'y' AS b, 2.5::DECIMAL(3,1) AS c", "t/3.parquet": "SELECT 3 AS a",
			},
			fields: "a number, b string, c decimal", rows: "1|x|~\n~|y|2.5\n3|~|~",
			warns: []string{`t: column "a" is not in 2.parquet`, `column "c" is not in 1.parquet`, `column "b" is not in 3.parquet`},
		},
		"members that come and change": {
			why: "a member of a struct that only a later file has vanished, at any depth",
			files: map[string]string{
				"t/1.parquet": "SELECT {'q': 1} AS s, [{'u': 1}] AS l, MAP {'k': 1} AS m",
				"t/2.parquet": "SELECT {'r': 'z', 'q': 1.5::DECIMAL(5,2)} AS s, [{'u': 2, 'v': 'w'}] AS l, MAP {'k': 2.5::DECIMAL(3,1)} AS m",
				"t/3.parquet": "SELECT NULL::STRUCT(q INTEGER) AS s, NULL::STRUCT(u INTEGER)[] AS l, NULL::MAP(VARCHAR, INTEGER) AS m",
			},
			fields: "s json, l array, m json",
			rows: `{"q":"1.00","r":null}|[{"u":1,"v":null}]|{"k":"1.0"}` + "\n" + `{"q":"1.50","r":"z"}|[{"u":2,"v":"w"}]|{"k":"2.5"}` +
				"\n~|~|~",
			warns: []string{`"s"`, `"l"`, `"m"`},
		},
		"bytes and a text": {
			why:   "no type holds both",
			files: map[string]string{"t/1.parquet": `SELECT '\x00'::BLOB AS n`, "t/2.parquet": "SELECT 'a' AS n"},
			warns: []string{`t is left out: column "n" is BLOB in 1.parquet and VARCHAR in 2.parquet`},
		},
		"a struct and a number": {
			why:   "no type holds both",
			files: map[string]string{"t/1.parquet": `SELECT {'a': 1} AS n`, "t/2.parquet": "SELECT 1 AS n"},
			warns: []string{`t is left out: column "n" is`, "1.parquet", "2.parquet"},
		},
		"names in two cases": {
			why:    "the engine does not tell ID from id",
			files:  map[string]string{"t/1.parquet": `SELECT 1 AS "ID"`, "t/2.parquet": `SELECT 2 AS id`},
			fields: "ID number", rows: "1\n2", warns: []string{`column "ID" is "id" in 2.parquet`},
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
}

// TestParquetBeyondTheEngine serves a file of types that the engine reads as others: what
// it cuts is said, and what it reads as another number is left out. duckdb/duckdb#25857,
// NVIDIA/cudf#9393: nanoseconds were cut without a word; duckdb/duckdb#25058: 1.50 of 40
// digits was 1.08e17.
func TestParquetBeyondTheEngine(t *testing.T) {
	content := testkit.Must(os.ReadFile(filepath.Join("testdata", "nanos.parquet")))(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.parquet"), content, 0o600))
	tenant := serve(t, dir, nil).As(nil).In(t)
	d := testkit.Must(tenant.Discover())(t)
	require.Equal(t, []string{
		`t: column "impala" is stored to the nanosecond, and the engine reads it to the microsecond: further digits are cut`,
		`t: column "large" is left out: its decimals have 40 digits, and the engine has 38; write it as a text, or with fewer digits`,
		`t: column "nested" is stored to the nanosecond, and the engine reads it to the microsecond: further digits are cut`,
		`t: column "zoned" is stored to the nanosecond, and the engine reads it to the microsecond: further digits are cut`,
	}, d.Warnings)
	require.Nil(t, d.Tables[0].Field("large"))
	require.Equal(t, "2024-02-29T00:00:00.000000Z|2024-02-29T00:00:00.000000001Z|1",
		rowsOf(t, tenant, []string{"impala", "local", "n"}))
}

// TestFormats serves files of offices: how they are written is said by an option or a
// sidecar, and is never guessed.
func TestFormats(t *testing.T) {
	office := &duckdb.FolderOptions{Format: filesource.Format{
		Separator: ";", Encoding: "windows-1252", DecimalComma: true, DateFormat: "DD.MM.YYYY",
		Types: map[string]wire.Type{"zip": wire.TypeString, "open": wire.TypeBoolean},
	}}
	for name, c := range map[string]lakeCase{
		"by the option": {
			why:     "an office's folder: all of it is stated once",
			files:   map[string]string{"t.csv": "zip;a;b;c;open\n12345;\x80 M\xfcller;1234,50;31.12.2024;1\n1;x;2;1.1.2025;0\n"},
			options: office,
			fields:  "zip string, a string, b decimal, c string, open boolean",
			rows:    "12345|€ Müller|1234.50|31.12.2024|true\n1|x|2.00|1.1.2025|false",
		},
		"dates by the option": {
			why:     "dates of one form are dates",
			files:   map[string]string{"t.csv": "c\n31.12.2024\n01.02.2025\n"},
			options: office, fields: "c date", rows: "2024-12-31\n2025-02-01",
		},
		"by a sidecar": {
			why: "a sidecar goes before the folder, and describes",
			files: map[string]string{
				"t.csv": "n,d\n+49,2\n007,1e3\n",
				"t.table.json": `{"description":"Calls.","separator":",","columns":{"n":{"type":"number","description":"Whom."},` +
					`"d":{"type":"decimal"}}}`,
			},
			options: office, fields: "n number, d decimal", rows: "49|2\n7|1000",
		},
		"of a sub-folder": {
			why: "a sidecar beside a sub-folder is of all its files",
			files: map[string]string{
				"t/1.csv": "n|d\n1|x\n", "t/2.csv": "n|d\n2|y\n", "t.table.json": `{"separator":"|","columns":{"n":{"type":"reference"}}}`,
			},
			fields: "n reference, d string", rows: "1|x\n2|y",
		},
		"a cell that does not fit": {
			why: "the author is told where, and nothing is cast",
			files: map[string]string{
				"t.csv": "n\n1\nn/a\n3\n", "t.table.json": `{"columns":{"n":{"type":"number"}}}`,
			},
			fields: "n string", rows: "1\nn/a\n3", warns: []string{`column "n" is not served as number: t.csv line 3 does not fit`},
		},
		"keys": {
			why:    "what a sidecar says beyond, is said not to count",
			files:  map[string]string{"t.csv": "n\n1\n", "t.table.json": `{"primaryKey":["n"],"columns":{"n":{"name":"m"}}}`},
			fields: "n number", warns: []string{"t.table.json: keys are not declared", `column "n": name and samples are not applied`},
		},
		"a sidecar that is wrong": {
			why:    "nothing of it is applied, and its line is named",
			files:  map[string]string{"t.csv": "n\n1\n", "t.table.json": "{\n\"separater\":\";\"}"},
			fields: "n number", rows: "1", warns: []string{`t.table.json line 2: "separater": no such member`},
		},
		"a sidecar of nothing": {
			why:    "is named",
			files:  map[string]string{"t.csv": "n\n1\n", "u.table.json": "{}"},
			fields: "n number", warns: []string{"u.table.json is left out: it describes no table that is served"},
		},
		"beyond the budget": {
			why:     "columns of a file that is not read for its types are strings, and discovery says so",
			files:   map[string]string{"t.csv": "n,d\n1,2024-01-31\n#2,\n"},
			options: &duckdb.FolderOptions{TypeBudget: 20},
			fields:  "n string, d string", rows: "1|2024-01-31\n#2|~",
			warns: []string{"t: its columns are strings: its files have more than the 20 bytes", "t.table.json"},
		},
		"beyond the budget, declared": {
			why: "who declares a type wants it, whatever it costs",
			files: map[string]string{
				"t.csv": "n,d\n1,2024-01-31\n2,\n", "t.table.json": `{"columns":{"n":{"type":"number"}}}`,
			},
			options: &duckdb.FolderOptions{TypeBudget: -1},
			fields:  "n number, d date", rows: "1|2024-01-31\n2|~",
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
	_, err := duckdb.Folder(t.TempDir(), &duckdb.FolderOptions{Format: filesource.Format{Encoding: "latin"}})
	require.ErrorContains(t, err, "duckdb: format: Encoding must be one of")
}

// TestLongCells reads cells that are longer than what the engine takes for a line.
func TestLongCells(t *testing.T) {
	for _, size := range []int{100, 2_100_000, 9_000_000} {
		c := lakeCase{files: map[string]string{"t.csv": "n,s\n1," + strings.Repeat("x", size) + "\n2,y\n"}}
		tenant := serve(t, c.write(t), nil).As(nil).In(t)
		rows := rowsOf(t, tenant, []string{"n", "s"})
		require.Equal(t, "1|"+strings.Repeat("x", size)+"\n2|y", rows)
	}
}

// TestUnread asks for tables that cannot be read: the answer names the file, the line and
// the cure, and quotes no cell.
func TestUnread(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		options *duckdb.FolderOptions
		says    []string
	}{
		"Latin-1":               {"a,b\n1,x\n2,M\xfcller\n", nil, []string{"t.csv line 3: cell 2 is not valid UTF-8", "state its encoding"}},
		"a short line":          {"a,b\n1,secret\nsecret\n", nil, []string{"t.csv line 3: 1 cells where the header has 2"}},
		"a short line, unread":  {"a,b\n1,secret\nsecret\n", &duckdb.FolderOptions{TypeBudget: -1}, []string{"t.csv line 3"}},
		"Latin-1, unread":       {"a,b\n1,x\n2,M\xfcsecret\n", &duckdb.FolderOptions{TypeBudget: -1}, []string{"t.csv line 3", "UTF-8"}},
		"a quote, unread":       {"a,b\n1,x\n2,\"secret\n", &duckdb.FolderOptions{TypeBudget: -1}, []string{"t.csv line 3"}},
		"semicolons, unread":    {"a;b\n1;x\nsecret\n", &duckdb.FolderOptions{TypeBudget: -1}, []string{"t.csv line 3"}},
		"another code, unread":  {"a,b\n1,x\n2,\x81secret\n", &duckdb.FolderOptions{TypeBudget: -1, Format: filesource.Format{Encoding: "windows-1252"}}, []string{"t.csv line 3"}},
		"a short line, encoded": {"a,b\n1,x\nsecret\n", &duckdb.FolderOptions{TypeBudget: -1, Format: filesource.Format{Encoding: "windows-1252"}}, []string{"t.csv line 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tenant := serve(t, (&lakeCase{files: map[string]string{"t.csv": c.content}}).write(t), c.options).As(nil).In(t).Unverified()
			_, err := tenant.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"a", "b"}})
			require.Error(t, err)
			for _, text := range c.says {
				require.ErrorContains(t, err, text)
			}
			require.NotContains(t, err.Error(), "secret")
			d := testkit.Must(tenant.Discover())(t)
			for _, text := range c.says {
				require.Contains(t, fmt.Sprint(d.Warnings), text)
			}
			require.NotContains(t, fmt.Sprint(d.Warnings), "secret")
		})
	}
}

// TestFresh replaces a file again and again by one of the same size, at once: its types
// are those of what is there.
func TestFresh(t *testing.T) {
	dir := t.TempDir()
	tenant := serve(t, dir, nil).As(nil).In(t).Unverified()
	for i, content := range []string{"n\n1.5\n", "n\n007\n", "n\n1e5\n", "n\n1.7\n", "n\nabc\n"} {
		file := filepath.Join(dir, "t.csv")
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		now := time.Now().Truncate(time.Second)
		require.NoError(t, os.Chtimes(file, now, now))
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"n"}}))(t, i)
		require.Len(t, answer.Rows, 1)
		require.Equal(t, content[2:5], answer.Rows[0][0].String())
	}
	_, err := tenant.Query(wire.QueryRequest{Table: "u", Sort: []wire.SortKey{}, Fields: []string{"n"}})
	require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
}
