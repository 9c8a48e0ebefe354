package tenants

import (
	"encoding/json"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// filters are what the matrix filters by. A connector may keep what one kind of filter takes to prepare: the values of a
// list, the elements of a column, the statement of a group.
type filters struct {
	value    *wire.Filter    // eq, which keeps some rows
	list     *wire.Filter    // in, with several values
	element  *wire.Filter    // contains, in a column of arrays
	anyGroup [][]wire.Filter // two groups of or that begin alike
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
	if s.list == nil {
		return
	}
	for _, v := range s.list.Values[:2] {
		s.anyGroup = append(s.anyGroup, []wire.Filter{*s.list, {Field: s.list.Field, Op: wire.OpIn, Values: []wire.Value{v}}})
	}
}

// prefer keeps a filter if there is none yet, or if the one that is kept does not tell the tenants apart and this one does.
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
	for _, row := range rows.Rows {
		v := row[rows.Index(name)]
		known := slices.ContainsFunc(values, func(o wire.Value) bool { return o.String() == v.String() })
		if !v.IsNull() && len(v.Text()) <= maxOperand && !known && len(values) < listed {
			values = append(values, v)
		}
	}
	return values
}
