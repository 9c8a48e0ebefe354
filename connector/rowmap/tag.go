package rowmap

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// structReader reads the fields of a struct type, and of those that it embeds.
type structReader struct {
	table   *wire.Table
	columns []structColumn
	paths   []string // of the columns in Go, such as Order.Customer.Name
	faults  []error
	within  []reflect.Type // the structs that are being read
}

func (r *structReader) fault(path, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s: %w", path, fmt.Errorf(format, args...)))
}

// read adds the fields of t, which is reached by hops from the row's struct.
func (r *structReader) read(t reflect.Type, path string, hops []uintptr) {
	if slices.Contains(r.within, t) {
		r.fault(path, "embeds itself; give it a tag connector:\"-\"")
		return
	}
	r.within = append(r.within, t)
	defer func() { r.within = r.within[:len(r.within)-1] }()
	for i := range t.NumField() {
		f := t.Field(i)
		at := slices.Clone(hops)
		at[len(at)-1] += f.Offset
		own := path + "." + f.Name
		tag, tagged := f.Tag.Lookup("connector")
		if f.Name == "_" {
			if text := f.Tag.Get("description"); text != "" && len(r.within) == 1 {
				r.table.SourceDescription = text
			}
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		jsonName, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		noJSON := f.Tag.Get("json") == "-" // whereas json:"-," is the name -
		if tag == "-" || !tagged && noJSON {
			continue
		}
		if noJSON {
			jsonName = ""
		}
		if embedded := f.Type; f.Anonymous && name == "" && jsonName == "" {
			nullable := embedded.Kind() == reflect.Pointer
			if nullable {
				embedded = embedded.Elem()
			}
			if embedded.Kind() == reflect.Struct && !isScalar(embedded) {
				first := len(r.table.Fields)
				if nullable {
					at = append(at, 0)
				}
				r.read(embedded, own, at)
				for j := first; nullable && j < len(r.table.Fields); j++ {
					r.table.Fields[j].Nullable = true
				}
				continue
			}
		}
		if !f.IsExported() {
			if tagged {
				r.fault(own, "is not exported, so it cannot be read; export it or remove its tag")
			}
			continue
		}
		if name == "" {
			name = jsonName
		}
		if name == "" {
			name = f.Name
		}
		r.add(f, own, name, options, at)
	}
}

// add adds one column.
func (r *structReader) add(f reflect.StructField, path, name, options string, hops []uintptr) {
	field := wire.Field{Name: name, SourceDescription: f.Tag.Get("description")}
	if taken := slices.IndexFunc(r.table.Fields, func(f wire.Field) bool { return f.Name == name }); taken >= 0 {
		r.fault(path, "its column is named %q, as that of %s is", name, r.paths[taken])
	}
	o := r.options(&field, path, options)
	cell, err := o.cellOf(f.Type)
	if err != nil {
		r.fault(path, "%w", err)
	}
	if o.omitZero {
		inner := cell
		o.nullable = true
		cell = func(p unsafe.Pointer) wire.Value {
			if isZero(reflect.NewAt(f.Type, p)) {
				return wire.Null()
			}
			return inner(p)
		}
	}
	field.Type, field.Nullable = o.typ, o.nullable
	r.table.Fields = append(r.table.Fields, field)
	r.columns = append(r.columns, structColumn{hops, cell})
	r.paths = append(r.paths, path)
}

// isZero reports whether p points to a zero value, as encoding/json has it: a type's
// own IsZero decides.
func isZero(p reflect.Value) bool {
	if v, ok := p.Interface().(interface{ IsZero() bool }); ok {
		return v.IsZero()
	}
	return p.Elem().IsZero()
}

// tagOptions lists the options of a tag, for the person who has written another.
const tagOptions = "a type (string, number, decimal, boolean, date, datetime, json, array, reference), " +
	"pk, unique, omitzero, fk=TABLE.FIELD, scale=N, width=N"

// options reads the options of a tag. Keys go to the table and the field.
func (r *structReader) options(field *wire.Field, path, text string) *cellOptions {
	o := &cellOptions{scale: -1, width: -1}
	for option := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(option, "=")
		n, err := strconv.Atoi(value)
		switch {
		case text == "": // no option
		case terms.IsType(wire.Type(option)):
			if o.typ != "" {
				r.fault(path, "its tag has two types")
			}
			o.typ = wire.Type(option)
		case option == "pk":
			r.table.PrimaryKey = append(r.table.PrimaryKey, field.Name)
		case option == "unique":
			field.Unique = true
		case option == "omitzero":
			o.omitZero = true
		case key == "fk":
			dot := strings.LastIndexByte(value, '.')
			if dot <= 0 || dot == len(value)-1 {
				r.fault(path, "fk needs a table and a field, such as fk=customers.id")
				continue
			}
			r.table.ForeignKeys = append(r.table.ForeignKeys,
				wire.ForeignKey{Field: field.Name, TargetTable: value[:dot], TargetField: value[dot+1:]})
		case key == "scale":
			if o.scale = n; err != nil || n < 0 || n > maxScale {
				r.fault(path, "scale must be 0 to %d", maxScale)
			}
		case key == "width":
			if o.width = n; err != nil || !slices.Contains([]int{0, 3, 6, 9}, n) {
				r.fault(path, "width must be 0, 3, 6 or 9")
			}
		default:
			r.fault(path, "its tag has the unknown option %q; the options are %s", option, tagOptions)
		}
	}
	return o
}
