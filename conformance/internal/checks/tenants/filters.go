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
	value   *wire.Filter    // eq, which keeps some rows
	alone   *wire.Filter    // eq, with a value that one tenant alone has
	owner   int             // who has it
	among   int             // how many values the owner has in the column
	key     *wire.Filter    // eq, with the key of a row that is another for each tenant
	absent  [2]*wire.Filter // by tenant: eq, with a key that this one alone has
	beyond  [2]*wire.Filter // by tenant: gt, with the other's greatest value of a column
	refers  *wire.Filter    // eq, with what rows of both tenants refer to, which is another row for each
	list    *wire.Filter    // in, with several values
	evenly  *wire.Filter    // in, with as many keys that each tenant alone has
	element *wire.Filter    // contains, in a column of arrays
}

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
	others := rowsByKey(s.own(1), s.fields, at)
	for _, row := range compare.Project(s.own(0), s.fields) {
		text := row[at].String()
		if other := others[text]; other != "" && other != compare.RowKey(row) && len(text) <= maxOperand {
			return &wire.Filter{Field: key[0], Op: wire.OpEq, Value: row[at]}
		}
	}
	return nil
}

// rowsByKey returns some fields of a table's rows, each as [compare.RowKey], by the key that is one of them.
func rowsByKey(t *oracle.Table, fields []string, at int) map[string]string {
	rows := map[string]string{}
	for _, row := range compare.Project(t, fields) {
		rows[row[at].String()] = compare.RowKey(row)
	}
	return rows
}

// keysOfOne returns the name of the key and some keys that a tenant alone has.
func (s *subject) keysOfOne(tenant int) (name string, keys []wire.Value) {
	key := s.tables[tenant].PrimaryKey
	own, other := s.own(tenant), s.own(1-tenant)
	if len(key) != 1 || own == nil || other == nil || !slices.Contains(s.fields, key[0]) ||
		!terms.Allowed(s.tables[tenant].Field(key[0]).Filterable) {
		return "", nil
	}
	at := own.Index(key[0])
	known := valuesOf(other, key[0])
	for _, row := range own.Rows {
		if v := row[at]; !v.IsNull() && len(v.Text()) <= maxOperand && !known[v.String()] && len(keys) < listed {
			keys = append(keys, v)
		}
	}
	return key[0], keys
}

// keyOfOne returns a filter for a key that a tenant alone has, or nil: that there is no such row may be kept when the other asks.
func (s *subject) keyOfOne(tenant int) *wire.Filter {
	name, keys := s.keysOfOne(tenant)
	if len(keys) == 0 {
		return nil
	}
	return &wire.Filter{Field: name, Op: wire.OpEq, Value: keys[0]}
}

// keysOfEach returns a filter for as many rows of each tenant, or nil: an order, or a sum, may be kept by the number of rows.
func (s *subject) keysOfEach() *wire.Filter {
	name, first := s.keysOfOne(0)
	other, second := s.keysOfOne(1)
	n := min(len(first), len(second))
	if n < 2 || name != other || s.tables[0].Field(name).Type != s.tables[1].Field(name).Type {
		return nil
	}
	return &wire.Filter{Field: name, Op: wire.OpIn, Values: slices.Concat(first[:n], second[:n])}
}

// beyondOther returns a filter for values of a tenant that are greater than all of the other, or nil: between which values those of
// a column are may be kept when the other asks.
func (s *subject) beyondOther(tenant int) *wire.Filter {
	if s.own(tenant) == nil || s.own(1-tenant) == nil {
		return nil
	}
	for _, name := range s.fields {
		f := s.tables[tenant].Field(name)
		if !f.Type.Numeric() && !terms.IsTime(f.Type) || !terms.Allowed(f.Filterable) || f.Type != s.tables[1-tenant].Field(name).Type {
			continue
		}
		greatest, err := oracle.Aggregate(s.rows[1-tenant], &wire.AggregateRequest{Table: s.name, Limit: wire.AggregateLimit,
			Measures: []wire.Measure{{Fn: wire.AggMax, Field: name, As: "most"}}})
		if err != nil || len(greatest.Rows) != 1 || greatest.Rows[0][0].IsNull() {
			continue
		}
		beyond := &wire.Filter{Field: name, Op: wire.OpGt, Value: greatest.Rows[0][0]}
		if n, err := oracle.Count(s.rows[tenant], &wire.CountRequest{Table: s.name, Where: filtered(beyond)}); err == nil && n > 0 {
			return beyond
		}
	}
	return nil
}

// referred returns a filter for rows of both tenants along the hop that refer to one key, which is another row for each, or nil: a
// row that a join led to may be kept by its table and key. It prefers the key with the fewest rows.
func (s *subject) referred() (f *wire.Filter) {
	if s.hop == nil || s.own(0) == nil || s.own(1) == nil || !terms.Allowed(s.tables[0].Field(s.hop.FromField).Filterable) {
		return nil
	}
	fields := []string{s.hop.ToField}
	for _, field := range s.hop.Fields {
		fields = append(fields, field.Field)
	}
	var to [2]map[string]string
	var from [2]map[string]int
	for tenant := range to {
		to[tenant], from[tenant] = rowsByKey(s.rows[tenant][s.hop.ToTable], fields, 0), map[string]int{}
		at := s.own(tenant).Index(s.hop.FromField)
		for _, row := range s.own(tenant).Rows {
			from[tenant][row[at].String()]++
		}
	}
	fewest := 0
	at := s.own(0).Index(s.hop.FromField)
	for _, row := range s.own(0).Rows {
		text := row[at].String()
		one, other := to[0][text], to[1][text]
		n := from[0][text] + from[1][text]
		if row[at].IsNull() || one == "" || other == "" || one == other || from[1][text] == 0 ||
			len(text) > maxOperand || f != nil && n >= fewest {
			continue
		}
		f, fewest = &wire.Filter{Field: s.hop.FromField, Op: wire.OpEq, Value: row[at]}, n
	}
	return f
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
