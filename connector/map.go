package connector

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Map offers one row given as decoded JSON: each column's cell is found by its
// name and spelled as the column's type asks. Missing members are null, others
// are ignored. It is a comfort for sources that are themselves JSON APIs; Row
// is several times faster.
//
// Decode upstream answers with json.Decoder.UseNumber: a float64 has already
// lost the digits of a large number.
func (w *RowWriter) Map(row map[string]any) error {
	values := make([]wire.Value, len(w.columns))
	for i, c := range w.columns {
		v, err := cell(row[c.Name], c.Type)
		if err != nil {
			w.rows.stop(cause(fmt.Sprintf("column %s: %v", quote(c.Name), err)))
			break
		}
		values[i] = v
	}
	return w.Row(values...)
}

// cell spells a Go value as a cell of a type. Errors never quote the value.
func cell(v any, t wire.Type) (wire.Value, error) {
	switch v := v.(type) {
	case nil:
		return wire.Null(), nil
	case wire.Value:
		return v, nil
	case string:
		return textCell(v, t), nil
	case bool:
		return wire.Bool(v), nil
	case json.Number:
		return numberCell(v.String(), t)
	case float64:
		if t == wire.TypeDecimal {
			return numberCell(strconv.FormatFloat(v, 'f', -1, 64), t)
		}
		return wire.Float(v), nil
	case float32:
		return numberCell(strconv.FormatFloat(float64(v), 'f', -1, 32), t)
	case int:
		return wire.Int(int64(v)), nil
	case int64:
		return wire.Int(v), nil
	case int32:
		return wire.Int(int64(v)), nil
	case uint64:
		return wire.Uint(v), nil
	case time.Time:
		if t == wire.TypeDate {
			return wire.Date(v), nil
		}
		return wire.Datetime(v), nil
	case []byte:
		return wire.Bytes(v), nil
	case map[string]any, []any:
		raw, err := json.Marshal(v)
		if err != nil {
			return wire.Null(), fmt.Errorf("a nested value cannot be spelled as JSON")
		}
		return wire.Text(string(raw)), nil
	}
	return wire.Null(), fmt.Errorf("a Go value of type %T has no spelling; convert it to a wire.Value", v)
}

// textCell keeps a text as it is, but for datetimes, which cross in UTC (D2).
func textCell(s string, t wire.Type) wire.Value {
	switch t {
	case wire.TypeDatetime:
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return wire.Datetime(at)
		}
	case wire.TypeDate:
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return wire.Date(at)
		}
	}
	return wire.Text(s)
}

// numberCell spells a number without losing a digit: as a decimal where the
// column is one or a double could not hold it.
func numberCell(s string, t wire.Type) (wire.Value, error) {
	if t != wire.TypeDecimal {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return wire.Int(i), nil
		}
		f, err := strconv.ParseFloat(s, 64)
		if err == nil && !math.IsInf(f, 0) && strconv.FormatFloat(f, 'f', -1, 64) == s {
			return wire.Float(f), nil
		}
	}
	if strings.ContainsAny(s, "eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return wire.Null(), fmt.Errorf("a number too large for a double; have the upstream send it as text")
		}
		s = strconv.FormatFloat(f, 'f', -1, 64)
	}
	v := wire.Decimal(s)
	return v, v.Err()
}
