package duckdb_test

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// The formats of a trial, which are the names of its tables too: each stores the same
// values.
const (
	csvs     = "csvs"
	jsons    = "jsons"
	parquets = "parquets"
)

var extensions = map[string]string{csvs: ".csv", jsons: ".ndjson", parquets: ".parquet"}

// writeTable writes a table below a folder, and returns the paths of its files in it.
func (trial *trial) writeTable(t testing.TB, random *rand.Rand, dir, format string, table *trialTable) []string {
	t.Helper()
	var paths []string
	style := newStyle(random)
	if !table.fits(style.encoding) {
		style.encoding = ""
	}
	if format == csvs && style.sidecar() != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, csvs+".table.json"), []byte(style.sidecar()), 0o644))
	}
	for i, f := range table.files {
		path := format + extensions[format]
		if len(table.files) > 1 {
			path = fmt.Sprintf("%s/%s-%d%s", format, format, i, extensions[format])
			if table.partition != "" {
				path = fmt.Sprintf("%s/%s=%s/%s-%d%s", format, table.partition, f.value, format, i, extensions[format])
			}
		}
		paths = append(paths, path)
		whole := filepath.Join(dir, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(whole), 0o755))
		switch format {
		case csvs:
			require.NoError(t, os.WriteFile(whole, f.csv(t, style), 0o644))
		case jsons:
			require.NoError(t, os.WriteFile(whole, f.ndjson(t), 0o644))
		case parquets:
			f.parquet(t, trial.db, whole)
		}
	}
	return paths
}

// csvStyle is how a program writes CSV.
type csvStyle struct {
	end, separator string
	quoted         bool   // every cell
	unended        bool   // the last line has no end
	marked         bool   // by a byte-order mark
	encoding       string // empty: UTF-8
}

func newStyle(random *rand.Rand) csvStyle {
	return csvStyle{
		end: [...]string{"\n", "\n", "\r\n"}[random.IntN(3)], separator: [...]string{",", ",", ",", ",", ";", "\t", "|"}[random.IntN(7)],
		quoted: random.IntN(3) == 0, unended: random.IntN(4) == 0, marked: random.IntN(6) == 0,
		encoding: [...]string{"", "", "", "", "", "utf-16", "windows-1252", "iso-8859-1"}[random.IntN(8)],
	}
}

// sidecar returns what its author has to state of such files.
func (s csvStyle) sidecar() string {
	if s.encoding == "" || s.encoding == "utf-16" {
		return ""
	}
	return `{"encoding": "` + s.encoding + `"}`
}

// encode returns a text in the encoding, in which it can be spelled.
func (s csvStyle) encode(text string) []byte {
	var b []byte
	switch {
	case s.encoding == "utf-16":
		b = []byte("\xff\xfe")
		for _, unit := range utf16.Encode([]rune(text)) {
			b = append(b, byte(unit), byte(unit>>8))
		}
		return b
	case s.encoding != "":
		for _, r := range text {
			if r == '€' {
				r = 0x80
			}
			b = append(b, byte(r))
		}
		return b
	case s.marked:
		return []byte("\ufeff" + text)
	}
	return []byte(text)
}

// fits reports whether an encoding has all characters of the table.
func (t *trialTable) fits(encoding string) bool {
	lacks := func(r rune) bool {
		return r >= 0x80 && r < 0xA0 || r > 0xFF && (r != '€' || encoding != "windows-1252")
	}
	for _, f := range t.files {
		for _, row := range f.rows {
			for _, v := range row {
				if encoding != "utf-16" && strings.ContainsFunc(v.text, lacks) {
					return false
				}
			}
		}
	}
	return true
}

// csv returns the file as CSV, which encoding/csv reads as what is stored.
func (f *trialFile) csv(t testing.TB, style csvStyle) []byte {
	spelled := func(text string) string {
		if style.quoted || strings.ContainsAny(text, "\"\r\n"+style.separator) || strings.HasPrefix(text, "\ufeff") {
			return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		return text
	}
	var b bytes.Buffer
	cells := make([]string, len(f.columns))
	for i, c := range f.columns {
		cells[i] = spelled(c)
	}
	b.WriteString(strings.Join(cells, style.separator) + style.end)
	for _, row := range f.rows {
		for i, c := range f.columns {
			cells[i] = spelled(row[c].text)
		}
		b.WriteString(strings.Join(cells, style.separator) + style.end)
	}
	reader := csv.NewReader(bytes.NewReader(b.Bytes()))
	reader.Comma = rune(style.separator[0])
	read := testkit.Must(reader.ReadAll())(t)
	require.Len(t, read, 1+len(f.rows))
	for i, row := range f.rows {
		for j, c := range f.columns { // encoding/csv drops the CR of a line end in quotes
			if want := strings.ReplaceAll(row[c].text, "\r\n", "\n"); want != read[1+i][j] {
				require.Equal(t, want, read[1+i][j])
			}
		}
	}
	content := b.String()
	if style.unended {
		content = strings.TrimSuffix(content, style.end)
	}
	return style.encode(content)
}

// ndjson returns the file as NDJSON, which encoding/json reads as what is stored.
func (f *trialFile) ndjson(t testing.TB) []byte {
	var b bytes.Buffer
	for i, row := range f.rows {
		var members []string
		for _, c := range f.columns {
			text := row[c].text
			switch row[c].kind {
			case noValue:
				if text = "null"; i%2 == 0 {
					continue // a member that is missing, or null
				}
			case aNumber, aBoolean, aJSON:
			default:
				text = string(testkit.Must(json.Marshal(text))(t))
			}
			members = append(members, fmt.Sprintf("%q:%s", c, text))
		}
		line := "{" + strings.Join(members, ",") + "}\n"
		require.True(t, json.Valid([]byte(line)), line)
		b.WriteString(line)
	}
	return b.Bytes()
}

// parquet writes the file as Parquet. Each column has the type that its values in this
// file need, so that another file may have another type.
func (f *trialFile) parquet(t testing.TB, db *sql.DB, path string) {
	var list, names, rows []string
	for _, c := range f.columns {
		typ, from := f.parquetType(c), `"`+c+`"`
		names = append(names, from)
		if kinds := f.kinds(c); kinds[aJSON] && len(kinds) == 1 {
			from = "CAST(" + from + " AS JSON)"
		}
		if strings.HasPrefix(typ, "{") {
			from = "json_transform(" + from + ", '" + typ + "')"
		} else {
			from = "CAST(" + from + " AS " + typ + ")"
		}
		list = append(list, from+` AS "`+c+`"`)
	}
	for _, row := range f.rows {
		cells := make([]string, len(f.columns))
		for i, c := range f.columns {
			if cells[i] = quoted(row[c].text); row[c].kind == noValue {
				cells[i] = "CAST(NULL AS VARCHAR)"
			}
		}
		rows = append(rows, "("+strings.Join(cells, ", ")+")")
	}
	testkit.Must(db.Exec(fmt.Sprintf("COPY (SELECT %s FROM (VALUES %s) AS t(%s)) TO %s (FORMAT parquet)", strings.Join(list, ", "),
		strings.Join(rows, ", "), strings.Join(names, ", "), quoted(path))))(t)
}

// kinds returns the kinds of the values of a column in this file.
func (f *trialFile) kinds(column string) map[kind]bool {
	all := map[kind]bool{}
	for _, row := range f.rows {
		all[row[column].kind] = true
	}
	delete(all, noValue)
	return all
}

// parquetType returns the type of a column in SQL: one that holds each of its values in
// this file exactly.
func (f *trialFile) parquetType(column string) string {
	kinds := f.kinds(column)
	whole, scale, beyond, exponent, wide, zone, longest := 1, 0, false, false, 0, false, ""
	float, single := true, true
	for _, row := range f.rows {
		v := row[column]
		switch v.kind {
		case aNumber:
			exponent = exponent || strings.ContainsAny(v.text, "eE")
			digits, fractions, _ := strings.Cut(strings.TrimPrefix(v.text, "-"), ".")
			whole, scale = max(whole, len(digits)), max(scale, len(fractions))
			if _, err := strconv.ParseInt(v.text, 10, 64); err != nil {
				beyond = true
			}
			float, single = float && fits(v.text, 64), single && fits(v.text, 32)
		case aDatetime:
			wide = max(wide, len(v.text))
			zone = zone || strings.ContainsAny(v.text[len("2006-01-02T15:04:05"):], "Z+-")
		case aJSON:
			if len(v.text) > len(longest) {
				longest = v.text
			}
		}
	}
	switch {
	case len(kinds) == 0:
		return [...]string{"VARCHAR", "INTEGER"}[len(f.rows)%2]
	case len(kinds) == 2 && kinds[aDate] && kinds[aDatetime] && !zone:
		return "TIMESTAMP"
	case len(kinds) > 1:
		return "VARCHAR"
	case kinds[aNumber] && (exponent || f.variant == 1 && float):
		return "DOUBLE"
	case kinds[aNumber] && f.variant == 2 && single:
		return "FLOAT"
	case kinds[aNumber] && !beyond && whole < 9:
		return "INTEGER"
	case kinds[aNumber] && !beyond:
		return "BIGINT"
	case kinds[aNumber] && scale == 0 && whole == 20:
		return "DECIMAL(20,0)"
	case kinds[aNumber]:
		return fmt.Sprintf("DECIMAL(%d,%d)", whole+scale, scale)
	case kinds[aBoolean]:
		return "BOOLEAN"
	case kinds[aDate]:
		return "DATE"
	case kinds[aDatetime] && zone:
		return "TIMESTAMPTZ"
	case kinds[aDatetime] && wide > len("2006-01-02T15:04:05.999999"):
		return "TIMESTAMP_NS"
	case kinds[aDatetime]:
		return "TIMESTAMP"
	case kinds[aJSON]:
		return nestedType(longest)
	}
	return "VARCHAR"
}

// fits reports whether a number is what a float of so many bits is spelled as.
func fits(number string, bits int) bool {
	f, err := strconv.ParseFloat(number, bits)
	return err == nil && sameNumber(strconv.FormatFloat(f, 'f', -1, bits), number) && (f != 0 || !strings.HasPrefix(number, "-"))
}

// nestedTypes are the types of values that drifts make, by what the longest of them contains: a structure as
// json_transform takes it, or a type in SQL.
var nestedTypes = [][2]string{
	{"precise", "JSON"}, {"[[", "BIGINT[][]"}, {"[1.5]", "DECIMAL(3,1)[]"}, {"[", "BIGINT[]"}, {"m000", "MAP(VARCHAR, BIGINT)"},
	{"later", `{"a":"BIGINT","later":{"deep":"VARCHAR"}}`}, {"", `{"a":"BIGINT"}`},
}

// nestedType returns the type of the longest of the values.
func nestedType(longest string) string {
	at := slices.IndexFunc(nestedTypes, func(of [2]string) bool { return strings.Contains(longest, of[0]) })
	return nestedTypes[at][1]
}
