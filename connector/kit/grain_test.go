package kit

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestPeriodStart(t *testing.T) {
	late := time.Date(2024, 12, 31, 23, 30, 0, 0, time.FixedZone("", -3600))
	cases := []struct {
		value                     wire.Value
		year, quarter, month, day string // empty: declined
		why                       string
	}{
		{wire.Text("2024-05-17"), "2024-01-01", "2024-04-01", "2024-05-01", "2024-05-17", "E4: the period's first day"},
		{wire.Date(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)), "2024-01-01", "2024-01-01", "2024-02-01", "2024-02-29", "a leap day"},
		{wire.Datetime(late), "2025-01-01", "2025-01-01", "2025-01-01", "2025-01-01", "an instant is cut in UTC, not where it was written"},
		{wire.Text("2024-12-31T23:30:00-01:00"), "2025-01-01", "2025-01-01", "2025-01-01", "2025-01-01", "an offset in text likewise"},
		{wire.Text("2025-01-01T00:30:00+01:00"), "2024-01-01", "2024-10-01", "2024-12-01", "2024-12-31", "the other way over the year"},
		{wire.Text("2024-09-30T24:00:00"), "2024-01-01", "2024-10-01", "2024-10-01", "2024-10-01", "24:00 is the next day"},
		{wire.Text("2016-12-31T23:59:60Z"), "2016-01-01", "2016-10-01", "2016-12-01", "2016-12-31", "a leap second belongs to the day it ends"},
		{wire.Text("1969-12-31T23:59:59.999999999999Z"), "1969-01-01", "1969-10-01", "1969-12-01", "1969-12-31", "a fraction before 1970 rounds down"},
		{wire.Text("0000-01-01"), "0000-01-01", "0000-01-01", "0000-01-01", "0000-01-01", "the first year"},
		{wire.Text("9999-12-31T23:59:59Z"), "9999-01-01", "9999-10-01", "9999-12-01", "9999-12-31", "the last year"},
		{wire.Text("0000-01-01T00:00:00+01:00"), "", "", "", "", "an instant before year 0 has no date on the wire (D2)"},
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
				got, ok := periodStart(c.value, grain)
				assert.Equal(t, want != "", ok, "%s: %s", grain, c.why)
				if ok {
					assert.Equal(t, want, got.String(), "%s: %s", grain, c.why)
				}
			}
		})
	}
}

// instants are spellings that are dates and times, or nearly.
var instants = []string{
	"2024-05-17", "2024-05-17T10:30", "2024-05-17T10:30:15", "2024-05-17T10:30:15.5", "2024-05-17t10:30:15,123456789012z",
	"2024-05-17T10:30:15+02", "2024-05-17T10:30:15-0230", "2024-05-17T10:30:15+02:30", "2024-05-17T10:30Z", "2024-05-17T10:30+01:00",
	"2024-05-17T24:00", "2024-05-17T24:00:00.000", "2024-05-17T24:00:00.001", "2024-05-17T24:01", "2024-05-17T23:59:60Z",
	"2024-05-17T22:59:60-01:00", "2024-05-17T12:00:60Z", "2024-05-17T25:00", "2024-05-17T10:60", "2024-05-17T10:30:61",
	"2024-05-17 10:30", "2024-05-17T10", "2024-05-17T", "2024-05-17T10:30:", "2024-05-17T10:30:15.", "2024-05-17T10:30:15.Z",
	"2024-05-17T10:30:15+", "2024-05-17T10:30:15+2", "2024-05-17T10:30:15+024", "2024-05-17T10:30:15+02:3", "2024-05-17T10:30:15+02-30",
	"2024-05-17T10:30:15+24:00", "2024-05-17T10:30:15+02:60", "2024-05-17T10:30:15 02:00", "2024-05-17T10:30:15Zx", "2024-05-17x",
	"2023-02-29", "1900-02-29", "2000-02-29", "2024-00-10", "2024-13-10", "2024-10-00", "2024-04-31", "20240517", "2024-5-17",
	"0000-02-29", "9999-12-31T23:59:59-23:59", "+2024-05-17", "-2024-05-17", "", "n/a", "2024-05-1:", "2024-05-17T1a:30",
	"２024-05-17", "2024-05-17\x00", "2024/05/17", "2024-05-17T10:30:60", "2016-12-31T23:59:60.5Z", "1969-12-31T23:59:59.9Z",
}

func TestInstantsAgainstFilter(t *testing.T) {
	for _, s := range instants {
		checkInstant(t, s)
	}
}

// FuzzInstant holds the reading of dates here and in package filter together.
func FuzzInstant(f *testing.F) {
	for _, s := range instants {
		f.Add(s)
	}
	f.Fuzz(checkInstant)
}

// checkInstant compares with the keys of package filter: a date or datetime
// that it reads has another key than the same text in a column of text, and
// lies between the second read here and the next.
func checkInstant(t *testing.T, s string) {
	v := wire.Text(s)
	sec, ok := unixSeconds(v)
	reads := !bytes.Equal(filter.AppendKey(nil, v, wire.TypeDatetime), filter.AppendKey(nil, v, wire.TypeString))
	assert.Equal(t, reads, ok, "%q", s)
	if !ok {
		return
	}
	for shift, want := range map[int64]int{0: 1, 1: -1} {
		bound := wire.Datetime(time.Unix(sec+shift, 0))
		if bound.Err() != nil {
			return // beyond the years of a datetime
		}
		c, comparable := filter.Compare(v, bound, wire.TypeDatetime)
		assert.True(t, comparable && (c == want || shift == 0 && c == 0), "%q against second %d: %d", s, sec+shift, c)
	}
}
