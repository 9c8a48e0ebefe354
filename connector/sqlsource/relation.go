package sqlsource

import (
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// relation is a table as one statement uses it, under an alias.
type relation struct {
	catalog Table
	name    string    // in the protocol
	from    string    // the table and its alias, as FROM has them
	columns []*Column // those that are served, in order
	byName  map[string]*Column
	primary []*Column // of the primary key; nil: it is not known, or not served in full
	// unique are the columns that tell rows apart: the primary key's, or those of
	// another key without nulls; nil: there is none.
	unique []*Column
	// enforced reports that the engine itself keeps the primary key unique.
	enforced bool
}

// relation returns the relation of a request for a single table.
func (x *session) relation(ctx context.Context, name string) (*relation, error) {
	tables, err := x.tables(ctx, name)
	if err != nil {
		return nil, err
	}
	return x.source.relation(tables[name], name, "t0"), nil
}

// tables finds tables of the catalog by their protocol names.
func (x *session) tables(ctx context.Context, names ...string) (map[string]Table, error) {
	inDatabase := map[string]string{}
	var ask []string
	for _, name := range names {
		own, served := x.source.options.inDatabase(name)
		if !served {
			return nil, unknownTable(name)
		}
		if _, known := inDatabase[name]; !known {
			inDatabase[name] = own
			ask = append(ask, own)
		}
	}
	tables, err := x.catalog(ctx, ask)
	if err != nil {
		return nil, x.source.failure(ctx, err, "")
	}
	found := make(map[string]Table, len(inDatabase))
	for name, own := range inDatabase {
		i := slices.IndexFunc(tables, func(t Table) bool { return t.Name == own })
		if i < 0 {
			return nil, unknownTable(name)
		}
		found[name] = tables[i]
	}
	return found, nil
}

func unknownTable(name string) error {
	return connector.UnknownEntity("there is no table %s", wire.QuoteName(name))
}

// relation returns a table under an alias, which is one of our own words.
func (s *Source) relation(t Table, name, alias string) *relation {
	r := &relation{catalog: t, name: name, byName: map[string]*Column{}}
	r.from = s.flavor.Table(s.options.Schema, t.Name) + " " + alias
	override := s.options.Tables[t.Name]
	for _, c := range t.Columns {
		public, served := s.options.publicColumn(t.Name, c.Name)
		if !served {
			continue
		}
		c.Want = override.Columns[c.Name].Type
		column := s.flavor.Column(alias+"."+s.flavor.Quote(c.Name), c)
		column.name, column.nullable = public, c.Nullable || column.Valid != ""
		r.columns = append(r.columns, &column)
		r.byName[public] = &column
	}
	if override.PrimaryKey != nil {
		r.primary = s.keyColumns(r, override.PrimaryKey)
	} else {
		r.primary = s.keyColumns(r, t.PrimaryKey)
		r.enforced = r.primary != nil
	}
	r.unique = r.primary
	for _, key := range t.Unique {
		if r.unique == nil && t.notNull(key) {
			r.unique = s.keyColumns(r, key)
		}
	}
	return r
}

// keyColumns returns the columns of a key of the catalog; nil if not all of them
// are served.
func (s *Source) keyColumns(r *relation, key []string) []*Column {
	var columns []*Column
	for _, name := range key {
		public, served := s.options.publicColumn(r.catalog.Name, name)
		c := r.column(public)
		if !served || c == nil {
			return nil
		}
		columns = append(columns, c)
	}
	return columns
}

// column returns a column by its name in the protocol; nil if there is none.
func (r *relation) column(name string) *Column { return r.byName[name] }

func (r *relation) unknownField(name string) error {
	return connector.UnknownEntity("table %s has no field %s", wire.QuoteName(r.name), wire.QuoteName(name))
}

// checkFields refuses filters on fields that the table does not have.
func (r *relation) checkFields(where wire.Where) error {
	for f := range where.Filters() {
		if r.column(f.Field) == nil {
			return connector.Unsupported("table %s has no field %s to filter by", wire.QuoteName(r.name), wire.QuoteName(f.Field))
		}
	}
	return nil
}

// noneMatch reports whether no row of r meets any of these conditions. Empty
// conditions are met by none.
func (x *session) noneMatch(ctx context.Context, r *relation, conditions ...string) (bool, error) {
	slices.Sort(conditions) // one set of conditions makes one statement
	conditions = slices.DeleteFunc(slices.Compact(conditions), func(c string) bool { return c == "" })
	if len(conditions) == 0 {
		return true, nil
	}
	b := x.builder()
	statement := "SELECT 1 FROM " + r.from + " WHERE " + strings.Join(conditions, " OR ") + b.flavor.Window(b.bind(int64(1)), "")
	rows, err := x.tx.QueryContext(ctx, statement, b.args...)
	if err != nil {
		return false, x.source.failure(ctx, err, r.name)
	}
	defer func() { _ = rows.Close() }()
	found := rows.Next()
	return !found, x.source.failure(ctx, rows.Err(), r.name)
}

// comparable reports whether the expressions of these columns compare exactly
// here: their Guard selects no value.
func (x *session) comparable(ctx context.Context, r *relation, columns ...*Column) (bool, error) {
	var conditions []string
	for _, c := range columns {
		conditions = append(conditions, c.Guard)
	}
	return x.noneMatch(ctx, r, conditions...)
}

// sortable reports whether the keys of these columns also sort exactly here:
// their Guard and Long select no value.
func (x *session) sortable(ctx context.Context, r *relation, columns ...*Column) (bool, error) {
	var conditions []string
	for _, c := range columns {
		conditions = append(conditions, c.Guard, c.Long)
	}
	return x.noneMatch(ctx, r, conditions...)
}
