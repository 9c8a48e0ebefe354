package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// echoed asks for the first account once more what it was asked before, then for the second, and compares with the second's rows.
// What a connector keeps of the first then shows, be it an answer, the place of a column, its least value or a list of its
// labels. A table that is described with another account's columns cannot be read at all. Those requests come first that differ most
// from what was asked already: in their tables, columns and operators.
func echoed(p *liveRun) *check.Finding {
	for _, t := range p.discovery.Readable() {
		if p.Allowance() == 0 {
			break
		}
		if f := p.Snapshot(t).Broken(); f != nil && f.By == "P3.1c" {
			return check.Fail("the second account's discovery lists what it cannot read: %s", f.Detail)
		}
	}
	var open []echo
	for _, a := range p.AskedFirst() {
		open = append(open, echo{a, traits(a)})
	}
	return p.askAll(func(yield func(question) bool) {
		seen := map[string]int{}
		for len(open) > 0 {
			best, most := 0, -1.0
			for i := range open {
				if gain := open[i].gain(seen); gain > most {
					best, most = i, gain
				}
			}
			e := open[best]
			open = slices.Delete(open, best, best+1)
			q, ok := p.echo(e.Asked)
			if !ok {
				continue
			}
			for trait := range e.traits {
				seen[trait]++
			}
			if p.Allowance() < q.requests || !yield(q) {
				return
			}
		}
	})
}

// ofSecond returns a judge that judges while the second account is asked.
func ofSecond(judge func(*session.Run) *check.Finding) func(*session.Run) *check.Finding {
	return func(run *session.Run) *check.Finding {
		switch {
		case len(run.Tenants) < 2:
			return check.Skip(check.NotAsked, "there is one set of credentials; give -credentials twice")
		case run.Alike:
			return check.Skip(check.NotAsked, "nothing tells the two accounts apart")
		case !run.Turned():
			return check.Skip(check.NotReached, "the second account's rows were not judged")
		}
		return judge(run)
	}
}

// echo is a request that the first account was asked, and what sets it apart from others.
type echo struct {
	session.Asked
	traits map[string]bool
}

// gain returns how much of a request was not asked of the second account yet. It is divided by the root of the number of its traits:
// one about many columns shows what was kept of each of them, and yet does not come before all that are about few.
func (e *echo) gain(seen map[string]int) (gain float64) {
	worth := [...]float64{10, 5, 2} // whole numbers, whose sum is the same in any order
	for trait := range e.traits {
		if n := seen[trait]; n < len(worth) {
			gain += worth[n]
		}
	}
	return gain / math.Sqrt(float64(max(len(e.traits), 1)))
}

// echo returns the question about a request of the first account, or false if the second's rows do not tell: a table or a column
// is not among them, or the answer is the first's.
func (p *liveRun) echo(a session.Asked) (q question, ok bool) {
	var tables []*wire.Table
	first, second := oracle.Tables{}, oracle.Tables{}
	for _, name := range tablesOf(a.Request) {
		t := p.discovery.Lookup[name]
		if t == nil {
			return q, false
		}
		rows := p.Snapshot(t).Table
		if rows == nil || p.OfFirst(name) == nil {
			return q, false
		}
		tables = append(tables, t)
		first[name], second[name] = p.OfFirst(name), rows
	}
	if len(tables) == 0 || !tells(a.Request, first, second) {
		return q, false
	}
	what := fmt.Sprintf("of %s, asked right after the same of the other account", ofTable(tables[0]))
	refusals := []int{http.StatusNoContent, http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity}
	parts := []question{{tables: tables, requests: 1, judge: func(known) *check.Finding {
		p.requests++
		p.Exchange(p.Ask(a.Path, a.Request, 1))
		return nil
	}}}
	whole := func(m *wire.QueryRequest) bool { return m.Limit+m.Offset == 0 && len(m.Joins) == 0 }
	if m, ok := a.Request.(*wire.QueryRequest); ok && whole(m) && p.Document.Offers(wire.PathCount) {
		count := &wire.CountRequest{Table: m.Table, Where: m.Where} // how many rows there were may be kept
		parts = append(parts, p.unlike(first, p.asking(wire.PathCount, count, wire.PathCount+" "+what, tables, refusals...)))
	}
	return series(append(parts, p.unlike(first, p.asking(a.Path, a.Request, a.Path+" "+what, tables, refusals...)))...), true
}

// unlike returns the question that is asked once more where it is answered wrongly, and says whether other rows give the answer. Where
// they give none that can be compared, nothing is sent, and nothing said.
func (p *liveRun) unlike(other oracle.Tables, q question) question {
	judge := q.judge
	q.judge = func(rows known) *check.Finding {
		f := judge(rows)
		if sent := p.requests; f.Failure() && judge(known{other, true}) == nil && p.requests > sent {
			return f.In("what the other account is answered, %s")
		}
		return f
	}
	return q
}

// tablesOf returns the names of the tables that a request is about, first the one whose rows are answered.
func tablesOf(m wire.Request) (names []string) {
	add := func(name string, joins []wire.JoinHop) {
		names = append(names, name)
		for _, h := range joins {
			for _, name := range []string{h.FromTable, h.ToTable} {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	switch m := m.(type) {
	case *wire.QueryRequest:
		add(m.Table, m.Joins)
	case *wire.AggregateRequest:
		add(m.Table, m.Joins)
	case *wire.CountRequest:
		add(m.Table, nil)
	case *wire.SizeRequest:
		add(m.Table, nil)
	case *wire.CardinalityRequest:
		add(m.Table, nil)
	case *wire.LinkHitRateRequest:
		add(m.FromTable, []wire.JoinHop{{FromTable: m.FromTable, ToTable: m.ToTable}})
	}
	return names
}

// tells reports whether the second account's rows give an answer that the first's would not be.
func tells(m wire.Request, first, second oracle.Tables) bool {
	if q, ok := m.(*wire.QueryRequest); ok {
		one, err := oracle.Query(first, q)
		other, err2 := oracle.Query(second, q)
		return err == nil && err2 == nil && (len(one.Rows) != len(other.Rows) || compare.Leniently.Rows(second, q, one.Rows) != nil)
	}
	one, err := figures(m, first)
	if _, err2 := figures(m, second); err != nil || err2 != nil {
		return false
	}
	_, d := compare.Leniently.Answer(second, m, one)
	return d != nil
}

// figures returns the right answer of a route that counts or measures.
func figures(m wire.Request, tables oracle.Tables) (wire.Answer, error) {
	switch m := m.(type) {
	case *wire.CountRequest:
		n, err := oracle.Count(tables, m)
		return &wire.CountAnswer{Count: n}, err
	case *wire.SizeRequest:
		return &wire.SizeAnswer{Size: &wire.Size{Rows: int64(len(tables[m.Table].Rows)), Exact: true}}, nil
	case *wire.AggregateRequest:
		groups, err := oracle.Aggregate(tables, m)
		if err != nil {
			return nil, err
		}
		a := &wire.AggregateAnswer{}
		for _, row := range groups.Rows {
			group := map[string]wire.Value{}
			for i, c := range groups.Columns {
				group[c.Name] = row[i]
			}
			a.Rows = append(a.Rows, group)
		}
		return a, nil
	case *wire.CardinalityRequest:
		a := &wire.CardinalityAnswer{Columns: map[string]*wire.Cardinality{}}
		for _, name := range m.Columns {
			n, err := oracle.Cardinality(tables[m.Table], name)
			if err != nil {
				return nil, err
			}
			a.Columns[name] = &n
		}
		return a, nil
	case *wire.LinkHitRateRequest:
		return oracle.LinkHitRate(tables, m)
	}
	return nil, fmt.Errorf("a %T has no figures", m)
}

// traits returns what a request has: each word in its place and beside the other words of its object, how long each list is, and
// which tables and columns it names. Operands are left out.
func traits(a session.Asked) map[string]bool {
	all := map[string]bool{}
	body, err := wire.EncodeRequest(a.Request)
	if err != nil {
		return all
	}
	var tree map[string]any
	if json.Unmarshal(body, &tree) != nil {
		return all
	}
	table := strings.Join(tablesOf(a.Request), " ")
	var walk func(place string, v any)
	walk = func(place string, v any) {
		switch v := v.(type) {
		case map[string]any:
			var words []string
			for _, name := range slices.Sorted(maps.Keys(v)) {
				switch name {
				case "credentials", "timeoutMs", "idleTimeoutMs", "maxTimeoutMs", "value", "values", "as", "fieldTypes", "stringFields":
					continue
				}
				if word, ok := v[name].(string); ok {
					words = append(words, word)
				}
				walk(place+"."+name, v[name])
			}
			all[place+": "+table+" "+strings.Join(words, " ")] = true
		case []any:
			all[fmt.Sprintf("%s[%d]", place, min(len(v), 3))] = true
			for _, element := range v {
				walk(place, element)
			}
		case string:
			all[place+"="+v] = true
		default:
			all[place] = true
		}
	}
	walk(a.Path, tree)
	return all
}
