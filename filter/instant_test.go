package filter_test

import (
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
		{"a datetime", wire.Datetime(reference), "2024-05-01T12:00:00Z"},
		{"a date is its midnight", wire.Date(reference), "2024-05-01T00:00:00Z"},
		{"text with an offset", wire.Text("2024-05-01T14:00:00.25+02:00"), "2024-05-01T12:00:00.25Z"},
		{"digits beyond nanoseconds are cut", wire.Text("2024-05-01T12:00:00.1234567899Z"), "2024-05-01T12:00:00.123456789Z"},
		{"a leap second is the last nanosecond before it", wire.Text("2016-12-31T23:59:60.5Z"), "2016-12-31T23:59:59.999999999Z"},
		{"an offset out of the year 9999", wire.Text("9999-12-31T23:00:00-02:00"), "10000-01-01T01:00:00Z"},
		{"an offset before the year 0", wire.Text("0000-01-01T00:00:00+02:00"), "-0001-12-31T22:00:00Z"},
		{"the first leap day", wire.Text("0000-02-29"), "0000-02-29T00:00:00Z"},
		{"other text", wire.Text("soon"), ""},
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

// TestCalendar compares the calendar with that of package time: every day of
// four centuries, after which the calendar repeats, and the ends of February
// and of the year in all other years.
func TestCalendar(t *testing.T) {
	check := func(day time.Time) {
		got, ok := filter.Instant(wire.Text(day.Format("2006-01-02")))
		if !ok || !got.Equal(day) {
			t.Fatalf("%s: got %v, %v", day, got, ok)
		}
	}
	for day := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2200; day = day.AddDate(0, 0, 1) {
		check(day)
	}
	for year := range 10000 {
		check(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		check(time.Date(year, 3, 0, 0, 0, 0, 0, time.UTC))
		check(time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC))
		check(time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC))
	}
}

func TestNoSuchDay(t *testing.T) {
	for year := range 500 {
		for month := 0; month <= 13; month++ {
			for day := 0; day <= 32; day++ {
				date := time.Date(1800+year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
				exists := date.Year() == 1800+year && int(date.Month()) == month && date.Day() == day
				text := []byte("0000-00-00")
				for i, n := range [][2]int{{1800 + year, 4}, {month, 7}, {day, 10}} {
					for at := n[1] - 1; at >= []int{0, 5, 8}[i]; at-- {
						text[at] = byte('0' + n[0]%10)
						n[0] /= 10
					}
				}
				if _, ok := filter.Instant(wire.Text(string(text))); ok != exists {
					t.Fatalf("%s: %v", text, ok)
				}
			}
		}
	}
}
