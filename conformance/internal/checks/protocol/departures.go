package protocol

import (
	"fmt"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
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

// mostAlike is how many times a table is read at once.
const mostAlike = 4

// connectionsAlike asks what may set something on a connection, and then reads tables several times at once, those with
// instants first: one of the answers comes over that connection, and the others do not. Rows that differ twice while
// nothing but the connection does are no change of the data.
func connectionsAlike(run *session.Run) *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	var list []beside
	for _, t := range run.SmallestFirst() {
		b, f := wholeRead(run, t)
		if f != nil {
			return f
		}
		if b != nil && len(b.alone.Rows) <= maxAtOnceRows {
			list = append(list, *b)
		}
	}
	if len(list) == 0 {
		return check.Skip(check.NoData, "no table of at most %d rows", maxAtOnceRows)
	}
	slices.SortStableFunc(list, func(a, b beside) int { return min(b.instant(), 0) - min(a.instant(), 0) })
	list[0].set(run)
	for _, b := range list {
		if run.Spent(1) {
			break
		}
		run.Cases++
		if b.differing(run) == nil {
			continue
		}
		if st := b.differing(run); st != nil {
			return check.Differs("the same rows in each answer", fmt.Sprintf("two answers of %d rows that differ", len(st.Table.Rows)),
				"%s, read several times at once: the answers differ from each other", b.what).From(st.Request)
		}
	}
	return nil
}

// instant returns the index of a datetime, or -1.
func (b *beside) instant() int {
	return slices.IndexFunc(b.table.Fields, func(f wire.Field) bool { return f.Type == wire.TypeDatetime })
}

// set asks for what connectors set a time zone for, a collation and a limit: groups of days, and a sorted page.
func (b *beside) set(run *session.Run) {
	page := declared.AllRows(b.table)
	page.Limit = 1
	page.Sort = []wire.SortKey{{Field: page.Fields[0], Dir: wire.Asc, Collate: terms.IsText(b.table.Fields[0].Type)}}
	if run.Document.Allows(page) {
		run.Post(wire.PathQuery, page)
	}
	if i := b.instant(); i >= 0 && declared.Needs(wire.PathAggregate, "dateBucket")(run.Document) == "" {
		run.Post(wire.PathAggregate, &wire.AggregateRequest{
			Table: b.table.Name, GroupBy: []wire.GroupKey{{Field: b.table.Fields[i].Name, As: "day", Grain: wire.GrainDay}},
			Measures: []wire.Measure{{Fn: wire.AggCount, As: "rows"}}, Limit: wire.AggregateLimit,
		})
	}
}

// differing reads the table several times at once. It returns an answer whose rows are not those of another, or nil.
func (b *beside) differing(run *session.Run) *session.Stream {
	streams := make([]*session.Stream, min(run.Document.Capabilities.Limits.Concurrency, mostAlike))
	check.AtOnce(len(streams), func(i int) { streams[i] = b.ask(run, nil) })
	for _, st := range streams[1:] {
		if streams[0].Problem() == nil && st.Problem() == nil && !b.same(streams[0], st) {
			return st
		}
	}
	return nil
}
