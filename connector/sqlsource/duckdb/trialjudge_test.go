package duckdb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// reading is a reading of one table through a source.
type reading struct {
	reader, format string
	table          string   // its name
	files          []string // by which a warning may name it
	stored         []map[string]stored
	columns        []string
	lacking        map[string]bool // the columns that some file lacks
	float32s       bool
}

// A finding is where an answer is not what is stored, and nobody was told.
type finding struct{ reader, format, drift, text string }

// equal is the outcome of a table whose every cell is what is stored.
const equal = "equal"

// judge reads the table and returns what became of it, and what of it is untrue.
func (r *reading) judge(tenant *connectortest.Tenant, found *wire.Discovery) (outcome string, findings []finding) {
	report := func(column, format string, of ...any) {
		findings = append(findings, finding{r.reader, r.format, column, fmt.Sprintf(format, of...)})
	}
	at := slices.IndexFunc(found.Tables, func(t wire.Table) bool { return t.Name == r.table })
	if at < 0 {
		if !told(found, r.files...) && !told(found, r.table) {
			report("(table)", "%s: not in discovery, and no warning names it: %q", r.table, found.Warnings)
		}
		return "left out", findings
	}
	types := map[string]wire.Type{}
	for _, f := range found.Tables[at].Fields {
		types[f.Name] = f.Type
	}
	var fields []string
	for _, c := range r.columns {
		switch told := told(found, c); {
		case types[c] == "" && r.unwritten(c): // no byte of it is stored
		case types[c] == "" && !told:
			report(c, "the column is missing, and no warning names it")
		case types[c] != "":
			fields = append(fields, c)
			if r.lacking[c] && !told {
				report("(union)", "%s: a file lacks it, and no warning says so", c)
			}
		}
	}
	rows, refused := query(tenant, r.table, fields)
	if refused != "" {
		if !slices.ContainsFunc(append(r.files, r.columns...), func(name string) bool { return strings.Contains(refused, name) }) {
			report("(query)", "refused without a place: %s", refused)
		}
		return "refused", findings
	}
	byID := map[string]map[string]json.RawMessage{}
	for _, row := range rows {
		byID[strings.Trim(string(row[idColumn]), `"`)] = row
	}
	if len(byID) != len(rows) || len(rows) != len(r.stored) {
		report("(rows)", "%d rows, %d of them different, of %d", len(rows), len(byID), len(r.stored))
		return "untrue", findings
	}
	outcome = equal
	for _, c := range fields {
		for i, want := range r.stored {
			row, ok := byID[want[idColumn].text]
			if !ok {
				report("(rows)", "row %d is missing", i)
				break
			}
			if r.equal(want[c], types[c], row[c]) {
				continue
			}
			if told(found, c) {
				outcome = "told"
				break
			}
			report(c, "row %d stores the %s %.60q; as %s it is %.80s", i, want[c].kind, want[c].text, types[c], row[c])
			outcome = "untrue"
			break
		}
	}
	return outcome, findings
}

// unwritten reports whether a column is in no file: NDJSON need not name a member that
// has no value.
func (r *reading) unwritten(column string) bool {
	return r.format == jsons && !slices.ContainsFunc(r.stored, func(row map[string]stored) bool { return row[column].kind != noValue })
}

// told reports whether a warning has one of the names.
func told(found *wire.Discovery, names ...string) bool {
	for _, name := range names {
		word := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(path.Base(name)) + `($|\W)`)
		if slices.ContainsFunc(found.Warnings, word.MatchString) {
			return true
		}
	}
	return false
}

// query returns all rows of a table as they cross the wire, or why they are refused.
func query(tenant *connectortest.Tenant, table string, fields []string) (rows []map[string]json.RawMessage, refused string) {
	answer, err := tenant.Query(wire.QueryRequest{Table: table, Sort: []wire.SortKey{}, Fields: fields})
	if err != nil {
		return nil, err.Error()
	}
	for _, row := range answer.Rows {
		cells := map[string]json.RawMessage{}
		for i, v := range row {
			cells[fields[i]], _ = v.AppendJSON(nil)
		}
		rows = append(rows, cells)
	}
	return rows, ""
}

// equal reports whether a cell of a column is the value that is stored: of the same
// meaning, and of the same spelling where the format has text that means nothing else.
func (r *reading) equal(v stored, typ wire.Type, raw json.RawMessage) bool {
	if v.kind == noValue || raw == nil || string(raw) == "null" {
		return v.kind == noValue && string(raw) == "null"
	}
	if r.format == jsons && v.kind == aText { // a string of JSON may be a date, as there is no other
		if at := asCSV(v); at.kind == aDate || at.kind == aDatetime {
			v = at
		}
	}
	if r.format == csvs || v.kind == aPlainText {
		v = asCSV(v)
		if v.kind == noValue {
			return string(raw) == "null"
		}
	}
	cell := string(raw)
	isText := cell[0] == '"'
	if isText {
		_ = json.Unmarshal(raw, &cell)
	}
	switch typ {
	case wire.TypeString, wire.TypeReference:
		return isText && r.sameText(v, cell)
	case wire.TypeNumber, wire.TypeDecimal:
		return v.kind == aNumber && (sameNumber(cell, v.text) || r.float32s && sameFloat32(cell, v.text))
	case wire.TypeBoolean:
		return v.kind == aBoolean && cell == strings.ToLower(v.text) && !isText
	case wire.TypeDate:
		return v.kind == aDate && cell == v.text
	case wire.TypeDatetime:
		at, err := time.Parse(time.RFC3339Nano, cell)
		return err == nil && (v.kind == aDate || v.kind == aDatetime) && at.Equal(instant(v.text))
	case wire.TypeJSON, wire.TypeArray:
		if v.kind != aJSON {
			return sameJSON(cell, asJSON(v))
		}
		return sameJSON(cell, v.text)
	}
	return false
}

// asCSV returns what a plain text is: a number, a boolean, a date or
// a list if it is spelled as one and as nothing else. What a spreadsheet might take for
// one is a text: leading zeros, a plus, an exponent.
func asCSV(v stored) stored {
	text := v.text
	_, noDay := time.Parse(time.DateOnly, text)
	switch {
	case text == "":
		return stored{}
	case plainNumber.MatchString(text):
		return stored{aNumber, text}
	case slices.Contains([]string{"true", "false", "TRUE", "FALSE", "True", "False"}, text):
		return stored{aBoolean, text}
	case noDay == nil:
		return stored{aDate, text}
	case !instant(text).IsZero():
		return stored{aDatetime, text}
	case (text[0] == '[' || text[0] == '{') && json.Valid([]byte(text)):
		return stored{aJSON, text}
	}
	return stored{aText, v.text}
}

var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// instant returns the moment that a date or a datetime of ISO 8601 is, in UTC if it says
// no zone; the zero time for any other text.
func instant(s string) time.Time {
	if len(s) < len(time.DateOnly) || s[4] != '-' {
		return time.Time{}
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02T15:04Z07:00", time.DateOnly,
	} {
		if len(s) > 10 && s[10] == ' ' {
			s = s[:10] + "T" + s[11:]
		}
		if at, err := time.Parse(layout, s); err == nil {
			return at
		}
	}
	return time.Time{}
}

// sameText reports whether a text is a stored value as a column of texts has it.
func (r *reading) sameText(v stored, cell string) bool {
	switch {
	case cell == v.text:
		return true
	case r.format == csvs || v.kind == aText || v.kind == aBoolean:
		return false
	case v.kind == aNumber:
		return sameNumber(cell, v.text) || r.float32s && sameFloat32(cell, v.text)
	case v.kind == aJSON:
		return sameJSON(cell, v.text)
	case r.format == parquets: // which has no spelling of a datetime
		return instant(cell).Equal(instant(v.text)) && !instant(cell).IsZero()
	}
	return false
}

func sameNumber(a, b string) bool {
	if a == b && plainNumber.MatchString(a) {
		return true
	}
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	return ok && ok2 && x.Cmp(y) == 0
}

// sameFloat32 reports whether a is the float of 32 bits that is spelled b.
func sameFloat32(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 32)
	return err == nil && err2 == nil && x == y
}

// asJSON returns the JSON of a value that is not aJSON.
func asJSON(v stored) string {
	if v.kind == aNumber || v.kind == aBoolean {
		return v.text
	}
	b, _ := json.Marshal(v.text)
	return string(b)
}

// sameJSON reports whether two JSON texts mean the same. A null member is one that is
// not there, and a decimal may be a text.
func sameJSON(a, b string) bool {
	if a == b {
		return json.Valid([]byte(a))
	}
	x, ok := decoded(a)
	y, ok2 := decoded(b)
	return ok && ok2 && sameValue(x, y)
}

func decoded(text string) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	return v, d.Decode(&v) == nil && !d.More()
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for _, name := range append(keys(x), keys(y)...) {
			if !sameValue(x[name], y[name]) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, sameValue)
	case json.Number:
		return sameNumber(x.String(), fmt.Sprint(b))
	case string:
		if y, ok := b.(json.Number); ok {
			return sameNumber(x, y.String())
		}
		return a == b
	}
	return a == b
}
