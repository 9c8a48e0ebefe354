package connector

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func unknownField(table *wire.Table, name string) error {
	return UnknownEntity("table %s has no field %s", terms.QuoteName(table.Name), terms.QuoteName(name))
}

// fieldsOf returns the fields of a table by name. The lists of a request are looked
// up in it, because list and table may both be long.
func fieldsOf(table *wire.Table) map[string]*wire.Field {
	fields := make(map[string]*wire.Field, len(table.Fields))
	for i := range table.Fields {
		fields[table.Fields[i].Name] = &table.Fields[i]
	}
	return fields
}

// checkColumns refuses columns that the table does not have.
func checkColumns(table *wire.Table, names ...string) error {
	if table == nil || len(names) == 0 {
		return nil
	}
	fields := fieldsOf(table)
	for _, name := range names {
		if fields[name] == nil {
			return unknownField(table, name)
		}
	}
	return nil
}

// checkFilters refuses filters on fields that the table does not have or that
// are not filterable: 422, never unfiltered rows.
func checkFilters(table *wire.Table, where wire.Where) error {
	if table == nil {
		return nil
	}
	fields := fieldsOf(table)
	for f := range where.Filters() {
		switch field := fields[f.Field]; {
		case field == nil:
			return Unsupported("table %s has no field %s to filter by",
				terms.QuoteName(table.Name), terms.QuoteName(f.Field))
		case forbids(field.Filterable):
			return Unsupported("field %s of table %s is not filterable",
				terms.QuoteName(f.Field), terms.QuoteName(table.Name))
		}
	}
	return nil
}

// checkAggregate refuses unknown fields, and declines with ErrDecline what the flags of the
// table, or of those that hops lead to, forbid. Where a join names its column as the table names
// one of its own, both must allow it.
func checkAggregate(table *wire.Table, joined []*wire.Table, req *wire.AggregateRequest) error {
	if table == nil {
		return nil
	}
	fields, others := fieldsOf(table), map[string][]*wire.Field{}
	for i, j := range req.Joins {
		for _, f := range j.Fields {
			others[f.As] = append(others[f.As], joined[i].Field(f.Field))
		}
	}
	var declined error
	look := func(name string, flag func(*wire.Field) *bool) error {
		all := others[name]
		if own := fields[name]; own != nil {
			all = append(all, own)
		}
		if all == nil {
			return unknownField(table, name)
		}
		if slices.ContainsFunc(all, func(f *wire.Field) bool { return forbids(flag(f)) }) {
			declined = ErrDecline
		}
		return nil
	}
	for _, g := range req.GroupBy {
		if err := look(g.Field, func(f *wire.Field) *bool { return f.Groupable }); err != nil {
			return err
		}
	}
	for _, m := range req.Measures {
		if m.Field == "" {
			continue
		}
		if err := look(m.Field, func(f *wire.Field) *bool { return f.Aggregatable }); err != nil {
			return err
		}
	}
	return declined
}

// forbids reports whether a flag is false. An absent flag is true.
func forbids(flag *bool) bool { return flag != nil && !*flag }

// checkQuery refuses fields that a query names and the table does not have.
func checkQuery(table *wire.Table, req *wire.QueryRequest) error {
	if err := checkFilters(table, req.Where); err != nil {
		return err
	}
	var names []string
	for _, s := range req.Sort {
		names = append(names, s.Field)
	}
	return checkColumns(table, append(names, req.Fields...)...)
}
