package main

import "time"

// instant is a point in time as ISO 8601 spells it.
type instant struct {
	sec    int64 // since 1970, UTC
	nano   int
	digits int  // of the fraction as it was written, 0 to 9
	bare   bool // a date alone: its midnight UTC
}

func (at instant) time() time.Time { return time.Unix(at.sec, int64(at.nano)).UTC() }

// parseInstant reads YYYY-MM-DD, or that followed by T or a blank and
// HH:MM, HH:MM:SS or HH:MM:SS.fraction, and Z, ±HH:MM, ±HHMM, ±HH or nothing,
// which means UTC (A9). Dates that no calendar has, seconds of 60, fractions
// beyond nine digits and years that are not 0 to 9999 in UTC are no instants:
// such a column is text, and nothing of it is lost.
func parseInstant(s string) (at instant, ok bool) {
	year, ok1 := fixed(s, 0, 4)
	month, ok2 := fixed(s, 5, 2)
	day, ok3 := fixed(s, 8, 2)
	if !ok1 || !ok2 || !ok3 || s[4] != '-' || s[7] != '-' ||
		month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return at, false
	}
	if len(s) == 10 {
		at.sec = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix()
		at.bare = true
		return at, true
	}
	hour, ok1 := fixed(s, 11, 2)
	minute, ok2 := fixed(s, 14, 2)
	if !ok1 || !ok2 || s[10] != 'T' && s[10] != 't' && s[10] != ' ' || s[13] != ':' || hour > 23 || minute > 59 {
		return at, false
	}
	rest, second := s[16:], 0
	if len(rest) > 0 && rest[0] == ':' {
		if second, ok = fixed(rest, 1, 2); !ok || second > 59 {
			return at, false
		}
		rest = rest[3:]
		if len(rest) > 0 && rest[0] == '.' {
			rest = rest[1:]
			for at.digits < len(rest) && rest[at.digits]-'0' <= 9 {
				if at.digits == 9 {
					return at, false
				}
				at.nano = at.nano*10 + int(rest[at.digits]-'0')
				at.digits++
			}
			if at.digits == 0 {
				return at, false
			}
			rest = rest[at.digits:]
			for range 9 - at.digits {
				at.nano *= 10
			}
		}
	}
	offset, ok := parseOffset(rest)
	if !ok {
		return at, false
	}
	at.sec = time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC).Unix() - int64(offset)
	if year := at.time().Year(); year < 0 || year > 9999 {
		return at, false
	}
	return at, true
}

// parseOffset is the offset from UTC in seconds.
func parseOffset(s string) (seconds int, ok bool) {
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	sign := 1
	switch s[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false
	}
	hours, ok := fixed(s, 1, 2)
	minutes := 0
	switch {
	case len(s) == 3:
	case len(s) == 5 && ok:
		minutes, ok = fixed(s, 3, 2)
	case len(s) == 6 && ok && s[3] == ':':
		minutes, ok = fixed(s, 4, 2)
	default:
		return 0, false
	}
	return sign * (hours*3600 + minutes*60), ok && hours <= 23 && minutes <= 59
}

// fixed is the number that n digits at i spell.
func fixed(s string, i, n int) (number int, ok bool) {
	if len(s) < i+n {
		return 0, false
	}
	for _, c := range []byte(s[i : i+n]) {
		if c-'0' > 9 {
			return 0, false
		}
		number = number*10 + int(c-'0')
	}
	return number, true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
