package relation

import (
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// PeriodStart returns the first day, in UTC, of the period that v lies in. It
// reports false for a value that is no date, or that an offset moves out of the
// years 0 to 9999.
func PeriodStart(v wire.Value, g wire.Grain) (wire.Value, bool) {
	at, ok := filter.Instant(v)
	if !ok {
		return wire.Null(), false
	}
	year, month, day := at.Date()
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
