package sqlite

import (
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// day returns the condition that a value is the text of a date that exists.
func day(expr string) string {
	const pattern = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
	return "typeof(" + expr + ") = 'text' AND " + expr + " GLOB '" + pattern + "' AND date(" + expr + ") IS " + expr
}

// date completes a column of texts YYYY-MM-DD.
func (s *columnBuilder) date() {
	s.Valid = "(" + day(s.ref) + ")"
	s.Cell = s.where(s.Valid)
	s.Class = sqlengine.ClassDate
	s.Raw = s.ref + " COLLATE BINARY"
	s.Key = s.Cell + " COLLATE BINARY"
	s.Text = s.Key
	s.Index.Sorted, s.Index.Within = s.Raw, s.Valid
	s.Index.Plain, s.Index.PlainKind = s.Raw, "date"
}

// What follows the second in the text of a datetime, in the patterns of GLOB.
var offsets = []string{
	"[+-][01][0-9]:[0-5][0-9]", "[+-]2[0-3]:[0-5][0-9]",
	" [+-][01][0-9][0-5][0-9] [A-Z]*", " [+-]2[0-3][0-5][0-9] [A-Z]*", // as Go's drivers store a time.Time
}

// datetime completes a column of texts with a date and perhaps a time. Its key is
// that text in one spelling, to the nanosecond.
//
// SQL tells apart what can be sent, as instant does in Go. What has an
// offset from UTC, or is a number, is then left to the library by the Guard.
func (s *columnBuilder) datetime() {
	ref := s.ref
	second := "replace(substr(" + ref + ", 1, 19), 'T', ' ')"
	rest := "substr(" + ref + ", 20)"
	digits := "CASE WHEN " + rest + " GLOB '.[0-9]*' THEN ltrim(substr(" + rest + ", 2), '0123456789') ELSE " + rest + " END"
	offset := "1 = 0"
	for _, pattern := range offsets {
		offset += " OR (" + digits + ") GLOB '" + pattern + "'"
	}
	offset = "(" + digits + ") IN ('', 'Z') OR " + ref + " >= '" + firstMoved + "' AND " + ref + " < '" + lastMoved + "' AND (" + offset + ")"
	sameDay := "(substr(" + ref + ", 12, 2) < '24')" // datetime takes hour 24, and leaves it
	timed := "substr(" + ref + ", 1, 19) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9]:[0-9][0-9]'" +
		" AND datetime(" + second + ") IS " + second + " AND " + sameDay
	s.Valid = "CASE typeof(" + ref + ") WHEN 'text' THEN " + day(ref) + " OR " + timed + " AND (" + offset + ")" +
		" WHEN 'integer' THEN " + ref + " BETWEEN " + firstSecond + " AND " + lastSecond +
		" WHEN 'real' THEN " + ref + " BETWEEN " + firstJulian + " AND " + lastJulian + " ELSE 0 END"
	if s.note.utf16 {
		return
	}
	s.Class = sqlengine.ClassDatetime
	s.Precision = 9
	fraction := "rtrim(" + rest + ", 'Z')"
	// CASE and the order of its conditions matter: SQLite evaluates no condition beyond
	// the one that decides. datetime turns a text without an offset into its canonical
	// form, so a text that has that form is a datetime that exists.
	s.Loose.GuardsValid = true
	canonical := "CASE WHEN typeof(" + ref + ") = 'text' THEN rtrim(replace(" + ref + ", 'T', ' '), 'Z') END"
	s.Loose.Guard = "CASE datetime(" + ref + ") WHEN " + ref + " COLLATE BINARY THEN NOT " + sameDay +
		" WHEN " + canonical + " THEN NOT " + sameDay + " ELSE CASE WHEN " + ref + " IS NULL THEN 0 WHEN typeof(" + ref + ") <> 'text' THEN 1" +
		" WHEN length(" + ref + ") = 10 THEN NOT ifnull(" + day(ref) + ", 0)" +
		" WHEN " + rest + " GLOB '.[0-9]*' AND length(" + fraction + ") <= 10" +
		" AND substr(" + fraction + ", 2) NOT GLOB '*[^0-9]*' AND length(" + rest + ") - length(" + fraction + ") < 2" +
		" AND instr(" + ref + ", char(0)) = 0 THEN NOT ifnull(" + timed + ", 0) ELSE 1 END END"
	const noFraction = ".000000000"
	s.Key = "CASE length(" + ref + ") WHEN 19 THEN replace(" + ref + ", 'T', ' ') || '" + noFraction + "'" +
		" WHEN 20 THEN replace(replace(" + ref + ", 'T', ' '), 'Z', '" + noFraction + "')" +
		" WHEN 10 THEN " + ref + " || ' 00:00:00" + noFraction + "' ELSE " +
		second + " || '.' || substr(replace(" + fraction + ", '.', '') || '000000000', 1, 9) END"
	s.Raw = s.Key
	s.Index.Near = s.nearDay
}

// nearDay finds datetimes by the bare column, whose texts begin with a day. An
// offset moves the day that a text begins with by one at most; the range has a day
// more on both sides. A number, which may be any instant, comes before all texts
// in an index. If there are any, the least of them begins the range.
func (s *columnBuilder) nearDay(sign string, arg any, bind func(any) string) string {
	text, ok := arg.(string)
	if !s.catalog.Indexed || !ok || len(text) < len(time.DateOnly) {
		return ""
	}
	day, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)])
	if err != nil {
		return ""
	}
	bare := s.ref + " COLLATE BINARY"
	var conditions []string
	if sign == "=" || strings.HasPrefix(sign, ">") {
		from := ""
		if first := day.AddDate(0, 0, -2); first.Year() >= 0 {
			from = first.Format(time.DateOnly)
		}
		column := "n." + Flavor{}.Quote(s.catalog.Name)
		conditions = append(conditions, bare+" >= (SELECT CASE WHEN typeof(m.v) IN ('integer', 'real') THEN m.v ELSE "+bind(from)+
			" END FROM (SELECT min("+column+") AS v FROM "+s.note.table+" n) m)")
	}
	if sign == "=" || strings.HasPrefix(sign, "<") {
		to := "9999-99"
		if last := day.AddDate(0, 0, 3); last.Year() <= 9999 {
			to = last.Format(time.DateOnly)
		}
		conditions = append(conditions, bare+" < "+bind(to))
	}
	return strings.Join(conditions, " AND ")
}
