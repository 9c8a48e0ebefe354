package tenants

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// subject is a table that questions are about: one that both tenants have, which may
// be two tables of one name, or one that the other tenant lacks.
type subject struct {
	name   string
	fields []string // that both tables have
	// tables are the tables of the two tenants. Of a table that a tenant lacks, it is
	// the other's.
	tables [2]*wire.Table
	lacked [2]bool // by the tenant
	// only keeps few rows of a table that has too many to compare.
	only     []wire.Filter
	narrowed bool // such a filter was looked for
	// alone holds each tenant's answers, by path, as they were when nothing of the
	// other tenant was asked in between.
	alone [2]map[string]reply
}

func newSubject(own, other *wire.Table) *subject {
	s := &subject{name: own.Name, tables: [2]*wire.Table{own, other}, alone: [2]map[string]reply{{}, {}}}
	for i := range own.Fields {
		if name := own.Fields[i].Name; other.Field(name) != nil {
			s.fields = append(s.fields, name)
		}
	}
	return s
}

// differs reports whether the two tenants get different answers on a route, so that
// it can be told whose an answer is.
func (s *subject) differs(path string) bool {
	return s.alone[0][path].text != "" && s.alone[1][path].text != "" && s.alone[0][path].text != s.alone[1][path].text
}

// How many tables that both tenants have are read to find some that differ, how many
// of them are then asked about, and how many that one tenant lacks.
const (
	maxCandidates = 6
	maxShared     = 2
	maxLacked     = 2
)

// found is the tables to ask about. The checks share them, and what was learned about
// them.
type found struct{ list []*subject }

// subjects returns tables to ask about, with the answers that each tenant gets alone:
// first those that both have and whose rows differ.
func subjects(run *session.Run) ([]*subject, *check.Finding) {
	kept := session.Keep(run.Session, func() *found { return &found{} })
	if kept.list != nil {
		return kept.list, nil
	}
	shared, lacked, f := tables(run)
	if f != nil {
		return nil, f
	}
	// Before there is anything to judge, a check with few requests spends fewer.
	some := 1 + run.Allowance()/12
	shared, lacked = shared[:min(len(shared), maxCandidates, some)], lacked[:min(len(lacked), some)]
	if some == 1 && len(shared) > 0 {
		lacked = nil
	}
	if len(shared) > 1 {
		askAlone(run, shared, wire.PathQuery)
		slices.SortStableFunc(shared, func(a, b *subject) int {
			return boolInt(!a.differs(wire.PathQuery)) - boolInt(!b.differs(wire.PathQuery))
		})
	}
	list := slices.Concat(shared[:min(len(shared), maxShared)], lacked)
	if len(list) == 0 {
		return nil, check.Skip(check.NoData, "the tenants have no tables")
	}
	askAlone(run, list, questionPaths...)
	kept.list = list
	return list, nil
}

// tables returns the tables that both tenants have, the most telling first, and some
// that one of them lacks.
func tables(run *session.Run) (shared, lacked []*subject, f *check.Finding) {
	both, f := discoveries(run)
	if f != nil {
		return nil, nil, f
	}
	for tenant, d := range both {
		owned := 0
		for _, t := range d.Readable() {
			other := both[1-tenant].Lookup[t.Name]
			if other == nil && owned < maxLacked/2 && len(t.Fields) > 0 {
				owned++
				s := newSubject(t, t)
				s.lacked[1-tenant] = true
				lacked = append(lacked, s)
			}
			if other != nil && tenant == 0 {
				if s := newSubject(t, other); len(s.fields) > 0 {
					shared = append(shared, s)
				}
			}
		}
	}
	slices.SortStableFunc(shared, func(a, b *subject) int {
		return cmp.Or(boolInt(a.describedAlike())-boolInt(b.describedAlike()), cmp.Compare(a.rank(), b.rank()))
	})
	return shared, lacked, nil
}

// describedAlike reports whether discovery says the same of the table for both tenants.
func (s *subject) describedAlike() bool {
	return describe(s.tables[0]) == describe(s.tables[1])
}

// rank orders tables: those of which a tenant has more rows than are compared come
// after the others, and empty ones last.
func (s *subject) rank() int64 {
	rank := int64(0)
	for _, t := range s.tables {
		switch {
		case t.RowCount == nil:
			rank += most / 2
		case *t.RowCount == 0:
			rank += 4 * most
		default:
			rank += min(*t.RowCount, 3*most)
		}
	}
	return rank
}

// askAlone asks questions about each table, first for the one tenant and then for the
// other, unless they were asked. Each tenant begins with a new connection, /check and
// /discovery, because a connector may hold the tenant that came last with any of them.
func askAlone(run *session.Run, list []*subject, paths ...string) {
	for tenant := range 2 {
		arrive(run, tenant)
		for i, s := range list {
			for _, path := range paths {
				if _, asked := s.alone[tenant][path]; !asked && mounted(run, path) && (i == 0 || run.Allowance() > 0) {
					s.learn(run, tenant, path)
				}
			}
		}
	}
}

// arrive does what a tenant does who comes to a connector.
func arrive(run *session.Run, tenant int) {
	run.HTTP.CloseIdleConnections()
	run.Exchange(run.Ask(wire.PathCheck, &wire.CheckRequest{}, tenant))
	run.Exchange(run.Ask(wire.PathDiscovery, &wire.DiscoveryRequest{}, tenant))
}

func (s *subject) view(tenant int) view {
	return view{table: s.tables[tenant], fields: s.fields, only: s.only}
}

func (s *subject) ask(run *session.Run, tenant int, path string, wording int) reply {
	r := ask(run.Ctx, run, tenant, path, s.view(tenant), wording)
	run.Last = r.request
	return r
}

// learn keeps what a tenant is answered alone. If there are more rows than can be
// compared, it asks for few.
func (s *subject) learn(run *session.Run, tenant int, path string) {
	large := func(t *wire.Table) bool { return t.RowCount != nil && *t.RowCount > most }
	if path == wire.PathQuery && slices.ContainsFunc(s.tables[:], large) {
		s.narrow(run, tenant)
	}
	s.alone[tenant][path] = s.ask(run, tenant, path, fresh(run))
	if !s.alone[tenant][path].over {
		return
	}
	if s.narrow(run, tenant); s.only == nil {
		return
	}
	for t := range s.alone { // also what is about all rows
		if _, asked := s.alone[t][path]; asked {
			s.alone[t][path] = s.ask(run, t, path, fresh(run))
		}
	}
}

// narrow chooses a filter that keeps few rows of a table: by a text that the rows of
// one tenant hold, rather those of the first, and if possible not the first rows of the
// other.
func (s *subject) narrow(run *session.Run, first int) {
	if s.narrowed || !run.Document.Declares(wire.OpEq) {
		return
	}
	s.narrowed = true
	var windows [2]*oracle.Table
	for tenant := range run.Tenants {
		if !s.lacked[tenant] {
			windows[tenant] = s.window(run, tenant)
		}
	}
	for _, tenant := range []int{first, 1 - first} {
		window := windows[tenant]
		for i, name := range s.fields {
			if window == nil || !s.view(tenant).comparesText(name) {
				continue
			}
			others := map[string]bool{}
			if other := windows[1-tenant]; other != nil {
				others = valuesOf(other, i)
			}
			for _, row := range window.Rows {
				v := row[i]
				if v.IsNull() || len(v.Text()) > 100 || s.only != nil && others[v.String()] {
					continue
				}
				s.only = []wire.Filter{{Field: name, Op: wire.OpEq, Value: v}}
				if !others[v.String()] {
					return
				}
			}
		}
	}
}

// windowRows is how many rows are read to choose one.
const windowRows = 50

// window reads the first rows of a tenant's table.
func (s *subject) window(run *session.Run, tenant int) *oracle.Table {
	wording := fresh(run)
	req := question(run, wire.PathQuery, s.view(tenant), wording).(*wire.QueryRequest)
	req.Limit = windowRows + int64(wording)
	if ceiling := run.Document.Capabilities.Limits.PageSizeMax; ceiling > 0 {
		req.Limit = min(windowRows, ceiling)
	}
	st := run.Stream(run.Ask(wire.PathQuery, req, tenant), req.Fields, int(req.Limit))
	return readRows(st, s.view(tenant), req.Fields).rows
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// judgeSubjects judges answers about tables, and asks each tenant alone
// once more if the data may have changed.
func judgeSubjects(run *session.Run, judge func([]*subject) *check.Finding) *check.Finding {
	list, f := subjects(run)
	if f != nil {
		return f
	}
	again := func() (string, *check.Finding) {
		before := list
		session.Keep(run.Session, func() *found { return &found{} }).list = nil
		if list, f = subjects(run); f != nil {
			return "", f
		}
		for _, s := range list {
			i := slices.IndexFunc(before, func(b *subject) bool { return b.name == s.name })
			if i < 0 || s.changedFrom(before[i]) {
				return wire.QuoteName(s.name), nil
			}
		}
		return "", nil
	}
	moved, f := run.Unmoved(func() *check.Finding { return judge(list) }, again)
	if f == nil && moved != "" {
		return check.Skip(check.DataChanged, "table %s changed while it was judged", moved)
	}
	differs := func(s *subject) bool { return slices.ContainsFunc(questionPaths, s.differs) }
	if f == nil && !slices.ContainsFunc(list, differs) {
		return check.Skip(check.NoData, "the two tenants' data are alike: nothing tells whose an answer is")
	}
	return f
}

// changedFrom reports whether a tenant's answers are not what they were.
func (s *subject) changedFrom(before *subject) bool {
	if fmt.Sprint(s.only) != fmt.Sprint(before.only) {
		return false // they are about other rows
	}
	for tenant := range 2 {
		for path, r := range s.alone[tenant] {
			if r.text != before.alone[tenant][path].text {
				return true
			}
		}
	}
	return false
}
