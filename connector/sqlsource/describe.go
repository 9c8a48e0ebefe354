package sqlsource

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// describe is a relation as discovery lists it. Keys are those of the catalog,
// or of the configuration, never guessed.
func (s *Source) describe(r *relation) *wire.Table {
	t := r.catalog
	table := &wire.Table{
		Name:              r.name,
		SourceDescription: or(s.config.Tables[t.Name].Description, t.Comment),
		RowCount:          t.Estimate,
		StoresRows:        !t.View,
		PrimaryKey:        []string{},
		ForeignKeys:       s.foreignKeys(t),
	}
	for _, c := range s.primary(r) {
		table.PrimaryKey = append(table.PrimaryKey, c.name)
	}
	overrides := s.config.Tables[t.Name].Columns
	for _, own := range t.Columns {
		public, served := s.public(t.Name, own.Name)
		if !served {
			continue
		}
		c := r.column(public)
		table.Fields = append(table.Fields, wire.Field{
			Name: public, SourceColumn: own.Name, Type: c.Type, Nullable: c.nullable, Unique: unique(t, own.Name, c),
			Samples: []wire.Value{}, SourceDescription: or(overrides[own.Name].Description, own.Comment),
		})
	}
	return table
}

// unique reports whether the engine keeps a column's values unique, under the
// platform's equality: where equal values may be stored in several ways it
// proves nothing.
func unique(t Table, name string, c *Column) bool {
	if c.Guard != "" || c.Class == ClassOpaque {
		return false
	}
	alone := func(key []string) bool { return len(key) == 1 && key[0] == name }
	return alone(t.PrimaryKey) || slices.ContainsFunc(t.Unique, alone)
}

// foreignKeys are the pairs of columns of foreign keys whose both ends are
// served. Discover leaves out those to tables that these credentials cannot
// read.
func (s *Source) foreignKeys(t Table) []wire.ForeignKey {
	keys := []wire.ForeignKey{}
	for _, k := range t.ForeignKeys {
		if !s.config.serves(k.Target) {
			continue
		}
		for i, column := range k.Columns {
			from, ok1 := s.public(t.Name, column)
			to, ok2 := s.public(k.Target, k.TargetColumns[i])
			key := wire.ForeignKey{Field: from, TargetTable: s.publicTable(k.Target), TargetField: to}
			if ok1 && ok2 && t.column(column) != nil && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (s *Source) publicTable(own string) string { return or(s.config.Tables[own].Name, own) }
