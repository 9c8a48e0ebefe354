package filesource

import (
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// instant is a date or a datetime as a file spells it.
type instant struct {
	time   time.Time // UTC
	digits int       // of the fraction as it is written, 0 to 9
	bare   bool      // a date alone: its midnight UTC
}

// parseInstant reads the dates and datetimes that package filter reads, and
// takes a blank for the T. It refuses what a column of datetimes could not hold
// without loss: fractions beyond nine digits, leap seconds, the hour 24, years
// that are not 0 to 9999 in UTC. It also refuses a decimal comma, which may be
// anything in a file. A column with such a cell is text.
func parseInstant(s string) (at instant, ok bool) {
	const date, minutes, seconds = len("2006-01-02"), len("2006-01-02T15:04"), len("2006-01-02T15:04:05")
	if len(s) < date || s[4] != '-' || s[7] != '-' {
		return at, false
	}
	if at.bare = len(s) == date; !at.bare {
		if len(s) < minutes || s[date+1:date+3] == "24" || strings.Contains(s, ",") {
			return at, false
		}
		if s[date] == ' ' {
			s = s[:date] + "T" + s[date+1:]
		}
		if len(s) >= seconds && s[seconds-3:seconds] == ":60" {
			return at, false
		}
		if len(s) > seconds && s[seconds] == '.' {
			rest := strings.TrimLeft(s[seconds+1:], "0123456789")
			at.digits = len(s) - seconds - 1 - len(rest)
		}
	}
	at.time, ok = filter.Instant(wire.Text(s))
	return at, ok && at.digits <= 9 && at.time.Year() >= 0 && at.time.Year() <= 9999
}
