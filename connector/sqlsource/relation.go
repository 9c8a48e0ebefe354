package sqlsource

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// relation is a table as one statement uses it, under an alias.
type relation struct {
	catalog *table
	name    string    // in the protocol
	from    string    // the table and its alias, as FROM has them
	columns []*column // those that are served, in order
	byName  map[string]*column
	primary []*column // of the primary key; nil: it is not known, or not served in full
	// unique are the columns that tell rows apart: the primary key's, or those of
	// another key without nulls, or a row's number; nil: there are none.
	unique []*column
	// enforced reports that the engine itself keeps the primary key unique.
	enforced bool
}

// relation returns the relation of a request for a single table.
func (x *session) relation(ctx context.Context, name string) (*relation, error) {
	tables, err := x.tables(ctx, name)
	if err != nil {
		return nil, err
	}
	return x.database.relation(tables[name], name, "t0"), nil
}

// tables finds tables of the catalog by their protocol names.
func (x *session) tables(ctx context.Context, names ...string) (map[string]*table, error) {
	inDatabase := map[string]string{}
	var ask []string
	for _, name := range names {
		own, served := x.database.options.inDatabase(name)
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
		return nil, x.database.failure(ctx, err, "")
	}
	found := make(map[string]*table, len(inDatabase))
	for name, own := range inDatabase {
		i := slices.IndexFunc(tables, func(t *table) bool { return t.Name == own })
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
func (s *database) relation(t *table, name, alias string) *relation {
	r := &relation{catalog: t, name: name, byName: map[string]*column{}}
	r.from = s.flavor.Table(t.schema, t.own) + " " + alias
	override := s.options.tables[t.Name]
	for _, c := range t.Columns {
		public, served := s.options.publicColumn(t.Name, c.Name)
		if !served {
			continue
		}
		c.Want = override.Columns[c.Name].Type
		column := newColumn(s.flavor, alias+"."+s.flavor.Quote(c.Name), public, c)
		r.columns = append(r.columns, column)
		r.byName[public] = column
	}
	if override.PrimaryKey != nil {
		r.primary = s.keyColumns(r, override.PrimaryKey)
	} else {
		r.primary = s.keyColumns(r, t.primary)
		r.enforced = r.primary != nil
	}
	r.unique = r.primary
	for _, key := range t.unique {
		if r.unique == nil && t.notNull(key) {
			r.unique = s.keyColumns(r, key)
		}
	}
	if r.unique == nil {
		for _, c := range t.RowID {
			r.unique = append(r.unique, newColumn(s.flavor, alias+"."+s.flavor.Quote(c.Name), "", c))
		}
	}
	return r
}

// keyColumns returns the columns of a key of the catalog; nil if not all of them
// are served.
func (s *database) keyColumns(r *relation, key []string) []*column {
	var columns []*column
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
func (r *relation) column(name string) *column { return r.byName[name] }

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
