package restsource

import (
	"cmp"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Window reads a table in windows of time, for an API that limits the time or the number
// of rows that one request asks for.
//
//	Window: restsource.Window{Column: "created", From: "from", To: "to",
//		Since: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Step: 30 * 24 * time.Hour},
//
// A filter on the column narrows the windows. Each is asked for with an overlap of Round
// at both ends, and each row is taken from the window that it lies in, so that it does not
// matter to which one the API counts a row on the border. The newest window
// is asked for last: a row that a change moves there meanwhile is found.
type Window struct {
	// Column is the column, a datetime or a date, that From and To select by. Every row has
	// a value.
	Column string
	// From and To are the query parameters of a window's ends.
	From, To string
	// Since is the beginning of the first window, before all rows. Step is the length of a
	// window; what is sent is longer, by up to twice Round at each end.
	Since time.Time
	Step  time.Duration
	// Until is the end of the last window. Zero: Ahead from now, and Ahead is then a day if
	// it is zero, for clocks that differ and rows that change while they are read.
	Until time.Time
	Ahead time.Duration
	// Spell and Round are those of a [Param]. Round is a second if it is zero, and a day
	// for a date.
	Spell func(v wire.Value) (string, bool)
	Round time.Duration
}

// span is a window. The first is open to the past, and the last one to the future.
type span struct {
	from, to    time.Time
	first, last bool
}

// maxWindows limits the windows of one read.
const maxWindows = 10_000

// spans returns the windows that can have rows with the given filters, or nil if there
// are too many.
func (w *Window) spans(where wire.Where, now time.Time) (all []span) {
	low, high := w.Since, w.Until
	if high.IsZero() {
		high = now.Add(cmp.Or(w.Ahead, 24*time.Hour)).Truncate(time.Second)
	}
	for _, f := range where.And {
		var ends []time.Time
		for _, v := range append(slices.Clone(f.Values), f.Value) {
			if at, ok := filter.Instant(v); ok && f.Field == w.Column {
				ends = append(ends, at)
			}
		}
		if len(ends) == 0 {
			continue
		}
		equal := f.Op == wire.OpEq || f.Op == wire.OpIn
		if equal || f.Op == wire.OpGt || f.Op == wire.OpGte {
			low = slices.MaxFunc([]time.Time{low, slices.MinFunc(ends, time.Time.Compare)}, time.Time.Compare)
		}
		if equal || f.Op == wire.OpLt || f.Op == wire.OpLte {
			high = slices.MinFunc([]time.Time{high, slices.MaxFunc(ends, time.Time.Compare)}, time.Time.Compare)
		}
	}
	if low.After(high) {
		low = high
	}
	if high.Sub(low)/w.Step > maxWindows {
		return nil
	}
	for at := low; ; at = at.Add(w.Step) {
		s := span{from: at, to: at.Add(w.Step), first: at.Equal(low)}
		if s.last = !s.to.Before(high); s.last {
			s.to = high
		}
		if all = append(all, s); s.last {
			return all
		}
	}
}

// ends returns the ends of a window as the API takes them, with the overlap.
func (w *Window) ends(s span, t wire.Type) (from, to string, ok bool) {
	cell, round := wire.Datetime, time.Second
	if t == wire.TypeDate {
		cell, round = wire.Date, 24*time.Hour
	}
	round = cmp.Or(w.Round, round)
	spell := func(at time.Time, op wire.Op) string {
		v, fits := (&Param{Op: op, Round: round}).widened(cell(at))
		text := v.String()
		if fits && w.Spell != nil {
			text, fits = w.Spell(v)
		}
		ok = ok && fits
		return text
	}
	ok = true
	return spell(s.from, wire.OpGt), spell(s.to, wire.OpLt), ok
}
