package faulttest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sampler makes requests such as the platform sends, about the rows of a set. They
// tell whether a fault changes an answer at all, and share nothing with the program
// that is measured here.
type sampler struct {
	*rand.Rand
	set  *Set
	asks []wire.Request
}

// sample returns about 200 requests that concern a table, in an order of its own.
func sample(set *Set, table string) []wire.Request {
	s := &sampler{Rand: rand.New(rand.NewPCG(set.Seed, 4711)), set: set}
	s.reads(set.Table(table))
	s.measures(set.Table(table))
	for _, site := range set.Sites {
		if site.Table == table {
			s.filters(site)
		}
		if site.Table == table || site.Target == table {
			s.relations(site)
		}
	}
	s.Shuffle(len(s.asks), func(i, j int) { s.asks[i], s.asks[j] = s.asks[j], s.asks[i] })
	return s.asks
}

var envelope = wire.Envelope{TimeoutMS: 60_000}

// query returns a request for all fields of a table.
func query(t *memsource.Table) *wire.QueryRequest { return wholeOf(known(t)) }

func (s *sampler) ask(m wire.Request) { s.asks = append(s.asks, m) }

// reads asks for the whole table, for pages and for its rows in the order of each field.
func (s *sampler) reads(t *memsource.Table) {
	s.ask(query(t))
	rows := int64(len(t.Rows))
	for _, window := range [][2]int64{{0, 10}, {0, 100}, {10, 10}, {rows / 2, 50}, {rows - 3, 10}, {0, rows}, {rows, 5}} {
		page := query(t)
		page.Offset, page.Limit = window[0], window[1]
		page.Sort = []wire.SortKey{{Field: t.Fields[0].Name, Dir: wire.Asc}}
		s.ask(page)
	}
	for i, f := range t.Fields {
		for _, dir := range []wire.Direction{wire.Asc, wire.Desc} {
			sorted := query(t)
			sorted.Sort = []wire.SortKey{{Field: f.Name, Dir: dir}}
			if s.IntN(2) == 0 {
				second := t.Fields[(i+1)%len(t.Fields)].Name
				sorted.Sort = append(sorted.Sort, wire.SortKey{Field: second, Dir: wire.Asc})
			}
			sorted.Limit = 25 * int64(s.IntN(3))
			sorted.Offset = int64(s.IntN(20))
			s.ask(sorted)
		}
	}
}

// measures asks for all that is measured over a table and its fields.
func (s *sampler) measures(t *memsource.Table) {
	s.ask(&wire.SizeRequest{Table: t.Name, Envelope: envelope})
	s.ask(&wire.CountRequest{Table: t.Name, Envelope: envelope})
	distinct := &wire.CardinalityRequest{Table: t.Name, Envelope: envelope}
	for _, f := range t.Fields {
		distinct.Columns = append(distinct.Columns, f.Name)
		fns := []wire.AggFunc{wire.AggCount, wire.AggCountDistinct, wire.AggMin, wire.AggMax}
		switch f.Type {
		case wire.TypeNumber, wire.TypeDecimal:
			fns = append(fns, wire.AggSum)
		case wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
			fns = fns[:2]
		}
		total := s.fold(t)
		grouped := s.fold(t)
		key := t.Fields[s.IntN(len(t.Fields))].Name
		grouped.GroupBy = []wire.GroupKey{{Field: key, As: "k"}}
		for _, fn := range fns {
			m := wire.Measure{Fn: fn, Field: f.Name, As: string(fn)}
			total.Measures, grouped.Measures = append(total.Measures, m), append(grouped.Measures, m)
		}
		s.ask(total)
		s.ask(grouped)
		groups := s.fold(t)
		groups.GroupBy = []wire.GroupKey{{Field: f.Name, As: "k"}}
		groups.Measures = []wire.Measure{{Fn: wire.AggCount, As: "n"}}
		s.ask(groups)
		if f.Type == wire.TypeDate || f.Type == wire.TypeDatetime {
			for _, grain := range []wire.Grain{wire.GrainDay, wire.GrainMonth, wire.GrainQuarter, wire.GrainYear} {
				periods := *groups
				periods.GroupBy = []wire.GroupKey{{Field: f.Name, As: "k", Grain: grain}}
				s.ask(&periods)
			}
		}
	}
	s.ask(distinct)
}

func (s *sampler) fold(t *memsource.Table) *wire.AggregateRequest {
	req := &wire.AggregateRequest{Table: t.Name, Limit: 1001, Envelope: envelope}
	if s.IntN(3) == 0 {
		site := s.site(t.Name)
		req.And = []wire.Filter{s.filter(site)}
	}
	return req
}

// site returns some column of a table.
func (s *sampler) site(table string) Site {
	var own []Site
	for _, site := range s.set.Sites {
		if site.Table == table {
			own = append(own, site)
		}
	}
	return own[s.IntN(len(own))]
}

// filters asks each operator of a column, alone, in company, sorted and cut.
func (s *sampler) filters(site Site) {
	t := s.set.Table(site.Table)
	for _, op := range filter.Operators() {
		f := s.filterOf(site, op)
		req := query(t)
		req.And = []wire.Filter{f}
		switch s.IntN(5) {
		case 0:
			req.And = append(req.And, s.filter(s.site(t.Name)))
		case 1:
			req.Or = [][]wire.Filter{{s.filter(site)}, {s.filter(s.site(t.Name)), s.filter(site)}}
		case 2:
			req.Sort = []wire.SortKey{{Field: s.site(t.Name).Column, Dir: wire.Desc}}
			req.Limit, req.Offset = int64(1+s.IntN(40)), int64(s.IntN(5))
		case 3:
			req.Limit = int64(1 + s.IntN(60))
		}
		s.ask(req)
		if s.IntN(2) == 0 {
			s.ask(&wire.CountRequest{Table: t.Name, Where: req.Where, Envelope: envelope})
		}
	}
	s.long(site, t)
}

// long asks for what has many parts: long lists, and several filters.
func (s *sampler) long(site Site, t *memsource.Table) {
	for _, members := range []int{12, 60, 1100} {
		req := query(t)
		f := wire.Filter{Field: site.Column, Op: wire.OpIn}
		for range members {
			f.Values = append(f.Values, s.cell(site))
		}
		req.And = []wire.Filter{f}
		s.ask(req)
	}
	many := query(t)
	for range 5 {
		many.And = append(many.And, s.filterOf(s.site(t.Name), []wire.Op{wire.OpNotNull, wire.OpNeq, wire.OpNin}[s.IntN(3)]))
	}
	s.ask(many)
}

func (s *sampler) filter(site Site) wire.Filter {
	ops := filter.Operators()
	return s.filterOf(site, ops[s.IntN(len(ops))])
}

func (s *sampler) filterOf(site Site, op wire.Op) wire.Filter {
	f := wire.Filter{Field: site.Column, Op: op}
	switch terms.ShapeOf(op) {
	case terms.ShapeMember:
		for range 1 + s.IntN(5) {
			f.Values = append(f.Values, s.cell(site))
		}
	case terms.ShapeValue:
		f.Value = s.operand(site, op)
	}
	return f
}

// cell returns the value of some row.
func (s *sampler) cell(site Site) wire.Value {
	t := s.set.Table(site.Table)
	at := slices.IndexFunc(t.Fields, func(f wire.Field) bool { return f.Name == site.Column })
	for range 10 {
		if v := t.Rows[s.IntN(len(t.Rows))][at]; !v.IsNull() {
			return sent(v)
		}
	}
	return wire.Text("x")
}

// sent returns a value as it comes out of JSON.
func sent(v wire.Value) wire.Value {
	switch v.Kind() {
	case wire.KindInt, wire.KindFloat, wire.KindBool, wire.KindNull:
		data, _ := v.MarshalJSON()
		_ = v.UnmarshalJSON(data)
		return v
	}
	return wire.Text(v.String())
}

// operand returns a value for a filter: mostly the cell of a row, else a neighbour of it.
func (s *sampler) operand(site Site, op wire.Op) wire.Value {
	v := s.cell(site)
	text := v.String()
	switch {
	case op == wire.OpContains:
		list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`[]",`, r) })
		if len(list) > 0 {
			return wire.Text(list[s.IntN(len(list))])
		}
	case op == wire.OpStartsWith || op == wire.OpIncludes:
		runes := []rune(text)
		if len(runes) == 0 {
			return v
		}
		from := 0
		if op == wire.OpIncludes {
			from = s.IntN(len(runes))
		}
		return wire.Text(string(runes[from : from+1+s.IntN(min(12, len(runes)-from))]))
	case site.Type == wire.TypeDatetime && s.IntN(3) == 0:
		at, _ := filter.Instant(v)
		shifts := []time.Duration{time.Second, -time.Second, 24 * time.Hour, time.Millisecond}
		return wire.Datetime(at.Add(shifts[s.IntN(len(shifts))]))
	case site.Type == wire.TypeDatetime && s.IntN(3) == 0:
		return wire.Text(text[:10])
	case site.Trait == Label && s.IntN(4) == 0:
		return wire.Text(strings.ToUpper(text))
	case site.Type == wire.TypeDecimal && s.IntN(4) == 0:
		return wire.Text(text + "0")
	case s.IntN(20) == 0:
		return wire.Text("")
	}
	return v
}

// relations asks for joins along a link, and how well it links.
func (s *sampler) relations(site Site) {
	if site.Target == "" {
		return
	}
	t, to := s.set.Table(site.Table), s.set.Table(site.Target)
	s.ask(&wire.LinkHitRateRequest{
		FromTable: t.Name, FromColumn: site.Column, ToTable: to.Name, ToColumn: site.TargetColumn, Envelope: envelope,
	})
	s.ask(&wire.LinkHitRateRequest{
		FromTable: to.Name, FromColumn: site.TargetColumn, ToTable: t.Name, ToColumn: site.Column, Envelope: envelope,
	})
	hop := wire.JoinHop{FromTable: t.Name, ToTable: to.Name, FromField: site.Column, ToField: site.TargetColumn}
	back := wire.JoinHop{FromTable: to.Name, ToTable: t.Name, FromField: site.TargetColumn, ToField: site.Column}
	for i, f := range to.Fields[:min(4, len(to.Fields))] {
		hop.Fields = append(hop.Fields, wire.JoinField{Field: f.Name, As: "j" + string(rune('0'+i)), Type: f.Type})
	}
	for i, f := range t.Fields[:min(4, len(t.Fields))] {
		back.Fields = append(back.Fields, wire.JoinField{Field: f.Name, As: "j" + string(rune('0'+i)), Type: f.Type})
	}
	one, many, cut := query(t), query(to), query(t)
	one.Joins, many.Joins, cut.Joins = []wire.JoinHop{hop}, []wire.JoinHop{back}, []wire.JoinHop{hop}
	cut.And = []wire.Filter{s.filter(s.site(t.Name))}
	cut.Sort = []wire.SortKey{{Field: t.Fields[0].Name, Dir: wire.Desc}}
	cut.Limit = 30
	s.ask(one)
	s.ask(many)
	s.ask(cut)
}
