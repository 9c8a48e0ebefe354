package tenants

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// inTurns asks every question of the matrix for both tenants in turns: in the same
// wording, begun by either tenant, and after a /check or /discovery of the other.
func inTurns(run *pairRun) *check.Finding {
	return judgeSubjects(run, func() *check.Finding {
		for _, s := range slices.Concat(run.subjects, run.others) {
			run.Covered.Declare(coverage.Question{Kind: coverage.Apart, Table: s.name})
		}
		for _, s := range run.subjects {
			if f := s.countsDiscovered(); f != nil {
				return f
			}
		}
		for i, judge := range []func(*pairRun) *check.Finding{
			turns(0), discoveriesInTurns, sweep, afterOther, linksInTurns, turns(1),
		} {
			if f := run.once("turns", i, func() *check.Finding { return judge(run) }); f != nil || run.Spent(1) {
				return f
			}
		}
		return nil
	})
}

// turns returns a part of the check: each question of the matrix about one of the tables,
// in another round about another.
func turns(round int) func(*pairRun) *check.Finding {
	return func(run *pairRun) *check.Finding {
		for i, q := range questions {
			for n := range run.subjects {
				s := run.subjects[(i+round+n)%len(run.subjects)]
				if !s.may(run, q) {
					continue
				}
				f := run.once(q, fmt.Sprint(round, s.name), func() *check.Finding { return s.takeTurns(run, i+round, q) })
				if f != nil || run.Spent(1) {
					return f
				}
				break
			}
		}
		return nil
	}
}

func (s *subject) may(run *pairRun, q *question) bool {
	return run.Document.Offers(q.path) && q.ask(s, wording{}) != nil
}

// takeTurns asks a question in one wording for one tenant and then for the other. If it asks for a page, the next
// page follows: a connector may keep later pages, or where a list stands, without the tenant, or those with filters alone.
func (s *subject) takeTurns(run *pairRun, first int, q *question) *check.Finding {
	if q.first != nil {
		first = q.first(s)
	}
	for _, bare := range []bool{first%2 > 0, first%2 == 0} {
		w := fresh(run)
		w.bare = bare
		if f := s.inTurn(run, first, q, w); f != nil || run.Spent(1) {
			return f
		}
		if w.page++; !s.hasPage(run, q, w) {
			break
		}
		if f := s.inTurn(run, first, q, w); f != nil || run.Spent(1) {
			return f
		}
	}
	return nil
}

// inTurn asks a question in one wording for one tenant and then for the other.
func (s *subject) inTurn(run *pairRun, first int, q *question, w wording) *check.Finding {
	if !s.may(run, q) {
		return nil // the table was read again, and is another now
	}
	run.Covered.AddQuestion(coverage.Question{Kind: coverage.Apart, Table: s.name})
	var replies [2]reply
	var verdicts [2]verdict
	for turn := range 2 {
		tenant := (first + turn) % 2
		var f *check.Finding
		replies[tenant] = s.ask(run, tenant, q, w)
		if f, verdicts[tenant] = s.judge(replies[tenant], tenant, q, "asked in turn with the "+phrase.Ordinal(1-tenant)); f != nil {
			return f
		}
		if verdicts[tenant] == isRight {
			run.Cases++
		}
	}
	for tenant := range 2 {
		if verdicts[tenant] == isWrong && verdicts[1-tenant] == isRight && !s.wrongAlone(run, replies[tenant], tenant, q) {
			return s.oneSided(replies[tenant], tenant, q)
		}
	}
	return nil
}

// wrongAlone reports whether a measure, a link or a join is answered wrongly in another wording too, right after the
// tenant has come, and not with the other tenant's rows behind the hop. Then the connector reads the rows of this tenant
// wrongly, which the checks of its data report.
func (s *subject) wrongAlone(run *pairRun, r reply, tenant int, q *question) bool {
	req, ok := r.asked.(*wire.QueryRequest)
	joins := ok && len(req.Joins) > 0 || s.hop != nil && q.path == wire.PathLinkHitRate
	if !s.differs() || !joins && q.path != wire.PathAggregate {
		return false
	}
	if joins {
		mixed := maps.Clone(s.rows[tenant])
		if mixed[s.hop.ToTable] = s.rows[1-tenant][s.hop.ToTable]; r.holds(mixed) {
			return false
		}
	}
	arrive(run, tenant)
	f, v := s.judge(s.ask(run, tenant, q, fresh(run)), tenant, q, "asked alone")
	return f == nil && v == isWrong
}

// oneSided returns the finding about an answer that a tenant's rows do not give, although
// the other tenant's give what the same request is answered for that one.
func (s *subject) oneSided(r reply, tenant int, q *question) *check.Finding {
	if s.lost != nil {
		return nil
	}
	table, who := terms.QuoteName(s.name), phrase.Ordinal(tenant)
	if !s.differs() && q.path != wire.PathQuery {
		return check.Differs(r.shown, phrase.Plural(len(s.own(tenant).Rows), "row"),
			"/query of table %s answers the %s tenant with the other's rows: %s tells the two apart",
			table, who, q.path).From(r.Request)
	}
	return check.Differs("what the "+phrase.Plural(len(s.own(tenant).Rows), "row")+" of this tenant give", r.shown,
		"%s%s of table %s for the %s tenant is not what its rows give, although the same request is answered rightly for the other",
		q.path, q.what, table, who).From(r.Request)
}

// What an answer comes to.
type verdict int

const (
	saysNothing verdict = iota
	isRight
	isWrong // and not the other tenant's: that is for the checks of live data
)

// judge compares an answer with the rows of the tenants.
func (s *subject) judge(got reply, tenant int, q *question, how string) (*check.Finding, verdict) {
	own, other := s.rows[tenant], s.rows[1-tenant]
	what := fmt.Sprintf("%s%s of table %s for the %s tenant, %s",
		q.path, q.what, terms.QuoteName(s.name), phrase.Ordinal(tenant), how)
	differs := func(received, detail string) (*check.Finding, verdict) {
		expected := "404 unknown_entity"
		if own != nil {
			expected = "what the " + phrase.Plural(len(own[s.name].Rows), "row") + " of this tenant give"
		}
		return check.Differs(expected, received, "%s, %s", what, detail).From(got.Request), isWrong
	}
	switch {
	case s.lacked[tenant] && got.refused:
		return nil, isRight
	case own == nil && !s.lacked[tenant] && got.refused && other != nil:
		return check.Differs("a table that "+q.path+" knows", got.shown,
			"/discovery of the %s tenant lists table %s, and only the other tenant can read it",
			phrase.Ordinal(tenant), terms.QuoteName(s.name)).From(got.Request), isWrong
	case own == nil && !s.lacked[tenant]:
		return nil, saysNothing
	case got.fault != nil:
		return got.fault.In("%s, is not answered as it was alone: %s", what).From(got.Request), isWrong
	case got.silent():
		return nil, saysNothing
	case own != nil && got.holds(own):
		return nil, isRight
	case other != nil && got.holds(other):
		return differs(got.shown, "is what the other tenant is answered")
	case s.lacked[tenant]:
		return nil, saysNothing
	}
	if row := got.onlyIn(other[s.name], own[s.name]); row != nil {
		return differs(message.Row(got.rows.Columns, row), "holds a row of the other tenant")
	}
	if req, ok := got.asked.(*wire.QueryRequest); ok && q.what == "" {
		if d := oracle.Verify(own, req, got.rows.Rows); d != nil {
			if s.lost != nil {
				return nil, saysNothing
			}
			return check.Differs(d.Expected, d.Received, "%s, is not as it was alone: %s", what, d.Detail).From(got.Request), isWrong
		}
	}
	return nil, isWrong
}

// fewOnEveryRoute is how many of the other tables are asked about on every route.
const fewOnEveryRoute = 3

// sweep reads more tables for the second tenant as they were read for the first, the large
// ones first. It asks about a few on every route, and for the rows and one more question of the matrix
// of each other: a cache may be of one table, of large ones or of small ones.
func sweep(run *pairRun) *check.Finding {
	for i, s := range slices.Backward(run.others) {
		i = len(run.others) - 1 - i
		if run.Spent(1) {
			return nil
		}
		if f := run.once("sweep", s.name, func() *check.Finding { return s.sweep(run, i) }); f != nil {
			return f
		}
	}
	return nil
}

// fewValues is how many values a column may have that a connector is likely to keep.
const fewValues = 32

func (s *subject) sweep(run *pairRun, i int) *check.Finding {
	first := run.Snapshot(s.tables[0]).Table
	if first == nil || len(first.Rows) == 0 || len(first.Rows) > maxSwept {
		return nil
	}
	req := &wire.QueryRequest{Table: s.name, Fields: s.fields}
	c := run.Ask(wire.PathQuery, req, 1)
	c.Most = min(run.Rows, maxSwept)
	second := send(run, c, req, s.tables[1].Columns())
	if second.rows == nil || second.over {
		return nil
	}
	run.Cases++
	s.rows = [2]oracle.Tables{{s.name: first}, {s.name: second.rows}}
	if f := s.countsDiscovered(); f != nil {
		return f
	}
	large := max(len(first.Rows), len(second.rows.Rows)) > most
	if !s.differs() && !large {
		q := questions[0]
		if f, _ := s.judge(s.ask(run, 1, q, fresh(run)), 1, q, ""); f != nil {
			return check.Differs(f.Received, second.shown, "/query of table %s for the second tenant is what the first is answered, "+
				"and something else in other words", terms.QuoteName(s.name)).From(second.Request)
		}
	}
	s.choose(run)
	for n, q := range questions {
		wanted := large || n == 0 || i < fewOnEveryRoute && q.what == "" || n == 1+i%(len(questions)-1) || q == ofAlone && s.among <= fewValues
		if req, ok := q.ask(s, wording{}).(*wire.QueryRequest); large && ok && (req.Limit == 0 || req.Limit > most) {
			continue // its answer is long
		}
		if wanted && s.may(run, q) {
			if f := s.takeTurns(run, i, q); f != nil || run.Spent(1) {
				return f
			}
		}
	}
	return nil
}

// linksInTurns asks about the foreign keys between tables that were read for both tenants, and joins along them: what a
// link leads to may be kept by the name of its table.
func linksInTurns(run *pairRun) *check.Finding {
	known := slices.DeleteFunc(slices.Concat(run.subjects, run.others), func(s *subject) bool {
		return s.own(0) == nil || s.own(1) == nil
	})
	for i, s := range known {
		for to, hop := range s.links(known) {
			if !to.differs() || s.hop != nil && s.hop.FromField == hop.FromField {
				continue
			}
			readAlone(run, s, to)
			s.hop = hop
			s.link(to)
			if run.Document.Declares(wire.OpEq) {
				s.refers = s.referred()
			}
			for _, q := range []*question{firstOf(wire.PathLinkHitRate), joined, referring} {
				if s.hop == nil || !s.may(run, q) {
					continue
				}
				if f := s.takeTurns(run, i, q); f != nil || run.Spent(1) {
					return f
				}
			}
			if run.Spent(1) {
				return nil
			}
		}
	}
	return nil
}

// countsDiscovered judges the row counts that the tenants' discoveries state.
func (s *subject) countsDiscovered() *check.Finding {
	if s.own(0) == nil || s.own(1) == nil || s.only != nil {
		return nil
	}
	for tenant, t := range s.tables {
		want, others := int64(len(s.own(tenant).Rows)), int64(len(s.own(1-tenant).Rows))
		got, told := t.RowCount, s.tables[1-tenant].RowCount
		if got == nil || told == nil || *got == want || *told != others {
			continue
		}
		switch {
		case *got == others:
			return check.Differs(fmt.Sprint(want), fmt.Sprint(*got), "rowCount of table %s in /discovery of the %s tenant is the other's",
				terms.QuoteName(s.name), phrase.Ordinal(tenant))
		case !s.differs():
			return check.Differs(fmt.Sprint(*got), phrase.Plural(int(want), "row"),
				"/query of table %s answers the %s tenant with the other's rows: discovery tells the two apart",
				terms.QuoteName(s.name), phrase.Ordinal(tenant))
		}
	}
	return nil
}

// afterOther asks for one tenant after the other has called /check or /discovery.
func afterOther(run *pairRun) *check.Finding {
	s := run.subjects[0]
	for tenant := range 2 {
		for _, before := range []string{wire.PathCheck, wire.PathDiscovery} {
			run.Exchange(run.Ask(before, &wire.CheckRequest{}, 1-tenant))
			for _, q := range plain {
				if !s.may(run, q) {
					continue
				}
				if run.Spent(1) {
					return nil
				}
				run.Cases++
				how := fmt.Sprintf("asked after %s of the %s", before, phrase.Ordinal(1-tenant))
				if f, _ := s.judge(s.ask(run, tenant, q, fresh(run)), tenant, q, how); f != nil {
					return f
				}
			}
		}
	}
	return nil
}

// discoveriesInTurns asks for both tenants' discoveries in turns.
func discoveriesInTurns(run *pairRun) *check.Finding {
	const inTurn = "asked in turn with the other"
	first, f := discoveries(run) // before the other tenant had asked for anything
	if f != nil {
		return f
	}
	var alone [2]*session.Discovery
	for tenant := range alone {
		run.HTTP.CloseIdleConnections()
		if alone[tenant], f = run.discover(tenant); f != nil {
			return f
		}
	}
	for _, tenant := range []int{0, 1, 1, 0} {
		got, f := run.discover(tenant)
		if f != nil {
			return f
		}
		run.Cases++
		if f := cmp.Or(judgeDiscovery(alone, got, tenant, inTurn), judgeDiscovery(first, got, tenant, inTurn)); f != nil {
			return f
		}
	}
	return nil
}
