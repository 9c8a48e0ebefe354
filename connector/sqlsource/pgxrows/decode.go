package pgxrows

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// decoder makes a cell of what the server sent: of a text, or of bytes.
type decoder struct {
	text func(string) wire.Value
	raw  func([]byte) (wire.Value, error)
}

// decoderOf returns the decoder of a column. It makes the cells that the column's
// Decode would make; a form that it does not know, it leaves to Decode.
func decoderOf(types *pgtype.Map, field pgconn.FieldDescription, c *sqlengine.Column) decoder {
	if c == nil {
		return decoder{raw: func([]byte) (wire.Value, error) { return wire.Null(), nil }}
	}
	if text := textDecoder(field.DataTypeOID, c); text != nil {
		return decoder{text: text}
	}
	if field.Format == pgtype.BinaryFormatCode {
		if raw := binaryDecoder(field.DataTypeOID, c); raw != nil {
			return decoder{raw: raw}
		}
	}
	return decoder{raw: func(raw []byte) (wire.Value, error) {
		value := any(string(raw))
		if known, ok := types.TypeForOID(field.DataTypeOID); ok {
			var err error
			if value, err = known.Codec.DecodeDatabaseSQLValue(types, field.DataTypeOID, field.Format, raw); err != nil {
				return c.Decode(err) // which no decoder reads: its error names the column
			}
		}
		return c.Decode(value)
	}}
}

// textDecoder returns a decoder of texts, whose two formats are the same; nil for
// other columns.
func textDecoder(oid uint32, c *sqlengine.Column) func(string) wire.Value {
	if oid != pgtype.TextOID && oid != pgtype.VarcharOID {
		return nil
	}
	switch {
	case c.Class == sqlengine.ClassText && (c.Type == wire.TypeString || c.Type == wire.TypeReference):
		return wire.Text
	case c.Class == sqlengine.ClassDecimal && c.Type == wire.TypeDecimal:
		return wire.Decimal
	case c.Class == sqlengine.ClassOpaque && (c.Type == wire.TypeJSON || c.Type == wire.TypeArray):
		return wire.JSON
	}
	return nil
}

// The instants of PostgreSQL count from the year 2000. Their infinities are not
// read: they are null on the wire.
const (
	daysTo2000         = 10957 // from 1970
	microsecondsTo2000 = daysTo2000 * 24 * 3600 * 1_000_000
)

// binaryDecoder returns a decoder of a column in PostgreSQL's binary format; nil
// for types that are read as text.
func binaryDecoder(oid uint32, c *sqlengine.Column) func([]byte) (wire.Value, error) {
	integer := c.Class == sqlengine.ClassInteger && c.Type == wire.TypeNumber
	float := c.Class == sqlengine.ClassFloat && c.Type == wire.TypeNumber
	switch {
	case oid == pgtype.Int8OID && integer:
		return sized(8, func(b []byte) wire.Value { return wire.Int(int64(binary.BigEndian.Uint64(b))) })
	case oid == pgtype.Int4OID && integer:
		return sized(4, func(b []byte) wire.Value { return wire.Int(int64(int32(binary.BigEndian.Uint32(b)))) })
	case oid == pgtype.Int2OID && integer:
		return sized(2, func(b []byte) wire.Value { return wire.Int(int64(int16(binary.BigEndian.Uint16(b)))) })
	case oid == pgtype.Float8OID && float && c.Single:
		return sized(8, func(b []byte) wire.Value {
			return wire.Float32(float32(math.Float64frombits(binary.BigEndian.Uint64(b))))
		})
	case oid == pgtype.Float8OID && float:
		return sized(8, func(b []byte) wire.Value { return wire.Float(math.Float64frombits(binary.BigEndian.Uint64(b))) })
	case oid == pgtype.BoolOID && c.Class == sqlengine.ClassBoolean && c.Type == wire.TypeBoolean:
		return sized(1, func(b []byte) wire.Value { return wire.Bool(b[0] != 0) })
	case oid == pgtype.DateOID && c.Class == sqlengine.ClassDate && c.Type == wire.TypeDate:
		return sized(4, func(b []byte) wire.Value {
			days := int64(int32(binary.BigEndian.Uint32(b))) + daysTo2000
			return wire.Date(time.Unix(days*24*3600, 0).UTC())
		})
	case oid == pgtype.TimestampOID && c.Class == sqlengine.ClassDatetime && c.Type == wire.TypeDatetime:
		digits := (c.Precision + 2) / 3 * 3
		return sized(8, func(b []byte) wire.Value {
			at := int64(binary.BigEndian.Uint64(b)) + microsecondsTo2000
			return wire.DatetimeWidth(time.UnixMicro(at).UTC(), digits)
		})
	}
	return nil
}

// sized returns a decoder of values of so many bytes.
func sized(size int, decode func([]byte) wire.Value) func([]byte) (wire.Value, error) {
	return func(raw []byte) (wire.Value, error) {
		if len(raw) != size {
			return wire.Null(), errors.New("the server sent a value of another size than its type has")
		}
		return decode(raw), nil
	}
}
