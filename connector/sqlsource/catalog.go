package sqlsource

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Table is a table or a view as an engine's catalog describes it.
type Table struct {
	// Name is the table's name in its schema. Where several schemas are served, the
	// source puts the schema before it.
	Name string
	// Schema is set by the source: the schema that it has asked for.
	Schema   string
	Comment  string
	View     bool
	Estimate *int64 // rows, as the engine guesses; nil: it does not
	Columns  []CatalogColumn
	// PrimaryKey is set only where the engine keeps it unique and not null.
	PrimaryKey []string
	// Unique are the sets of columns whose values the engine keeps unique.
	Unique      [][]string
	ForeignKeys []ForeignKey
	// Omitted are keys of the engine that are not among those above. Discovery
	// warns of them.
	Omitted []OmittedKey

	own      string // the name in the schema
	last     string // the key whose columns are being read
	unlooked bool   // there was no time to look at the rows that decide what the catalog does not
}

// CatalogColumn is a column as an engine's catalog describes it.
type CatalogColumn struct {
	Name     string
	Comment  string
	DataType string // the engine's name of the type, in the form its flavor knows
	Nullable bool
	// Precision and Scale are those of a decimal; Precision is that of a
	// datetime's fraction. The flavor decides what they mean for other types.
	Precision, Scale int
	// Indexed reports that an index that keeps the order of values begins with the
	// column.
	Indexed bool
	// Note is whatever else the flavor's Column must know.
	Note string
	// Want is the type that the host asks for; empty: the engine's own.
	Want wire.Type
}

// ForeignKey is a foreign key of the catalog. Columns and TargetColumns form
// pairs.
type ForeignKey struct {
	Columns []string
	Target  string
	// TargetSchema is the schema of the target. Empty: that of the table.
	TargetSchema  string
	TargetColumns []string
	// Unproven reports that the engine does not see to it that every row keeps to the
	// key. Discovery then counts the values without a match, and warns of them. Keys of
	// several columns, some of which may be null, are counted in any case.
	Unproven bool
}

// unproven reports whether rows of t may have a value in a column of the key that
// the target does not have. Engines do not check a key of which one column is null.
func (k ForeignKey) unproven(t *Table) bool {
	return k.Unproven || len(k.Columns) > 1 && !t.notNull(k.Columns)
}

// OmittedKey is a key that the catalog has and that a Table does not state.
type OmittedKey struct {
	Kind    OmittedKind
	Columns []string // those that the user may know of
	Reason  string   // in the words of a warning: "... is left out because REASON."
}

// OmittedKind names a kind of key in a warning.
type OmittedKind string

// The kinds of omitted keys.
const (
	OmittedPrimaryKey OmittedKind = "primary key"
	OmittedForeignKey OmittedKind = "foreign key"
	OmittedUniqueKey  OmittedKind = "unique key"
)

// column returns a column by its name; nil if there is none.
func (t *Table) column(name string) *CatalogColumn {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// notNull reports whether the engine keeps all these columns from being null.
func (t *Table) notNull(columns []string) bool {
	for _, name := range columns {
		if c := t.column(name); c == nil || c.Nullable {
			return false
		}
	}
	return true
}

// The kinds of keys that addKey takes.
const (
	primaryKey  = "p"
	uniqueKey   = "u"
	foreignKey  = "f"
	unprovenKey = "g" // a foreign key that rows may break
)

// addKey adds one column of a key. The columns of one key follow each other. The
// target's schema is empty if it is the table's own.
func (t *Table) addKey(kind, id, column, targetSchema, target, targetColumn string) {
	begun := t.last == kind+id
	t.last = kind + id
	switch kind {
	case primaryKey:
		t.PrimaryKey = append(t.PrimaryKey, column)
	case uniqueKey:
		if !begun {
			t.Unique = append(t.Unique, nil)
		}
		last := &t.Unique[len(t.Unique)-1]
		*last = append(*last, column)
	case foreignKey, unprovenKey:
		if target == "" {
			t.omitForeignKey(begun, column)
			return
		}
		if !begun {
			t.ForeignKeys = append(t.ForeignKeys, ForeignKey{Target: target, TargetSchema: targetSchema, Unproven: kind == unprovenKey})
		}
		k := &t.ForeignKeys[len(t.ForeignKeys)-1]
		k.Columns, k.TargetColumns = append(k.Columns, column), append(k.TargetColumns, targetColumn)
	}
}

// omitForeignKey adds one column of a foreign key to a table that the user may not
// see.
func (t *Table) omitForeignKey(begun bool, column string) {
	if !begun {
		t.Omitted = append(t.Omitted, OmittedKey{
			Kind: OmittedForeignKey, Reason: "the user may not see the table that it leads to",
		})
	}
	k := &t.Omitted[len(t.Omitted)-1]
	k.Columns = append(k.Columns, column)
}

// keysRead drops a primary key with columns that the user may not read. It is
// called after the last addKey.
func (t *Table) keysRead() {
	t.last = ""
	var readable []string
	for _, name := range t.PrimaryKey {
		if t.column(name) != nil {
			readable = append(readable, name)
		}
	}
	if len(readable) < len(t.PrimaryKey) {
		t.PrimaryKey = nil
		t.Omitted = append(t.Omitted, OmittedKey{
			Kind: OmittedPrimaryKey, Columns: readable, Reason: "the user may not read all of its columns",
		})
	}
}

// tableList collects the tables of a catalog as its rows are read.
type tableList struct {
	tables []Table
	at     map[string]int
}

// table returns the table in the list that has the name of t, and adds t if there
// is none. The pointer holds until the next call.
func (l *tableList) table(t Table) *Table {
	i, known := l.at[t.Name]
	if !known {
		if l.at == nil {
			l.at = map[string]int{}
		}
		i = len(l.tables)
		l.at[t.Name] = i
		l.tables = append(l.tables, t)
	}
	return &l.tables[i]
}

// find returns the table of a name; nil if it was not added.
func (l *tableList) find(name string) *Table {
	if i, known := l.at[name]; known {
		return &l.tables[i]
	}
	return nil
}

// each runs a statement and calls row for every row of its answer.
func each(ctx context.Context, q Queryer, statement string, args []any, row func(scan func(...any) error) error) error {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
