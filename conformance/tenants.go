package conformance

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tenantTables is how many tables of each tenant are read to hold two tenants
// apart.
const tenantTables = 4

// tenantChecks hold two tenants apart, when there are two sets of credentials.
func tenantChecks() []Check {
	const (
		quote = "Data and metadata of one credential set must never be served to a request with another credential set (for example, a table existing for one tenant answers `unknown_entity` for a tenant whose data lacks it)."
		keeps = "A connector keeps nothing about a tenant between calls."
	)
	return []Check{
		{
			ID: "T1", Phase: 3, judge: tablesApart,
			Title: "a table of one tenant is unknown to the other that lacks it",
			Rule:  "protocol, What the service does 4", Quote: quote,
			Fix: "Look tables up in what the credentials of this request can see, and answer 404 unknown_entity for anything else.",
		},
		{
			ID: "T2", Phase: 3, judge: interleaved,
			Title: "interleaved answers equal those given alone",
			Rule:  "protocol, What the service does 3; G11", Quote: keeps,
			Fix: "Keep no cache, connection or metadata from one request to the next, unless its key holds the credentials; best keep none.",
		},
		{
			ID: "T3", Phase: 3, judge: concurrent,
			Title: "concurrent answers equal those given alone",
			Rule:  "protocol, What the service does 3 and 4; G11", Quote: quote,
			Fix: "Keep what belongs to a request in its own variables: no package variable, no field of a shared object.",
		},
	}
}

// two makes sure that there are two tenants.
func (x *exam) two() {
	if len(x.tenants) < 2 {
		x.skip(NoData, "there is one set of credentials; give -credentials twice")
	}
	x.discovery(0) // before anything is asked for the second
	x.discovery(1)
}

// names are the tables that a discovery lists.
func (d *discovered) names() []string { return slices.Sorted(maps.Keys(d.tables)) }

// tablesApart is T1.
func tablesApart(x *exam) {
	x.two()
	for owner := range 2 {
		other := 1 - owner
		theirs := x.discovery(other)
		tried := 0
		for _, t := range x.ordinary(owner) {
			if theirs.tables[t.Name] != nil || len(t.Fields) == 0 || tried == tenantTables {
				continue
			}
			tried++
			for _, r := range x.mounted() {
				if m := about(r.path, t); m != nil {
					x.unknownTo(other, r, m, t)
				}
			}
		}
	}
	if x.cases == 0 {
		x.skip(NoData, "neither tenant has a table that the other lacks")
	}
}

// about is a legal request for a table; nil for routes that name none.
func about(path string, t *wire.Table) wire.Message {
	field := t.Fields[0].Name
	switch path {
	case wire.PathQuery:
		return everything(t)
	case wire.PathCount:
		return &wire.CountRequest{Table: t.Name}
	case wire.PathAggregate:
		return &wire.AggregateRequest{Table: t.Name, Measures: []wire.Measure{{Fn: wire.FnCount, As: "rows"}}, Limit: wire.AggregateLimit}
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
func (x *exam) unknownTo(tenant int, r route, m wire.Message, t *wire.Table) {
	x.cases++
	a := x.answerTo(tenant, r.path, m)
	f := refused(a, wire.CodeUnknownEntity)
	if f == nil {
		return
	}
	if a.err == nil && a.status >= 400 {
		// It is refused, if not as it should be. When any unknown table is
		// refused like that, it is another check's fault.
		nobodys := *t
		nobodys.Name = "conformance_unknown_table"
		mine := x.last
		b := x.answerTo(tenant, r.path, about(r.path, &nobodys))
		if b.status == a.status {
			x.blocked(unknownTable[r.path], fmt.Sprintf("%s answers %d for a table that nobody has", r.path, b.status))
		}
		x.last = mine
	}
	f.detail = fmt.Sprintf("%s for table %s, which only the %s tenant has, is %s for the %s", r.path, wire.QuoteName(t.Name), ordinal(1-tenant), f.detail, ordinal(tenant))
	x.found(f)
}

// unknownTable names the check of an unknown table on each route.
var unknownTable = map[string]string{
	wire.PathQuery: "P3.2a", wire.PathCount: "P3.2b", wire.PathAggregate: "P3.2c", wire.PathSize: "P3.2d",
	wire.PathCardinality: "P3.2e", wire.PathLinkHitRate: "P3.2g",
}

func ordinal(tenant int) string { return []string{"first", "second"}[tenant] }

// answerTo sends a tenant's request and reads the answer; of a stream, a few
// rows.
func (x *exam) answerTo(tenant int, path string, m wire.Message) *answer {
	c := x.ask(path, m, tenant)
	if req, ok := m.(*wire.QueryRequest); ok {
		st := x.session.stream(x.ctx, c, members(req), windowRows)
		x.last = st.request
		return st.answer
	}
	return x.send(c)
}

// reading is a table of one tenant, as it was read alone: the answer must not
// depend on what the other tenant does.
type reading struct {
	tenant int
	table  *wire.Table
	alone  *oracle.Table
}

// readings reads tables of both tenants, each tenant by himself and after a
// discovery of his own, since a connector may have kept what it saw last. They
// alternate between the tenants, those first that both have.
func (x *exam) readings() (list []reading) {
	var each [2][]reading
	for tenant := range 2 {
		fresh := x.discover(x.ctx, tenant)
		if fresh.why != "" {
			x.blocked("P3.1a", fresh.why)
		}
		shared := x.discovery(1 - tenant).tables
		tables := x.ordinary(tenant)
		slices.SortStableFunc(tables, func(a, b *wire.Table) int {
			return boolInt(shared[a.Name] == nil) - boolInt(shared[b.Name] == nil)
		})
		for _, t := range tables {
			if len(each[tenant]) == tenantTables || len(t.Fields) == 0 {
				continue
			}
			x.forget(tenant, t)
			// A table that cannot be read, or is too large, holds nothing apart.
			if rows := x.snapshot(tenant, t).Table; rows != nil && len(rows.Rows) > 0 {
				each[tenant] = append(each[tenant], reading{tenant, t, rows})
			}
		}
	}
	if len(each[0]) == 0 || len(each[1]) == 0 {
		x.skip(NoData, "the %s tenant has no table with rows within the row budget", ordinal(boolInt(len(each[0]) != 0)))
	}
	for i := range max(len(each[0]), len(each[1])) {
		list = append(list, each[0][i%len(each[0])], each[1][i%len(each[1])])
	}
	return list
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// apart judges readings, and reads the tables alone once more when they may have
// moved.
func (x *exam) apart(judge func([]reading)) {
	x.two()
	list := x.readings()
	moved := x.standing(func() { judge(list) }, func() (moved string) {
		before := list
		list = x.readings()
		for i, r := range list {
			switch {
			case len(list) != len(before), r.table.Name != before[i].table.Name, !sameRows(r.table, before[i].alone, r.alone):
				return wire.QuoteName(r.table.Name)
			}
		}
		return ""
	})
	if moved != "" {
		x.skip(DataChanged, "table %s moved while it was judged", moved)
	}
}

// interleaved is T2.
func interleaved(x *exam) {
	x.apart(func(list []reading) {
		for _, r := range list {
			c := x.ask(wire.PathQuery, everything(r.table), r.tenant)
			st := x.session.stream(x.ctx, c, everything(r.table).Fields, 2*len(r.alone.Rows)+1)
			x.last = st.request
			x.cases++
			x.found(x.asAlone(list, r, st, "read in turn with the other tenant"))
		}
		x.interleavedMeasures(list)
		x.interleavedDiscovery()
	})
}

// interleavedMeasures asks for counts and exact sizes in turns.
func (x *exam) interleavedMeasures(list []reading) {
	for _, r := range list {
		want := int64(len(r.alone.Rows))
		if x.document().has(wire.EndpointCount) {
			var count wire.CountAnswer
			x.found(x.send(x.ask(wire.PathCount, &wire.CountRequest{Table: r.table.Name}, r.tenant)).decode("count-answer", &count))
			if count.Count != want {
				x.measured(list, r, "/count", want, count.Count)
			}
		}
		if x.document().has(wire.EndpointSize) {
			var size wire.SizeAnswer
			x.found(x.send(x.ask(wire.PathSize, &wire.SizeRequest{Table: r.table.Name}, r.tenant)).decode("size-answer", &size))
			if size.Size != nil && size.Size.Exact && size.Size.Rows != want {
				x.measured(list, r, "/size", want, size.Size.Rows)
			}
		}
		x.cases++
	}
}

// measured fails a number that is the other tenant's. Any other wrong number is
// wrong for one tenant alone too, which is another check's matter.
func (x *exam) measured(list []reading, r reading, path string, want, got int64) {
	for _, o := range list {
		if o.tenant != r.tenant && o.table.Name == r.table.Name && int64(len(o.alone.Rows)) == got {
			x.want(fmt.Sprint(want), fmt.Sprintf("%d, the rows of the %s tenant", got, ordinal(o.tenant)),
				"%s of table %s for the %s tenant, asked in turn with the other, is the other's", path, wire.QuoteName(r.table.Name), ordinal(r.tenant))
		}
	}
}

// interleavedDiscovery discovers in turns.
func (x *exam) interleavedDiscovery() {
	for range 2 {
		for tenant := range 2 {
			again := x.discover(x.ctx, tenant)
			if again.why != "" {
				x.blocked("P3.1a", again.why)
			}
			x.cases++
			mine, theirs := x.discovery(tenant), x.discovery(1-tenant)
			for _, name := range again.names() {
				if mine.tables[name] == nil && theirs.tables[name] != nil {
					x.want("tables "+names(mine.names()), "table "+wire.QuoteName(name), "discovery of the %s tenant, asked in turn with the other, lists a table that only the other has", ordinal(tenant))
				}
			}
		}
	}
}

// asAlone holds an answer against what the same tenant was answered alone.
func (x *exam) asAlone(list []reading, r reading, st *stream, how string) *finding {
	if f := st.unusable(); f != nil {
		f.detail = fmt.Sprintf("table %s of the %s tenant, %s: %s", wire.QuoteName(r.table.Name), ordinal(r.tenant), how, f.detail)
		return f
	}
	if st.broken != "" {
		x.blocked(st.broken, st.why)
	}
	d := oracle.Verify(oracle.Tables{r.table.Name: r.alone}, everything(r.table), st.table.Rows)
	if d == nil {
		return nil
	}
	f := &finding{detail: fmt.Sprintf("table %s of the %s tenant, %s, is not as it was alone: %s", wire.QuoteName(r.table.Name), ordinal(r.tenant), how, d.Detail),
		expected: d.Expected, received: d.Received, request: st.request}
	if row := foreign(list, r, st.table.Rows); row != nil {
		f.detail = fmt.Sprintf("table %s of the %s tenant, %s, holds a row of the other tenant", wire.QuoteName(r.table.Name), ordinal(r.tenant), how)
		f.received = showRow(r.alone.Columns, row)
	}
	return f
}

// foreign finds a row that only the other tenant has.
func foreign(list []reading, r reading, rows [][]wire.Value) []wire.Value {
	mine, theirs := map[string]bool{}, map[string]bool{}
	for _, row := range r.alone.Rows {
		mine[rowText(row)] = true
	}
	for _, o := range list {
		if o.tenant != r.tenant && len(o.alone.Columns) == len(r.alone.Columns) {
			for _, row := range o.alone.Rows {
				theirs[rowText(row)] = true
			}
		}
	}
	for _, row := range rows {
		if text := rowText(row); !mine[text] && theirs[text] {
			return row
		}
	}
	return nil
}

// concurrent is T3: both tenants at once, as many requests as the document
// allows, and two at least.
func concurrent(x *exam) {
	const rounds = 3
	at := 4
	if most := x.document().Capabilities.Limits.Concurrency; most > 0 {
		at = max(min(8, most), 2)
	}
	x.apart(func(list []reading) {
		for round := range rounds {
			streams := make([]*stream, at)
			x.together(at, func(ctx context.Context, i int) {
				r := list[(i+round)%len(list)]
				streams[i] = x.session.stream(ctx, x.ask(wire.PathQuery, everything(r.table), r.tenant), everything(r.table).Fields, 2*len(r.alone.Rows)+1)
			})
			for i, st := range streams {
				r := list[(i+round)%len(list)]
				x.last = st.request
				x.cases++
				if st.err == nil && st.status == http.StatusTooManyRequests {
					continue // the host's own limit
				}
				x.found(x.asAlone(list, r, st, "read while the other tenant is"))
			}
		}
	})
}

// together does n things at once. A panic of one is a panic of the check.
func (x *exam) together(n int, do func(ctx context.Context, i int)) {
	var wg sync.WaitGroup
	faults := make([]any, n)
	for i := range n {
		wg.Go(func() {
			defer func() { faults[i] = recover() }()
			do(x.ctx, i)
		})
	}
	wg.Wait()
	for _, fault := range faults {
		if fault != nil {
			panic(fault)
		}
	}
}
