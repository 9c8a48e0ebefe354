// Package tenants checks that a connector keeps two tenants apart, when the run has
// two sets of credentials, and that it serves nobody whose credentials are wrong.
package tenants

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pairRun is one check being judged, and what the checks of a run share.
type pairRun struct {
	*session.Run
	*memory
}

// memory is what the checks of a run learn for each other.
type memory struct {
	wording  wording    // the last one
	subjects []*subject // the tables to ask about, whose rows are known; nil: they were not read yet
	others   []*subject // more tables that both tenants have
	passed   map[part]bool
	told     [2]map[column][]wire.Value // by tenant: the values that any discovery told of a column
}

type column struct{ table, field string }

// part is a part of a check: what is asked, and about what.
type part struct {
	check       string
	what, about any
}

// once judges a part of the check unless it has passed: a check that is judged again goes on where it was cut short.
func (run *pairRun) once(what, about any, judge func() *check.Finding) *check.Finding {
	p := part{run.Check.ID, what, about}
	if run.passed[p] {
		return nil
	}
	f := judge()
	run.passed[p] = f == nil && !run.Spent(1)
	return f
}

// Checks returns the checks of one run, in the order in which they run.
func Checks() []session.Check {
	m := &memory{wording: wording{run: rand.Uint32()}, passed: map[part]bool{}, told: [2]map[column][]wire.Value{{}, {}}}
	with := func(judge func(*pairRun) *check.Finding) func(*session.Run) *check.Finding {
		return func(run *session.Run) *check.Finding { return judge(&pairRun{run, m}) }
	}
	return []session.Check{
		{ID: "T2", Phase: 3, Two: true, Judge: with(inTurns), Rules: []string{"tenant-4", "tenant-6"}, Weight: 450,
			Title: "no answer depends on what the other tenant asked before",
			Fix: "Keep no cache, connection or metadata from one request to the next, " +
				"unless its key holds the credentials; best keep none."},
		{ID: "T1", Phase: 3, Two: true, Judge: with(unknownToOther), Rules: []string{"tenant-6"}, Weight: 180,
			Title: "a table or a column of one tenant is unknown to the other that lacks it",
			Fix: "Look tables and columns up, those of joins and links too, in what the credentials of this request can see, " +
				"and answer as for any unknown name, such as 404 unknown_entity for a table."},
		{ID: "T3", Phase: 3, Two: true, Judge: with(atOnce), Weight: 80,
			Rules: []string{"tenant-6", "tenant-4", "tenant-1"},
			Title: "no answer depends on what the other tenant asks at the same time",
			Fix:   "Keep what belongs to a request in its own variables: no package variable, no field of a shared object."},
		{ID: "T4", Phase: 3, Judge: with(servesImpostors(incomplete)), Rules: []string{"tenant-6", "tenant-4", "tenant-3"},
			Weight: 40, Least: 20, Needs: declared.Needs("credentialSchema"),
			Title: "credentials that lack what is required get no data of a tenant",
			Fix: "Refuse a request without a required credential, on every route, " +
				"instead of taking a default or the credentials of an earlier request."},
		{ID: "T7", Phase: 3, Judge: with(servesImpostors(mistaken)), Rules: []string{"tenant-6", "tenant-4"},
			Weight: 16, Least: 10, Needs: declared.Needs("credentialSchema"),
			Title: "a mistyped secret, and the secret of the other tenant, get no data of a tenant",
			Fix: "Look up whose a secret is, and serve that tenant's data alone, whatever account the request names beside it. " +
				"If both sets of this run are of one customer, whose secrets open the data of both, say so (-alike)."},
		{ID: "T5", Phase: 3, Judge: with(servesImpostors(wrong)), Wrong: true, Rules: []string{"tenant-6", "tenant-4"},
			Weight: 40, Least: 66, Needs: declared.Needs("credentialSchema"),
			Title: "wrong credentials get no data of a tenant (asked only with -wrong-credentials)",
			Fix: "Prove the credentials of every request on every route: keep no login of an earlier one, " +
				"and take the tenant's name as a name and not as a path."},
		{ID: "T6", Phase: 3, Two: true, Judge: with(mentionsOther), Rules: []string{"tenant-6"}, Weight: 90,
			Title: "refusals, warnings and samples tell a tenant nothing of the other's data",
			Fix: "Make messages and metadata of what the credentials of this request can see: " +
				"a list of all known tables, or a kept sample, tells one tenant of another."},
		{ID: "A.31", Phase: 3, Advice: true, Judge: with(refusesIncomplete), Rules: []string{"http-6", "http-8b"},
			Needs: declared.Needs("credentialSchema"),
			Title: "credentials that lack what is required give 400 on every route",
			Fix: "Refuse a missing required credential before the source is asked: check_failed on /check, " +
				"bad_request elsewhere. 401 would read as a wrong token."},
		{ID: "A.32", Phase: 3, Advice: true, Judge: with(describesOther), Rules: []string{"tenant-6a", "tenant-6"},
			Title: "foreign keys and descriptions name no table that only the other tenant has",
			Fix:   "Leave out what leads to a table that these credentials cannot see."},
	}
}

// discoveries returns both tenants' discoveries. The check is skipped when there is one tenant.
func discoveries(run *pairRun) (both [2]*session.Discovery, f *check.Finding) {
	if len(run.Tenants) < 2 {
		return both, check.Skip(check.NotAsked, "there is one set of credentials; give -credentials twice")
	}
	for tenant := range both {
		if both[tenant], f = run.Discovery(tenant); f != nil {
			return both, f
		}
	}
	return both, nil
}

// discover asks for a tenant's discovery anew, and keeps what it tells of values: a connector may have several
// processes, of which one alone mixes up its tenants.
func (run *pairRun) discover(tenant int) (*session.Discovery, *check.Finding) {
	d, f := run.Discover(run.Ctx, tenant)
	if f == nil {
		run.keepTold(tenant, d)
	}
	return d, f
}

// keepTold keeps what a discovery tells a tenant of values of texts and of instants. Numbers and days are not judged: two
// tenants often have the same by chance.
func (run *pairRun) keepTold(tenant int, d *session.Discovery) {
	for _, t := range d.Readable() {
		for _, f := range t.Fields {
			if f.Type != wire.TypeString && f.Type != wire.TypeReference && f.Type != wire.TypeDatetime {
				continue
			}
			at := column{t.Name, f.Name}
			for _, v := range declared.Values(&f) {
				if known := run.told[tenant][at]; len(known) < maxTold && !slices.Contains(known, v) {
					run.told[tenant][at] = append(known, v)
				}
			}
		}
	}
}

const maxTold = 100

// judgeDiscovery compares a tenant's discovery with those that both tenants got alone. How says when it was asked for.
func judgeDiscovery(alone [2]*session.Discovery, got *session.Discovery, tenant int, how string) *check.Finding {
	own, other := alone[tenant], alone[1-tenant]
	who := phrase.Ordinal(tenant)
	for _, name := range slices.Sorted(maps.Keys(got.Lookup)) {
		if own.Lookup[name] == nil && other.Lookup[name] != nil {
			names := slices.Sorted(maps.Keys(own.Lookup))
			return check.Differs("tables "+phrase.Quote(names), "table "+terms.QuoteName(name),
				"/discovery of the %s tenant, %s, lists a table that only the other has", who, how)
		}
		if own.Lookup[name] == nil || other.Lookup[name] == nil {
			continue
		}
		for _, f := range got.Lookup[name].Fields {
			if own.Lookup[name].Field(f.Name) == nil && other.Lookup[name].Field(f.Name) != nil {
				return check.Differs("no such column", "column "+terms.QuoteName(f.Name),
					"/discovery of the %s tenant, %s, lists a column of table %s that only the other has", who, how, terms.QuoteName(name))
			}
		}
	}
	if text := describe(got.Tables...); text != describe(own.Tables...) && text == describe(other.Tables...) {
		return check.Fail("/discovery of the %s tenant, %s, is the other's", who, how)
	}
	return nil
}

// describe returns discovered tables as a text that can be compared, whatever their order.
func describe(tables ...wire.Table) string {
	sorted := slices.SortedStableFunc(slices.Values(tables), func(a, b wire.Table) int { return cmp.Compare(a.Name, b.Name) })
	text, err := wire.EncodeAnswer(&wire.Discovery{Tables: sorted})
	if err != nil {
		return ""
	}
	return string(text)
}
