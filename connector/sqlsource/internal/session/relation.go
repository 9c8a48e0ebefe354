package session

import (
	"context"
	"maps"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Relation is a table as one statement uses it, under an alias.
type Relation struct {
	Catalog *Table
	Name    string            // in the protocol
	From    string            // the table and its alias, as FROM has them
	Columns []*sqltext.Column // those that are served, in order
	byName  map[string]*sqltext.Column
	Primary []*sqltext.Column // of the primary key; nil: it is not known, or not served in full
	// Unique are the columns that tell rows apart: the primary key's, or those of
	// another key without nulls, or a row's number; else nil.
	Unique []*sqltext.Column
	// Enforced reports that the engine itself keeps the primary key unique.
	Enforced bool
}

// relation returns the relation of a request for a single table.
func (x *Session) relation(ctx context.Context, name string) (*Relation, error) {
	tables, err := x.Tables(ctx, name)
	if err != nil {
		return nil, err
	}
	return x.Database.Relation(tables[name], name, "t0"), nil
}

// Tables finds tables of the catalog by their protocol names.
func (x *Session) Tables(ctx context.Context, names ...string) (map[string]*Table, error) {
	inDatabase := map[string]string{}
	var ask []string
	for _, name := range names {
		own, served := x.Database.Options.InDatabase(name)
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
		return nil, x.Database.Failure(ctx, err, "")
	}
	found := make(map[string]*Table, len(inDatabase))
	for name, own := range inDatabase {
		i := slices.IndexFunc(tables, func(t *Table) bool { return t.Name == own })
		if i < 0 {
			return nil, unknownTable(name)
		}
		found[name] = tables[i]
	}
	return found, nil
}

func unknownTable(name string) error {
	return connector.UnknownEntity("there is no table %s", terms.QuoteName(name))
}

// Relation returns a table under an alias, which is one of our own words.
func (s *Database) Relation(t *Table, name, alias string) *Relation {
	r := &Relation{Catalog: t, Name: name, byName: map[string]*sqltext.Column{}}
	r.From = s.Flavor.Table(t.schema, t.own) + " " + alias
	override := s.Options.Tables[t.Name]
	for _, c := range t.Columns {
		public, served := s.Options.PublicColumn(t.Name, c.Name)
		if !served {
			continue
		}
		c.Want = override.Columns[c.Name].Type
		column := sqltext.NewColumn(s.Flavor, alias+"."+s.Flavor.Quote(c.Name), public, c)
		r.Columns = append(r.Columns, column)
		r.byName[public] = column
	}
	if override.PrimaryKey != nil {
		r.Primary = s.keyColumns(r, override.PrimaryKey)
	} else {
		r.Primary = s.keyColumns(r, t.primary)
		r.Enforced = r.Primary != nil
	}
	r.Unique = r.Primary
	for _, key := range t.Unique {
		if r.Unique == nil && t.notNull(key) {
			r.Unique = s.keyColumns(r, key)
		}
	}
	if r.Unique == nil {
		for _, c := range t.RowID {
			r.Unique = append(r.Unique, sqltext.NewColumn(s.Flavor, alias+"."+s.Flavor.Quote(c.Name), "", c))
		}
	}
	return r
}

// keyColumns returns the columns of a key of the catalog; nil if not all of them
// are served.
func (s *Database) keyColumns(r *Relation, key []string) []*sqltext.Column {
	var columns []*sqltext.Column
	for _, name := range key {
		public, served := s.Options.PublicColumn(r.Catalog.Name, name)
		c := r.Column(public)
		if !served || c == nil {
			return nil
		}
		columns = append(columns, c)
	}
	return columns
}

// Column returns a column by its name in the protocol, or nil.
func (r *Relation) Column(name string) *sqltext.Column { return r.byName[name] }

// With returns the relation with another column in the place of one outside of all keys.
func (r *Relation) With(c *sqltext.Column) *Relation {
	own := *r
	own.Columns, own.byName = slices.Clone(r.Columns), maps.Clone(r.byName)
	own.Columns[slices.Index(r.Columns, r.byName[c.Name])] = c
	own.byName[c.Name] = c
	return &own
}

func (r *Relation) UnknownField(name string) error {
	return connector.UnknownEntity("table %s has no field %s", terms.QuoteName(r.Name), terms.QuoteName(name))
}

// CheckFields refuses filters on fields that the table does not have.
func (r *Relation) CheckFields(where wire.Where) error {
	for f := range where.Filters() {
		if r.Column(f.Field) == nil {
			return connector.Unsupported("table %s has no field %s to filter by", terms.QuoteName(r.Name), terms.QuoteName(f.Field))
		}
	}
	return nil
}

// IsUnique reports whether a column's values are unique under the platform's
// equality. What the engine keeps unique proves nothing where equal values may
// be stored in several ways.
func (r *Relation) IsUnique(name string, c *sqltext.Column) bool {
	if c.Ambiguous() || c.Class == sqlengine.ClassOpaque {
		return false
	}
	alone := func(key []string) bool { return len(key) == 1 && key[0] == name }
	return len(r.Primary) == 1 && r.Primary[0] == c || slices.ContainsFunc(r.Catalog.Unique, alone)
}

// Begins reports whether an index of the table begins with a column.
func (r *Relation) Begins(c *sqltext.Column) bool {
	first := func(key []string) bool { return len(key) > 0 && key[0] == c.Own }
	return c.Indexed || first(r.Catalog.primary) || slices.ContainsFunc(r.Catalog.Unique, first)
}

// Misordered reports whether the indexes of the table that begin with a text have it in
// another order than the protocol, which is that of the bytes: they serve neither a sort
// nor a comparison by it, and the engine reads the whole table.
func (r *Relation) Misordered(c *sqltext.Column) bool {
	return c.Class == sqlengine.ClassText && c.Index.Near == nil && (c.Index.Sorted == "" || !c.Indexed) && r.Begins(c)
}

// TellsApart reports whether the engine sees to it that no two values of a column
// are equal on the wire.
func (r *Relation) TellsApart(c *sqltext.Column) bool {
	key := len(r.Primary) == 1 && r.Primary[0] == c
	return c.Tie == "" && r.IsUnique(c.Own, c) && (r.Enforced || !key)
}
