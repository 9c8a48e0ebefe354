// Package tenants checks that a connector keeps two tenants apart, when the run has
// two sets of credentials.
package tenants

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Checks returns the checks in the order in which they run.
func Checks() []session.Check {
	return []session.Check{
		{ID: "T1", Phase: 3, Judge: unknownToOther, Rules: []string{"tenant-6"},
			Title: "a table of one tenant is unknown to the other that lacks it",
			Fix: "Look tables up in what the credentials of this request can see, " +
				"and answer 404 unknown_entity for anything else."},
		{ID: "T2", Phase: 3, Judge: interleaved, Rules: []string{"tenant-4"},
			Title: "interleaved answers equal those given alone",
			Fix: "Keep no cache, connection or metadata from one request to the next, " +
				"unless its key holds the credentials; best keep none."},
		{ID: "T3", Phase: 3, Judge: concurrent, Rules: []string{"tenant-6", "tenant-4", "tenant-1"},
			Title: "concurrent answers equal those given alone",
			Fix:   "Keep what belongs to a request in its own variables: no package variable, no field of a shared object."},
	}
}

// maxTables is how many tables of each tenant are read.
const maxTables = 4

// discoveries returns both tenants' discoveries. The check is skipped when there is
// one tenant.
func discoveries(run *session.Run) (both [2]*session.Discovery, f *check.Finding) {
	if len(run.Tenants) < 2 {
		return both, check.Skip(check.NoData, "there is one set of credentials; give -credentials twice")
	}
	for tenant := range both {
		if both[tenant], f = run.Discovery(tenant); f != nil {
			return both, f
		}
	}
	return both, nil
}

// unknownToOther asks each tenant for tables that only the other has.
func unknownToOther(run *session.Run) *check.Finding {
	both, f := discoveries(run)
	if f != nil {
		return f
	}
	for owner, own := range both {
		other := 1 - owner
		tried := 0
		for _, t := range own.Readable() {
			if both[other].Lookup[t.Name] != nil || len(t.Fields) == 0 || tried == maxTables {
				continue
			}
			tried++
			for _, r := range run.Mounted() {
				if f := unknownTo(run, other, r, t); f != nil {
					return f
				}
			}
		}
	}
	if run.Cases == 0 {
		return check.Skip(check.NoData, "neither tenant has a table that the other lacks")
	}
	return nil
}

// requestFor returns a legal request about a table, or nil for a route that names
// none.
func requestFor(path string, t *wire.Table) wire.Message {
	field := t.Fields[0].Name
	switch path {
	case wire.PathQuery:
		return session.AllRows(t)
	case wire.PathCount:
		return &wire.CountRequest{Table: t.Name}
	case wire.PathAggregate:
		return &wire.AggregateRequest{
			Table: t.Name, Measures: []wire.Measure{{Fn: wire.FnCount, As: "rows"}}, Limit: wire.AggregateLimit,
		}
	case wire.PathSize:
		return &wire.SizeRequest{Table: t.Name}
	case wire.PathCardinality:
		return &wire.CardinalityRequest{Table: t.Name, Columns: []string{field}}
	case wire.PathLinkHitRate:
		return &wire.LinkHitRateRequest{FromTable: t.Name, FromColumn: field, ToTable: t.Name, ToColumn: field}
	}
	return nil
}

// unknownTo asks one tenant for a table of the other.
func unknownTo(run *session.Run, tenant int, r session.Route, t *wire.Table) *check.Finding {
	m := requestFor(r.Path, t)
	if m == nil {
		return nil
	}
	run.Cases++
	a := answerTo(run, tenant, r.Path, m)
	f := a.RefusedWith(wire.CodeUnknownEntity)
	if f == nil {
		return nil
	}
	if a.Err == nil && a.Status >= 400 {
		// The request is refused, but not as it should be. If a table that nobody has is
		// refused like that too, another check reports it.
		nobodys := *t
		nobodys.Name = "conformance_unknown_table"
		last := run.Last
		b := answerTo(run, tenant, r.Path, requestFor(r.Path, &nobodys))
		if b.Status == a.Status {
			return check.Block(unknownTableCheck(r.Path), "%s answers %d for a table that nobody has", r.Path, b.Status)
		}
		run.Last = last
	}
	f.Detail = fmt.Sprintf("%s for table %s, which only the %s tenant has, is %s for the %s",
		r.Path, wire.QuoteName(t.Name), session.Ordinal(1-tenant), f.Detail, session.Ordinal(tenant))
	return f
}

// unknownTableCheck returns the id of the check about an unknown table on a route.
func unknownTableCheck(path string) string {
	return map[string]string{
		wire.PathQuery:       "P3.2a",
		wire.PathCount:       "P3.2b",
		wire.PathAggregate:   "P3.2c",
		wire.PathSize:        "P3.2d",
		wire.PathCardinality: "P3.2e",
		wire.PathLinkHitRate: "P3.2g",
	}[path]
}

// answerTo sends a tenant's request and reads the answer, or a few rows of a stream.
func answerTo(run *session.Run, tenant int, path string, m wire.Message) *session.Answer {
	c := run.Ask(path, m, tenant)
	if req, ok := m.(*wire.QueryRequest); ok {
		return run.Stream(c, session.Members(req), session.WindowRows).Answer
	}
	return run.Exchange(c)
}

// reading is a table of one tenant as it was read alone. The answer must not depend
// on what the other tenant does.
type reading struct {
	tenant int
	table  *wire.Table
	alone  *oracle.Table
}

// readAlone reads tables of both tenants. It reads each tenant's tables after a
// discovery of their own, because a connector may have kept what it saw last. The
// readings alternate between the tenants; tables that both have come first.
func readAlone(run *session.Run) (list []reading, f *check.Finding) {
	var each [2][]reading
	for tenant := range 2 {
		if _, f := run.Discover(run.Ctx, tenant); f != nil {
			return nil, f
		}
		both, f := discoveries(run)
		if f != nil {
			return nil, f
		}
		shared := both[1-tenant].Lookup
		tables := both[tenant].Readable()
		slices.SortStableFunc(tables, func(a, b *wire.Table) int {
			return boolInt(shared[a.Name] == nil) - boolInt(shared[b.Name] == nil)
		})
		for _, t := range tables {
			if len(each[tenant]) == maxTables || len(t.Fields) == 0 {
				continue
			}
			run.Forget(tenant, t)
			// A table that cannot be read, or is too large, cannot show anything.
			if rows := run.Snapshot(tenant, t).Table; rows != nil && len(rows.Rows) > 0 {
				each[tenant] = append(each[tenant], reading{tenant, t, rows})
			}
		}
	}
	for tenant, readings := range each {
		if len(readings) == 0 {
			return nil, check.Skip(check.NoData, "the %s tenant has no table with rows within the row budget", session.Ordinal(tenant))
		}
	}
	for i := range max(len(each[0]), len(each[1])) {
		list = append(list, each[0][i%len(each[0])], each[1][i%len(each[1])])
	}
	return list, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// judgeReadings judges readings, and reads the tables alone once more if they may
// have changed.
func judgeReadings(run *session.Run, judge func([]reading) *check.Finding) *check.Finding {
	if _, f := discoveries(run); f != nil {
		return f
	}
	list, f := readAlone(run)
	if f != nil {
		return f
	}
	again := func() (string, *check.Finding) {
		before := list
		if list, f = readAlone(run); f != nil {
			return "", f
		}
		for i, r := range list {
			if len(list) != len(before) || r.table.Name != before[i].table.Name || !session.SameRows(r.table, before[i].alone, r.alone) {
				return wire.QuoteName(r.table.Name), nil
			}
		}
		return "", nil
	}
	moved, f := run.Unmoved(func() *check.Finding { return judge(list) }, again)
	if f == nil && moved != "" {
		f = check.Skip(check.DataChanged, "table %s changed while it was judged", moved)
	}
	return f
}

// interleaved asks for the tenants' tables, measures and discoveries in turns.
func interleaved(run *session.Run) *check.Finding {
	return judgeReadings(run, func(list []reading) *check.Finding {
		for _, r := range list {
			st := run.Stream(run.Ask(wire.PathQuery, session.AllRows(r.table), r.tenant), session.AllRows(r.table).Fields, 2*len(r.alone.Rows)+1)
			run.Cases++
			if f := sameAsAlone(list, r, st, "read in turn with the other tenant"); f != nil {
				return f
			}
		}
		if f := interleavedMeasures(run, list); f != nil {
			return f
		}
		return interleavedDiscovery(run)
	})
}

func interleavedMeasures(run *session.Run, list []reading) *check.Finding {
	for _, r := range list {
		want := int64(len(r.alone.Rows))
		if run.Document.Has(wire.EndpointCount) {
			var count wire.CountAnswer
			a := run.Exchange(run.Ask(wire.PathCount, &wire.CountRequest{Table: r.table.Name}, r.tenant))
			if f := a.Decode("count-answer", &count); f != nil {
				return f
			}
			if f := othersNumber(list, r, "/count", want, count.Count); f != nil {
				return f
			}
		}
		if run.Document.Has(wire.EndpointSize) {
			var size wire.SizeAnswer
			a := run.Exchange(run.Ask(wire.PathSize, &wire.SizeRequest{Table: r.table.Name}, r.tenant))
			if f := a.Decode("size-answer", &size); f != nil {
				return f
			}
			if size.Size != nil && size.Size.Exact {
				if f := othersNumber(list, r, "/size", want, size.Size.Rows); f != nil {
					return f
				}
			}
		}
		run.Cases++
	}
	return nil
}

// othersNumber returns the finding about a number that is the other tenant's. Any
// other wrong number is wrong for one tenant alone too, so another check reports
// it.
func othersNumber(list []reading, r reading, path string, want, got int64) *check.Finding {
	for _, o := range list {
		if got != want && o.tenant != r.tenant && o.table.Name == r.table.Name && int64(len(o.alone.Rows)) == got {
			return check.Differs(fmt.Sprint(want), fmt.Sprintf("%d, the rows of the %s tenant", got, session.Ordinal(o.tenant)),
				"%s of table %s for the %s tenant, asked in turn with the other, is the other's",
				path, wire.QuoteName(r.table.Name), session.Ordinal(r.tenant))
		}
	}
	return nil
}

func interleavedDiscovery(run *session.Run) *check.Finding {
	both, f := discoveries(run)
	if f != nil {
		return f
	}
	for range 2 {
		for tenant := range both {
			again, f := run.Discover(run.Ctx, tenant)
			if f != nil {
				return f
			}
			run.Cases++
			own, others := both[tenant].Lookup, both[1-tenant].Lookup
			for _, name := range slices.Sorted(maps.Keys(again.Lookup)) {
				if own[name] == nil && others[name] != nil {
					names := slices.Sorted(maps.Keys(own))
					return check.Differs("tables "+session.QuoteNames(names), "table "+wire.QuoteName(name),
						"discovery of the %s tenant, asked in turn with the other, lists a table that only the other has",
						session.Ordinal(tenant))
				}
			}
		}
	}
	return nil
}

// sameAsAlone compares an answer with what the same tenant was answered alone.
func sameAsAlone(list []reading, r reading, st *session.Stream, how string) *check.Finding {
	what := fmt.Sprintf("table %s of the %s tenant, %s", wire.QuoteName(r.table.Name), session.Ordinal(r.tenant), how)
	if f := st.Unusable(); f != nil {
		return f.In("%s: %s", what)
	}
	if st.Broken != nil {
		return st.Broken
	}
	d := oracle.Verify(oracle.Tables{r.table.Name: r.alone}, session.AllRows(r.table), st.Table.Rows)
	if d == nil {
		return nil
	}
	f := check.Differs(d.Expected, d.Received, "%s, is not as it was alone: %s", what, d.Detail).From(st.Request)
	if row := rowOfOther(list, r, st.Table.Rows); row != nil {
		f.Detail = what + ", holds a row of the other tenant"
		f.Received = session.ShowRow(r.alone.Columns, row)
	}
	return f
}

// rowOfOther returns a row that only the other tenant has, or nil.
func rowOfOther(list []reading, r reading, rows [][]wire.Value) []wire.Value {
	own, others := map[string]bool{}, map[string]bool{}
	for _, row := range r.alone.Rows {
		own[session.RowKey(row)] = true
	}
	for _, o := range list {
		if o.tenant != r.tenant && len(o.alone.Columns) == len(r.alone.Columns) {
			for _, row := range o.alone.Rows {
				others[session.RowKey(row)] = true
			}
		}
	}
	for _, row := range rows {
		if key := session.RowKey(row); !own[key] && others[key] {
			return row
		}
	}
	return nil
}

// concurrent asks for both tenants' tables at once: with as many requests as the
// document allows, and at least two.
func concurrent(run *session.Run) *check.Finding {
	const rounds = 3
	at := 4
	if most := run.Document.Capabilities.Limits.Concurrency; most > 0 {
		at = max(min(8, most), 2)
	}
	return judgeReadings(run, func(list []reading) *check.Finding {
		for round := range rounds {
			streams := make([]*session.Stream, at)
			together(run.Ctx, at, func(ctx context.Context, i int) {
				r := list[(i+round)%len(list)]
				c := run.Ask(wire.PathQuery, session.AllRows(r.table), r.tenant)
				streams[i] = run.StreamWith(ctx, c, session.AllRows(r.table).Fields, 2*len(r.alone.Rows)+1)
			})
			for i, st := range streams {
				run.Last = st.Request
				run.Cases++
				if st.Err == nil && st.Status == http.StatusTooManyRequests {
					continue // the host's own limit
				}
				if f := sameAsAlone(list, list[(i+round)%len(list)], st, "read while the other tenant is"); f != nil {
					return f
				}
			}
		}
		return nil
	})
}

// together does n things at once. A panic of one becomes a panic of the caller.
func together(ctx context.Context, n int, do func(ctx context.Context, i int)) {
	var wg sync.WaitGroup
	panics := make([]any, n)
	for i := range n {
		wg.Go(func() {
			defer func() { panics[i] = recover() }()
			do(ctx, i)
		})
	}
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}
