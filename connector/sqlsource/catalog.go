package sqlsource

import "github.com/connectorsdk/connector-sdk-go/wire"

// Table is a table or a view as an engine's catalog describes it.
type Table struct {
	Name     string
	Comment  string
	View     bool
	Estimate *int64 // rows, as the engine guesses; nil: it does not
	Columns  []CatalogColumn
	// PrimaryKey is set only where the engine keeps it unique and not null.
	PrimaryKey []string
	// Unique are the sets of columns whose values the engine keeps unique.
	Unique      [][]string
	ForeignKeys []ForeignKey

	last string // the key whose columns are being read
}

// CatalogColumn is a column as an engine's catalog describes it.
type CatalogColumn struct {
	Name     string
	Comment  string
	DataType string // the engine's name of the type, in the form its flavor knows
	Nullable bool
	// Precision and Scale are those of a decimal; Precision is that of a
	// datetime's fraction. What they mean for other types is the flavor's.
	Precision, Scale int
	// Note is whatever else the flavor's Column must know.
	Note string
	// Want is the type the host asks for; empty: the engine's own.
	Want wire.Type
}

// ForeignKey is a foreign key of the catalog; its columns stand in pairs.
type ForeignKey struct {
	Columns       []string
	Target        string
	TargetColumns []string
}

// column finds a column by its name.
func (t *Table) column(name string) *CatalogColumn {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}
