package sqlengine

import "github.com/connectorsdk/connector-sdk-go/wire"

// Table is a table or a view as an engine's catalog describes it.
type Table struct {
	// Name is the table's name in its schema.
	Name     string
	Comment  string
	View     bool
	Estimate *int64 // rows, as the engine guesses; nil: it does not
	Columns  []CatalogColumn
	Keys     []Key
	// RowID are columns that discovery does not list and that tell the rows of the
	// table apart, such as a row's number. Pages of a table without a key are in their
	// order. Most engines have none.
	RowID []CatalogColumn
	// Ordered reports that a SELECT from the table alone, without ORDER BY, returns its
	// rows in one order, whatever its WHERE and its window. Pages without a sort are
	// then in that order, and the engine reads to their end and no further.
	Ordered bool
	// Late reports that there was no time to look at the rows that decide what the
	// catalog does not. Discovery warns of such tables, and leaves out one without
	// columns.
	Late bool
}

// Column returns a column by its name, or nil.
func (t *Table) Column(name string) *CatalogColumn {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
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
	// Note is whatever else the flavor's Column must know, in a type of its own.
	Note any
	// Want is the type that the host asks for; empty: the engine's own.
	Want wire.Type
}

// The kinds of keys, in the words of a warning.
const (
	PrimaryKey = "primary key"
	UniqueKey  = "unique key"
	ForeignKey = "foreign key"
)

// Key is a key of the catalog. A flavor may add a key of several columns as several
// keys of one column each, as catalogs list them: those that follow each other and
// have one Kind and ID are one key.
type Key struct {
	// Kind is one of the constants above. A primary key is one whose columns the
	// engine keeps unique together and not null, a unique key one whose columns it
	// keeps unique together.
	Kind    string
	ID      string
	Columns []string
	// Target is the table that a foreign key leads to, and TargetColumns pair up with
	// Columns. An empty Target is a table that the user may not see.
	Target        string
	TargetSchema  string // empty: that of the table
	TargetColumns []string
	// Unproven reports that the engine does not see to it that every row keeps to the
	// foreign key. Discovery then counts the values without a match, and warns of them.
	// Keys of several columns, some of which may be null, are counted in any case.
	Unproven bool
	// Omitted says why the key is not declared although the catalog has it, in the words
	// of a warning: "... is left out because OMITTED." Columns are then those that the
	// user may know of. Empty: the key is declared.
	Omitted string
}
