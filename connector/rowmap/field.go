package rowmap

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// cellFunc returns the cell of the field of a struct at p. Package reflect would do
// without pointers, and take five times as long as code that is written by hand.
type cellFunc func(p unsafe.Pointer) wire.Value

// reflected returns the function for types that only package reflect knows.
func reflected(t reflect.Type, cell func(v reflect.Value) wire.Value) cellFunc {
	return func(p unsafe.Pointer) wire.Value { return cell(reflect.NewAt(t, p).Elem()) }
}

// orInvalid returns a cell that fails its row in the place of an error.
func orInvalid(v wire.Value, err error) wire.Value {
	if err != nil {
		return wire.Invalid(err.Error())
	}
	return v
}

// at returns the function for the values of one type of Go.
func at[V any](cell func(v V) wire.Value) cellFunc {
	return func(p unsafe.Pointer) wire.Value { return cell(*(*V)(p)) }
}

// cellOptions are the options of a field, and what its type has made of them.
type cellOptions struct {
	typ          wire.Type
	scale, width int // -1: not stated
	omitZero     bool
	nullable     bool
	within       []reflect.Type // the pointers that led to the type at hand
}

// maxScale limits the digits behind the dot that a tag can ask for.
const maxScale = 100

var (
	typeValue       = reflect.TypeFor[wire.Value]()
	typeDecimal     = reflect.TypeFor[decimal.Decimal]()
	typeNullDecimal = reflect.TypeFor[decimal.NullDecimal]()
	typeTime        = reflect.TypeFor[time.Time]()
	typeNumber      = reflect.TypeFor[json.Number]()
	typeRaw         = reflect.TypeFor[json.RawMessage]()
	typeTexter      = reflect.TypeFor[encoding.TextMarshaler]()
	typeJSONer      = reflect.TypeFor[json.Marshaler]()
)

// isScalar reports whether a struct type is one value, and not a group of fields.
func isScalar(t reflect.Type) bool {
	return t == typeValue || isNull(t) || isTexter(t) // times and decimals have MarshalText
}

// isNull reports whether t is sql.Null, sql.NullString or one of their like: a
// value, and whether it is valid.
func isNull(t reflect.Type) bool {
	return t.PkgPath() == "database/sql" && strings.HasPrefix(t.Name(), "Null") && t.Kind() == reflect.Struct &&
		t.NumField() == 2 && t.Field(1).Name == "Valid"
}

// isTexter reports whether t has MarshalText. An interface never has: what matters
// are the methods of a pointer to t.
func isTexter(t reflect.Type) bool { return reflect.PointerTo(t).Implements(typeTexter) }

// hasOwnJSON reports whether a method of t says what encoding/json makes of it.
func hasOwnJSON(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(typeJSONer) || isTexter(t)
}

// cellOf returns the function that makes the cells of a type of Go. It sets the
// column's type if the tag states none.
func (o *cellOptions) cellOf(t reflect.Type) (cellFunc, error) {
	switch {
	case slices.Contains(o.within, t):
		return nil, noValue(t)
	case t.Kind() == reflect.Pointer:
		o.within = append(o.within, t)
		inner, err := o.cellOf(t.Elem())
		o.nullable = true
		return func(p unsafe.Pointer) wire.Value {
			if p = *(*unsafe.Pointer)(p); p == nil {
				return wire.Null()
			}
			return inner(p)
		}, err
	case isNull(t), t == typeNullDecimal:
		inner, err := o.cellOf(t.Field(0).Type)
		o.nullable = true
		valid := t.Field(1).Offset // the value is the first field
		return func(p unsafe.Pointer) wire.Value {
			if !*(*bool)(unsafe.Add(p, valid)) {
				return wire.Null()
			}
			return inner(p)
		}, err
	}
	cell, err := o.valueOf(t)
	if err == nil && o.scale >= 0 && t != typeDecimal {
		err = errors.New("scale is for decimal.Decimal alone")
	}
	if err == nil && o.width >= 0 && (t != typeTime || o.typ != wire.TypeDatetime) {
		err = errors.New("width is for a time.Time of type datetime alone")
	}
	return cell, err
}

// valueOf returns the cell function of a type that is not null by itself.
func (o *cellOptions) valueOf(t reflect.Type) (cellFunc, error) {
	switch t {
	case typeValue:
		if o.typ == "" {
			return nil, errors.New("a wire.Value needs the column's type in the tag, such as connector:\"name,string\"")
		}
		o.nullable = true
		return at(func(v wire.Value) wire.Value { return v }), nil
	case typeDecimal:
		return o.decimal, o.allow(t, wire.TypeDecimal, wire.TypeNumber, wire.TypeString, wire.TypeReference)
	case typeTime:
		if o.typ != wire.TypeDate && o.typ != wire.TypeDatetime {
			return nil, errors.New("a time.Time needs the type date or datetime in the tag, such as connector:\"created,datetime\"")
		}
		return o.time(), nil
	case typeNumber:
		typ := o.typ
		if typ == "" {
			typ = wire.TypeNumber
		}
		return func(p unsafe.Pointer) wire.Value { return orInvalid(cell(*(*json.Number)(p), typ)) },
			o.allow(t, wire.TypeNumber, wire.TypeDecimal, wire.TypeString, wire.TypeReference)
	case typeRaw:
		o.nullable = true
		return at(func(v json.RawMessage) wire.Value {
			if v == nil {
				return wire.Null()
			}
			return wire.JSON(string(v))
		}), o.allow(t, wire.TypeJSON, wire.TypeArray)
	}
	if isTexter(t) && o.typ != wire.TypeJSON && o.typ != wire.TypeArray {
		return reflected(t, o.texter), o.allow(t, wire.TypeString, wire.TypeReference, wire.TypeDecimal)
	}
	return o.kindOf(t)
}

// kindOf returns the cell function of a type that is known by its kind alone.
func (o *cellOptions) kindOf(t reflect.Type) (cellFunc, error) {
	switch t.Kind() {
	case reflect.String:
		err := o.allow(t, wire.TypeString, wire.TypeReference, wire.TypeDecimal, wire.TypeJSON, wire.TypeArray, wire.TypeDate,
			wire.TypeDatetime)
		return o.text(), err
	case reflect.Bool:
		err := o.allow(t, wire.TypeBoolean, wire.TypeString)
		if o.typ == wire.TypeString {
			return at(func(v bool) wire.Value { return wire.Text(strconv.FormatBool(v)) }), err
		}
		return func(p unsafe.Pointer) wire.Value { return wire.Bool(*(*bool)(p)) }, err
	case reflect.Int:
		return integer[int](o, t)
	case reflect.Int8:
		return integer[int8](o, t)
	case reflect.Int16:
		return integer[int16](o, t)
	case reflect.Int32:
		return integer[int32](o, t)
	case reflect.Int64:
		return integer[int64](o, t)
	case reflect.Uint:
		return integer[uint](o, t)
	case reflect.Uint8:
		return integer[uint8](o, t)
	case reflect.Uint16:
		return integer[uint16](o, t)
	case reflect.Uint32:
		return integer[uint32](o, t)
	case reflect.Uint64:
		return integer[uint64](o, t)
	case reflect.Float64:
		return func(p unsafe.Pointer) wire.Value { return wire.Float(*(*float64)(p)) }, o.allow(t, wire.TypeNumber)
	case reflect.Float32:
		return func(p unsafe.Pointer) wire.Value {
			return orInvalid(floatCell(float64(*(*float32)(p)), 32, wire.TypeNumber))
		}, o.allow(t, wire.TypeNumber)
	case reflect.Slice, reflect.Array:
		o.nullable = t.Kind() == reflect.Slice
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !hasOwnJSON(t.Elem()) {
			return at(func(v []byte) wire.Value {
				if v == nil {
					return wire.Null()
				}
				return wire.Bytes(v)
			}), o.allow(t, wire.TypeString)
		}
		return reflected(t, nested), errors.Join(o.allow(t, wire.TypeArray, wire.TypeJSON), encodable(t.Elem(), nil))
	case reflect.Map, reflect.Struct:
		o.nullable = t.Kind() == reflect.Map
		return reflected(t, nested), errors.Join(o.allow(t, wire.TypeJSON), encodable(t, nil))
	}
	return nil, noValue(t)
}

func noValue(t reflect.Type) error {
	return fmt.Errorf("the type %s is no value of a column; convert it, or give it a tag connector:\"-\"", t)
}

// allow sets the default type, the first one, or reports that the stated one does
// not fit.
func (o *cellOptions) allow(t reflect.Type, types ...wire.Type) error {
	if o.typ == "" {
		o.typ = types[0]
	}
	if slices.Contains(types, o.typ) {
		return nil
	}
	return fmt.Errorf("a %s does not fit a column of type %s; the types that fit are %s", t, o.typ,
		strings.Trim(fmt.Sprint(types), "[]"))
}

func integer[V int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64](
	o *cellOptions, t reflect.Type,
) (cellFunc, error) {
	err := o.allow(t, wire.TypeNumber, wire.TypeDecimal, wire.TypeString, wire.TypeReference)
	switch o.typ {
	case wire.TypeNumber:
		return func(p unsafe.Pointer) wire.Value {
			v := *(*V)(p)
			if v < 0 {
				return wire.Int(int64(v))
			}
			return wire.Uint(uint64(v))
		}, err
	case wire.TypeDecimal:
		return at(func(v V) wire.Value { return wire.Decimal(fmt.Sprint(v)) }), err
	}
	return at(func(v V) wire.Value { return wire.Text(fmt.Sprint(v)) }), err
}

func (o *cellOptions) text() cellFunc {
	switch o.typ {
	case wire.TypeString, wire.TypeReference:
		return func(p unsafe.Pointer) wire.Value { return wire.Text(*(*string)(p)) }
	case wire.TypeDecimal:
		return at(wire.Decimal)
	case wire.TypeJSON, wire.TypeArray:
		return at(wire.JSON)
	}
	return at(func(s string) wire.Value { return textCell(s, o.typ) })
}

// texter returns the cell of a type with MarshalText.
func (o *cellOptions) texter(v reflect.Value) wire.Value {
	text, err := v.Addr().Interface().(encoding.TextMarshaler).MarshalText()
	switch {
	case err != nil:
		return wire.Invalid("its MarshalText fails") // the error may quote the value
	case o.typ == wire.TypeDecimal:
		return wire.Decimal(string(text))
	}
	return wire.Text(string(text))
}

func (o *cellOptions) time() cellFunc {
	switch {
	case o.typ == wire.TypeDate:
		return at(wire.Date)
	case o.width >= 0:
		return at(func(t time.Time) wire.Value { return wire.DatetimeWidth(t, o.width) })
	}
	return at(wire.Datetime)
}

func (o *cellOptions) decimal(p unsafe.Pointer) wire.Value {
	d := *(*decimal.Decimal)(p)
	if o.scale < 0 {
		return orInvalid(decimalCell(d, o.typ))
	}
	digits, ok := decimalDigits(d)
	if ok {
		digits, ok = withScale(digits, o.scale)
	}
	switch {
	case !ok:
		return wire.Invalid(fmt.Sprintf("a decimal is out of range, or has more digits than the scale of %d", o.scale))
	case o.typ == wire.TypeNumber:
		return orInvalid(cell(json.Number(digits), o.typ))
	case o.typ != wire.TypeDecimal:
		return wire.Text(digits)
	}
	return wire.Decimal(digits)
}

// withScale returns plain decimal text with so many digits behind the dot. It
// reports false if that cuts off a digit other than 0.
func withScale(digits string, scale int) (string, bool) {
	dot := strings.IndexByte(digits, '.')
	if dot < 0 {
		dot = len(digits)
		if scale == 0 {
			return digits, true
		}
		digits += "."
	}
	end := dot + 1 + scale
	if len(digits) <= end {
		return digits + strings.Repeat("0", end-len(digits)), true
	}
	if strings.Trim(digits[end:], "0") != "" {
		return "", false
	}
	if scale == 0 {
		end = dot
	}
	return digits[:end], true
}

// nested returns the cell of a slice, a map or a struct: JSON text. Nil is null.
func nested(v reflect.Value) wire.Value {
	if k := v.Kind(); (k == reflect.Slice || k == reflect.Map) && v.IsNil() {
		return wire.Null()
	}
	return orInvalid(nestedCell(v.Addr().Interface()))
}

// encodable returns an error if encoding/json cannot encode values of the type.
func encodable(t reflect.Type, within []reflect.Type) error {
	if slices.Contains(within, t) || hasOwnJSON(t) {
		return nil
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("holds the type %s, which JSON cannot encode", t)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return encodable(t.Elem(), within)
	case reflect.Map:
		switch k := t.Key().Kind(); {
		case k != reflect.String && (k < reflect.Int || k > reflect.Uintptr) && !t.Key().Implements(typeTexter):
			return fmt.Errorf("has map keys of type %s, which JSON cannot encode", t.Key())
		}
		return encodable(t.Elem(), within)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !isEncoded(&f) {
				continue
			}
			if err := encodable(f.Type, within); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// isEncoded reports whether encoding/json may encode the field of a struct.
func isEncoded(f *reflect.StructField) bool {
	return (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-"
}
