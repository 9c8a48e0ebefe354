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
	s.Valid, s.Invalid = "("+day(s.ref)+")", "no text YYYY-MM-DD of a day that exists"
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
// offset from UTC, or is a number, is then left to the library by the Guard. A number is
// a datetime only if the host or the declared type says so.
func (s *columnBuilder) datetime(counted bool) {
	ref := s.ref
	second := "replace(substr(" + ref + ", 1, 19), 'T', ' ')"
	rest := "substr(" + ref + ", 20)"
	digits := "CASE WHEN " + rest + " GLOB '.[0-9]*' THEN ltrim(substr(" + rest + ", 2), '0123456789') ELSE " + rest + " END"
	offset := "1 = 0"
	for _, pattern := range offsets {
		offset += " OR (" + digits + ") GLOB '" + pattern + "'"
	}
	offset = "(" + digits + ") IN ('', 'Z', 'z')" +
		" OR " + ref + " >= '" + firstMoved + "' AND " + ref + " < '" + lastMoved + "' AND (" + offset + ")"
	sameDay := "(" + ref + " NOT GLOB '???????????24*')" // datetime takes hour 24, and leaves it
	timed := "substr(" + ref + ", 1, 19) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9]:[0-9][0-9]'" +
		" AND datetime(" + second + ") IS " + second + " AND " + sameDay
	s.Valid = "CASE typeof(" + ref + ") WHEN 'text' THEN " + day(ref) + " OR " + timed + " AND (" + offset + ")" +
		" AND instr(" + ref + ", char(0)) = 0" + // which ends the text for substr and GLOB
		" AND NOT (" + rest + " GLOB '." + strings.Repeat("[0-9]", 9) + "*' AND ltrim(substr(" + ref + ", 30), '0') GLOB '[1-9]*')"
	if counted {
		s.Decode = decodeCounted
		s.Valid += " WHEN 'integer' THEN " + ref + " BETWEEN " + firstSecond + " AND " + lastSecond +
			" WHEN 'real' THEN " + ref + " BETWEEN " + firstJulian + " AND " + lastJulian
	}
	s.Valid += " ELSE 0 END"
	s.Invalid = "no text of a date and a time, YYYY-MM-DD HH:MM:SS with at most nine digits of a fraction, that exists"
	if s.note.utf16 {
		return
	}
	s.Class = sqlengine.ClassDatetime
	s.Precision = 9
	fraction := "rtrim(" + rest + ", 'Z')"
	// CASE and the order of its conditions matter: SQLite evaluates no condition beyond
	// the one that decides. datetime turns a text without an offset into its canonical
	// form, so a text in that form is a real datetime.
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
	s.counted = counted
	s.Index.Near = s.nearMoment
	s.Loose.Alike = s.alike
}

// alike returns the column where all texts are spelled as one of them is: as many
// characters, of which the same are no digits. Texts of days that exist are then in the
// order of their bytes. None with an offset is spelled so: it has a sign, and is longer
// than a text with none but for a fraction, which is compared digit by digit.
func (s *columnBuilder) alike(text string) (*sqlengine.Column, string) {
	const second = len(time.DateTime)
	if len(text) < second {
		return nil, ""
	}
	fraction, zone := strings.TrimSuffix(text[second:], "Z"), ""
	if strings.HasSuffix(text, "Z") {
		zone = "Z"
	}
	digits := max(0, len(fraction)-1)
	if _, ok := instant(text); !ok || digits > 9 || fraction != "" && (digits == 0 || strings.Trim(fraction[1:], "0123456789") != "") {
		return nil, ""
	}
	pattern := "????-??-??" + text[10:11] + "??:??:??"
	if digits > 0 {
		pattern += "." + strings.Repeat("[0-9]", digits)
	}
	bare := s.ref + " COLLATE BINARY"
	own := s.Column
	own.Raw, own.Key, own.Precision = bare, bare, digits
	own.Bind = func(param string) string {
		if text[10] == 'T' {
			param = "replace(" + param + ", ' ', 'T')"
		}
		if zone != "" {
			param += " || '" + zone + "'"
		}
		return param
	}
	const none = "1 = 0"
	own.Loose = sqlengine.Loose{Guard: none, GuardsValid: true} // as before, the ties of a sort are not those of the index
	own.Index = sqlengine.Index{Stored: bare, Sorted: bare, Within: "(" + bare + " >= '' AND " + bare + noBlob + ")", Unsorted: none}
	return &own, s.ref + " NOT GLOB '" + pattern + zone + "'"
}

// moved is the pattern of a text with an offset behind its second.
const moved = "???????????????????*[+-]*"

// spelledT is how a datetime is spelled that is not spelled as [time.DateTime] is.
const spelledT = "2006-01-02T15:04:05"

// behind comes after all that may follow the second in a text without an offset.
const behind = "{"

// nearMoment finds datetimes by the bare column. An offset moves an instant by less
// than a day, so texts that have one are looked for a day before and a day after the
// others. A number, which may be any instant where it is one, comes before all texts in an
// index. If there are any, the least of them begins the range.
//
// A column without an index is searched whole, and what is not near costs less there
// than the exact condition. For one of a list of values it would cost more.
func (s *columnBuilder) nearMoment(sign string, arg any, bind func(any) string) string {
	text, ok := arg.(string)
	if !ok || len(text) < len(time.DateTime) || sign == "=" && !s.catalog.Indexed {
		return ""
	}
	at, err := time.Parse(time.DateTime, text[:len(time.DateTime)])
	if err != nil {
		return ""
	}
	bare, number := s.ref+" COLLATE BINARY", ""
	if s.counted {
		number = " OR +" + s.ref + isNumeric
	}
	var all, unmoved []string
	if sign == "=" || strings.HasPrefix(sign, ">") {
		first := ""
		if day := at.AddDate(0, 0, -1); day.Year() >= 0 {
			first = day.Format(time.DateTime)
		}
		switch {
		case number == "":
			all = append(all, bare+" >= "+bind(first))
		case s.catalog.Indexed:
			column := "n." + flavor{}.Quote(s.catalog.Name)
			all = append(all, bare+" >= (SELECT CASE WHEN typeof(m.v) IN ('integer', 'real') THEN m.v ELSE "+bind(first)+
				" END FROM (SELECT min("+column+") AS v FROM "+s.note.table+" n) m)")
		default:
			all = append(all, "("+bare+" >= "+bind(first)+number+")")
		}
		unmoved = append(unmoved, s.since(at, bind))
	}
	if sign == "=" || strings.HasPrefix(sign, "<") {
		last := "9999-99"
		if day := at.AddDate(0, 0, 1); day.Year() <= 9999 {
			last = day.Format(spelledT) + behind
		}
		all = append(all, bare+" < "+bind(last))
		unmoved = append(unmoved, s.until(at, bind))
	}
	return strings.Join(all, " AND ") + " AND (" + strings.Join(unmoved, " AND ") + number + " OR " + s.ref + " GLOB '" + moved + "')"
}

// since returns a condition on texts without an offset that holds from a second on. In
// the order of bytes, the texts of a day that are spelled with a blank come before those
// with a T. Like until, it hides the column from the index, which has better conditions.
func (s *columnBuilder) since(at time.Time, bind func(any) string) string {
	bare, day := "+"+s.ref+" COLLATE BINARY", at.Format(time.DateOnly)
	if at.Truncate(24 * time.Hour).Equal(at) { // a day alone is its midnight
		return bare + " >= " + bind(day)
	}
	return "(" + bare + " >= " + bind(at.Format(spelledT)) + " OR " + bare + " >= " + bind(at.Format(time.DateTime)) +
		" AND " + bare + " < " + bind(day+"T") + ")"
}

// until returns a condition on texts without an offset that holds up to a second and its
// fractions.
func (s *columnBuilder) until(at time.Time, bind func(any) string) string {
	bare := "+" + s.ref + " COLLATE BINARY"
	return "(" + bare + " < " + bind(at.Format(time.DateTime)+behind) + " OR " + bare + " >= " + bind(at.Format(time.DateOnly)+"T") +
		" AND " + bare + " < " + bind(at.Format(spelledT)+behind) + ")"
}
