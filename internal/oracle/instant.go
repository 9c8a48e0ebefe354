package oracle

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// instant is a point in time, exact to the last digit of its fraction.
type instant struct {
	seconds int64  // since 1970, UTC
	leap    bool   // within the leap second that follows
	frac    string // digits of the fraction, without zeros at the end
}

// iso matches the extended format of ISO 8601, a date alone or with a time of
// day: year, month, day, hour, minute, second, fraction, offset.
var iso = regexp.MustCompile(
	`^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$`)

// IsInstant reports whether text spells a point in time: ISO 8601, with a day and a time
// of day that exist [rule filter-9].
func IsInstant(text string) bool {
	_, ok := parseInstant(text)
	return ok
}

// parseInstant parses ISO 8601 text with any offset. Without an offset it is
// UTC, and a date alone is its midnight in UTC. It reports false for days and
// times that do not exist.
func parseInstant(text string) (instant, bool) {
	if len(text) < len("2006-01-02") || text[4] != '-' {
		return instant{}, false
	}
	if at, ok := parseUsual(text); ok {
		return at, true
	}
	part := iso.FindStringSubmatch(text)
	if part == nil {
		return instant{}, false
	}
	year, month, day := atoi(part[1]), atoi(part[2]), atoi(part[3])
	hour, minute, second := atoi(part[4]), atoi(part[5]), atoi(part[6])
	frac := strings.TrimRight(part[7], "0")

	midnight := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if midnight.Year() != year || int(midnight.Month()) != month || midnight.Day() != day {
		return instant{}, false
	}
	endOfDay := hour == 24 && minute == 0 && second == 0 && frac == ""
	if hour > 23 && !endOfDay || minute > 59 || second > 60 {
		return instant{}, false
	}
	offset, ok := parseOffset(part[8])
	if !ok {
		return instant{}, false
	}
	at := instant{seconds: midnight.Unix() + int64(3600*hour+60*minute+second-offset), frac: frac}
	if second == 60 {
		at.seconds, at.leap = at.seconds-1, true
		if mod(at.seconds, 86400) != 86399 {
			return instant{}, false // a leap second is the last second of a UTC day
		}
	}
	return at, true
}

// parseUsual parses the two spellings that nearly all rows have, a date alone and a
// datetime with Z, because the expression is slow. It reports false for any other.
func parseUsual(text string) (instant, bool) {
	const date, zulu = len("2006-01-02"), len("2006-01-02T15:04:05Z")
	if len(text) != date && len(text) < zulu || text[4] != '-' || text[7] != '-' {
		return instant{}, false
	}
	year, month, day := twoDigits(text, 0)*100+twoDigits(text, 2), twoDigits(text, 5), twoDigits(text, 8)
	var hour, minute, second int
	frac := ""
	if len(text) > date {
		end := len(text) - len("Z")
		if text[10] != 'T' || text[13] != ':' || text[16] != ':' || text[end] != 'Z' {
			return instant{}, false
		}
		hour, minute, second = twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)
		if frac = text[zulu-1 : end]; frac != "" {
			if frac[0] != '.' || len(frac) < 2 || digits(frac[1:]) < len(frac)-1 {
				return instant{}, false
			}
			frac = strings.TrimRight(frac[1:], "0")
		}
	}
	if year < 0 || month < 1 || month > 12 || day < 1 || day > 31 ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return instant{}, false
	}
	at := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return instant{seconds: at.Unix(), frac: frac}, at.Day() == day // the 31st of April is the 1st of May
}

// twoDigits returns the number that two digits at an index make, or a large negative number.
func twoDigits(text string, at int) int {
	tens, ones := int(text[at])-'0', int(text[at+1])-'0'
	if tens < 0 || tens > 9 || ones < 0 || ones > 9 {
		return -100_000
	}
	return 10*tens + ones
}

// parseOffset parses Z, ±hh, ±hhmm or ±hh:mm as seconds ahead of UTC.
func parseOffset(text string) (seconds int, ok bool) {
	if text == "" || text == "Z" || text == "z" {
		return 0, true
	}
	hours, minutes := atoi(text[1:3]), atoi(strings.TrimPrefix(text[3:], ":"))
	seconds = 3600*hours + 60*minutes
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, hours <= 23 && minutes <= 59
}

// compareInstants compares two points in time.
func compareInstants(a, b instant) int {
	switch {
	case a.seconds < b.seconds:
		return -1
	case a.seconds > b.seconds:
		return 1
	case a.leap != b.leap:
		if b.leap {
			return -1
		}
		return 1
	}
	return strings.Compare(a.frac, b.frac)
}

// date returns the instant, cut to the second, in UTC.
func (i instant) date() time.Time {
	return time.Unix(i.seconds, 0).UTC()
}

// String returns a text that is equal only for equal instants.
func (i instant) String() string {
	return strconv.FormatInt(i.seconds, 10) + " " + strconv.FormatBool(i.leap) + " " + i.frac
}

// atoi converts digits that the expression has matched. No digits are zero.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// mod returns the remainder of a division that rounds down.
func mod(a, b int64) int64 { return (a%b + b) % b }
