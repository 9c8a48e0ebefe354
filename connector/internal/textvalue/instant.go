package textvalue

import (
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Instant is a date or a datetime as a text spells it.
type Instant struct {
	Time   time.Time // in UTC
	Digits int       // of the fraction as it is written, 0 to 9
	Date   bool      // a date alone: its midnight in UTC
}

// Instant reads the dates and datetimes that package filter reads, also with their date
// as DateFormat says. It refuses what a column of datetimes could not hold without loss:
// fractions beyond nanoseconds, leap seconds, and years that are not 0 to 9999 in UTC.
func (r Rules) Instant(s string) (at Instant, ok bool) {
	const date, minutes, seconds = len("2006-01-02"), len("2006-01-02T15:04"), len("2006-01-02T15:04:05")
	if r.DateFormat != "" {
		if written, ok := r.DateFormat.iso(s); ok {
			s = written
		}
	}
	if len(s) < date || s[4] != '-' || s[7] != '-' {
		return at, false
	}
	if at.Date = len(s) == date; !at.Date {
		if len(s) < minutes {
			return at, false
		}
		if r.HandWritten {
			if s[date+1:date+3] == "24" || strings.Contains(s, ",") {
				return at, false
			}
			if s[date] == ' ' {
				s = s[:date] + "T" + s[date+1:]
			}
		}
		if len(s) >= seconds && s[seconds-3:seconds] == ":60" {
			return at, false
		}
		if len(s) > seconds && (s[seconds] == '.' || s[seconds] == ',') {
			fraction := s[seconds+1:]
			fraction = fraction[:digits(fraction)]
			if at.Digits = min(len(fraction), 9); strings.Trim(fraction[at.Digits:], "0") != "" {
				return at, false
			}
		}
	}
	at.Time, ok = filter.Instant(wire.Text(s))
	return at, ok && wire.Datetime(at.Time).Err() == nil // the year
}

// shownDate returns the date that a datetime shows in its own zone. It does not matter
// whether the time of day could be kept.
func shownDate(s string) (wire.Value, bool) {
	if _, ok := filter.Instant(wire.Text(s)); !ok {
		return wire.Null(), false
	}
	shown, err := time.Parse(time.DateOnly, s[:len(time.DateOnly)])
	return wire.Date(shown), err == nil
}
