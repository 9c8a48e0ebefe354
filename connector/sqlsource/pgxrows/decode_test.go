package pgxrows

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestDecoders makes the same cells as the column's Decode does of what the
// driver would return, in both formats.
func TestDecoders(t *testing.T) {
	at := time.Date(1969, 12, 31, 23, 59, 59, 999_000_000, time.UTC)
	kinds := []struct {
		data   string // the flavor's name of the type
		oid    uint32 // of what the cell's expression returns
		direct bool   // Decode is not called
		values []any
	}{
		{"int2", pgtype.Int2OID, true, []any{int16(-32768), int16(7)}},
		{"int4", pgtype.Int4OID, true, []any{int32(-1 << 31), int32(7)}},
		{"int8", pgtype.Int8OID, true, []any{int64(-1 << 63), int64(1<<53 + 1)}},
		{"float8", pgtype.Float8OID, true, []any{0.1, -1e300, 5e-324}},
		{"bool", pgtype.BoolOID, true, []any{true, false}},
		{"date", pgtype.DateOID, true, []any{at, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}},
		{"timestamp", pgtype.TimestampOID, true, []any{at, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"text", pgtype.TextOID, true, []any{"", "ä", "a\nb"}},
		{"numeric", pgtype.TextOID, true, []any{"1.50", "-0.1"}},
		{"json", pgtype.TextOID, true, []any{`{"a": [1, 2]}`}},
		{"interval", pgtype.VarcharOID, true, []any{"1 day"}},
		{"int4", pgtype.TextOID, false, []any{"7"}}, // another type than the column's is left to Decode
		{"text", pgtype.ByteaOID, false, []any{[]byte("a")}},
		{"timestamp", pgtype.TimestamptzOID, false, []any{at}},
	}
	types := pgtype.NewMap()
	for _, k := range kinds {
		c := sqlsource.PostgreSQL().Column("t.c", sqlengine.CatalogColumn{DataType: k.data, Precision: 3, Scale: -1})
		c.Precision = 3
		own := c.Decoder()
		called := false
		c.Decode = func(driver any) (wire.Value, error) {
			called = true
			return own(driver)
		}
		for _, value := range k.values {
			for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
				name := fmt.Sprintf("%s of %d in format %d: %v", k.data, k.oid, format, value)
				raw, err := types.Encode(k.oid, format, value, []byte{})
				if err != nil {
					t.Fatal(name, err)
				}
				known, _ := types.TypeForOID(k.oid)
				driver, err := known.Codec.DecodeDatabaseSQLValue(types, k.oid, format, raw)
				if err != nil {
					t.Fatal(name, err)
				}
				want, err := own(driver)
				if err != nil {
					t.Fatal(name, err)
				}
				called = false
				r := &row{values: make([]wire.Value, 1), ends: make([]int, 1)}
				r.decode = []decoder{decoderOf(types, pgconn.FieldDescription{DataTypeOID: k.oid, Format: format}, &c)}
				got, err := r.read([][]byte{raw})
				if err != nil || got[0] != want {
					t.Errorf("%s: the cell is %s, expected %s (%v)", name, got[0], want, err)
				}
				if direct := k.direct && (format == pgtype.BinaryFormatCode || r.decode[0].text != nil); called == direct {
					t.Errorf("%s: Decode was called: %t", name, called)
				}
			}
		}
	}
}
