package conformance

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// result is how one case of the corpus ended; the zero result has passed.
type result struct {
	finding *finding
	// skip is why the case could not be judged, by is the check whose fault that
	// is when it is Blocked.
	skip    Reason
	by, why string
}

func failed(f *finding) result { return result{finding: f} }

func blocked(by, why string) result { return result{skip: Blocked, by: by, why: why} }

func notDeclared(format string, args ...any) result {
	return result{skip: NotDeclared, why: fmt.Sprintf(format, args...)}
}

func declined(format string, args ...any) result {
	return result{skip: NoData, why: fmt.Sprintf(format, args...)}
}

// judgeCases judges the cases of the corpus that belong to the check.
func judgeCases(x *exam) {
	x.corpusServed()
	x.judgeCasesAfter()
}

// judgeCasesAfter is judgeCases for checks that have looked at something else
// before: they have not been in vain when no case can be judged.
func (x *exam) judgeCasesAfter() {
	f := x.corpusServed()
	var first, skipped *result
	failures := 0
	for _, c := range corpusCases()[x.check.ID] {
		r := x.judgeCase(f, &c)
		switch {
		case r.finding != nil:
			failures++
			x.cases++
			if first == nil {
				found := *r.finding
				found.detail = fmt.Sprintf("case %s: %s (%s)", c.Name, found.detail, c.Why)
				first = &result{finding: &found}
			}
		case r.skip == "":
			x.cases++
		case skipped == nil || r.skip == Blocked && skipped.skip != Blocked:
			skipped = &r
		}
	}
	if first != nil {
		first.finding.failed = failures
		x.found(first.finding)
	}
	switch {
	case skipped == nil:
	case skipped.skip == Blocked:
		// Cases that passed do not make up for one that could not be judged.
		x.skip(Blocked, "by %s: %s", skipped.by, skipped.why)
	case x.cases == 0:
		x.skip(skipped.skip, "%s", skipped.why)
	}
}

// judgeCase asks one case and judges the answer. A fault that is another
// check's blocks it.
func (x *exam) judgeCase(f *fixture, c *corpus.Case) result {
	if r := x.unaskable(f, c.Request); r.skip != "" {
		return r
	}
	var r result
	switch req := c.Request.(type) {
	case *wire.QueryRequest:
		r = x.judgeQuery(f, *req)
	case *wire.CountRequest:
		r = x.judgeCount(f, *req)
	case *wire.AggregateRequest:
		r = x.judgeAggregate(f, *req)
	case *wire.SizeRequest:
		r = x.judgeSize(f, *req)
	case *wire.CardinalityRequest:
		r = x.judgeCardinality(f, *req)
	case *wire.LinkHitRateRequest:
		r = x.judgeLink(f, *req)
	}
	if r.finding != nil {
		if by, why := x.blame(f, c.Request); by != "" && by != x.check.ID {
			return blocked(by, why)
		}
	}
	if r.skip == "" {
		table, and, or := filtersOf(c.Request)
		if t := f.truth[table]; t != nil {
			x.cover.filters(t, and, or)
		}
	}
	return r
}

// unaskable says why a case is not sent: the document or discovery does not
// offer what it asks.
func (x *exam) unaskable(f *fixture, m wire.Message) result {
	for _, c := range columnsOf(m) {
		t := f.found.tables[c.table]
		if t == nil {
			return blocked("P2.1a", "discovery has no table "+c.table)
		}
		if c.column != "" && t.Field(c.column) == nil {
			return blocked("P2.1a", fmt.Sprintf("discovery has no field %s in table %s", c.column, c.table))
		}
	}
	caps := x.document().Capabilities
	switch m := m.(type) {
	case *wire.QueryRequest:
		keys := len(m.Sort)
		switch {
		case keys > 0 && caps.Sort == wire.SortNone, keys > 1 && caps.Sort == wire.SortSingle:
			return notDeclared("sort is %s", caps.Sort)
		case m.Offset > 0 && !caps.Offset:
			return notDeclared("offset is false")
		case caps.Limits.OffsetMax > 0 && m.Offset > caps.Limits.OffsetMax:
			return notDeclared("offsetMax is %d", caps.Limits.OffsetMax)
		case caps.Limits.PageSizeMax > 0 && m.Limit > caps.Limits.PageSizeMax:
			return notDeclared("pageSizeMax is %d", caps.Limits.PageSizeMax)
		case len(m.Joins) > 0 && !caps.Join:
			return notDeclared("join is false")
		}
		return result{}
	case *wire.CountRequest:
		return x.pushed(wire.EndpointCount, m)
	case *wire.AggregateRequest:
		for _, g := range m.GroupBy {
			if g.Grain != "" && !caps.DateBucket {
				return notDeclared("dateBucket is false")
			}
		}
		if len(m.Joins) > 0 && !caps.Join {
			return notDeclared("join is false")
		}
		return x.pushed(wire.EndpointAggregate, m)
	case *wire.SizeRequest:
		return x.pushed(wire.EndpointSize, m)
	case *wire.CardinalityRequest:
		return x.pushed(wire.EndpointCardinality, m)
	case *wire.LinkHitRateRequest:
		return x.pushed(wire.EndpointLinkHitRate, m)
	}
	return result{}
}

// pushed makes sure that a route is listed and that every operator is declared:
// an answer of one number cannot leave a filter to the platform.
func (x *exam) pushed(e wire.Endpoint, m wire.Message) result {
	if why := needsRoute(e)(x.document()); why != "" {
		return notDeclared("%s", why)
	}
	_, and, or := filtersOf(m)
	if op := x.undeclared(and, or); op != "" {
		return notDeclared("operators does not list %s", op)
	}
	return result{}
}

// undeclared is an operator of the filters that the document does not declare.
func (x *exam) undeclared(and []wire.Filter, or [][]wire.Filter) wire.Op {
	for _, group := range append([][]wire.Filter{and}, or...) {
		for _, filter := range group {
			if !x.document().operator(filter.Op) {
				return filter.Op
			}
		}
	}
	return ""
}

// refusable says why a refusal with 422, or a 204, is an honest answer.
func (x *exam) refusable(f *fixture, m wire.Message) string {
	table, and, or := filtersOf(m)
	if op := x.undeclared(and, or); op != "" {
		return fmt.Sprintf("operators does not list %s", op)
	}
	no := func(flag *bool) bool { return flag != nil && !*flag }
	for _, group := range append([][]wire.Filter{and}, or...) {
		for _, filter := range group {
			if field := f.found.tables[table].Field(filter.Field); field != nil && no(field.Filterable) {
				return fmt.Sprintf("field %s is declared not filterable", filter.Field)
			}
		}
	}
	if m, ok := m.(*wire.AggregateRequest); ok {
		for _, g := range m.GroupBy {
			if field := f.found.tables[table].Field(g.Field); field != nil && no(field.Groupable) {
				return fmt.Sprintf("field %s is declared not groupable", g.Field)
			}
		}
		for _, measure := range m.Measures {
			if field := f.found.tables[table].Field(measure.Field); field != nil && no(field.Aggregatable) {
				return fmt.Sprintf("field %s is declared not aggregatable", measure.Field)
			}
		}
	}
	return ""
}

// blame finds the check whose fault a wrong answer is, apart from the one being
// judged: the columns that the request names are themselves wrong, in discovery
// or in the rows.
func (x *exam) blame(f *fixture, m wire.Message) (by, why string) {
	for _, c := range columnsOf(m) {
		t := corpusTables()[c.table]
		if i := slices.IndexFunc(t.Fields, func(field wire.Field) bool { return field.Name == c.column }); i >= 0 {
			if declared := f.found.tables[c.table].Field(c.column).Type; !typeFits(t, &t.Fields[i], declared) {
				return "P2.1b", fmt.Sprintf("discovery says that %s.%s is of type %s", c.table, c.column, declared)
			}
		}
		h := x.examine(f, c.table)
		switch {
		case h.unread == Blocked:
			return h.by, h.why
		case h.rows != nil:
			return rowsCheck(c.table), h.rows.detail
		case c.shown:
			continue // the comparison leaves it out
		}
		if d := h.damaged(c.column); d != nil {
			return d.check, d.detail
		}
	}
	return "", ""
}

// named is a column that a request names; shown ones are only answered.
type named struct {
	table, column string
	shown         bool
}

// columnsOf are the columns that a request names, and its tables.
func columnsOf(m wire.Message) (all []named) {
	table, and, or := filtersOf(m)
	all = append(all, named{table: table})
	for _, group := range append([][]wire.Filter{and}, or...) {
		for _, f := range group {
			all = append(all, named{table, f.Field, false})
		}
	}
	hops := func(joins []wire.JoinHop) {
		for _, j := range joins {
			all = append(all, named{j.FromTable, j.FromField, false}, named{j.ToTable, j.ToField, false})
			for _, f := range j.Fields {
				all = append(all, named{j.ToTable, f.Field, true})
			}
		}
	}
	switch m := m.(type) {
	case *wire.QueryRequest:
		for _, s := range m.Sort {
			all = append(all, named{table, s.Field, false})
		}
		for _, f := range m.Fields {
			all = append(all, named{table, f, true})
		}
		hops(m.Joins)
	case *wire.AggregateRequest:
		for _, g := range m.GroupBy {
			all = append(all, named{table, g.Field, false})
		}
		for _, measure := range m.Measures {
			all = append(all, named{table, measure.Field, false})
		}
		hops(m.Joins)
	case *wire.CardinalityRequest:
		for _, c := range m.Columns {
			all = append(all, named{table, c, false})
		}
	case *wire.LinkHitRateRequest:
		all = append(all, named{m.FromTable, m.FromColumn, false}, named{m.ToTable, m.ToColumn, false})
	}
	return all
}

// filtersOf is what a request has of filters, and its table.
func filtersOf(m wire.Message) (table string, and []wire.Filter, or [][]wire.Filter) {
	switch m := m.(type) {
	case *wire.QueryRequest:
		return m.Table, m.And, m.Or
	case *wire.CountRequest:
		return m.Table, m.And, m.Or
	case *wire.AggregateRequest:
		return m.Table, m.And, m.Or
	case *wire.SizeRequest:
		return m.Table, nil, nil
	case *wire.CardinalityRequest:
		return m.Table, nil, nil
	case *wire.LinkHitRateRequest:
		return m.FromTable, nil, nil
	}
	return "", nil, nil
}
