package tenants

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// subject is a table that questions are about: one that both tenants have, which may
// be two tables of one name, or one that the other tenant lacks.
type subject struct {
	name   string
	fields []string // that both tables have
	// tables are the tables of the two tenants. Of a table that a tenant lacks, it is the other's.
	tables [2]*wire.Table
	lacked [2]bool // by the tenant
	// lost is set if the first tenant's whole reads lose rows: what differs from them shows nothing then, and the
	// check is blocked unless it finds rows of the other tenant.
	lost *check.Finding
	// only keeps few rows of a table that has too many to compare. The subject is then these rows.
	only     []wire.Filter
	narrowed bool // such a filter was looked for
	// rows holds what each tenant's reads answered when nothing of the other tenant was asked in between: the subject,
	// and the table that the hop leads to. It is nil if they are not known.
	rows [2]oracle.Tables

	// What the questions are made of.
	filters
	mayLimit bool     // no declared limit forbids a large one
	joins    bool     // the document declares joins
	text     string   // a field that filters may compare as text; empty: none
	sorts    []string // fields by which all readings sort alike, no more than a request may sort by
	numbers  []string // fields to measure
	groups   [kindsOfGroups]*wire.GroupKey
	hop      *wire.JoinHop // along a foreign key that both tenants have
}

func newSubject(run *pairRun, own, other *wire.Table) *subject {
	limits := run.Document.Capabilities.Limits
	s := &subject{
		name: own.Name, tables: [2]*wire.Table{own, other}, joins: run.Document.Capabilities.Join,
		mayLimit: limits.PageSizeMax == 0 && limits.RowsPerTableMax == 0, lost: run.Lost[own.Name],
	}
	for i := range own.Fields {
		if name := own.Fields[i].Name; other.Field(name) != nil {
			s.fields = append(s.fields, name)
		}
	}
	if run.Document.Declares(wire.OpNin) {
		s.text = s.keepingAll()
	}
	return s
}

// keepingAll returns the column whose nin keeps every row, or "": one without nulls if there is any, as a connector that
// drops them breaks another rule.
func (s *subject) keepingAll() (text string) {
	for _, name := range s.fields {
		switch {
		case !s.comparesText(name):
		case !s.tables[0].Field(name).Nullable && !s.tables[1].Field(name).Nullable:
			return name
		case text == "":
			text = name
		}
	}
	return text
}

func (s *subject) comparesText(field string) bool {
	f := s.tables[0].Field(field)
	return f.Type == wire.TypeString && terms.Allowed(f.Filterable)
}

// own returns the subject's rows of a tenant, or nil if they are not known.
func (s *subject) own(tenant int) *oracle.Table { return s.rows[tenant][s.name] }

// differs reports whether it can be told whose the subject's rows are.
func (s *subject) differs() bool {
	a, b := s.own(0), s.own(1)
	return s.lacked[0] && b != nil || s.lacked[1] && a != nil || a != nil && b != nil && !s.alike(a, b)
}

func (s *subject) alike(a, b *oracle.Table) bool {
	return compare.SpelledAlike(compare.Project(a, s.fields), compare.Project(b, s.fields))
}

// How many tables of both tenants are read to find one that differs, and how many of one
// tenant alone the other is asked for.
const (
	maxCandidates = 6
	maxLacked     = 2
)

// readSubjects finds tables to ask about, once, and reads the rows that each tenant gets
// alone: of one that both have and whose rows differ, of one with a foreign key, and of some
// that one lacks. Those come first that tell whose an answer is.
func readSubjects(run *pairRun) *check.Finding {
	if run.subjects != nil {
		return nil
	}
	shared, lacked, f := tables(run)
	if f != nil {
		return f
	}
	// Before there is anything to judge, a check with few requests spends fewer.
	some := 1 + run.Allowance()/12
	var list []*subject
	if len(shared) > 0 {
		list = append(list, shared[0])
	}
	from, to := linked(shared)
	if some > 2 && from != nil {
		list = append(list, from, to)
	}
	if some > 1 || len(shared) == 0 {
		list = append(list, lacked[:min(len(lacked), some)]...)
	}
	if len(list) == 0 {
		return check.Skip(check.NoData, "the tenants have no tables")
	}
	readAlone(run, list...)
	for _, s := range shared[:min(len(shared), maxCandidates, some)] {
		if !slices.ContainsFunc(list, (*subject).differs) && !slices.Contains(list, s) {
			readAlone(run, s)
			list = append(list, s)
		}
	}
	if some > 2 && from != nil {
		from.link(to)
		list = slices.DeleteFunc(list, func(s *subject) bool { return s == to })
	}
	slices.SortStableFunc(list, func(a, b *subject) int { return boolInt(!a.differs()) - boolInt(!b.differs()) })
	for _, s := range list {
		s.choose(run)
	}
	run.subjects = list
	run.others = slices.DeleteFunc(shared, func(s *subject) bool {
		return slices.Contains(list, s) || s.rank() > 4*maxSwept
	})
	return nil
}

// tables returns the tables that both tenants have, the most telling first, and some that one of them lacks.
func tables(run *pairRun) (shared, lacked []*subject, f *check.Finding) {
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
				s := newSubject(run, t, t)
				s.lacked[1-tenant] = true
				lacked = append(lacked, s)
			}
			if other != nil && tenant == 0 {
				if s := newSubject(run, t, other); len(s.fields) > 0 {
					shared = append(shared, s)
				}
			}
		}
	}
	describedAlike := func(s *subject) int { return boolInt(describe(*s.tables[0]) == describe(*s.tables[1])) }
	slices.SortStableFunc(shared, func(a, b *subject) int {
		return cmp.Or(describedAlike(a)-describedAlike(b), cmp.Compare(a.rank(), b.rank()))
	})
	return shared, lacked, nil
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
			rank += 4 * maxSwept
		default:
			rank += min(*t.RowCount, 3*maxSwept)
		}
	}
	return rank
}

// linked returns the largest table that is compared whole and has a foreign key to another
// table of both tenants, with a hop along the key and the other table.
func linked(shared []*subject) (from, to *subject) {
	var along *wire.JoinHop
	for _, s := range shared {
		if s.rank() > 2*most || from != nil && s.rank() < from.rank() {
			continue
		}
		for other, hop := range s.links(shared) {
			if other.rank() <= 2*most {
				from, to, along = s, other, hop
			}
		}
	}
	if from != nil {
		from.hop = along
	}
	return from, to
}

// links returns the other tables that foreign keys of both tenants lead to, if all engines follow them
// alike, each with the hop along its key and with all fields that both tenants have.
func (s *subject) links(among []*subject) iter.Seq2[*subject, *wire.JoinHop] {
	return func(yield func(*subject, *wire.JoinHop) bool) {
		for _, key := range s.tables[0].ForeignKeys {
			i := slices.IndexFunc(among, func(t *subject) bool { return t.name == key.TargetTable && t != s })
			if i < 0 || !slices.Contains(s.tables[1].ForeignKeys, key) {
				continue
			}
			to := among[i]
			if !joinable(s.tables[0].Field(key.Field), to.tables[0].Field(key.TargetField)) {
				continue
			}
			hop := &wire.JoinHop{FromTable: s.name, ToTable: to.name, FromField: key.Field, ToField: key.TargetField}
			for n, name := range to.fields {
				hop.Fields = append(hop.Fields, wire.JoinField{Field: name, As: fmt.Sprintf("hop_%d", n), Type: to.tables[0].Field(name).Type})
			}
			if !yield(to, hop) {
				return
			}
		}
	}
}

// joinable reports whether all engines compare two columns alike.
func joinable(a, b *wire.Field) bool {
	return a != nil && b != nil && (a.Type == b.Type && (a.Type == wire.TypeString || a.Type == wire.TypeReference) ||
		a.Type.Numeric() && b.Type.Numeric())
}

// link adds the rows of the table that the hop leads to.
func (s *subject) link(to *subject) {
	for tenant := range s.rows {
		if s.own(tenant) == nil || to.own(tenant) == nil || s.only != nil || to.only != nil {
			s.hop = nil
			return
		}
	}
	for tenant := range s.rows {
		s.rows[tenant][to.name] = to.own(tenant)
	}
}

// The kinds of groups: a connector may have code of its own for each.
const (
	allRows = iota // no groups
	byNumber
	byText
	byPeriod
	kindsOfGroups
)

// choose chooses what the questions about the subject filter, sort, measure and group by.
func (s *subject) choose(run *pairRun) {
	rows := cmp.Or(s.own(0), s.own(1))
	if rows == nil {
		return
	}
	s.sorts, s.numbers = nil, nil // it may be asked about again
	var keys []string             // rows often stand in their order as it is, whosever they are
	for _, name := range s.fields {
		f := s.tables[0].Field(name)
		if f.Type != s.tables[1].Field(name).Type {
			continue
		}
		simple := f.Type.Numeric() || f.Type == wire.TypeString
		sorts := &s.sorts
		if slices.Contains(s.tables[0].PrimaryKey, name) {
			sorts = &keys
		}
		if simple && len(*sorts) < maxSorts && s.divides(name, math.MaxInt) {
			*sorts = append(*sorts, name)
		}
		if f.Type.Numeric() && terms.Allowed(f.Aggregatable) && len(s.numbers) < maxNumbers {
			s.numbers = append(s.numbers, name)
		}
		kind, key := byNumber, &wire.GroupKey{Field: name, As: "g"}
		switch {
		case terms.IsTime(f.Type) && run.Document.Capabilities.DateBucket:
			kind, key.Grain = byPeriod, wire.GrainYear
		case f.Type == wire.TypeString:
			kind = byText
		case !f.Type.Numeric() && f.Type != wire.TypeBoolean:
			continue
		}
		if s.groups[kind] == nil && terms.Allowed(f.Groupable) && (kind == byPeriod || s.divides(name, maxGroups)) {
			s.groups[kind] = key
		}
	}
	s.sorts = append(s.sorts, keys...)
	s.sorts = s.sorts[:min(len(s.sorts), run.Document.SortKeys(), maxSorts)]
	if run.Document.Declares(wire.OpEq) {
		s.value, _ = s.equalTo(s.fields, rows, nil)
		s.valueOfOne()
		s.key = s.sharedKey()
		s.refers = s.referred()
		s.absent = [2]*wire.Filter{s.keyOfOne(0), s.keyOfOne(1)}
	}
	if run.Document.Declares(wire.OpIn) {
		s.evenly = s.keysOfEach()
	}
	if run.Document.Declares(wire.OpGt) {
		s.beyond = [2]*wire.Filter{s.beyondOther(0), s.beyondOther(1)}
	}
	s.chooseFilters(run.Document.Declares)
}

// divides reports whether a column has several values, and fewer than so many, in the rows of the tenants.
func (s *subject) divides(name string, most int64) bool {
	several := false
	for tenant := range s.rows {
		if rows := s.own(tenant); rows != nil {
			n, err := oracle.Cardinality(rows, name)
			if err != nil || n.Distinct >= most {
				return false
			}
			several = several || n.Distinct > 1
		}
	}
	return several
}

// equalTo returns a filter for a text in the first of the fields that the rows hold and that others, if possible, do not,
// and whether it is such. It returns nil without a text.
func (s *subject) equalTo(fields []string, rows, others *oracle.Table) (f *wire.Filter, apart bool) {
	for _, name := range fields {
		if !s.comparesText(name) {
			continue
		}
		known := valuesOf(others, name)
		for _, row := range rows.Rows {
			v := row[rows.Index(name)]
			if v.IsNull() || len(v.Text()) > maxOperand || f != nil && known[v.String()] {
				continue
			}
			f = &wire.Filter{Field: name, Op: wire.OpEq, Value: v}
			if !known[v.String()] {
				return f, true
			}
		}
	}
	return f, false
}

const (
	maxGroups  = 100
	maxOperand = 100
	maxNumbers = 8
	maxSorts   = 2
)

// readAlone reads the rows of each table, first for the one tenant and then for the other. Each tenant begins with a
// new connection, /check and /discovery, because a connector may hold the tenant that came last with any of them.
func readAlone(run *pairRun, list ...*subject) {
	for tenant := range 2 {
		arrive(run, tenant)
		for i, s := range list {
			if s.rows[tenant] == nil && (i == 0 || run.Allowance() > 0) {
				s.learn(run, tenant)
			}
		}
	}
}

// arrive does what a tenant does who comes to a connector.
func arrive(run *pairRun, tenant int) {
	run.HTTP.CloseIdleConnections()
	run.Exchange(run.Ask(wire.PathCheck, &wire.CheckRequest{}, tenant))
	_, _ = run.discover(tenant) // whose faults other checks report
}

func (s *subject) ask(run *pairRun, tenant int, q *question, w wording) reply {
	m := q.ask(s, w)
	r := send(run, run.Ask(q.path, m, tenant), m, s.tables[tenant].Columns())
	run.Last = r.Request
	return r
}

// learn keeps the rows that a tenant is answered alone. If there are more than can be
// compared, it asks for few, and for the same of the other tenant.
func (s *subject) learn(run *pairRun, tenant int) {
	large := func(t *wire.Table) bool { return t.RowCount != nil && *t.RowCount > most }
	if slices.ContainsFunc(s.tables[:], large) {
		s.narrow(run, tenant)
	}
	r := s.ask(run, tenant, questions[0], fresh(run))
	if r.over && !s.narrowed {
		if s.narrow(run, tenant); s.only != nil {
			for other := range s.rows {
				if s.rows[other] != nil {
					s.learn(run, other)
				}
			}
			r = s.ask(run, tenant, questions[0], fresh(run))
		}
	}
	if s.rows[tenant] = nil; r.rows != nil && !r.over {
		r.rows.Name = s.name
		s.rows[tenant] = oracle.Tables{s.name: r.rows}
	}
}

// narrow chooses a filter that keeps few rows of a table: by a text that the rows of one tenant hold, rather those of
// the first, and if possible not the first rows of the other.
func (s *subject) narrow(run *pairRun, first int) {
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
		if windows[tenant] == nil {
			continue
		}
		f, apart := s.equalTo(s.fields, windows[tenant], windows[1-tenant])
		if f != nil && (apart || s.only == nil) {
			s.only = []wire.Filter{*f}
		}
		if apart {
			return
		}
	}
}

// valuesOf returns the texts of a column, or none if the rows are not known.
func valuesOf(t *oracle.Table, name string) map[string]bool {
	set := map[string]bool{}
	if t != nil {
		for _, row := range t.Rows {
			set[row[t.Index(name)].String()] = true
		}
	}
	return set
}

// windowRows is how many rows are read to choose one.
const windowRows = 50

// window reads the first rows of a tenant's table.
func (s *subject) window(run *pairRun, tenant int) *oracle.Table {
	w := fresh(run)
	req := s.rowsIn(w)
	req.Limit = windowRows + int64(w.n)
	if ceiling := run.Document.Capabilities.Limits.PageSizeMax; ceiling > 0 {
		req.Limit = min(windowRows, ceiling)
	}
	c := run.Ask(wire.PathQuery, req, tenant)
	c.Most = int(req.Limit)
	return send(run, c, req, s.tables[tenant].Columns()).rows
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// alike says that both accounts see the same rows.
const alike = "both accounts see the same rows: give two whose data differ, or the connector serves one tenant's data to all; " +
	"if it is meant, say so (-alike)"

// judgeSubjects judges answers about tables, and reads the tables again if the data may have changed.
func judgeSubjects(run *pairRun, judge func() *check.Finding) *check.Finding {
	if f := readSubjects(run); f != nil {
		return f
	}
	again := func() (string, *check.Finding) {
		before := run.subjects
		run.subjects = nil
		if f := readSubjects(run); f != nil {
			return "", f
		}
		return changed(before, run.subjects), nil
	}
	failed := false
	moved, f := run.RetryIfChanged(func() *check.Finding {
		// What failed is asked again first, while there are requests for it: the parts before it have passed. What is
		// wrong at times may be right now, and is met again only on the way through the whole.
		f := judge()
		if failed && !f.Failure() {
			clear(run.passed)
			f = judge()
		}
		failed = f.Failure()
		return f
	}, again)
	if f == nil && moved != "" {
		return check.Skip(check.DataChanged, "table %s changed while it was judged", moved)
	}
	if i := slices.IndexFunc(run.subjects, func(s *subject) bool { return s.lost != nil }); f == nil && i >= 0 {
		return run.subjects[i].lost
	}
	if f == nil && !slices.ContainsFunc(slices.Concat(run.subjects, run.others), (*subject).differs) {
		run.Alike = true
		return check.Skip(check.NoData, "%s", alike)
	}
	return f
}

// changed returns the name of a table whose rows are not what they were, or "". Rows that come from the other tenant,
// or go back there, are a mix-up and no change of the data, and so is what else changed then.
func changed(before, now []*subject) (name string) {
	for _, s := range now {
		i := slices.IndexFunc(before, func(b *subject) bool { return b.name == s.name })
		if i < 0 {
			return terms.QuoteName(s.name)
		}
		if fmt.Sprint(s.only) != fmt.Sprint(before[i].only) {
			continue // they are other rows
		}
		for tenant := range s.rows {
			was, is := before[i].own(tenant), s.own(tenant)
			switch {
			case was != nil && is != nil && s.alike(was, is) || was == nil && is == nil:
			case was != nil && is != nil && s.mixedUp(before[i], tenant):
				return ""
			default:
				name = terms.QuoteName(s.name)
			}
		}
	}
	return name
}

// mixedUp reports whether all rows that a tenant gained since before are the other
// tenant's, or all that it lost. Two tenants whose tables have most rows in common may read
// the same data, where the one sees first what the other sees later.
func (s *subject) mixedUp(before *subject, tenant int) bool {
	was, is := tally(before.own(tenant), s.fields), tally(s.own(tenant), s.fields)
	otherWas, otherIs := tally(before.own(1-tenant), s.fields), tally(s.own(1-tenant), s.fields)
	if 2*len(without(was, otherWas)) <= len(was) && 2*len(without(is, otherIs)) <= len(is) {
		return false
	}
	gained, lost := without(is, was), without(was, is)
	return len(gained) > 0 && len(without(without(gained, otherWas), otherIs)) == 0 || len(lost) > 0 && len(without(lost, otherIs)) == 0
}

// without returns the rows of the one set that are not in the other.
func without(a, b map[string]int) map[string]int {
	rest := map[string]int{}
	for row, n := range a {
		if b[row] == 0 {
			rest[row] = n
		}
	}
	return rest
}
