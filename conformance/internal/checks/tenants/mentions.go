package tenants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// mentionsOther looks for what is the other tenant's in what a tenant is told: in
// refusals, in warnings, and among the samples of discovery.
func mentionsOther(run *pairRun) *check.Finding {
	both, f := discoveries(run)
	if f != nil {
		return f
	}
	for tenant, d := range both {
		run.keepTold(tenant, d)
	}
	// The table of which discovery tells most comes first: refusals may use up what the check may ask.
	tables := run.tablesToldOf(both)
	first := min(1, len(tables))
	if f := samplesOfOther(run, both, tables[:first]); f != nil {
		return f
	}
	for tenant := range both {
		for i, ask := range []func(*pairRun, [2]*session.Discovery, int) *check.Finding{refusalsMention, refusalsSuggest} {
			if f := run.once(i, tenant, func() *check.Finding { return ask(run, both, tenant) }); f != nil {
				return f
			}
		}
		run.Cases++
		warnings := strings.Join(both[tenant].Warnings, "\n")
		if names := namesOfOther(both, tenant, warnings); names != "" {
			return check.Differs("", warnings, "a warning of /discovery tells the %s tenant of %s, which only the other has",
				phrase.Ordinal(tenant), names)
		}
	}
	if f := samplesOfOther(run, both, tables[first:]); f != nil {
		return f
	}
	return run.Judged("nothing that could tell of the other tenant")
}

// refusalsMention asks for a table and for a field that do not exist.
func refusalsMention(run *pairRun, both [2]*session.Discovery, tenant int) *check.Finding {
	nobodys := &wire.Table{
		Name: payload.UnusedTable, Fields: []wire.Field{{Name: payload.UnusedField, Type: wire.TypeString}},
	}
	tables := []*wire.Table{nobodys}
	if own := both[tenant].Readable(); len(own) > 0 {
		tables = append(tables, &wire.Table{Name: own[0].Name, Fields: nobodys.Fields})
	}
	for i, t := range tables {
		if i > 0 && run.Spent(1) {
			return nil
		}
		for _, q := range plain {
			if !run.Document.Offers(q.path) {
				continue
			}
			run.Cases++
			a := answerTo(run, tenant, q.path, oneField(run, t, q))
			if a.Err != nil || a.Status < 400 {
				continue
			}
			if names := namesOfOther(both, tenant, string(a.Body)); names != "" {
				return check.Differs("", a.Describe(),
					"a refusal of %s tells the %s tenant of %s, which only the other has",
					q.path, phrase.Ordinal(tenant), names).From(a.Request)
			}
		}
	}
	return nil
}

// refusalsSuggest asks for the misspelt names of a table and of a column that only the other tenant has: what proposes a
// name may know those of all tenants.
func refusalsSuggest(run *pairRun, both [2]*session.Discovery, tenant int) *check.Finding {
	var list []naming
	table, column := ofOther(both, tenant)
	if table != nil {
		for _, path := range []string{wire.PathQuery, wire.PathCount} {
			list = append(list, naming{path: path, name: table.Name,
				about: func(name string) wire.Request { return oneField(run, renamed(table, name), firstOf(path)) }})
		}
	}
	if column.field != "" {
		list = append(list, naming{path: wire.PathQuery, name: column.field, about: func(name string) wire.Request {
			return &wire.QueryRequest{Table: column.table, Fields: []string{name}, Envelope: fresh(run).envelope()}
		}}, naming{path: wire.PathCount, name: column.field, about: func(name string) wire.Request {
			is := wire.Filter{Field: name, Op: wire.OpEq, Value: wire.Text("")}
			return &wire.CountRequest{Table: column.table, Where: filtered(&is), Envelope: fresh(run).envelope()}
		}})
	}
	for _, q := range list {
		if !run.Document.Offers(q.path) || run.Spent(1) {
			continue
		}
		told := func(name string) (a *session.Answer, mentioned bool) {
			a = answerTo(run, tenant, q.path, q.about(name))
			return a, a.Refusal() != nil && slices.Contains(phrase.Words(a.Refusal().Message, "_-$"), q.name)
		}
		run.Cases++
		asked := misspelt(q.name)
		a, mentioned := told(asked)
		if !mentioned {
			continue
		}
		if _, always := told(payload.UnusedTable); !always { // a word that stands in each message tells nothing
			return check.Differs("", a.Describe(), "a refusal of %s for %s tells the %s tenant of %s, which only the other has",
				q.path, terms.QuoteName(asked), phrase.Ordinal(tenant), terms.QuoteName(q.name)).From(a.Request)
		}
	}
	return nil
}

// ofOther returns a table and a column of the other tenant. Nothing of this tenant has their names, or their misspelt ones.
func ofOther(both [2]*session.Discovery, tenant int) (table *wire.Table, field column) {
	known := map[string]bool{}
	for _, t := range both[tenant].Tables {
		known[t.Name] = true
		for _, f := range t.Fields {
			known[f.Name] = true
		}
	}
	free := func(name string) bool { return !known[name] && !known[misspelt(name)] }
	for _, t := range both[1-tenant].Readable() {
		if both[tenant].Lookup[t.Name] == nil {
			if table == nil && len(t.Fields) > 0 && free(t.Name) {
				table = t
			}
			continue
		}
		for _, f := range t.Fields {
			if field.field == "" && free(f.Name) {
				field = column{t.Name, f.Name}
			}
		}
	}
	return table, field
}

// misspelt returns a name without the letter in its middle, or a short one with a further letter.
func misspelt(name string) string {
	letters := []rune(name)
	if len(letters) < 4 {
		return name + "x"
	}
	return string(slices.Delete(letters, len(letters)/2, len(letters)/2+1))
}

// namesOfOther returns the names of tables that only the other tenant has and that
// a text holds as whole words. A single ordinary word may occur by chance.
func namesOfOther(both [2]*session.Discovery, tenant int, text string) string {
	var names []string
	for _, t := range both[1-tenant].Tables {
		if both[tenant].Lookup[t.Name] == nil {
			names = append(names, t.Name)
		}
	}
	return phrase.Mentioned(text, "_-$", names)
}

// tablesToldOf returns the tables of both tenants of whose values discovery tells, those first of which it
// has told both tenants the same: what was kept for one is told to the other.
func (run *pairRun) tablesToldOf(both [2]*session.Discovery) []*wire.Table {
	all, shared := map[string]int{}, map[string]int{}
	for at, values := range run.told[0] {
		others := run.told[1][at]
		all[at.table] += len(values) + len(others)
		for _, v := range values {
			if slices.Contains(others, v) {
				shared[at.table]++
			}
		}
	}
	tables := slices.DeleteFunc(both[0].Readable(), func(t *wire.Table) bool {
		return both[1].Lookup[t.Name] == nil || all[t.Name] == 0
	})
	slices.SortStableFunc(tables, func(a, b *wire.Table) int {
		return cmp.Or(cmp.Compare(shared[b.Name], shared[a.Name]), cmp.Compare(all[b.Name], all[a.Name]))
	})
	return tables[:min(len(tables), maxCandidates)]
}

// samplesOfOther looks for samples, minima and maxima of tables that only rows of the other tenant hold.
func samplesOfOther(run *pairRun, both [2]*session.Discovery, tables []*wire.Table) *check.Finding {
	for _, t := range tables {
		s := newSubject(run, t, both[1].Lookup[t.Name])
		if len(s.fields) == 0 || run.Spent(1) {
			continue
		}
		moved, f := run.RetryIfChanged(func() *check.Finding {
			s.rows = [2]oracle.Tables{}
			readAlone(run, s)
			return s.judgeSamples(run)
		}, func() (string, *check.Finding) { return "", nil })
		if f != nil || moved != "" {
			return f
		}
	}
	return nil
}

// judgeSamples judges what discovery tells of the values of a table.
func (s *subject) judgeSamples(run *pairRun) *check.Finding {
	if s.own(0) == nil || s.own(1) == nil || s.only != nil {
		return nil
	}
	for tenant := range s.tables {
		for _, name := range s.fields {
			run.Cases++
			own, other := valuesOf(s.own(tenant), name), valuesOf(s.own(1-tenant), name)
			for _, v := range run.told[tenant][column{s.name, name}] {
				if text := v.String(); !v.IsNull() && !own[text] && other[text] {
					return check.Differs("values of the tenant's own rows", fmt.Sprintf("%q", text),
						"/discovery of the %s tenant tells of field %s of table %s what only the other tenant's rows hold",
						phrase.Ordinal(tenant), terms.QuoteName(name), terms.QuoteName(s.name))
				}
			}
		}
	}
	return nil
}

// describesOther looks for names of tables that only the other tenant has in what discovery says of a tenant's tables.
// A vendor's fixed description of a table may honestly name one that this tenant may not see.
func describesOther(run *pairRun) *check.Finding {
	both, f := discoveries(run)
	if f != nil {
		return f
	}
	for tenant, d := range both {
		for i := range d.Tables {
			t := &d.Tables[i]
			texts := []string{t.SourceDescription}
			for _, f := range t.Fields {
				texts = append(texts, f.SourceDescription)
			}
			for _, k := range t.ForeignKeys {
				run.Cases++
				if d.Lookup[k.TargetTable] == nil && both[1-tenant].Lookup[k.TargetTable] != nil {
					return check.Fail("a foreign key of table %s leads the %s tenant to table %s, which only the other has",
						terms.QuoteName(t.Name), phrase.Ordinal(tenant), terms.QuoteName(k.TargetTable))
				}
			}
			run.Cases++
			if names := namesOfOther(both, tenant, strings.Join(texts, "\n")); names != "" {
				return check.Fail("a description of table %s tells the %s tenant of %s, which only the other has",
					terms.QuoteName(t.Name), phrase.Ordinal(tenant), names)
			}
		}
	}
	return nil
}
