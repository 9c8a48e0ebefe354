package kit

import (
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// periodStart is the first day, in UTC, of the period that v lies in (E4);
// false for a value that is no instant, and for one that an offset carries out
// of the years 0 to 9999.
func periodStart(v wire.Value, g wire.Grain) (wire.Value, bool) {
	sec, ok := unixSeconds(v)
	if !ok {
		return wire.Null(), false
	}
	year, month, day := time.Unix(sec, 0).UTC().Date()
	switch g {
	case wire.GrainYear:
		month, day = 1, 1
	case wire.GrainQuarter:
		month, day = (month-1)/3*3+1, 1
	case wire.GrainMonth:
		day = 1
	}
	first := wire.Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
	return first, first.Err() == nil
}

// unixSeconds is the whole second since 1970 in which a date or a datetime
// lies; false for what is neither. Text is read as package filter reads it to
// compare (A9); a test and a fuzz target hold the two together.
func unixSeconds(v wire.Value) (int64, bool) {
	switch v.Kind() {
	case wire.KindDate, wire.KindDatetime:
		sec, _ := v.Unix()
		return sec, true
	case wire.KindText:
		return parseSeconds(v.Str())
	}
	return 0, false
}

// parseSeconds reads ISO 8601 text: YYYY-MM-DD, or with a time of day behind a
// T: hh:mm, hh:mm:ss, with any fraction behind a dot or a comma, and then
// nothing or Z for UTC, or an offset ±hh, ±hhmm, ±hh:mm. 24:00 ends a day, and
// a 60th second may end a UTC day.
func parseSeconds(s string) (int64, bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	century, ok1 := twoDigits(s, 0)
	year, ok2 := twoDigits(s, 2)
	month, ok3 := twoDigits(s, 5)
	day, ok4 := twoDigits(s, 8)
	date := time.Date(century*100+year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if !ok1 || !ok2 || !ok3 || !ok4 || int(date.Month()) != month || date.Day() != day {
		return 0, false // time.Date has carried an impossible day over
	}
	if len(s) == 10 {
		return date.Unix(), true
	}
	hour, ok1 := twoDigits(s, 11)
	minute, ok2 := twoDigits(s, 14)
	if s[10]|0x20 != 't' || !ok1 || !ok2 || s[13] != ':' || hour > 24 || minute > 59 {
		return 0, false
	}
	s = s[16:]
	second, fraction := 0, false
	if s != "" && s[0] == ':' {
		if second, ok1 = twoDigits(s, 1); !ok1 || second > 60 {
			return 0, false
		}
		s = s[3:]
		if s != "" && (s[0] == '.' || s[0] == ',') {
			n := 1
			for n < len(s) && s[n]-'0' <= 9 {
				fraction = fraction || s[n] != '0'
				n++
			}
			if n == 1 {
				return 0, false
			}
			s = s[n:]
		}
	}
	offset, ok := parseOffset(s)
	if !ok || hour == 24 && (minute != 0 || second != 0 || fraction) {
		return 0, false
	}
	sec := date.Unix() + int64(hour*3600+minute*60+min(second, 59)) - offset
	if second == 60 && (sec+1)%86400 != 0 {
		return 0, false
	}
	return sec, true
}

// parseOffset reads what follows a time of day, as seconds ahead of UTC.
func parseOffset(s string) (int64, bool) {
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	hours, ok1 := twoDigits(s, 1)
	minutes, ok2 := 0, true
	switch len(s) {
	case len("+07"):
	case len("+0700"):
		minutes, ok2 = twoDigits(s, 3)
	case len("+07:00"):
		minutes, ok2 = twoDigits(s, 4)
		ok2 = ok2 && s[3] == ':'
	default:
		return 0, false
	}
	offset := int64(hours*3600 + minutes*60)
	if s[0] == '-' {
		offset = -offset
	}
	return offset, ok1 && ok2 && hours <= 23 && minutes <= 59 && (s[0] == '+' || s[0] == '-')
}

func twoDigits(s string, at int) (n int, ok bool) {
	if at+2 > len(s) {
		return 0, false
	}
	tens, units := s[at]-'0', s[at+1]-'0'
	return int(tens)*10 + int(units), tens <= 9 && units <= 9
}
