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
	filtered := func(name string) wire.Where { return wire.Where{And: []wire.Filter{{Field: name, Op: wire.OpNotNull}}} }
	filters := terms.Allowed(column.Filterable) && run.Document.Declares(wire.OpNotNull)
	what := fmt.Sprintf("column %s of table %s", terms.QuoteName(column.Name), terms.QuoteName(others.Name))
	for _, q := range []struct {
		path, what string
		may        bool
		about      func(name string) wire.Request
	}{
		{wire.PathQuery, "", true, func(name string) wire.Request {
			return &wire.QueryRequest{Table: others.Name, Fields: []string{name}, Envelope: fresh(run).envelope()}
		}},
		{wire.PathQuery, " with a filter", filters && len(own.Fields) > 0, func(name string) wire.Request {
			fields := []string{own.Fields[0].Name}
			return &wire.QueryRequest{Table: others.Name, Fields: fields, Where: filtered(name), Envelope: fresh(run).envelope()}
		}},
		{wire.PathCount, " with a filter", filters && run.Document.Offers(wire.PathCount), func(name string) wire.Request {
			return &wire.CountRequest{Table: others.Name, Where: filtered(name), Envelope: fresh(run).envelope()}
		}},
	} {
		if !q.may {
			continue
		}
		before := answerTo(run, 1-tenant, q.path, q.about(column.Name))
		run.Cases++
		a := answerTo(run, tenant, q.path, q.about(column.Name))
		if f := toldApart(run, tenant, q.path, q.what, what, column.Name, a, q.about); f != nil {
			return f
		}
		if f := lostToOwner(run, tenant, q.path, q.what, what, before, q.about(column.Name)); f != nil {
			return f
		}
	}
	return nil
}

// lostToOwner asks the owner once more, after the other tenant was refused: the refusal may have been kept.
func lostToOwner(run *pairRun, tenant int, path, asking, what string, before *session.Answer, m wire.Request) *check.Finding {
	if before.Err != nil || before.Status != http.StatusOK || run.Allowance() == 0 {
		return nil
	}
	after := answerTo(run, 1-tenant, path, m)
	if after.Refusal() == nil || after.Status >= http.StatusInternalServerError {
		return nil
	}
	return check.Differs(before.Describe(), after.Describe(),
		"%s%s for %s, which only the %s tenant has, is refused to it after the %s was refused",
		path, asking, what, phrase.Ordinal(1-tenant), phrase.Ordinal(tenant)).From(after.Request)
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
	about := func(name string) wire.Request {
		named := *t
		named.Name = name
		return oneField(run, &named, q)
	}
	m, what := about(t.Name), "table "+terms.QuoteName(t.Name)
	before := &session.Answer{}
	if run.Allowance() > 0 {
		before = answerTo(run, 1-tenant, path, m)
	}
	run.Cases++
	a := answerTo(run, tenant, path, m)
	f := a.RefusedWith(wire.CodeUnknownEntity)
	if f == nil || path == wire.PathAggregate && a.Declined() {
		if f := toldApart(run, tenant, path, "", what, t.Name, a, about); f != nil || path != wire.PathQuery {
			return f
		}
		return lostToOwner(run, tenant, path, "", what, before, about(t.Name))
	}
	if a.Err == nil && a.Status >= 400 {
		// The request is refused, but not as it should be. If a table that nobody has is
		// refused like that too, another check reports it.
		last := run.Last
		b := answerTo(run, tenant, path, about(payload.UnusedTable))
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
		about := func(name string) wire.Request {
			named := *t
			named.Name = name
			return l.ask(own, &named, fresh(run))
		}
		run.Cases++
		a := answerTo(run, tenant, l.path, about(t.Name))
		if f := toldApart(run, tenant, l.path, l.what, "table "+terms.QuoteName(t.Name), t.Name, a, about); f != nil {
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
// or declined; asking and what say how it is asked about and what it names. A message may hold what changes with each
// request, or a name like the one that was asked for: so two missing names of different kinds are asked for.
func toldApart(
	run *pairRun, tenant int, path, asking, what, name string, a *session.Answer, about func(name string) wire.Request,
) *check.Finding {
	others, last := refusalIn(a, name, name), run.Last
	var nobodys []refusal
	for _, unused := range []string{payload.UnusedTable, name + "_0"} {
		if a.Err != nil || run.Allowance() == 0 {
			return nil
		}
		b := answerTo(run, tenant, path, about(unused))
		if b.Err != nil || b.Status == http.StatusOK || refusalIn(b, unused, name) == others {
			return nil
		}
		nobodys = append(nobodys, refusalIn(b, unused, name))
	}
	if nobodys[0].message != nobodys[1].message {
		nobodys[0].message, nobodys[1].message, others.message = "", "", ""
	}
	if nobodys[0] != nobodys[1] || nobodys[0] == others {
		return nil
	}
	again := refusalIn(answerTo(run, tenant, path, about(name)), name, name)
	if again.status != others.status || again.code != others.code {
		return nil // what comes and goes is no matter of the table
	}
	run.Last = last
	return check.Differs(nobodys[0].String(), others.String(),
		"%s%s for %s, which only the %s tenant has, tells the %s of it: a name that nobody has is answered otherwise",
		path, asking, what, phrase.Ordinal(1-tenant), phrase.Ordinal(tenant)).From(a.Request)
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
