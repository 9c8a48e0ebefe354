package relation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestPeriodStart(t *testing.T) {
	late := time.Date(2024, 12, 31, 23, 30, 0, 0, time.FixedZone("", -3600))
	cases := []struct {
		value                     wire.Value
		year, quarter, month, day string // empty: declined
		why                       string
	}{
		{wire.Text("2024-05-17"), "2024-01-01", "2024-04-01", "2024-05-01", "2024-05-17", "aggregate-4: the period's first day"},
		{wire.Date(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)), "2024-01-01", "2024-01-01", "2024-02-01", "2024-02-29", "a leap day"},
		{wire.Datetime(late), "2025-01-01", "2025-01-01", "2025-01-01", "2025-01-01", "an instant is cut in UTC, not where it was written"},
		{wire.Text("2024-12-31T23:30:00-01:00"), "2025-01-01", "2025-01-01", "2025-01-01", "2025-01-01", "an offset in text likewise"},
		{wire.Text("2025-01-01T00:30:00+01:00"), "2024-01-01", "2024-10-01", "2024-12-01", "2024-12-31", "the other way over the year"},
		{wire.Text("2024-09-30T24:00:00"), "2024-01-01", "2024-10-01", "2024-10-01", "2024-10-01", "24:00 is the next day"},
		{wire.Text("2016-12-31T23:59:60Z"), "2016-01-01", "2016-10-01", "2016-12-01", "2016-12-31", "a leap second belongs to the day it ends"},
		{wire.Text("1969-12-31T23:59:59.999999999999Z"), "1969-01-01", "1969-10-01", "1969-12-01", "1969-12-31",
			"a fraction before 1970 rounds down"},
		{wire.Text("0000-01-01"), "0000-01-01", "0000-01-01", "0000-01-01", "0000-01-01", "the first year"},
		{wire.Text("9999-12-31T23:59:59Z"), "9999-01-01", "9999-10-01", "9999-12-01", "9999-12-31", "the last year"},
		{wire.Text("0000-01-01T00:00:00+01:00"), "", "", "", "", "an instant before year 0 has no date on the wire (cell-2)"},
		{wire.Text("9999-12-31T23:00:00-05:00"), "", "", "", "", "nor one after 9999"},
		{wire.Text("17.05.2024"), "", "", "", "", "no ISO 8601"},
		{wire.Text("2024-02-30"), "", "", "", "", "no such day"},
		{wire.Text(""), "", "", "", "", "the empty text is no date"},
		{wire.Int(2024), "", "", "", "", "a number is no date"},
		{wire.Bool(true), "", "", "", "", "nor is a boolean"},
	}
	for _, c := range cases {
		t.Run(c.value.String(), func(t *testing.T) {
			for grain, want := range map[wire.Grain]string{
				wire.GrainYear: c.year, wire.GrainQuarter: c.quarter, wire.GrainMonth: c.month, wire.GrainDay: c.day,
			} {
				got, ok := PeriodStart(c.value, grain)
				assert.Equal(t, want != "", ok, "%s: %s", grain, c.why)
				if ok {
					assert.Equal(t, want, got.String(), "%s: %s", grain, c.why)
				}
			}
		})
	}
}
