package filter

import (
	"cmp"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// instant is a point on the UTC time scale, exact to any fraction.
type instant struct {
	sec  int64  // since 1970-01-01T00:00:00Z
	nano int32  // the first nine digits of the fraction; 1e9 and more within a leap second
	rest string // its further digits, without trailing zeros
}

func (t instant) compare(u instant) int {
	if t.sec != u.sec {
		return cmp.Compare(t.sec, u.sec)
	}
	if t.nano != u.nano {
		return cmp.Compare(t.nano, u.nano)
	}
	return compareBytes(t.rest, u.rest)
}

// instantOf returns the instant of a date, a datetime or ISO 8601 text.
func instantOf(v wire.Value) (instant, bool) {
	switch v.Kind() {
	case wire.KindDatetime, wire.KindDate:
		t := v.Time()
		return instant{sec: t.Unix(), nano: int32(t.Nanosecond())}, true
	case wire.KindText:
		return parseInstant(v.Text())
	}
	return instant{}, false
}

// Instant returns the instant of a date, a datetime or ISO 8601 text in UTC,
// and reports false for every other value. The package documentation describes
// the text. Use Instant to round dates to periods, or to convert the value of a
// filter to a source's own date type.
//
// A [time.Time] is less exact than the text: digits beyond nanoseconds are cut,
// and a leap second becomes the last nanosecond before it. Where that matters,
// [Compare] the value with the wire.Datetime of the result.
func Instant(v wire.Value) (t time.Time, ok bool) {
	at, ok := instantOf(v)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(at.sec, int64(min(at.nano, 999_999_999))).UTC(), true
}

// parseInstant parses ISO 8601 text: a calendar date in the extended format,
// with or without a time of day. The package documentation has the grammar.
func parseInstant(s string) (t instant, ok bool) {
	if len(s) < len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return instant{}, false
	}
	century, ok1 := twoDigits(s, 0)
	year, ok2 := twoDigits(s, 2)
	month, ok3 := twoDigits(s, 5)
	day, ok4 := twoDigits(s, 8)
	year += century * 100
	if !ok1 || !ok2 || !ok3 || !ok4 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return instant{}, false
	}
	t.sec = daysSince1970(year, month, day) * 86400
	if len(s) == len("2006-01-02") {
		return t, true
	}
	s = s[len("2006-01-02"):]
	if len(s) < len("T15:04") || s[0]|0x20 != 't' || s[3] != ':' {
		return instant{}, false
	}
	hour, ok1 := twoDigits(s, 1)
	minute, ok2 := twoDigits(s, 4)
	if !ok1 || !ok2 || hour > 24 || minute > 59 {
		return instant{}, false
	}
	s = s[len("T15:04"):]
	second := 0
	if len(s) > 0 && s[0] == ':' {
		if second, ok = twoDigits(s, 1); !ok || second > 60 {
			return instant{}, false
		}
		s = s[len(":05"):]
		if len(s) > 0 && (s[0] == '.' || s[0] == ',') {
			n := 1
			for n < len(s) && s[n]-'0' <= 9 {
				n++
			}
			if n == 1 {
				return instant{}, false
			}
			t.nano, t.rest = fraction(s[1:n])
			s = s[n:]
		}
	}
	offset, ok := parseOffset(s)
	if !ok {
		return instant{}, false
	}
	if hour == 24 && (minute != 0 || second != 0 || t.nano != 0 || t.rest != "") {
		return instant{}, false // 24:00 exactly is the end of a day
	}
	leap := second == 60
	if leap {
		second = 59
	}
	t.sec += int64(hour*3600+minute*60+second) - offset
	if leap {
		// A leap second follows 23:59:59 UTC. It lies after every fraction of
		// that second and before midnight.
		if mod(t.sec, 86400) != 86399 {
			return instant{}, false
		}
		t.nano += 1_000_000_000
	}
	return t, true
}

// parseOffset parses what follows the time of day: nothing or Z for UTC,
// otherwise the hours, or hours and minutes, ahead of UTC.
func parseOffset(s string) (seconds int64, ok bool) {
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hours, ok := twoDigits(s, 1)
	if !ok || hours > 23 {
		return 0, false
	}
	minutes := 0
	switch len(s) {
	case len("+07"):
	case len("+0700"):
		minutes, ok = twoDigits(s, 3)
	case len("+07:00"):
		minutes, ok = twoDigits(s, 4)
		ok = ok && s[3] == ':'
	default:
		return 0, false
	}
	if !ok || minutes > 59 {
		return 0, false
	}
	seconds = int64(hours*3600 + minutes*60)
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// fraction splits the digits of a fraction of a second.
func fraction(s string) (nano int32, rest string) {
	n := min(len(s), 9)
	for i := range n {
		nano = nano*10 + int32(s[i]-'0')
	}
	for i := n; i < 9; i++ {
		nano *= 10
	}
	return nano, strings.TrimRight(s[n:], "0")
}

func twoDigits(s string, at int) (n int, ok bool) {
	if at+2 > len(s) {
		return 0, false
	}
	tens, units := s[at]-'0', s[at+1]-'0'
	return int(tens)*10 + int(units), tens <= 9 && units <= 9
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSince1970 counts days in the proleptic Gregorian calendar for the years 0
// to 9999. It starts years on 1 March, so that the leap day is the last day
// (Hinnant, days_from_civil).
func daysSince1970(year, month, day int) int64 {
	year += 400 // keeps the year of January 0000 positive
	if month < 3 {
		year--
		month += 12
	}
	era := year / 400
	yoe := year % 400
	doy := (153*(month-3)+2)/5 + day - 1
	return int64(era-1)*146097 + int64(yoe*365+yoe/4-yoe/100+doy) - 719468
}

func mod(n, m int64) int64 { return (n%m + m) % m }

// testInstant returns a test of date or datetime cells against value. If both
// are instants they compare as instants, otherwise as bytes.
func testInstant(value wire.Value, a accept) func(wire.Value) bool {
	byText := testText(ownText(value), a)
	at, ok := instantOf(value)
	if !ok {
		return byText
	}
	at.rest = strings.Clone(at.rest)
	return func(v wire.Value) bool {
		if t, ok := instantOf(v); ok {
			return a.has(t.compare(at))
		}
		return byText(v)
	}
}
