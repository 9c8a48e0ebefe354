package tenants

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// refusesIncomplete asks every route without credentials and, if the run may, with a wrong secret.
func refusesIncomplete(run *pairRun) *check.Finding {
	topic := run.Topic()
	list := []impostor{{what: "no credentials", set: map[string]string{}}}
	if run.WrongCredentials {
		if all := wrong(run, 0); len(all) > 0 && all[0].unless == nil {
			list = append(list, all[0])
		}
	}
	for _, i := range list {
		for _, path := range run.Document.Paths(true) {
			run.Cases++
			a := run.Exchange(run.WithCredentials(session.Call{Path: path, Body: run.Legal(path, topic).Text()}, 0, i.set))
			if a.Err == nil && (a.Status == http.StatusBadRequest || len(i.set) > 0 && a.Status < 400) {
				continue
			}
			return check.Differs("400", a.Describe(), "%s with %s is answered with %d", path, i.what, a.Status)
		}
	}
	return nil
}

// servesImpostors returns the judge that asks every route with sets that are no tenant's, each time right after the
// tenant was answered on the same connection: a connector may use the last good credentials in the place of bad ones.
func servesImpostors(sets func(*pairRun, int) []impostor) func(*pairRun) *check.Finding {
	return func(run *pairRun) *check.Finding {
		for tenant := range run.Tenants {
			if tenant > 0 && run.Spent(1) {
				break
			}
			f := run.once("impostors", tenant, func() *check.Finding { return servesImpostorsOf(run, tenant, sets(run, tenant)) })
			if f != nil {
				return f
			}
		}
		return run.Judged("no table with rows, and no secret, shows whose an answer is")
	}
}

func servesImpostorsOf(run *pairRun, tenant int, list []impostor) *check.Finding {
	s, f := tableOf(run, tenant)
	if f != nil || s == nil {
		return f
	}
	for _, q := range plain {
		if !slices.ContainsFunc(list, func(i impostor) bool { return !i.refused }) {
			return nil
		}
		if f := s.servesImpostor(run, tenant, q, list); f != nil {
			return f
		}
	}
	for _, i := range list {
		if run.Spent(1) {
			break
		}
		if i.close || i.refused {
			continue
		}
		if f := discoversForImpostor(run, tenant, i); f != nil {
			return f
		}
	}
	return nil
}

// tableOf returns a table of a tenant that has rows, with the tenant's own rows, or nil.
func tableOf(run *pairRun, tenant int) (*subject, *check.Finding) {
	d, f := run.Discovery(tenant)
	if f != nil {
		return nil, f
	}
	var list []*subject
	for _, t := range d.Readable() {
		if len(t.Fields) > 0 {
			list = append(list, newSubject(run, t, t))
		}
	}
	slices.SortStableFunc(list, func(a, b *subject) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, s := range list[:min(len(list), maxCandidates)] {
		if s.learn(run, tenant); s.own(tenant) != nil && len(s.own(tenant).Rows) > 0 {
			return s, nil
		}
	}
	return nil, nil
}

// servesImpostor asks a question for the tenant, and then the same with other credentials.
func (s *subject) servesImpostor(run *pairRun, tenant int, q *question, list []impostor) *check.Finding {
	if !s.may(run, q) {
		return nil
	}
	m := q.ask(s, fresh(run))
	c := run.Ask(q.path, m, tenant)
	answer := func(c session.Call) reply { return send(run, c, m, s.tables[tenant].Columns()) }
	tells := func(r reply) bool { return !r.silent() && r.holds(s.rows[tenant]) }
	own := answer(c)
	if !tells(own) {
		return nil
	}
	for n := range list {
		i := &list[n]
		if i.refused || i.close && q.path != wire.PathQuery {
			continue
		}
		mayBeRight := (i.others || i.onlyApart) && !s.tellsOther(run, tenant, own)
		if mayBeRight && (i.others || !i.once) {
			continue
		}
		if i.once && n > 0 {
			answer(c) // an account is locked by wrong attempts in a row
		}
		got := answer(run.WithCredentials(c, tenant, i.set))
		run.Last = got.Request
		run.Cases++
		i.refused = i.once && got.Denied()
		others := &oracle.Table{}
		if i.others { // the impostor has its secret
			others = s.own(1 - tenant)
		}
		row := got.onlyIn(s.own(tenant), others)
		if !tells(got) && row == nil || i.unless != nil && tells(answer(run.WithCredentials(c, tenant, i.unless))) {
			continue
		}
		if mayBeRight && !refusedByCheck(run, tenant, i.set) {
			continue
		}
		received := got.shown
		if row != nil {
			received = message.Row(got.rows.Columns, row)
		}
		return check.Differs("400, or no data of this tenant", received,
			"%s of table %s with %s is answered with the data of the %s tenant",
			q.path, terms.QuoteName(s.name), i.what, phrase.Ordinal(tenant)).From(got.Request)
	}
	return nil
}

// refusedByCheck reports whether /check says that a set is wrong.
func refusedByCheck(run *pairRun, tenant int, set map[string]string) bool {
	a := run.ExchangeWith(run.Ctx, run.WithCredentials(run.Ask(wire.PathCheck, &wire.CheckRequest{}, tenant), tenant, set))
	return a.RefusedWith(wire.CodeCheckFailed) == nil
}

// tellsOther reports whether an answer is not what the other tenant would get.
func (s *subject) tellsOther(run *pairRun, tenant int, own reply) bool {
	if len(run.Tenants) < 2 {
		return false
	}
	if s.rows[1-tenant] == nil {
		s.learn(run, 1-tenant)
	}
	return s.rows[1-tenant] == nil || !own.holds(s.rows[1-tenant])
}

// discoversForImpostor asks for the discovery of a tenant with other credentials. A
// description that both tenants get may be the same for everybody.
func discoversForImpostor(run *pairRun, tenant int, i impostor) *check.Finding {
	if len(run.Tenants) < 2 {
		return nil
	}
	both, f := discoveries(run)
	if f != nil {
		return nil // another check tells it
	}
	a := run.Exchange(run.WithCredentials(run.Ask(wire.PathDiscovery, &wire.DiscoveryRequest{}, tenant), tenant, i.set))
	got, f := a.Decode()
	if f != nil {
		return nil
	}
	run.Cases++
	for _, t := range got.(*wire.Discovery).Tables {
		if both[tenant].Lookup[t.Name] != nil && both[1-tenant].Lookup[t.Name] == nil {
			return check.Differs("400, or no table of this tenant", "table "+terms.QuoteName(t.Name),
				"/discovery with %s lists a table that only the %s tenant has", i.what, phrase.Ordinal(tenant))
		}
	}
	return nil
}
