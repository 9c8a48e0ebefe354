package tenants

import (
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// atOnce asks for both tenants at once, with as many requests as the document allows and at least two. Each question is
// asked for the one tenant and the other, beside other questions: first in one wording, then in several.
func atOnce(run *pairRun) *check.Finding {
	at := 4
	if most := run.Document.Capabilities.Limits.Concurrency; most > 0 {
		at = max(min(8, most), 2)
	}
	var alone func() *check.Finding
	f := judgeSubjects(run, func() *check.Finding {
		alone = func() *check.Finding { return discoveriesInTurns(run) }
		if f := run.once("discoveries", nil, func() *check.Finding { return discoveriesAtOnce(run) }); f != nil || run.Spent(1) {
			return f
		}
		alone = nil
		for round := range 3 * len(questions) {
			if run.Spent(1) {
				return nil
			}
			f := run.once("round", round, func() (f *check.Finding) {
				f, alone = together(run, at, round)
				return f
			})
			if f != nil {
				return f
			}
		}
		return nil
	})
	if f.Failure() && alone != nil {
		// What is wrong without the other tenant's requests is no matter of concurrency.
		if f := alone(); f != nil {
			return check.Block("T2", "%s", f.Detail)
		}
	}
	return f
}

// discoveriesAtOnce asks for both tenants' discoveries at once, begun by either.
func discoveriesAtOnce(run *pairRun) *check.Finding {
	alone, f := discoveries(run)
	if f != nil {
		return f
	}
	for first := range 2 {
		var got [2]*session.Discovery
		var broken [2]*check.Finding
		check.AtOnce(2, func(i int) {
			tenant := (i + first) % 2
			got[tenant], broken[tenant] = run.Discover(run.Ctx, tenant)
		})
		for tenant := range got {
			if broken[tenant] != nil {
				continue // which other checks report
			}
			run.Cases++
			if f := judgeDiscovery(alone, got[tenant], tenant, "asked while the other asks"); f != nil {
				return f
			}
		}
	}
	return nil
}

// together asks questions about the tables at once, each for the one tenant and the
// other. With what is wrong, it returns how to ask for it alone.
func together(run *pairRun, at, round int) (_ *check.Finding, again func() *check.Finding) {
	type asked struct {
		*subject
		question *question
		tenant   int
		wording  wording
		reply    reply
	}
	const while = "asked while the other tenant asks"
	sweep := round / len(questions)
	all := make([]asked, at)
	for i := range all {
		pair := i / 2
		all[i] = asked{
			subject: run.subjects[(pair+sweep)%len(run.subjects)], question: questions[(pair+round)%len(questions)],
			tenant: (i + round) % 2, wording: fresh(run),
		}
		if i%2 == 1 && sweep == 0 {
			all[i].wording = all[i-1].wording
		}
	}
	check.AtOnce(at, func(i int) {
		q := &all[i]
		if q.may(run, q.question) {
			m := q.question.ask(q.subject, q.wording)
			q.reply = send(run, run.Ask(q.question.path, m, q.tenant), m, q.tables[q.tenant].Columns())
		}
	})
	for _, q := range all {
		if q.reply.Answer == nil {
			continue
		}
		run.Cases++
		f, v := q.judge(q.reply, q.tenant, q.question, while)
		if v == saysNothing && q.own(q.tenant) != nil && q.reply.breaks() {
			if _, alone := q.judge(q.ask(run, q.tenant, q.question, fresh(run)), q.tenant, q.question, ""); alone == isRight {
				f = check.Differs("an answer, as there is one alone", q.reply.shown, "%s%s of table %s for the %s tenant, %s, is an error",
					q.question.path, q.question.what, terms.QuoteName(q.name), phrase.Ordinal(q.tenant), while).From(q.reply.Request)
			}
		}
		if f == nil {
			continue
		}
		return f, func() *check.Finding {
			f, _ := q.judge(q.ask(run, q.tenant, q.question, fresh(run)), q.tenant, q.question, "asked alone")
			return f
		}
	}
	return nil, nil
}
