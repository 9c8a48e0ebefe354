package sqlsource

import (
	"cmp"
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// describe returns a relation as discovery lists it. Keys are those of the
// catalog or of the options, never guessed. It looks at no value: a column of a
// type with values that cannot be sent is nullable here, and a primary key is taken
// to have none. Discover looks at the values, and corrects both. Nothing in the
// library depends on the difference: it asks a description for fields, types and
// flags.
func (s *database) describe(r *relation) *wire.Table {
	t := r.catalog
	override := s.options.tables[t.Name]
	table := &wire.Table{
		Name:              r.name,
		SourceDescription: cmp.Or(override.Description, t.Comment),
		RowCount:          t.Estimate,
		StoresRows:        !t.View,
		PrimaryKey:        []string{},
		ForeignKeys:       s.foreignKeys(t, t.foreign),
	}
	for _, c := range r.primary {
		table.PrimaryKey = append(table.PrimaryKey, c.name)
	}
	for _, own := range t.Columns {
		public, served := s.options.publicColumn(t.Name, own.Name)
		if !served {
			continue
		}
		c := r.column(public)
		table.Fields = append(table.Fields, wire.Field{
			Name:              public,
			SourceColumn:      own.Name,
			Type:              c.Type,
			Nullable:          c.nullable && !slices.Contains(r.primary, c),
			Unique:            r.isUnique(own.Name, c),
			Samples:           []wire.Value{},
			SourceDescription: cmp.Or(override.Columns[own.Name].Description, own.Comment),
		})
	}
	return table
}

// isUnique reports whether a column's values are unique under the platform's
// equality. What the engine keeps unique proves nothing where equal values may
// be stored in several ways.
func (r *relation) isUnique(name string, c *column) bool {
	if c.Loose.Guard != "" || c.Class == sqlengine.ClassOpaque {
		return false
	}
	alone := func(key []string) bool { return len(key) == 1 && key[0] == name }
	return len(r.primary) == 1 && r.primary[0] == c || slices.ContainsFunc(r.catalog.unique, alone)
}

// foreignKeys returns the pairs of columns of those foreign keys of a table whose both ends are
// served. Discover leaves out those to tables that these credentials cannot
// read.
func (s *database) foreignKeys(t *table, foreign []sqlengine.Key) []wire.ForeignKey {
	keys := []wire.ForeignKey{}
	for _, k := range foreign {
		if !s.options.serves(k.Target) {
			continue
		}
		for i, column := range k.Columns {
			from, fromServed := s.options.publicColumn(t.Name, column)
			to, toServed := s.options.publicColumn(k.Target, k.TargetColumns[i])
			key := wire.ForeignKey{Field: from, TargetTable: s.options.publicTable(k.Target), TargetField: to}
			if fromServed && toServed && t.Column(column) != nil && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// Describe describes one table as Discover lists it, without samples and
// statistics.
func Describe(ctx context.Context, s *database, creds wire.Credentials, table string) (*wire.Table, error) {
	x, r, err := s.openTable(ctx, creds, connector.Call{Method: "Describe", Table: table})
	if err != nil {
		return nil, err
	}
	defer x.close()
	x.keep = true
	return s.describe(r), nil
}
