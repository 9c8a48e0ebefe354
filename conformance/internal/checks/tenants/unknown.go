package tenants

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// unknownToOther asks each tenant for tables that only the other has: on each route right after the other was answered,
// and beside a table of its own. It asks for one table of each tenant before it asks for more, and then for columns that
// only the other's tables have.
func unknownToOther(run *pairRun) *check.Finding {
	both, f := discoveries(run)
	if f != nil {
		return f
	}
	var lacked [2][]*wire.Table // by the tenant
	for tenant, d := range both {
		for _, t := range both[1-tenant].Readable() {
			if d.Lookup[t.Name] == nil && len(t.Fields) > 0 && len(lacked[tenant]) < maxLacked {
				lacked[tenant] = append(lacked[tenant], t)
			}
		}
	}
	type asking = func(*pairRun, [2]*session.Discovery, int, *wire.Table) *check.Finding
	for n := range maxLacked {
		for way, ask := range []asking{unknownOnRoutes, unknownBeside} {
			for tenant := range both {
				if n >= len(lacked[tenant]) || run.Spent(1) {
					continue
				}
				t := lacked[tenant][n]
				if f := run.once(way, t.Name, func() *check.Finding { return ask(run, both, tenant, t) }); f != nil {
					return f
				}
			}
		}
	}
	for tenant := range both {
		asked := 0
		for _, t := range both[1-tenant].Readable() {
			own := both[tenant].Lookup[t.Name]
			if own == nil || asked == maxLacked || run.Spent(1) {
				continue
			}
			i := slices.IndexFunc(t.Fields, func(f wire.Field) bool { return own.Field(f.Name) == nil })
			if i < 0 {
				continue
			}
			asked++
			if f := run.once("column", t.Name, func() *check.Finding { return unknownColumn(run, tenant, own, t, &t.Fields[i]) }); f != nil {
				return f
			}
		}
	}
	return run.Judged("neither tenant has a table or a column that the other lacks")
}

// unknownColumn asks one tenant for a column that only the other's table of the same name has: as one of the row's, and in
// filters. Before, it asks the same for the owner, so that a connector may have kept what columns the table has.
func unknownColumn(run *pairRun, tenant int, own, others *wire.Table, column *wire.Field) *check.Finding {
	where := func(name string) wire.Where { return filtered(&wire.Filter{Field: name, Op: wire.OpNotNull}) }
	filters := terms.Allowed(column.Filterable) && run.Document.Declares(wire.OpNotNull)
	what := fmt.Sprintf("column %s of table %s", terms.QuoteName(column.Name), terms.QuoteName(others.Name))
	list := []naming{{wire.PathQuery, "", what, column.Name, func(name string) wire.Request {
		return &wire.QueryRequest{Table: others.Name, Fields: []string{name}, Envelope: fresh(run).envelope()}
	}}}
	if filters && len(own.Fields) > 0 {
		list = append(list, naming{wire.PathQuery, " with a filter", what, column.Name, func(name string) wire.Request {
			fields := []string{own.Fields[0].Name}
			return &wire.QueryRequest{Table: others.Name, Fields: fields, Where: where(name), Envelope: fresh(run).envelope()}
		}})
	}
	if filters && run.Document.Offers(wire.PathCount) {
		list = append(list, naming{wire.PathCount, " with a filter", what, column.Name, func(name string) wire.Request {
			return &wire.CountRequest{Table: others.Name, Where: where(name), Envelope: fresh(run).envelope()}
		}})
	}
	for _, n := range list {
		before := answerTo(run, 1-tenant, n.path, n.about(n.name))
		run.Cases++
		a := answerTo(run, tenant, n.path, n.about(n.name))
		if f := n.toldApart(run, tenant, a); f != nil {
			return f
		}
		if f := n.lostToOwner(run, tenant, before, n.about(n.name)); f != nil {
			return f
		}
	}
	return nil
}

// naming is a request that names something of the other tenant's.
type naming struct {
	path, asking string                         // the route, and how it is asked
	what, name   string                         // such as `table "orders"`, and the name alone
	about        func(name string) wire.Request // the request that has another name in its place
}

// renamed returns a table with another name.
func renamed(t *wire.Table, name string) *wire.Table {
	own := *t
	own.Name = name
	return &own
}

// lostToOwner asks the owner once more, after the other tenant was refused: the refusal may have been kept.
func (n *naming) lostToOwner(run *pairRun, tenant int, before *session.Answer, m wire.Request) *check.Finding {
	if before.Err != nil || before.Status != http.StatusOK || run.Allowance() == 0 {
		return nil
	}
	after := answerTo(run, 1-tenant, n.path, m)
	if after.Refusal() == nil || after.Status >= http.StatusInternalServerError {
		return nil
	}
	return check.Differs(before.Describe(), after.Describe(),
		"%s%s for %s, which only the %s tenant has, is refused to it after the %s was refused",
		n.path, n.asking, n.what, phrase.Ordinal(1-tenant), phrase.Ordinal(tenant)).From(after.Request)
}

func unknownOnRoutes(run *pairRun, _ [2]*session.Discovery, tenant int, t *wire.Table) *check.Finding {
	for _, path := range run.Document.Paths(true) {
		if f := unknownTo(run, tenant, path, t); f != nil {
			return f
		}
	}
	return nil
}

// unknownTo asks one tenant for a table of the other. Before, it asks the same for the
// owner, so that a connector may have kept the answer.
func unknownTo(run *pairRun, tenant int, path string, t *wire.Table) *check.Finding {
	q := firstOf(path)
	if q == nil {
		return nil
	}
	n := naming{path, "", "table " + terms.QuoteName(t.Name), t.Name,
		func(name string) wire.Request { return oneField(run, renamed(t, name), q) }}
	m := n.about(t.Name)
	before := &session.Answer{}
	if run.Allowance() > 0 {
		before = answerTo(run, 1-tenant, path, m)
	}
	run.Cases++
	a := answerTo(run, tenant, path, m)
	f := a.RefusedWith(wire.CodeUnknownEntity)
	if f == nil || path == wire.PathAggregate && a.Declined() {
		if f := n.toldApart(run, tenant, a); f != nil || path != wire.PathQuery {
			return f
		}
		return n.lostToOwner(run, tenant, before, n.about(t.Name))
	}
	if a.Err == nil && a.Status >= 400 {
		// The request is refused, but not as it should be. If a table that nobody has is
		// refused like that too, another check reports it.
		last := run.Last
		b := answerTo(run, tenant, path, n.about(payload.UnusedTable))
		if b.Status == a.Status {
			return check.Block("P3.2", "%s answers %d for a table that nobody has", path, b.Status)
		}
		run.Last = last
	}
	f.Detail = fmt.Sprintf("%s for table %s, which only the %s tenant has, is %s for the %s",
		path, terms.QuoteName(t.Name), phrase.Ordinal(1-tenant), f.Detail, phrase.Ordinal(tenant))
	return f
}

// leads are the requests that lead from a table of a tenant's own to another, or from there to it: the other may
// be looked up by code that does not know the tenant.
var leads = []struct {
	path, what string
	ask        func(own, other *wire.Table, w wording) wire.Request
}{
	{wire.PathQuery, " with a join", func(own, other *wire.Table, w wording) wire.Request {
		fields := []string{own.Fields[0].Name}
		return &wire.QueryRequest{Table: own.Name, Fields: fields, Joins: hopTo(own, other), Envelope: w.envelope()}
	}},
	{wire.PathAggregate, " with a join", func(own, other *wire.Table, w wording) wire.Request {
		rows := []wire.Measure{{Fn: wire.AggCount, As: "rows"}}
		return &wire.AggregateRequest{Table: own.Name, Measures: rows, Joins: hopTo(own, other),
			Limit: wire.AggregateLimit, Envelope: w.envelope()}
	}},
	{wire.PathLinkHitRate, " of a link", linkTo},
	{wire.PathLinkHitRate, " of a link back", func(own, other *wire.Table, w wording) wire.Request {
		return linkTo(other, own, w)
	}},
}

func hopTo(from, to *wire.Table) []wire.JoinHop {
	field := to.Fields[0]
	return []wire.JoinHop{{FromTable: from.Name, ToTable: to.Name, FromField: from.Fields[0].Name, ToField: field.Name,
		Fields: []wire.JoinField{{Field: field.Name, As: "joined", Type: field.Type}}}}
}

func linkTo(from, to *wire.Table, w wording) wire.Request {
	return &wire.LinkHitRateRequest{FromTable: from.Name, FromColumn: from.Fields[0].Name,
		ToTable: to.Name, ToColumn: to.Fields[0].Name, Envelope: w.envelope()}
}

// unknownBeside asks one tenant for a table of the other beside one of its own.
func unknownBeside(run *pairRun, both [2]*session.Discovery, tenant int, t *wire.Table) *check.Finding {
	tables := both[tenant].Readable()
	i := slices.IndexFunc(tables, func(own *wire.Table) bool { return len(own.Fields) > 0 })
	if i < 0 {
		return nil
	}
	own := tables[i]
	for _, l := range leads {
		mayJoin := run.Document.Capabilities.Join || l.path == wire.PathLinkHitRate
		if !mayJoin || !run.Document.Offers(l.path) || run.Spent(1) {
			continue
		}
		n := naming{l.path, l.what, "table " + terms.QuoteName(t.Name), t.Name,
			func(name string) wire.Request { return l.ask(own, renamed(t, name), fresh(run)) }}
		run.Cases++
		if f := n.toldApart(run, tenant, answerTo(run, tenant, n.path, n.about(t.Name))); f != nil {
			return f
		}
	}
	return nil
}

// refusal is what an answer says of a name.
type refusal struct {
	status  int
	code    wire.Code
	message string
}

// refusalIn returns what an answer says of the name that was asked for, as if it were said of another. Names are put in
// their places, and not left out: one such as "table" may be a word of every refusal.
func refusalIn(a *session.Answer, asked, name string) refusal {
	r := refusal{status: a.Status}
	if e := a.Refusal(); e != nil {
		r.code, r.message = e.Code, strings.ReplaceAll(e.Message, asked, name)
	}
	return r
}

func (r refusal) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", r.status, r.code, message.Excerpt([]byte(r.message), 200)))
}

// toldApart judges that a name of the other tenant's is answered like one that does not exist, if the latter is refused
// or declined. A message may hold what changes with each request, or a name like the one that was asked for: so two
// missing names of different kinds are asked for.
func (n *naming) toldApart(run *pairRun, tenant int, a *session.Answer) *check.Finding {
	others, last := refusalIn(a, n.name, n.name), run.Last
	var nobodys []refusal
	for _, unused := range []string{payload.UnusedTable, n.name + "_0"} {
		if a.Err != nil || run.Allowance() == 0 {
			return nil
		}
		b := answerTo(run, tenant, n.path, n.about(unused))
		if b.Err != nil || b.Status == http.StatusOK || refusalIn(b, unused, n.name) == others {
			return nil
		}
		nobodys = append(nobodys, refusalIn(b, unused, n.name))
	}
	if nobodys[0].message != nobodys[1].message {
		nobodys[0].message, nobodys[1].message, others.message = "", "", ""
	}
	if nobodys[0] != nobodys[1] || nobodys[0] == others {
		return nil
	}
	again := refusalIn(answerTo(run, tenant, n.path, n.about(n.name)), n.name, n.name)
	if again.status != others.status || again.code != others.code {
		return nil // what comes and goes is no matter of the table
	}
	run.Last = last
	return check.Differs(nobodys[0].String(), others.String(),
		"%s%s for %s, which only the %s tenant has, tells the %s of it: a name that nobody has is answered otherwise",
		n.path, n.asking, n.what, phrase.Ordinal(1-tenant), phrase.Ordinal(tenant)).From(a.Request)
}

// oneField returns a request about the first field of a table.
func oneField(run *pairRun, t *wire.Table, q *question) wire.Request {
	only := *t
	only.Fields = t.Fields[:1]
	return q.ask(newSubject(run, &only, &only), fresh(run))
}

// answerTo sends a tenant's request and reads the answer, or a few rows of a stream.
func answerTo(run *pairRun, tenant int, path string, m wire.Request) *session.Answer {
	c := run.Ask(path, m, tenant)
	c.Most = defaults.WindowRows
	return run.Exchange(c)
}
