package discover

import (
	"cmp"
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"

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
func describe(s *session.Database, r *session.Relation) *wire.Table {
	t := r.Catalog
	override := s.Options.Tables[t.Name]
	table := &wire.Table{
		Name:              r.Name,
		SourceDescription: cmp.Or(override.Description, t.Comment),
		RowCount:          t.Estimate,
		StoresRows:        !t.View,
		PrimaryKey:        []string{},
		ForeignKeys:       foreignKeys(s, t, t.Foreign),
	}
	for _, c := range r.Primary {
		table.PrimaryKey = append(table.PrimaryKey, c.Name)
	}
	for _, own := range t.Columns {
		public, served := s.Options.PublicColumn(t.Name, own.Name)
		if !served {
			continue
		}
		c := r.Column(public)
		table.Fields = append(table.Fields, wire.Field{
			Name:              public,
			SourceColumn:      own.Name,
			Type:              c.Type,
			Nullable:          c.Nullable && !slices.Contains(r.Primary, c),
			Unique:            r.IsUnique(own.Name, c),
			Samples:           []wire.Value{},
			SourceDescription: cmp.Or(override.Columns[own.Name].Description, own.Comment),
		})
	}
	return table
}

// foreignKeys returns the pairs of columns of those foreign keys of a table whose both ends are
// served. Discover leaves out those to tables that these credentials cannot
// read.
func foreignKeys(s *session.Database, t *session.Table, foreign []sqlengine.Key) []wire.ForeignKey {
	keys := []wire.ForeignKey{}
	for _, k := range foreign {
		if !s.Options.Serves(k.Target) {
			continue
		}
		for i, column := range k.Columns {
			from, fromServed := s.Options.PublicColumn(t.Name, column)
			to, toServed := s.Options.PublicColumn(k.Target, k.TargetColumns[i])
			key := wire.ForeignKey{Field: from, TargetTable: s.Options.PublicTable(k.Target), TargetField: to}
			if fromServed && toServed && t.Column(column) != nil && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// Describe describes one table as Discover lists it, without samples and
// statistics.
func Describe(ctx context.Context, s *session.Database, creds wire.Credentials, table string) (*wire.Table, error) {
	x, r, err := s.OpenTable(ctx, creds, connector.Call{Method: "Describe", Table: table})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	x.Keep = true
	return describe(s, r), nil
}
