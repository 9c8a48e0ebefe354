package session

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// Table is a table of the catalog as it is served: under a name that has its schema
// if several are served, and with the keys that its entries make.
type Table struct {
	sqlengine.Table
	own    string // its name in the schema
	schema string

	primary []string   // unique together and never null; nil: there is no such key
	Unique  [][]string // the sets of columns whose values the engine keeps unique
	Foreign []sqlengine.Key
	Omitted []sqlengine.Key // keys that are not among those above, of which discovery warns
}

// newTable returns a table of a schema, and joins the entries of its keys.
func newTable(t *sqlengine.Table, schema string) *Table {
	placed := &Table{Table: *t, own: t.Name, schema: schema}
	for _, k := range joinKeys(t.Keys) {
		switch {
		case k.Omitted != "":
		case k.Kind == sqlengine.PrimaryKey:
			var readable []string
			for _, name := range k.Columns {
				if t.Column(name) != nil {
					readable = append(readable, name)
				}
			}
			if len(readable) == len(k.Columns) {
				placed.primary = k.Columns
				continue
			}
			k.Columns, k.Omitted = readable, "the user may not read all of its columns"
		case k.Kind == sqlengine.UniqueKey:
			placed.Unique = append(placed.Unique, k.Columns)
			continue
		case k.Target != "":
			placed.Foreign = append(placed.Foreign, k)
			continue
		default:
			k.Omitted = "the user may not see the table that it leads to"
		}
		placed.Omitted = append(placed.Omitted, k)
	}
	return placed
}

// joinKeys returns whole keys: it joins the entries that follow each other and have one
// kind, one ID, and one reason why they are omitted.
func joinKeys(entries []sqlengine.Key) []sqlengine.Key {
	var keys []sqlengine.Key
	for _, k := range entries {
		if n := len(keys); n > 0 && keys[n-1].Kind == k.Kind && keys[n-1].ID == k.ID && keys[n-1].Omitted == k.Omitted {
			last := &keys[n-1]
			last.Columns, last.TargetColumns = append(last.Columns, k.Columns...), append(last.TargetColumns, k.TargetColumns...)
			continue
		}
		k.Columns, k.TargetColumns = slices.Clone(k.Columns), slices.Clone(k.TargetColumns)
		keys = append(keys, k)
	}
	return keys
}

// notNull reports whether the engine keeps all these columns from being null.
func (t *Table) notNull(columns []string) bool {
	for _, name := range columns {
		if c := t.Column(name); c == nil || c.Nullable {
			return false
		}
	}
	return true
}

// Unproven reports whether rows may have a value in a column of the foreign key that
// the target does not have. Engines do not check a key of which one column is null.
func (t *Table) Unproven(k sqlengine.Key) bool {
	return k.Unproven || len(k.Columns) > 1 && !t.notNull(k.Columns)
}
