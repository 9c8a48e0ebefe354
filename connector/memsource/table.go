package memsource

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/fit"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Table is one table of a [Source]: its description and its rows. [TableOf] makes
// one of Go structs.
//
// Fields need a Name; New derives the rest from the rows if it is empty:
//
//   - Type: number for integers and floats, decimal if any is a decimal,
//     boolean, date, datetime; string for text, for a mixture, and for nothing
//     but nulls. New does not guess what text means: state json, array,
//     reference, and dates that are given as text.
//   - Nullable becomes true where a cell is null.
//   - Samples: the first five distinct values of at most 100 bytes. An empty
//     slice that is not nil keeps values out of discovery.
//   - Stats: the share of nulls, the number of distinct values, and the least
//     and greatest value if the values have an order.
//   - SourceColumn: the Name. RowCount: the number of rows. StoresRows is always
//     true.
//
// A cell must be a value of its column's stated type; New names table, row and field of one
// that is not.
//
// State the keys: New does not guess them. It checks a PrimaryKey and a Unique
// field against the rows, because a key that is not unique breaks joins. A
// foreign key may have values without a match, but its target must be a table
// of the same Source.
type Table struct {
	wire.Table
	// Rows are the cells in the order of Fields, one for every field.
	Rows [][]wire.Value
}

// table is a Table of a Source: copied, checked and completed.
type table struct {
	wire.Table
	columns []wire.Column
	rows    [][]wire.Value
	places  map[string]int
	indexes [2][]func() *relation.Index // by numeric, then by field; built when first used
}

// maxRowFaults bounds the faulty rows that are named for one table.
const maxRowFaults = 10

// newTable copies and checks t. It returns every fault, each named by table, row
// and field.
func newTable(t Table) (*table, []error) {
	own := &table{Table: cloneTable(&t.Table), places: map[string]int{}}
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("table %q: "+format, append([]any{t.Name}, args...)...))
	}
	own.checkDescription(fault)
	own.copyRows(t.Rows, fault)
	if len(faults) > 0 {
		return own, faults // more checks would only repeat them
	}
	own.describe()
	own.columns = own.Table.Columns()
	own.makeIndexes()
	for _, err := range own.keyFaults() {
		fault("%w", err)
	}
	return own, faults
}

// checkDescription checks the names and types that the author gave.
func (t *table) checkDescription(fault func(format string, args ...any)) {
	if t.Name == "" || !utf8.ValidString(t.Name+t.SourceDescription) {
		fault("its name is empty, or it or the description is not valid UTF-8")
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Name == "" || !utf8.ValidString(f.Name+f.SourceColumn+f.SourceDescription) {
			fault("fields[%d]: its name is empty, or it, the source column or the description is not valid UTF-8", i)
		} else if _, taken := t.places[f.Name]; taken {
			fault("fields[%d]: another field is named %q", i, f.Name)
		}
		if f.Type != "" && !terms.IsType(f.Type) {
			fault("field %q: its type is not one of the protocol's nine", f.Name)
		}
		for _, v := range f.Samples {
			if v.Err() != nil {
				fault("field %q: a sample: %w", f.Name, v.Err())
			}
		}
		t.places[f.Name] = i
	}
	for i, name := range t.PrimaryKey {
		if slices.Contains(t.PrimaryKey[:i], name) {
			fault("primaryKey names field %q twice", name)
		}
	}
}

// copyRows copies the rows that have a valid cell for every field.
func (t *table) copyRows(rows [][]wire.Value, fault func(format string, args ...any)) {
	width := len(t.Fields)
	cells := make([]wire.Value, 0, width*len(rows))
	t.rows = make([][]wire.Value, 0, len(rows))
	bad := 0
	for n, row := range rows {
		var problem error
		if len(row) != width {
			problem = fmt.Errorf("has %d cells for %d fields", len(row), width)
		}
		for i, v := range row {
			if problem != nil || i >= width {
				break
			}
			if err := v.Err(); err != nil {
				problem = fmt.Errorf("field %q: %w", t.Fields[i].Name, err)
			} else if wrong := fit.Problem(v, t.Fields[i].Type); wrong != "" {
				problem = fmt.Errorf("field %q of type %s: the cell %s", t.Fields[i].Name, t.Fields[i].Type, wrong)
			}
		}
		if problem != nil {
			if bad++; bad <= maxRowFaults {
				fault("rows[%d]: %w", n, problem)
			}
			continue
		}
		at := len(cells)
		cells = append(cells, row...)
		t.rows = append(t.rows, cells[at:len(cells):len(cells)])
	}
	if bad > maxRowFaults {
		fault("%d more rows have faults", bad-maxRowFaults)
	}
}

// makeIndexes prepares an index of each field for keys that compare as text, and
// one for keys that compare as numbers.
func (t *table) makeIndexes() {
	for numeric := range t.indexes {
		for at := range t.Fields {
			t.indexes[numeric] = append(t.indexes[numeric], sync.OnceValue(func() *relation.Index {
				return relation.NewIndex(t.rows, at, numeric == 1)
			}))
		}
	}
}

// keyFaults returns the declared keys that the rows contradict.
func (t *table) keyFaults() (faults []error) {
	key := func(what string, names ...string) {
		var at []int
		for _, name := range names {
			i, ok := t.places[name]
			if !ok {
				faults = append(faults, fmt.Errorf("%s: there is no field %q", what, name))
				return
			}
			at = append(at, i)
		}
		primary := what == "primaryKey"
		seen := make(map[string]struct{}, len(t.rows))
		var k []byte
		for n, row := range t.rows {
			k = k[:0]
			null := false
			for _, i := range at {
				null = null || row[i].IsNull()
				k = filter.AppendKey(k, row[i], t.Fields[i].Type)
			}
			if null && primary {
				faults = append(faults, fmt.Errorf("%s: rows[%d] has a null in it", what, n))
				return
			}
			if null {
				continue // as in a database, several nulls are no duplicates
			}
			if _, known := seen[string(k)]; known {
				faults = append(faults, fmt.Errorf(
					"%s: rows[%d] repeats an earlier row's; a key that is not unique breaks joins", what, n))
				return
			}
			seen[string(k)] = struct{}{}
		}
	}
	if len(t.PrimaryKey) > 0 {
		key("primaryKey", t.PrimaryKey...)
	}
	for _, f := range t.Fields {
		if f.Unique {
			key(fmt.Sprintf("unique field %q", f.Name), f.Name)
		}
	}
	return faults
}

// linkFaults returns the foreign keys that lead nowhere.
func (t *table) linkFaults(tables map[string]*table) (faults []error) {
	for i, k := range t.ForeignKeys {
		if _, ok := t.places[k.Field]; !ok {
			faults = append(faults, fmt.Errorf("table %q: foreignKeys[%d]: there is no field %q", t.Name, i, k.Field))
		}
		target, ok := tables[k.TargetTable]
		if ok {
			_, ok = target.places[k.TargetField]
		}
		if !ok {
			faults = append(faults, fmt.Errorf("table %q: foreignKeys[%d]: there is no field %q in a table %q",
				t.Name, i, k.TargetField, k.TargetTable))
		}
	}
	return faults
}

// cloneTable copies a description and its slices.
func cloneTable(t *wire.Table) wire.Table {
	own := *t
	own.PrimaryKey = append([]string{}, t.PrimaryKey...)
	own.ForeignKeys = append([]wire.ForeignKey{}, t.ForeignKeys...)
	own.Fields = append([]wire.Field{}, t.Fields...)
	return own
}

// newMemory checks tables together.
func newMemory(tables []Table) (*memory, error) {
	byName := make(map[string]*table, len(tables))
	order := make([]*table, 0, len(tables))
	var faults []error
	for _, t := range tables {
		own, more := newTable(t)
		faults = append(faults, more...)
		if _, taken := byName[t.Name]; taken {
			faults = append(faults, fmt.Errorf("table %q: there are two of this name", t.Name))
		}
		byName[t.Name] = own
		order = append(order, own)
	}
	for _, t := range order {
		faults = append(faults, t.linkFaults(byName)...)
	}
	return &memory{byName, order}, errors.Join(faults...)
}
