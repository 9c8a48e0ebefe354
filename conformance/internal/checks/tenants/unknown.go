package tenants

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// unknownToOther asks each tenant for tables that only the other has, right after the
// other was answered.
func unknownToOther(run *pairRun) *check.Finding {
	both, f := discoveries(run)
	if f != nil {
		return f
	}
	for owner, own := range both {
		other := 1 - owner
		tried := 0
		for _, t := range own.Readable() {
			if both[other].Lookup[t.Name] != nil || len(t.Fields) == 0 || tried == maxLacked {
				continue
			}
			if owner+tried > 0 && run.Spent() {
				return nil
			}
			tried++
			for _, r := range run.Mounted() {
				if f := unknownTo(run, other, r, t); f != nil {
					return f
				}
			}
		}
	}
	return run.Judged("neither tenant has a table that the other lacks")
}

// unknownTo asks one tenant for a table of the other. Before, it asks the same for the
// owner, so that a connector may have kept the answer.
func unknownTo(run *pairRun, tenant int, r session.Route, t *wire.Table) *check.Finding {
	q := firstOf(r.Path)
	if q == nil {
		return nil
	}
	about := func(t *wire.Table) wire.Request { return oneField(run, t, q) }
	m := about(t)
	if run.Allowance() > 0 {
		answerTo(run, 1-tenant, r.Path, m)
	}
	run.Cases++
	a := answerTo(run, tenant, r.Path, m)
	f := a.RefusedWith(wire.CodeUnknownEntity)
	if r.Path == wire.PathAggregate && a.Declined() {
		return nil // a decline tells nothing about the table
	}
	if f == nil {
		return toldApart(run, tenant, r.Path, t.Name, a, func(name string) wire.Request {
			nobodys := *t
			nobodys.Name = name
			return about(&nobodys)
		})
	}
	if a.Err == nil && a.Status >= 400 {
		// The request is refused, but not as it should be. If a table that nobody has is
		// refused like that too, another check reports it.
		nobodys := *t
		nobodys.Name = session.UnusedTable
		last := run.Last
		b := answerTo(run, tenant, r.Path, about(&nobodys))
		if b.Status == a.Status {
			return check.Block(q.unknown, "%s answers %d for a table that nobody has", r.Path, b.Status)
		}
		run.Last = last
	}
	f.Detail = fmt.Sprintf("%s for table %s, which only the %s tenant has, is %s for the %s",
		r.Path, terms.QuoteName(t.Name), session.Ordinal(1-tenant), f.Detail, session.Ordinal(tenant))
	return f
}

// toldApart judges that a refusal of a table that only the other tenant has says what is said of one that nobody has.
// A message may hold what changes with each request, or a name like the one that was asked for: tables that nobody has
// are asked for twice, under names of different kinds.
func toldApart(run *pairRun, tenant int, path, name string, a *session.Answer, about func(name string) wire.Request) *check.Finding {
	said := func(a *session.Answer, name string) string {
		if e := a.Refusal(); e != nil {
			return strings.ReplaceAll(e.Message, name, "…")
		}
		return ""
	}
	others, last := said(a, name), run.Last
	if others == "" {
		return nil
	}
	nobodys := ""
	for _, unused := range []string{session.UnusedTable, name + "_0"} {
		if run.Allowance() == 0 {
			return nil
		}
		b := said(answerTo(run, tenant, path, about(unused)), unused)
		if b == others || b == "" || nobodys != "" && b != nobodys {
			return nil
		}
		nobodys = b
	}
	run.Last = last
	return check.Differs(message.Excerpt([]byte(nobodys), 200), message.Excerpt([]byte(others), 200),
		"%s for table %s, which only the %s tenant has, tells the %s of it: of a table that nobody has it says something else",
		path, terms.QuoteName(name), session.Ordinal(1-tenant), session.Ordinal(tenant)).From(a.Request)
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
	c.Most = session.WindowRows
	return run.Exchange(c)
}
