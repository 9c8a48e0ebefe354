package rowmap

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"unsafe"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Struct maps the fields of a struct type to the columns of a table: it describes
// the table, and makes rows of values. [Of] makes one, when a source is built. It is
// safe for concurrent use.
//
// Every exported field is a column. Its name is that of the tag connector or json,
// otherwise the field's. The tag is the name and options, split by commas:
//
//	type Order struct {
//		_        struct{}        `description:"One order of one customer"`
//		ID       int64           `connector:"id,pk"`
//		Customer string          `connector:"customer_id,reference,fk=customers.id"`
//		Total    decimal.Decimal `connector:"total,scale=2" description:"In euros, with tax"`
//		Placed   time.Time       `connector:"placed_at,datetime,width=3"`
//		Shipped  *time.Time      `connector:"shipped_on,date"`
//		Tags     []string        `connector:"tags"`
//		Note     sql.NullString  `connector:"note"`
//		Internal string          `connector:"-"` // no column
//	}
//
// The options:
//
//	a type          string, number, decimal, boolean, date, datetime, json, array or reference
//	pk              the field is the primary key, or a part of it
//	unique          no two rows have the same value
//	fk=TABLE.FIELD  every value is a value of that field
//	scale=N         a decimal has N digits behind the dot; one that has more fails its row
//	width=N         the fraction of a datetime has 0, 3, 6 or 9 digits; one that has more fails its row
//	omitzero        the zero value is null; of a type with a method IsZero, what that says
//
// The types of fields, with the column's type that they have by default:
//
//	string                                 string; also reference, decimal, json, array, date, datetime
//	types with MarshalText                 string; also reference, decimal
//	integers                               number; also decimal, string, reference
//	floats, json.Number                    number; a json.Number also decimal, string, reference
//	bool                                   boolean; also string
//	decimal.Decimal of shopspring          decimal, its scale kept; also number, string, reference
//	time.Time                              date or datetime: none is the default
//	[]byte                                 string, as base64; an array if its elements have MarshalText or MarshalJSON
//	json.RawMessage                        json; also array
//	slices and arrays                      array; also json
//	maps and structs                       json
//	wire.Value                             none
//
// Pointers, sql.Null and its like, and decimal.NullDecimal make a column nullable,
// and so do slices, maps, and omitzero. A string of type date may be a datetime, whose
// time is dropped, and one of type datetime is in UTC if it has no offset. The fields of
// an embedded struct are columns of the table, as encoding/json has it, unless the
// struct has a name of its own in a tag. A field with the tag json:"-" needs a tag
// connector to be a column.
type Struct[T any] struct {
	pointer bool // T is a pointer to a struct
	columns []structColumn
	table   wire.Table
}

// structColumn is one column of a Struct.
type structColumn struct {
	// The field is at the first offset in the row's struct. Each further offset is
	// one in the struct to which the pointer there leads.
	hops []uintptr
	cell cellFunc
}

// find returns where the field is in a row's struct, or nil where a pointer on the
// way is nil.
func (c *structColumn) find(p unsafe.Pointer) unsafe.Pointer {
	if p == nil {
		return nil
	}
	p = unsafe.Add(p, c.hops[0])
	for _, offset := range c.hops[1:] {
		if p = *(*unsafe.Pointer)(p); p == nil {
			return nil
		}
		p = unsafe.Add(p, offset)
	}
	return p
}

// Of returns the mapping of a struct type, or of a pointer to one. The error
// names every fault of the type at once, each with the path of its field: a type of
// Go that no column holds, an option that does not exist or does not fit, two
// columns of one name.
func Of[T any]() (*Struct[T], error) {
	t := reflect.TypeFor[T]()
	s := &Struct[T]{}
	if s.pointer = t.Kind() == reflect.Pointer; s.pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("rowmap: %s is not a struct", reflect.TypeFor[T]())
	}
	r := structReader{table: &s.table}
	r.read(t, t.Name(), []uintptr{0})
	if len(r.columns) == 0 && len(r.faults) == 0 {
		r.fault(t.Name(), "has no exported field")
	}
	for i, f := range s.table.Fields {
		if f.Nullable && slices.Contains(s.table.PrimaryKey, f.Name) {
			r.fault(r.paths[i], "a primary key is never null; give the field a type that holds no null")
		}
	}
	s.columns = r.columns
	s.table.StoresRows = true
	if len(s.table.PrimaryKey) == 1 {
		s.table.Field(s.table.PrimaryKey[0]).Unique = true
	}
	return s, errors.Join(r.faults...)
}

// Columns returns the columns, as Begin takes them.
func (s *Struct[T]) Columns() []wire.Column { return s.table.Columns() }

// Table returns the description of a table of such rows. Complete it with what only
// the source knows, such as the number of rows.
func (s *Struct[T]) Table(name string) wire.Table {
	t := s.table
	t.Name = name
	t.PrimaryKey = append([]string{}, t.PrimaryKey...)
	t.ForeignKeys = append([]wire.ForeignKey{}, t.ForeignKeys...)
	t.Fields = slices.Clone(t.Fields)
	return t
}

// AppendRow appends the cells of one value to row, in the order of Columns. It
// allocates nothing but the texts of cells that are not texts in Go. A nil pointer
// is a row of nulls. A value that has no exact cell gets one that fails the row.
func (s *Struct[T]) AppendRow(row []wire.Value, value *T) []wire.Value {
	base := unsafe.Pointer(value)
	if s.pointer {
		base = *(*unsafe.Pointer)(base)
	}
	start := len(row)
	row = slices.Grow(row, len(s.columns))[:start+len(s.columns)]
	for i := range s.columns {
		c := &s.columns[i]
		if p := c.find(base); p != nil {
			row[start+i] = c.cell(p)
		} else {
			row[start+i] = wire.Null()
		}
	}
	return row
}

// Rows returns the rows of values, for connector.RowWriter.All. The slice of cells is reused.
// The rows end at the first error of values.
func (s *Struct[T]) Rows(values iter.Seq2[T, error]) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		var current T // one variable for all rows: what a pointer leads to is allocated
		var row []wire.Value
		for value, err := range values {
			if err != nil {
				yield(nil, err)
				return
			}
			current = value
			if row = s.AppendRow(row[:0], &current); !yield(row, nil) {
				return
			}
		}
	}
}

// Page returns the rows of one page of values, for memsource.Pages.
func (s *Struct[T]) Page(values []T) [][]wire.Value {
	rows := make([][]wire.Value, len(values))
	cells := make([]wire.Value, 0, len(values)*len(s.columns))
	for i := range values {
		at := len(cells)
		cells = s.AppendRow(cells, &values[i])
		rows[i] = cells[at:len(cells):len(cells)]
	}
	return rows
}
