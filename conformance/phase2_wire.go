package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// wireChecks are about the spelling of cells, as reading every table of the
// corpus whole shows it.
func wireChecks() []Check {
	return family{
		section: "P2.16", rule: "protocol, Row values", judge: judgeCells,
		quote: "Wire spellings: decimals and integers beyond 2^53 as digit-exact strings; datetimes as ISO 8601 UTC; arrays and JSON as JSON text inside a string; missing values as null.",
		members: []member{
			{title: "decimals are strings of their digits", fix: "Never read a decimal into a float; answer its digits in a string."},
			{title: "numbers keep their digits, integers beyond 2^53 as strings", fix: "Answer integers beyond 9007199254740991 as strings, and doubles in their shortest digits."},
			{title: "dates and datetimes are ISO 8601 in UTC", fix: "Convert to UTC and write 2024-02-29T12:00:00.000001Z, with a T, every digit of the fraction and a Z."},
			{title: "arrays and JSON are JSON text in a string", fix: "Answer arrays and documents as text: \"[1,2]\", \"{\\\"a\\\":1}\", and \"17\" for the document 17."},
			{title: "texts are answered exactly", quote: "A row is an object whose values are string, number, boolean or null.",
				fix: "Change nothing: no trimming, no normal form, no replaced characters, no text turned into a number or null."},
			{title: "missing values are null", fix: "Answer null, not an empty text, not 0, not the text null."},
			{title: "booleans are true and false", quote: "A row is an object whose values are string, number, boolean or null.",
				fix: "Answer true and false where the column is a boolean, whatever the source stores."},
		},
	}.checks()
}

// cellCheck is the check about the spelling of a type's values.
func cellCheck(t wire.Type) string {
	switch t {
	case wire.TypeDecimal:
		return "P2.16a"
	case wire.TypeNumber:
		return "P2.16b"
	case wire.TypeDate, wire.TypeDatetime:
		return "P2.16c"
	case wire.TypeJSON, wire.TypeArray:
		return "P2.16d"
	case wire.TypeBoolean:
		return "P2.16g"
	}
	return "P2.16e"
}

// rowsCheck is the check about the rows of a table of the corpus.
func rowsCheck(table string) string {
	switch table {
	case "empty_table":
		return "P2.2b"
	case "many":
		return "P2.2c"
	case "wide":
		return "P2.2d"
	}
	return "P2.2a"
}

// judgeRows holds the rows of the tables that the check is about against the
// corpus, by their keys; what their cells say is for P2.16.
func judgeRows(x *exam) {
	f := x.corpusServed()
	var all []string
	for _, name := range corpusNames() {
		if rowsCheck(name) == x.check.ID {
			all = append(all, name)
		}
	}
	x.overTables(f, all, func(h *health) *finding { return h.rows })
	x.judgeCasesAfter()
}

// judgeCells holds the cells of every table against the corpus.
func judgeCells(x *exam) {
	f := x.corpusServed()
	x.overTables(f, corpusNames(), func(h *health) *finding {
		if f := h.spells(x.check.ID); f != nil {
			return f
		}
		for _, d := range h.cells {
			if d.check == x.check.ID {
				return d.finding
			}
		}
		return nil
	})
	x.judgeCasesAfter()
}

// overTables reads tables whole and ends the check with the first finding.
func (x *exam) overTables(f *fixture, names []string, of func(*health) *finding) {
	var found *finding
	var blind *health
	failed := 0
	for _, name := range names {
		h := x.examine(f, name)
		if h.unread != "" {
			if blind == nil || h.unread == Blocked {
				blind = h
			}
			continue
		}
		x.cases++
		if own := of(h); own != nil {
			failed++
			if found == nil {
				copied := *own
				found = &copied
			}
		}
	}
	if found != nil {
		found.failed = failed
		x.found(found)
	}
	switch {
	case blind == nil:
	case blind.unread == Blocked:
		x.blocked(blind.by, blind.why)
	case x.cases == 0:
		x.skip(blind.unread, "%s", blind.why)
	}
}

func (h *health) spells(check string) *finding {
	for _, s := range h.spelled {
		if s.check == check {
			return s.finding
		}
	}
	return nil
}

// hold judges one cell of a table that was read whole: column i of row n of the
// corpus, of type t there.
func (h *health) hold(want *oracle.Table, t wire.Type, i, n int, got wire.Value, request *Request) {
	right := want.Rows[n][i]
	name := want.Columns[i].Name
	found := func(format string, args ...any) *finding {
		key := want.Rows[n][want.Index(want.PrimaryKey[0])]
		return &finding{detail: fmt.Sprintf("table %s, %s %s: %s ", want.Name, want.PrimaryKey[0], shownCell(key), name) + fmt.Sprintf(format, args...),
			expected: shownCell(right), received: shownCell(got), request: request}
	}
	wrong := func(check, text string) {
		if h.damaged(name) == nil {
			h.cells = append(h.cells, damage{name, check, found("%s", text)})
		}
	}
	spelled := func(check, text string) {
		if !slices.ContainsFunc(h.spelled, func(s spelling) bool { return s.check == check }) {
			h.spelled = append(h.spelled, spelling{check, found("%s", text)})
		}
	}
	switch {
	case right.IsNull():
		if !got.IsNull() {
			wrong("P2.16f", "is missing and not null")
		}
		return
	case got.IsNull():
		wrong(cellCheck(t), "is null, and has a value")
		return
	case !sameCell(right, got, t):
		wrong(cellCheck(t), "has another value")
		return
	}
	number := got.Kind() == wire.KindInt || got.Kind() == wire.KindFloat
	switch t {
	case wire.TypeDecimal:
		// A source may know its decimals as numbers.
		if number && want.Columns[i].Type == wire.TypeDecimal {
			spelled("P2.16a", "is a decimal, and no string")
		}
	case wire.TypeNumber:
		if v := right.Int64(); number && right.Kind() == wire.KindInt && (v > wire.MaxSafeInteger || v < -wire.MaxSafeInteger) {
			spelled("P2.16b", "is an integer beyond 2^53, and no string")
		}
	case wire.TypeDatetime:
		if strings.Trim(zoneOf(got.String()), "Zz+-0:") != "" {
			spelled("P2.16c", "is not in UTC")
		}
	case wire.TypeJSON, wire.TypeArray:
		if got.Kind() != wire.KindText {
			spelled("P2.16d", "is not text in a string")
		}
	case wire.TypeString, wire.TypeReference:
		if got.Kind() != wire.KindText {
			spelled("P2.16e", "is a text, and no string")
		}
	}
}

var zonePattern = regexp.MustCompile(`[Tt].*?([Zz]|[+-][0-9:]+)$`)

// zoneOf is how a datetime ends; empty where it names no zone.
func zoneOf(text string) string {
	if m := zonePattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// sameCell is oracle.Same, but for doubles, which have many decimal spellings
// that are read as the same double.
func sameCell(want, got wire.Value, t wire.Type) bool {
	if want.Kind() == got.Kind() && want.Kind() == wire.KindInt {
		return want.Int64() == got.Int64()
	}
	if oracle.Same(want, got, t) {
		return true
	}
	if want.Kind() != wire.KindFloat || got.Kind() == wire.KindText && !wire.IsDecimal(got.Text()) {
		return false
	}
	f, err := strconv.ParseFloat(got.String(), 64)
	return err == nil && f == want.Float64()
}
