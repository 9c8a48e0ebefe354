package tenants

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// inTurns asks for both tenants in turns: the same question in the same wording,
// begun by either tenant, and questions after a /check or /discovery of the other.
func inTurns(run *session.Run) *check.Finding {
	return judgeSubjects(run, func(list []*subject) *check.Finding {
		for _, s := range list {
			if f := s.contradiction(run); f != nil {
				return f
			}
		}
		// Most faults show on the first turns with any table.
		for turn, turns := range [][]int{{0, 1}, {1, 0}, {0, 1, 0, 1}} {
			for i, s := range list {
				if turn+i > 0 && spent(run) {
					return nil
				}
				if f := s.takeTurns(run, turns); f != nil {
					return f
				}
			}
		}
		if f := afterOther(run, list[0]); f != nil {
			return f
		}
		return discoveriesInTurns(run)
	})
}

// takeTurns asks every question in one wording for one tenant after the other.
func (s *subject) takeTurns(run *session.Run, turns []int) *check.Finding {
	for _, path := range questionPaths {
		if s.alone[0][path].text == "" && s.alone[1][path].text == "" {
			continue
		}
		wording := fresh(run)
		for _, tenant := range turns {
			run.Cases++
			how := fmt.Sprintf("asked in turn with the %s", session.Ordinal(1-tenant))
			if f := s.judge(s.ask(run, tenant, path, wording), tenant, path, how); f != nil {
				return f
			}
		}
	}
	return nil
}

// judge compares an answer with those that the tenants got alone.
func (s *subject) judge(got reply, tenant int, path, how string) *check.Finding {
	own, other := s.alone[tenant][path], s.alone[1-tenant][path]
	what := fmt.Sprintf("%s of table %s for the %s tenant, %s", path, wire.QuoteName(s.name), session.Ordinal(tenant), how)
	switch {
	case own.text == "" || got.text == own.text:
		return nil
	case got.fault != nil:
		return got.fault.In("%s, is not answered as it was alone: %s", what).From(got.request)
	case got.text == "":
		return nil
	case got.text == other.text:
		return check.Differs(own.shown, got.shown, "%s, is what the other tenant is answered", what).From(got.request)
	case got.rows == nil || own.rows == nil:
		return nil // a wrong figure, but not the other tenant's: that is for the laws
	}
	if row := onlyIn(other.rows, own.rows, got.rows); row != nil {
		shown := session.ShowRow(got.rows.Columns, row)
		return check.Differs(own.shown, shown, "%s, holds a row of the other tenant", what).From(got.request)
	}
	d := oracle.Verify(oracle.Tables{s.name: own.rows}, &wire.QueryRequest{Table: s.name, Fields: s.fields}, got.rows.Rows)
	if d == nil {
		return nil
	}
	return check.Differs(d.Expected, d.Received, "%s, is not as it was alone: %s", what, d.Detail).From(got.request)
}

// onlyIn returns a row of got that the other tenant has and the tenant has not, or
// nil.
func onlyIn(others, own, got *oracle.Table) []wire.Value {
	if others == nil || own == nil || got == nil {
		return nil
	}
	keys := func(t *oracle.Table) map[string]bool {
		set := map[string]bool{}
		for _, row := range t.Rows {
			set[session.RowKey(row)] = true
		}
		return set
	}
	ownRows, otherRows := keys(own), keys(others)
	for _, row := range got.Rows {
		if key := session.RowKey(row); otherRows[key] && !ownRows[key] {
			return row
		}
	}
	return nil
}

// contradiction returns what shows that an answer is the other tenant's although it
// is always the same, as from a cache whose key is the name of the table: one route
// says of the rows of another what holds of the other tenant's.
func (s *subject) contradiction(run *session.Run) *check.Finding {
	rows := [2]reply{s.alone[0][wire.PathQuery], s.alone[1][wire.PathQuery]}
	for tenant, own := range rows {
		if own.text == unknown && !s.lacked[tenant] && rows[1-tenant].rows != nil {
			return check.Differs("a table that /query knows", own.shown,
				"/discovery of the %s tenant lists table %s, and only the other tenant can read it",
				session.Ordinal(tenant), wire.QuoteName(s.name)).From(own.request)
		}
	}
	if rows[0].rows == nil || rows[1].rows == nil || rows[0].over || rows[1].over || s.only != nil {
		return nil
	}
	for _, path := range questionPaths[1:] {
		run.Cases++
		for tenant, own := range rows {
			got := s.alone[tenant][path]
			if f := s.contradicted(tenant, path, got, own, rows[1-tenant]); f != nil {
				return f.From(got.request)
			}
		}
	}
	for tenant := range rows {
		if f := s.countDiscovered(tenant, rows[tenant], rows[1-tenant]); f != nil {
			return f
		}
	}
	return nil
}

// contradicted judges what a route says about the rows of a tenant.
func (s *subject) contradicted(tenant int, path string, got, own, other reply) *check.Finding {
	want, others := figureOf(path, own.rows, got.text), figureOf(path, other.rows, got.text)
	if got.text == "" || got.text == want || got.text == unknown || strings.HasPrefix(got.text, estimate) {
		return nil
	}
	table, who := wire.QuoteName(s.name), session.Ordinal(tenant)
	switch {
	case own.text != other.text && got.text == others:
		return check.Differs(want, got.text,
			"%s of table %s for the %s tenant is that of the other tenant's rows", path, table, who)
	case own.text == other.text && s.alone[1-tenant][path].text == want:
		return check.Differs(got.text, want,
			"/query of table %s answers the %s tenant with the other's rows: "+
				"%s tells the two apart, and holds of the other alone",
			table, who, path).From(own.request)
	}
	return nil
}

// countDiscovered judges the row counts that the tenants' discoveries state.
func (s *subject) countDiscovered(tenant int, own, other reply) *check.Finding {
	got, others := s.tables[tenant].RowCount, s.tables[1-tenant].RowCount
	want, wantOther := int64(len(own.rows.Rows)), int64(len(other.rows.Rows))
	if got == nil || others == nil || *got == want || *others != wantOther {
		return nil
	}
	switch {
	case *got == wantOther:
		return check.Differs(fmt.Sprint(want), fmt.Sprint(*got),
			"rowCount of table %s in /discovery of the %s tenant is the other's",
			wire.QuoteName(s.name), session.Ordinal(tenant))
	case own.text == other.text:
		return check.Differs(fmt.Sprint(*got), own.shown,
			"/query of table %s answers the %s tenant with the other's rows: discovery tells the two apart",
			wire.QuoteName(s.name), session.Ordinal(tenant)).From(own.request)
	}
	return nil
}

// afterOther asks for one tenant after the other has called /check or /discovery.
func afterOther(run *session.Run, s *subject) *check.Finding {
	for tenant := range 2 {
		for _, r := range []string{wire.PathCheck, wire.PathDiscovery} {
			for _, path := range questionPaths {
				if s.alone[tenant][path].text == "" {
					continue
				}
				if spent(run) {
					return nil
				}
				run.Exchange(session.RouteAt(r).Call(run.Ask(r, &wire.CheckRequest{}, 1-tenant).Body))
				run.Cases++
				how := fmt.Sprintf("asked after %s of the %s", r, session.Ordinal(1-tenant))
				if f := s.judge(s.ask(run, tenant, path, fresh(run)), tenant, path, how); f != nil {
					return f
				}
			}
		}
	}
	return nil
}

// discoveriesInTurns asks for both tenants' discoveries in turns.
func discoveriesInTurns(run *session.Run) *check.Finding {
	var alone [2]*session.Discovery
	for tenant := range alone {
		run.HTTP.CloseIdleConnections()
		var f *check.Finding
		if alone[tenant], f = run.Discover(run.Ctx, tenant); f != nil {
			return f
		}
	}
	for _, turns := range [][]int{{0, 1}, {1, 0}} {
		for _, tenant := range turns {
			got, f := run.Discover(run.Ctx, tenant)
			if f != nil {
				return f
			}
			run.Cases++
			if f := judgeDiscovery(alone, got, tenant); f != nil {
				return f
			}
		}
	}
	return nil
}
