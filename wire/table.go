package wire

// Discovery is the answer of /discovery.
type Discovery struct {
	// Tables are everything this credential set can read. Names are unique.
	Tables []Table `json:"tables"`
	// Warnings are sentences for the person who connects the source: what was
	// skipped, and why.
	Warnings []string `json:"warnings,omitempty"`
}

// Table is one discovered table (protocol, Discovered table). Descriptions
// travel into the platform's understanding of the source.
type Table struct {
	Name              string `json:"name"`
	SourceDescription string `json:"sourceDescription"`
	RowCount          *int64 `json:"rowCount,omitempty"` // nil: unknown
	// StoresRows is true for what can be read row by row. Set it: the
	// conformance program reads no table that says it stores none.
	StoresRows  bool         `json:"storesRows"`
	PrimaryKey  []string     `json:"primaryKey"`
	ForeignKeys []ForeignKey `json:"foreignKeys"`
	Fields      []Field      `json:"fields"`
}

// ForeignKey says that every non-null value of Field is a value of
// TargetField in TargetTable. One left out means a join never planned.
type ForeignKey struct {
	Field       string `json:"field"`
	TargetTable string `json:"targetTable"`
	TargetField string `json:"targetField"`
}

// Field is one column of a discovered table.
type Field struct {
	Name              string  `json:"name"`
	SourceColumn      string  `json:"sourceColumn"` // its name in the source; empty: the same as Name
	Type              Type    `json:"type"`
	Nullable          bool    `json:"nullable"`
	Unique            bool    `json:"unique"` // only for a real constraint: a false one breaks joins
	Samples           []Value `json:"samples"`
	SourceDescription string  `json:"sourceDescription"`
	Stats             *Stats  `json:"stats,omitempty"`

	// Filterable, Groupable and Aggregatable default to true when nil. A
	// filter on a field that is not filterable is refused with 422; grouping
	// or aggregating what may not be is declined with 204 (E7).
	Filterable   *bool `json:"filterable,omitempty"`
	Groupable    *bool `json:"groupable,omitempty"`
	Aggregatable *bool `json:"aggregatable,omitempty"`
}

// Stats are what discovery knows of a column's values.
type Stats struct {
	NullPercent   *float64 `json:"nullPercent,omitempty"` // 0 to 100
	DistinctCount int64    `json:"distinctCount"`
	Min           *Value   `json:"min,omitempty"`
	Max           *Value   `json:"max,omitempty"`
}

// Field returns the field of that name, or nil.
func (t *Table) Field(name string) *Field {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return &t.Fields[i]
		}
	}
	return nil
}

// Column is one column of the rows a source emits.
type Column struct {
	Name string
	// Type is the type the source declares; it decides how values compare
	// (A10). Empty: the request's fieldTypes decide, else A8.
	Type Type
	// Hop tells the columns of a joined query apart: 0 is the base table, n
	// the request's n-th hop, whose columns are named by their "as" (B6).
	Hop int
}

// Columns are the table's fields as columns, in order.
func (t *Table) Columns() []Column {
	columns := make([]Column, len(t.Fields))
	for i, f := range t.Fields {
		columns[i] = Column{Name: f.Name, Type: f.Type}
	}
	return columns
}
