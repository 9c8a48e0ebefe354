package duckdb

import (
	"fmt"
	"math/big"
	"strconv"
	"time"
	"unsafe"

	"github.com/duckdb/duckdb-go/mapping"
	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// reader makes rows of the engine's chunks of columns, which lie in its memory.
type reader struct {
	columns []vector
	cells   []wire.Value // of a block, row by row
	kept    []byte       // texts of many cells; what is written stays
}

// vector is a column of a chunk. Its cells are those that the column's Decode would make.
type vector struct {
	read readCells // nil: its cells are not wanted
	data unsafe.Pointer
	mask unsafe.Pointer // of the rows that have a value; nil: all of them
}

// readCells makes the cells of some rows from a column's data.
type readCells func(data unsafe.Pointer, to cells) error

// blockRows is how many rows are read before they are yielded: few enough that their
// cells are still in the processor's cache.
const blockRows = 256

func newReader(result *mapping.Result, columns []*sqlengine.Column) *reader {
	r := &reader{columns: make([]vector, len(columns)), cells: make([]wire.Value, blockRows*len(columns))}
	for i, c := range columns {
		if c == nil {
			continue
		}
		t := mapping.ColumnLogicalType(result, mapping.IdxT(i))
		r.columns[i].read = r.columnReader(t, c)
		mapping.DestroyLogicalType(&t)
	}
	return r
}

// read yields the rows of a chunk, and reports whether more are wanted.
func (r *reader) read(chunk mapping.DataChunk, yield func([]wire.Value, error) bool) (more bool, err error) {
	size, width := int(mapping.DataChunkGetSize(chunk)), len(r.columns)
	for i := range r.columns {
		vec := mapping.DataChunkGetVector(chunk, mapping.IdxT(i))
		r.columns[i].data, r.columns[i].mask = mapping.VectorGetData(vec), mapping.VectorGetValidity(vec)
	}
	for first := 0; first < size; first += blockRows {
		last := min(first+blockRows, size)
		for i, v := range r.columns {
			if v.read == nil {
				continue
			}
			if err := v.read(v.data, cells{r.cells[i:], width, first, last, v.mask}); err != nil {
				return false, fmt.Errorf("duckdb: column %d: %w", i+1, err)
			}
		}
		for row := range last - first {
			if !yield(r.cells[row*width:(row+1)*width:(row+1)*width], nil) {
				return false, nil
			}
		}
	}
	return true, nil
}

// cells are where those of one column go, for some rows of a chunk.
type cells struct {
	to          []wire.Value // every width-th belongs to the column
	width       int
	first, last int            // of the chunk's rows; last is the one behind them. Others count from first
	mask        unsafe.Pointer // of the rows that have a value; nil: all of them
}

// isNull reports whether a row has no value, and then makes its cell.
func (c *cells) isNull(row int) bool {
	if at := c.first + row; c.mask == nil || *(*uint64)(unsafe.Add(c.mask, at/64*8))>>(at%64)&1 == 1 {
		return false
	}
	c.set(row, wire.Value{})
	return true
}

func (c *cells) set(row int, v wire.Value) { c.to[row*c.width] = v }

// columnReader returns what reads the values of a type.
func (r *reader) columnReader(t mapping.LogicalType, c *sqlengine.Column) readCells {
	switch mapping.GetTypeId(t) {
	case mapping.TypeBoolean:
		return native(c, wire.TypeBoolean, wire.Bool, same)
	case mapping.TypeTinyInt:
		return native(c, wire.TypeNumber, whole[int8], same)
	case mapping.TypeSmallInt:
		return native(c, wire.TypeNumber, whole[int16], same)
	case mapping.TypeInteger:
		return native(c, wire.TypeNumber, whole[int32], same)
	case mapping.TypeBigInt:
		return native(c, wire.TypeNumber, wire.Int, same)
	case mapping.TypeUTinyInt:
		return native(c, wire.TypeNumber, whole[uint8], same)
	case mapping.TypeUSmallInt:
		return native(c, wire.TypeNumber, whole[uint16], same)
	case mapping.TypeUInteger:
		return native(c, wire.TypeNumber, whole[uint32], same)
	case mapping.TypeUBigInt:
		return native(c, wire.TypeNumber, wire.Uint, same)
	case mapping.TypeHugeInt:
		return native(c, wire.TypeNumber, hugeint.cell, func(n hugeint) any { return n.integer() })
	case mapping.TypeDouble:
		if c.Single {
			return native(c, wire.TypeNumber, func(f float64) wire.Value { return wire.Float32(float32(f)) }, same)
		}
		return native(c, wire.TypeNumber, wire.Float, same)
	case mapping.TypeDate:
		return native(c, wire.TypeDate, newDays(), func(day int32) any { return dayTime(day) })
	case mapping.TypeTimestamp:
		return moments(c, time.UnixMicro)
	case mapping.TypeTimestampNS:
		return moments(c, func(n int64) time.Time { return time.Unix(0, n) })
	case mapping.TypeVarchar:
		return r.texts(c)
	case mapping.TypeDecimal:
		return r.decimalReader(t, c)
	}
	kind := mapping.GetTypeId(t)
	return func(unsafe.Pointer, cells) error {
		return fmt.Errorf("the engine returned values of its type %d, which no column is read as", kind)
	}
}

// native returns what makes cells of values of a type that lie one behind the other. A
// column that the host asks for as another type is read by its Decode, which takes what
// the driver would return.
func native[T any](c *sqlengine.Column, usual wire.Type, cell func(T) wire.Value, driver func(T) any) readCells {
	if c.Type != usual {
		return decoded(c, func(data unsafe.Pointer, row int) any { return driver(unsafe.Slice((*T)(data), row+1)[row]) })
	}
	return func(data unsafe.Pointer, to cells) error {
		for row, value := range unsafe.Slice((*T)(data), to.last)[to.first:] {
			if !to.isNull(row) {
				to.set(row, cell(value))
			}
		}
		return nil
	}
}

// decoded returns what makes cells of a column by its Decode.
func decoded(c *sqlengine.Column, driver func(data unsafe.Pointer, row int) any) readCells {
	return func(data unsafe.Pointer, to cells) error {
		for row := range to.last - to.first {
			if to.isNull(row) {
				continue
			}
			cell, err := c.Decode(driver(data, to.first+row))
			if err != nil {
				return err
			}
			to.set(row, cell)
		}
		return nil
	}
}

func same[T any](value T) any { return value }

func whole[T int8 | int16 | int32 | uint8 | uint16 | uint32](n T) wire.Value {
	return wire.Int(int64(n))
}

func dayTime(day int32) time.Time { return time.Unix(int64(day)*24*3600, 0).UTC() }

// newDays returns what makes cells of days. It keeps some, because rows often repeat
// them.
func newDays() func(int32) wire.Value {
	type kept struct {
		day  int32
		cell wire.Value
	}
	var some [1024]kept
	return func(day int32) wire.Value {
		k := &some[uint32(day)%uint32(len(some))]
		if k.day != day || k.cell.IsNull() {
			*k = kept{day, wire.Date(dayTime(day))}
		}
		return k.cell
	}
}

// moments returns what makes cells of instants.
func moments(c *sqlengine.Column, at func(int64) time.Time) readCells {
	return native(c, wire.TypeDatetime,
		func(n int64) wire.Value { return wire.DatetimeWidth(at(n).UTC(), c.Precision) },
		func(n int64) any { return at(n).UTC() })
}

// hugeint is an integer of 128 bits.
type hugeint struct {
	low  uint64
	high int64
}

func (n hugeint) integer() *big.Int {
	value := new(big.Int).Lsh(big.NewInt(n.high), 64)
	return value.Add(value, new(big.Int).SetUint64(n.low))
}

func (n hugeint) cell() wire.Value {
	if small := int64(n.low); n.high == small>>63 {
		return wire.Int(small)
	}
	return integer(n.integer())
}

// varchar is a text of the engine's: up to 12 bytes lie behind their length, others where
// a pointer leads.
type varchar struct {
	length uint32
	prefix [4]byte
	data   unsafe.Pointer
}

func (t *varchar) bytes() []byte {
	const inline = 12
	if t.length <= inline {
		return unsafe.Slice(&t.prefix[0], t.length)
	}
	return unsafe.Slice((*byte)(t.data), t.length)
}

// texts returns what reads texts.
func (r *reader) texts(c *sqlengine.Column) readCells {
	if c.Class != sqlengine.ClassText || c.Type != wire.TypeString && c.Type != wire.TypeReference {
		return decoded(c, func(data unsafe.Pointer, row int) any {
			return r.keep(unsafe.Slice((*varchar)(data), row+1)[row].bytes())
		})
	}
	return func(data unsafe.Pointer, to cells) error {
		list := unsafe.Slice((*varchar)(data), to.last)[to.first:]
		for row := range list {
			if !to.isNull(row) {
				to.set(row, wire.Text(r.keep(list[row].bytes())))
			}
		}
		return nil
	}
}

// room is the memory that many texts share, and the most that one may take of it.
const (
	room    = 64 << 10
	maxKept = room / 4
)

// reserve begins a new piece of memory if a text of so many bytes does not fit.
func (r *reader) reserve(size int) {
	if size > cap(r.kept)-len(r.kept) {
		r.kept = make([]byte, 0, room)
	}
}

// keep returns a copy of a text of the engine's.
func (r *reader) keep(b []byte) string {
	if len(b) > maxKept {
		return string(b)
	}
	r.reserve(len(b))
	return r.keepRest(append(r.kept, b...))
}

// keepRest keeps what was appended to the texts that are kept, and returns it.
func (r *reader) keepRest(kept []byte) string {
	rest := kept[len(r.kept):]
	r.kept = kept
	return unsafe.String(unsafe.SliceData(rest), len(rest))
}

// decimalReader returns what reads decimals, which are integers of as many bits as the
// digits need.
func (r *reader) decimalReader(t mapping.LogicalType, c *sqlengine.Column) readCells {
	scale := int(mapping.DecimalScale(t))
	switch mapping.DecimalInternalType(t) {
	case mapping.TypeSmallInt:
		return decimals[int16](r, c, scale)
	case mapping.TypeInteger:
		return decimals[int32](r, c, scale)
	case mapping.TypeBigInt:
		return decimals[int64](r, c, scale)
	}
	return native(c, wire.TypeDecimal,
		func(n hugeint) wire.Value { return scaled(n.integer(), scale) },
		func(n hugeint) any { return driver.Decimal{Scale: uint8(scale), Value: n.integer()} })
}

// maxDigits is the length of the longest text of a decimal of 64 bits.
const maxDigits = 24

func decimals[T int16 | int32 | int64](r *reader, c *sqlengine.Column, scale int) readCells {
	return native(c, wire.TypeDecimal,
		func(n T) wire.Value {
			r.reserve(maxDigits)
			return wire.Decimal(r.keepRest(appendScaled(r.kept, int64(n), scale)))
		},
		func(n T) any { return driver.Decimal{Scale: uint8(scale), Value: big.NewInt(int64(n))} })
}

// appendScaled appends the digits of n / 10^scale.
func appendScaled(b []byte, n int64, scale int) []byte {
	magnitude := uint64(n)
	if n < 0 {
		b, magnitude = append(b, '-'), -magnitude
	}
	unit := powers[scale]
	b = strconv.AppendUint(b, magnitude/unit, 10)
	if scale == 0 {
		return b
	}
	// A one before the fraction keeps its zeros. The dot takes its place.
	dot := len(b)
	b = strconv.AppendUint(b, unit+magnitude%unit, 10)
	b[dot] = '.'
	return b
}

// powers are the powers of ten of the scales that a decimal of 64 bits may have.
var powers = func() (list [narrowDecimal + 1]uint64) {
	list[0] = 1
	for i := range list[1:] {
		list[i+1] = list[i] * 10
	}
	return list
}()
