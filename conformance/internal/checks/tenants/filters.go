package tenants

import (
	"encoding/json"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// filters are what the matrix filters by. A connector may keep what one kind of filter takes to prepare: the values of a
// list, the elements of a column, the statement of a group.
type filters struct {
	value   *wire.Filter // eq, which keeps some rows
	alone   *wire.Filter // eq, with a value that one tenant alone has
	owner   int          // who has it
	among   int          // how many values the owner has in the column
	key     *wire.Filter // eq, with the key of a row that is another for each tenant
	list    *wire.Filter // in, with several values
	element *wire.Filter // contains, in a column of arrays
}

// listed is how many values a list has.
const listed = 4

// chooseFilters chooses filters of which the tenants' rows satisfy different numbers, if there are any.
func (s *subject) chooseFilters(declares func(...wire.Op) bool) {
	for tenant := range s.rows {
		for _, name := range s.fields {
			f := s.tables[0].Field(name)
			values := s.someValues(tenant, name)
			if !terms.Allowed(f.Filterable) || f.Type != s.tables[1].Field(name).Type || len(values) == 0 {
				continue
			}
			switch {
			case f.Type == wire.TypeArray && declares(wire.OpContains):
				for _, v := range values {
					var elements []string
					if json.Unmarshal([]byte(v.String()), &elements) == nil && len(elements) > 0 {
						s.prefer(&s.element, wire.Filter{Field: name, Op: wire.OpContains, Value: wire.Text(elements[0])})
					}
				}
			case (f.Type == wire.TypeString || f.Type == wire.TypeReference) && declares(wire.OpIn) && len(values) == listed:
				s.prefer(&s.list, wire.Filter{Field: name, Op: wire.OpIn, Values: values})
			}
		}
	}
}

// valueOfOne chooses a filter for a text that one tenant alone has, rather the second, in the column with the fewest: what
// values a column has may have been kept when the first tenant came.
func (s *subject) valueOfOne() {
	s.alone = nil
	for _, tenant := range []int{1, 0} {
		own, other := s.own(tenant), s.own(1-tenant)
		if own == nil || other == nil {
			return
		}
		values := map[string]int{}
		for _, name := range s.fields {
			if s.comparesText(name) {
				values[name] = len(valuesOf(own, name))
			}
		}
		fields := slices.SortedStableFunc(slices.Values(s.fields), func(a, b string) int { return values[a] - values[b] })
		if f, apart := s.equalTo(fields, own, other); apart {
			s.alone, s.owner, s.among = f, tenant, values[f.Field]
			return
		}
	}
}

// sharedKey returns a filter for the key of a row that is another for each tenant: a row may be kept by its table and key.
func (s *subject) sharedKey() *wire.Filter {
	key := s.tables[0].PrimaryKey
	if len(key) != 1 || !slices.Equal(key, s.tables[1].PrimaryKey) || s.own(0) == nil || s.own(1) == nil {
		return nil
	}
	at := slices.Index(s.fields, key[0])
	if at < 0 || !terms.Allowed(s.tables[0].Field(key[0]).Filterable) {
		return nil
	}
	others := map[string][]wire.Value{}
	for _, row := range compare.Project(s.own(1), s.fields) {
		others[row[at].String()] = row
	}
	for _, row := range compare.Project(s.own(0), s.fields) {
		text := row[at].String()
		if other := others[text]; other != nil && len(text) <= maxOperand &&
			!compare.SpelledAlike([][]wire.Value{row}, [][]wire.Value{other}) {
			return &wire.Filter{Field: key[0], Op: wire.OpEq, Value: row[at]}
		}
	}
	return nil
}

// alikeGroups returns two groups of or that begin with the same filter, or none without a list.
func (c *filters) alikeGroups() (groups [][]wire.Filter) {
	if c.list == nil {
		return nil
	}
	for _, v := range c.list.Values[:2] {
		groups = append(groups, []wire.Filter{*c.list, {Field: c.list.Field, Op: wire.OpIn, Values: []wire.Value{v}}})
	}
	return groups
}

// prefer keeps the first filter, or instead the first that tells the tenants apart.
func (s *subject) prefer(kept **wire.Filter, f wire.Filter) {
	if *kept == nil || !s.tellsApart(**kept) && s.tellsApart(f) {
		*kept = &f
	}
}

// tellsApart reports whether different numbers of the tenants' rows satisfy a filter.
func (s *subject) tellsApart(f wire.Filter) bool {
	var counts [2]int64
	for tenant := range counts {
		if s.own(tenant) == nil {
			return true
		}
		n, err := oracle.Count(s.rows[tenant], &wire.CountRequest{Table: s.name, Where: wire.Where{And: []wire.Filter{f}}})
		if err != nil {
			return false
		}
		counts[tenant] = n
	}
	return counts[0] != counts[1]
}

// someValues returns a few values of a tenant's column that are not long.
func (s *subject) someValues(tenant int, name string) (values []wire.Value) {
	rows := s.own(tenant)
	if rows == nil {
		return nil
	}
	column := rows.Index(name)
	for _, row := range rows.Rows {
		v := row[column]
		known := slices.ContainsFunc(values, func(o wire.Value) bool { return o.String() == v.String() })
		if v.IsNull() || len(v.Text()) > maxOperand || known {
			continue
		}
		if values = append(values, v); len(values) == listed {
			break
		}
	}
	return values
}
