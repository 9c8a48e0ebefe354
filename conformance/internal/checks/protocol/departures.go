package protocol

import (
	"fmt"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Departures returns the check about answers that do not come to their end. It comes last: what they leave behind would be
// in the way of others.
func Departures() []session.Check {
	return []session.Check{{
		ID: "P3.16d", Phase: 3, Weight: 36, Judge: departuresLeaveNothing, Rules: []string{"tenant-4", "document-15"},
		Title: "clients that leave in the middle of an answer, and deadlines that end one, leave nothing behind",
		Fix: "Give back whatever an answer holds however it ends: close the cursor, and free its place in a pool or a semaphore. " +
			"A connection to the source whose rows were not read to their end is closed and not used again.",
	}}
}

const (
	// departures is how many answers are ended before they are complete. Pools of connections often have ten or twenty.
	departures = 24
	// longestStay is how long one of them lasts at most.
	longestStay = time.Second
	// timesAfter is how often each table is read then: a connection that is not clean may have its turn late.
	timesAfter = 3
)

// departuresLeaveNothing reads a table and ends its answer at different moments, from when the source is asked until rows
// are on their way: by turns the client leaves, and the deadline elapses. The same answer, and that of another table, are
// then as they were.
func departuresLeaveNothing(run *session.Run) *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	var asked []beside
	for _, t := range largerFirst(run.SmallestFirst()) {
		b, f := wholeRead(run, t)
		if f != nil {
			return f
		}
		if b != nil {
			asked = append(asked, *b)
		}
		if len(asked) == 2 {
			break
		}
	}
	if len(asked) == 0 {
		return check.Skip(check.NoData, "no table of at most %d rows", maxHeldRows)
	}
	asked[0].ask(run, nil) // may still have what earlier deadlines left behind
	whole := asked[0].ask(run, nil)
	if f := whole.Unusable(); f != nil {
		return f
	}
	if !asked[0].has(whole) {
		return check.Skip(check.DataChanged, "%s", asked[0].what)
	}
	for i := range departures {
		if n := 1 + timesAfter*len(asked); run.Spent(n) || run.Allowance() < n {
			break
		}
		c, stay := run.Ask(wire.PathQuery, asked[0].req, 0), min(whole.Elapsed, longestStay)*time.Duration(1+i%8)/9
		if c.Wait = stay; i%3 == 2 && stay >= time.Millisecond {
			c = c.WithTimeout(stay, longestStay+defaults.Grace)
		}
		if a := run.ExchangeWith(run.Ctx, c); a.Late || a.TimedOut {
			run.Cases++
		}
	}
	if f := run.Judged("no answer takes long enough to be ended in its middle"); f != nil {
		return f
	}
	after := fmt.Sprintf("after %d answers were ended in their middle", run.Cases)
	for _, b := range slices.Repeat(asked, timesAfter) {
		st := b.ask(run, nil)
		run.Cases++
		run.Last = st.Request
		if st.Problem() == nil && b.has(st) {
			continue
		}
		if again := b.ask(run, nil); again.Problem() == nil && !b.has(again) && b.same(again, b.ask(run, nil)) {
			return check.Skip(check.DataChanged, "%s", b.what)
		}
		return b.otherRows(st, "had before", after)
	}
	return nil
}

// same reports whether two streams have the same rows.
func (b *beside) same(one, other *session.Stream) bool {
	a, c := b.finished(one), b.finished(other)
	return other.Problem() == nil && a != nil && c != nil && compare.SameRows(a, c)
}
