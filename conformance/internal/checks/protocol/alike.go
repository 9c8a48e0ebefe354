package protocol

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
