package wire

import "cmp"

// Discovery is the answer of /discovery.
type Discovery struct {
	answer
	// Tables are everything that these credentials can read. Names are unique.
	Tables []Table `json:"tables"`
	// Warnings are sentences for the person who connects the source: what was
	// skipped, and why.
	Warnings []string `json:"warnings,omitempty"`
}

var discovery = newObject(
	required("tables", func(m *Discovery) *[]Table { return &m.Tables }, list(table.codec())),
	optional("warnings", func(m *Discovery) *[]string { return &m.Warnings }, texts),
)

func (m *Discovery) message(d *decoder, e *encoder) error { return process(discovery, m, d, e) }

// Table is one discovered table. The platform reads the descriptions to
// understand the source.
type Table struct {
	noJSON
	Name              string `json:"name"`
	SourceDescription string `json:"sourceDescription"`
	RowCount          *int64 `json:"rowCount,omitempty"` // nil: unknown
	// StoresRows is true if the source stores the rows itself, and false for a
	// view or another table whose rows are computed when they are read. The rows
	// can be read either way; the conformance program reads and judges both.
	StoresRows  bool         `json:"storesRows"`
	PrimaryKey  []string     `json:"primaryKey"`
	ForeignKeys []ForeignKey `json:"foreignKeys"`
	Fields      []Field      `json:"fields"`
}

var table = newObject(
	required("name", func(m *Table) *string { return &m.Name }, text),
	required("sourceDescription", func(m *Table) *string { return &m.SourceDescription }, text),
	optional("rowCount", func(m *Table) **int64 { return &m.RowCount }, pointer(count)),
	required("storesRows", func(m *Table) *bool { return &m.StoresRows }, boolean),
	required("primaryKey", func(m *Table) *[]string { return &m.PrimaryKey }, texts),
	required("foreignKeys", func(m *Table) *[]ForeignKey { return &m.ForeignKeys }, list(foreignKey.codec())),
	required("fields", func(m *Table) *[]Field { return &m.Fields }, list(tableField.codec())),
)

// ForeignKey states that every non-null value of Field is a value of
// TargetField in TargetTable. The platform plans no join along a key that is
// left out.
type ForeignKey struct {
	Field       string `json:"field"`
	TargetTable string `json:"targetTable"`
	TargetField string `json:"targetField"`
}

var foreignKey = newObject(
	required("field", func(m *ForeignKey) *string { return &m.Field }, text),
	required("targetTable", func(m *ForeignKey) *string { return &m.TargetTable }, text),
	required("targetField", func(m *ForeignKey) *string { return &m.TargetField }, text),
)

// Field is one column of a discovered table.
type Field struct {
	noJSON
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
	// or aggregating one that may not be is declined with 204.
	Filterable   *bool `json:"filterable,omitempty"`
	Groupable    *bool `json:"groupable,omitempty"`
	Aggregatable *bool `json:"aggregatable,omitempty"`
}

var tableField = newObject(
	required("name", func(m *Field) *string { return &m.Name }, text),
	[]member[Field]{{
		name:     "sourceColumn",
		required: true,
		read:     func(d *decoder, m *Field) { m.SourceColumn = d.text() },
		write:    func(e *encoder, m *Field) { e.string(cmp.Or(m.SourceColumn, m.Name)) },
	}},
	required("type", func(m *Field) *Type { return &m.Type }, fieldType),
	required("nullable", func(m *Field) *bool { return &m.Nullable }, boolean),
	required("unique", func(m *Field) *bool { return &m.Unique }, boolean),
	required("samples", func(m *Field) *[]Value { return &m.Samples }, scalars),
	required("sourceDescription", func(m *Field) *string { return &m.SourceDescription }, text),
	optional("stats", func(m *Field) **Stats { return &m.Stats }, pointer(stats.codec())),
	optional("filterable", func(m *Field) **bool { return &m.Filterable }, pointer(boolean)),
	optional("groupable", func(m *Field) **bool { return &m.Groupable }, pointer(boolean)),
	optional("aggregatable", func(m *Field) **bool { return &m.Aggregatable }, pointer(boolean)),
)

// Stats are what discovery knows of a column's values.
type Stats struct {
	NullPercent   *float64 `json:"nullPercent,omitempty"` // 0 to 100
	DistinctCount int64    `json:"distinctCount"`
	Min           *Value   `json:"min,omitempty"`
	Max           *Value   `json:"max,omitempty"`
}

var stats = newObject(
	optional("nullPercent", func(m *Stats) **float64 { return &m.NullPercent }, pointer(number(0, 100))),
	required("distinctCount", func(m *Stats) *int64 { return &m.DistinctCount }, count),
	optional("min", func(m *Stats) **Value { return &m.Min }, pointer(scalar)),
	optional("max", func(m *Stats) **Value { return &m.Max }, pointer(scalar)),
)

// Field returns the field of that name, or nil.
func (m *Table) Field(name string) *Field {
	for i := range m.Fields {
		if m.Fields[i].Name == name {
			return &m.Fields[i]
		}
	}
	return nil
}

// Column is one column of the rows a source emits.
type Column struct {
	Name string
	// Type is the type the source declares; it decides how values compare. If
	// it is empty, the request's fieldTypes decide; without these, values
	// compare as an undeclared column's [rule filter-8].
	Type Type
	// Hop is the hop of a join that adds the column: 0 is the base table, n
	// the request's n-th hop, whose columns are named by their "as".
	Hop int
}

// Columns returns the table's fields as columns, in order.
func (m *Table) Columns() []Column {
	columns := make([]Column, len(m.Fields))
	for i, f := range m.Fields {
		columns[i] = Column{Name: f.Name, Type: f.Type}
	}
	return columns
}
