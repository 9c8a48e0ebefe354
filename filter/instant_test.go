package filter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestInstant(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/instants.tsv", 3) {
		got, ok := filter.Instant(cells.One(t, c[0]))
		if assert.Equal(t, c[1] != "-", ok, c[2]) && ok {
			assert.Equal(t, c[1], got.Format(time.RFC3339Nano), c[2])
			assert.Equal(t, time.UTC, got.Location(), c[2])
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
