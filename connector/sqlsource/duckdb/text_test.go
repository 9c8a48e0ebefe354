package duckdb_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// sampled is more rows than the engine looks at before it takes a type for granted.
const sampled = 25_000

// late returns a CSV of one column whose cells are all the same but the last.
func late(usual, last string) string {
	return "n\n" + strings.Repeat(usual+"\n", sampled) + last + "\n"
}

// lateObjects is the same as NDJSON.
func lateObjects(usual, last string) string {
	return strings.Repeat(`{"n":`+usual+"}\n", sampled) + `{"n":` + last + "}\n"
}

// TestLateCells serves files whose last row is of another type than those before it:
// all of the file decides.
func TestLateCells(t *testing.T) {
	for name, c := range map[string]struct{ why, file, content, typ, last string }{
		"a fraction":       {"duckdb/duckdb#25824: 1.5 behind 25,000 integers became 2", "t.csv", late("1", "1.5"), "decimal", "1.5"},
		"a code":           {"duckdb/duckdb#5782: 00501 among zips became 501", "t.csv", late("10001", "00501"), "string", "00501"},
		"a text":           {"neiltron/apple-health-mcp#23: rows that do not fit were left out, or the table", "t.csv", late("1", "n/a"), "string", "n/a"},
		"a version":        {"the same: 11.0.1 is no number", "t.csv", late("10.5", "11.0.1"), "string", "11.0.1"},
		"an exponent":      {"1e-3 became 0", "t.csv", late("1", "1e-3"), "string", "1e-3"},
		"a time":           {"a date with a time lost it", "t.csv", late("2024-01-31", "2024-01-31 10:30:00"), "datetime", "2024-01-31T10:30:00Z"},
		"an offset":        {"duckdb/duckdb#18767: +05:00 was dropped", "t.csv", late("2024-01-31T10:00:00", "2024-01-31T10:00:00+05:00"), "datetime", "2024-01-31T05:00:00Z"},
		"a long integer":   {"duckdb/duckdb#22750: became a double", "t.csv", late("1", "12345678901234567890"), "number", "12345678901234567890"},
		"a longer one":     {"beyond 128 bits", "t.csv", late("1", strings.Repeat("9", 60)), "number", strings.Repeat("9", 60)},
		"a long decimal":   {"became a double", "t.csv", late("1", "12345678901234567.89"), "decimal", "12345678901234567.89"},
		"a separator":      {"1_000 is how the engine also spells 1000", "t.csv", late("1", "1_000"), "string", "1_000"},
		"a blank":          {"a number with a blank is a text", "t.csv", late("1", " 1"), "string", " 1"},
		"a plus":           {"+49 may be a telephone number", "t.csv", late("1", "+49"), "string", "+49"},
		"one as a boolean": {"1 is no boolean", "t.csv", late("true", "1"), "string", "1"},
		"yes as a boolean": {"t is one to the engine", "t.csv", late("true", "t"), "string", "t"},
		"a time of day":    {"12:30 became 12:30:00", "t.csv", late("12:30", "12:31"), "string", "12:31"},
		"nanoseconds":      {"were cut", "t.csv", late("2024-01-31 10:00:00", "2024-01-31 10:00:00.000000001"), "datetime", "2024-01-31T10:00:00.000000001Z"},
		"NaN":              {"is a text, not a null", "t.csv", late("1.5", "NaN"), "string", "NaN"},
		"a JSON fraction":  {"duckdb/duckdb#25786: became 2", "t.ndjson", lateObjects("7", "1.5"), "decimal", "1.5"},
		"a JSON boolean":   {"the same: true became 1", "t.ndjson", lateObjects("7", "true"), "string", "true"},
		"a JSON text":      {"the file was left out as damaged", "t.ndjson", lateObjects("7", `"x"`), "string", "x"},
		"a JSON 2^53+1":    {"9007199254740993 beside 1.5 became ...992", "t.ndjson", lateObjects("1.5", "9007199254740993"), "decimal", "9007199254740993.0"},
		"a JSON long one":  {"duckdb/duckdb#17135: the file could not be read", "t.ndjson", lateObjects("1", "92233720368547758070"), "number", "92233720368547758070"},
		"a JSON exponent":  {"is a number in JSON", "t.ndjson", lateObjects("1", "1e-3"), "number", "0.001"},
		"a JSON object":    {"beside numbers", "t.ndjson", lateObjects("1", `{"a":1.50}`), "string", `{"a":1.50}`},
		"a JSON datetime":  {"a text behind dates", "t.ndjson", lateObjects(`"2024-01-31"`, `"soon"`), "string", "soon"},
		"a JSON member":    {"that only the last object has", "t.ndjson", lateObjects("1", `1,"m":2`), "number", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tenant := serve(t, (&lakeCase{files: map[string]string{c.file: c.content}}).write(t), nil).As(nil).In(t)
			d := testkit.Must(tenant.Discover())(t)
			require.Len(t, d.Tables, 1, "%v", d.Warnings)
			require.Equal(t, c.typ, string(d.Tables[0].Fields[0].Type), "%s: %v", c.why, d.Warnings)
			rows := rowsOf(t, tenant, []string{"n"})
			require.Equal(t, c.last, rows[strings.LastIndexByte(rows, '\n')+1:], c.why)
			require.Equal(t, sampled, strings.Count(rows, "\n"), c.why)
		})
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func wide(text string) string {
	b := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

// TestTextFiles serves CSV and JSON of all kinds.
func TestTextFiles(t *testing.T) {
	for name, c := range map[string]lakeCase{
		"a sign of comments": {
			why:    "duckdb/duckdb#17744, pmgraham/datagrunt#141: rows that begin with # were comments",
			files:  map[string]string{"t.csv": "id,n\n#1001,1\n#1002,2\n1003,3\n#1004,4\n"},
			fields: "id string, n number", rows: "#1001|1\n#1002|2\n1003|3\n#1004|4",
		},
		"dates of somebody": {
			why:    "pandas-dev/pandas#37895: 02/01/2024 is a month in the US; 01/02/24 became 2001",
			files:  map[string]string{"t.csv": "a,b,c\n01/01/2024,01/02/24,31.12.2024\n02/01/2024,01/02/24,01.01.2025\n"},
			fields: "a string, b string, c string", rows: "01/01/2024|01/02/24|31.12.2024\n02/01/2024|01/02/24|01.01.2025",
		},
		"another dialect later": {
			why:    "duckdb/duckdb#25827: the rows before a semicolon were taken for a preamble",
			files:  map[string]string{"t.csv": "c0\nv0\na;b\n"},
			fields: "c0 string", rows: "v0\na;b",
		},
		"quotes and line ends": {
			why:    "what stands in quotes is a value, to the byte",
			files:  map[string]string{"t.csv": "a,b\r\n\"x\r\ny\",\"q\"\"q\"\r\n\"\n\",'s'\r\n\"\",\\N\r\n"},
			fields: "a string, b string", rows: "x\r\ny|q\"q\n\n|'s'\n~|\\N",
		},
		"blank lines and blanks": {
			why:    "blank lines are no rows, and blanks are values",
			files:  map[string]string{"t.csv": "\n\na,b\n\n 1,2 \n\n3,4\n\n"},
			fields: "a string, b string", rows: " 1|2 \n3|4",
		},
		"a byte-order mark": {
			why:    "is no part of the first name",
			files:  map[string]string{"t.csv": "\ufeffa,b\n1,2\n"},
			fields: "a number, b number", rows: "1|2",
		},
		"words for nothing": {
			why:    "NULL, NA and nan are texts; an empty cell is null",
			files:  map[string]string{"t.csv": "a,b\nNULL,NA\nnan,\n,null\n"},
			fields: "a string, b string", rows: "NULL|NA\nnan|~\n~|null",
		},
		"a column that only a later file has": {
			why:    "pola-rs/polars#27268: it vanished",
			files:  map[string]string{"t/1.csv": "a,b\n1,x\n", "t/2.csv": "b,c\ny,2.50\n"},
			fields: "a number, b string, c decimal", rows: "1|x|~\n~|y|2.50",
			warns: []string{`t: column "a" is not in 2.csv`, `column "c" is not in 1.csv`},
		},
		"files of two types": {
			why:    "the first file's types were those of all",
			files:  map[string]string{"t/1.csv": "a,b\n1,2024-01-31\n", "t/2.csv": "a,b\n007,2024-02-01T10:00:00.5\n", "t/3.csv": "b,a\n2024-03-01,3\n"},
			fields: "a string, b datetime",
			rows:   "1|2024-01-31T00:00:00.000Z\n007|2024-02-01T10:00:00.500Z\n3|2024-03-01T00:00:00.000Z", warns: []string{},
		},
		"objects of files of two types": {
			why:    "the same in JSON",
			files:  map[string]string{"t/1.ndjson": `{"a":1}`, "t/2.ndjson": `{"a":1.25,"b":[1,2.50]}` + "\n" + `{"b":[]}`},
			fields: "a decimal, b array", rows: "1.00|~\n1.25|[1,2.50]\n~|[]", warns: []string{`column "b" is not in 1.ndjson`},
		},
		"texts of JSON": {
			why:    "duckdb/duckdb#16684: what looks like a UUID, a date or a time was respelled",
			files:  map[string]string{"t.ndjson": `{"u":"BBD05AE7000000000000000000000000","d":"25-11-2025","h":"12:30","n":"30","z":"007"}` + "\n"},
			fields: "u string, d string, h string, n string, z string", rows: "BBD05AE7000000000000000000000000|25-11-2025|12:30|30|007",
		},
		"numbers of JSON": {
			why:    "duckdb/duckdb#24989: digits beyond a double were lost",
			files:  map[string]string{"t.json": `[{"a":883406386745030.3,"b":1.10},{"a":0.1,"b":12345678901234567.89},{"a":null}]`},
			fields: "a decimal, b decimal", rows: "883406386745030.3|1.10\n0.1|12345678901234567.89\n~|~",
		},
		"objects of many members": {
			why:    "duckdb/duckdb#25828: 200 members of numbers became doubles",
			files:  map[string]string{"t.ndjson": `{"o":{` + strings.Repeat(`"k":9007199254740993,`, 1) + manyMembers(200) + `}}`},
			fields: "o json", rows: `{"k":9007199254740993,` + manyMembers(200) + `}`,
		},
		"JSON of several shapes": {
			why:    "objects over several lines, and a list over several lines",
			files:  map[string]string{"t/1.json": "{\n \"a\": 1\n}\n{\"a\":\n2}", "t/2.json": "[\n{\"a\":3},\n\n{\"a\" : 4}]\n", "t/3.json": ""},
			fields: "a number", rows: "1\n2\n3\n4", warns: []string{},
		},
		"compressed": {
			why:    "a compressed file is read as the file in it",
			files:  map[string]string{"t/1.csv.gz": zipped("a,b\n01,x\n"), "t/2.csv": "a,b\n2,y\n"},
			fields: "a string, b string", rows: "01|x\n2|y",
		},
		"tabs": {
			why:    "a TSV",
			files:  map[string]string{"t.tsv": "a\tb\n1,5\tx;y\n"},
			fields: "a string, b string", rows: "1,5|x;y",
		},
		"another length": {
			why:   "a line of another number of fields is an error, by its place",
			files: map[string]string{"t.csv": "a,b\n1,2\n3\n4,5,6\n"},
			warns: []string{"t.csv line 3: 1 cells where the header has 2"},
		},
		"Latin-1": {
			why:   "the sentence says the line and the cure",
			files: map[string]string{"t.csv": "a,b\n1,x\n2,M\xfcller\n"},
			warns: []string{"t.csv line 3: cell 2 is not valid UTF-8; save the file as UTF-8"},
		},
		"UTF-16 by its mark": {
			why:    "a byte-order mark is certain, and said",
			files:  map[string]string{"t.csv": wide("a,b\n1,Müller\n")},
			fields: "a number, b string", rows: "1|Müller", warns: []string{"t.csv is read as utf-16", "byte-order mark"},
		},
		"semicolons": {
			why:    "a header with one separator and no other is certain, and said",
			files:  map[string]string{"t.csv": "a;b\n1;2,5\n"},
			fields: "a number, b string", rows: "1|2,5", warns: []string{"separated by semicolons"},
		},
		"a broken line of JSON": {
			why:   "is named",
			files: map[string]string{"t.ndjson": "{\"a\":1}\n{\"a\":}\n"},
			warns: []string{"t.ndjson line 2: byte"},
		},
		"a member twice": {
			why:   "which of the two is meant would be a guess",
			files: map[string]string{"t.json": "[{\"a\":1},\n{\"a\":1,\"a\":2}]"},
			warns: []string{`t.json line 2: duplicate member "a"`},
		},
		"names in two cases": {
			why:   "the engine does not tell them apart, and a column would vanish",
			files: map[string]string{"t.csv": "ID,id\n1,2\n"},
			warns: []string{`t.csv`, `"ID" and "id"`},
		},
		"files of other kinds": {
			why:    "are named, with what serves them",
			files:  map[string]string{"t.csv": "a\n1\n", "b.xlsx": "x", "c.avro": "x", "d/e.xls": "x", ".hidden": "x", "d/_SUCCESS": "", "README.md": "x"},
			fields: "a number", rows: "1",
			warns: []string{"b.xlsx and d/e.xls are not served: save each sheet", "c.avro", ".parquet"},
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
}

// manyMembers returns so many members of numbers that a double does not hold.
func manyMembers(n int) string {
	var members []string
	for i := range n {
		members = append(members, `"m`+strings.Repeat("x", i)+`":9007199254740993`)
	}
	return strings.Join(members, ",")
}

// TestPartitions reads the values of partitions from the names of folders.
func TestPartitions(t *testing.T) {
	for name, c := range map[string]lakeCase{
		"none": {
			why: "duckdb/duckdb#20512: __HIVE_DEFAULT_PARTITION__ was a text, and numbers beside it became texts",
			files: map[string]string{
				"t/p=1/a.parquet": "SELECT 1 AS n", "t/p=22/a.parquet": "SELECT 2 AS n",
				"t/p=__HIVE_DEFAULT_PARTITION__/a.parquet": "SELECT 3 AS n",
			},
			fields: "n number, p number", rows: "1|1\n2|22\n3|~",
		},
		"codes": {
			why:    "an inferred type of 007 is 7",
			files:  map[string]string{"t/p=007/a.parquet": "SELECT 1 AS n", "t/p=12/a.parquet": "SELECT 2 AS n"},
			fields: "n number, p string", rows: "1|007\n2|12",
		},
		"dates": {
			why: "and decimals, in text files",
			files: map[string]string{
				"t/d=2024-01-31/x=1.50/a.csv": "n\n1\n", "t/d=__HIVE_DEFAULT_PARTITION__/x=2/a.csv": "n\n2\n",
				"t/d=2024-02-01/x=3/b.csv": "n\n3\n",
			},
			fields: "n number, d date, x decimal", rows: "1|2024-01-31|1.50\n3|2024-02-01|3.00\n2|~|2.00",
		},
		"escaped": {
			why: "Hive escapes what a path cannot have",
			files: map[string]string{
				"t/p=a%2Fb/a.ndjson": `{"n":1}`, "t/p=%20/a.ndjson": `{"n":2}`,
			},
			fields: "n number, p string", rows: "2| \n1|a/b",
		},
		"of some files": {
			why:   "a file without the partition cannot be told from one whose partition is null",
			files: map[string]string{"t/p=1/a.parquet": "SELECT 1 AS n", "t/b.parquet": "SELECT 2 AS n"},
			warns: []string{"t is left out", "b.parquet", "p=1/a.parquet"},
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
}
