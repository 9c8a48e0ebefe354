package filter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestInstant(t *testing.T) {
	for _, c := range []struct {
		why  string
		v    wire.Value
		want string // RFC 3339 in UTC; empty: no instant
	}{
		{"a datetime", wire.Datetime(noon), "2024-05-01T12:00:00Z"},
		{"a date is its midnight", wire.Date(noon), "2024-05-01T00:00:00Z"},
		{"text with an offset", wire.Text("2024-05-01T14:00:00.25+02:00"), "2024-05-01T12:00:00.25Z"},
		{"digits beyond nanoseconds are cut", wire.Text("2024-05-01T12:00:00.1234567899Z"), "2024-05-01T12:00:00.123456789Z"},
		{"a leap second is the last nanosecond before it", wire.Text("2016-12-31T23:59:60.5Z"), "2016-12-31T23:59:59.999999999Z"},
		{"an offset out of the year 9999", wire.Text("9999-12-31T23:00:00-02:00"), "10000-01-01T01:00:00Z"},
		{"an offset before the year 0", wire.Text("0000-01-01T00:00:00+02:00"), "-0001-12-31T22:00:00Z"},
		{"the first leap day", wire.Text("0000-02-29"), "0000-02-29T00:00:00Z"},
		{"other text", wire.Text("soon"), ""},
		{"one hyphen", wire.Text("2024-05/01"), ""},
		{"the other hyphen", wire.Text("2024/05-01"), ""},
		{"a number", wire.Int(1714564800), ""},
		{"a decimal", wire.Decimal("20240501"), ""},
		{"a boolean", wire.Bool(true), ""},
		{"null", wire.Null(), ""},
	} {
		got, ok := filter.Instant(c.v)
		if assert.Equal(t, c.want != "", ok, c.why) && ok {
			assert.Equal(t, c.want, got.Format(time.RFC3339Nano), c.why)
			assert.Equal(t, time.UTC, got.Location(), c.why)
		}
	}
}

// TestCalendar compares the calendar with that of package time: every day of more than four
// centuries, after which the calendar repeats, days that do not exist among them, and the ends
// of February and of the year in all other years.
func TestCalendar(t *testing.T) {
	check := func(year, month, day int) {
		date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
		exists := date.Year() == year && int(date.Month()) == month && date.Day() == day
		text := fmt.Sprintf("%04d-%02d-%02d", year, month, day)
		if got, ok := filter.Instant(wire.Text(text)); ok != exists || ok && !got.Equal(date) {
			t.Fatalf("%s: %v, %v", text, got, ok)
		}
	}
	for year := 1800; year < 2210; year++ {
		for month := range 14 {
			for day := range 33 {
				check(year, month, day)
			}
		}
	}
	for year := range 10000 {
		for _, day := range [][2]int{{1, 1}, {2, 28}, {2, 29}, {3, 1}, {12, 31}} {
			check(year, day[0], day[1])
		}
	}
}
