package connector

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Map offers one row given as decoded JSON: each column's cell is found by its
// name and spelled as the column's type asks (D1 to D3). Numbers keep every
// digit, in a column of text as the upstream spelled them; in a json or array
// column a text that is no JSON text becomes a JSON string. Missing members are
// null, others are ignored. It is a comfort for sources that are themselves
// JSON APIs; Row is several times faster.
//
// Decode upstream answers with json.Decoder.UseNumber: a float64 has already
// lost the digits of a large number.
func (w *RowWriter) Map(row map[string]any) error {
	values := make([]wire.Value, len(w.columns))
	for i, c := range w.columns {
		v, err := cell(row[c.Name], c.Type)
		if err != nil {
			w.rows.stop(cause(fmt.Sprintf("column %s: %v", wire.QuoteName(c.Name), err)))
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
		if isText(t) {
			return wire.Text(strconv.FormatBool(v)), nil
		}
		return wire.Bool(v), nil
	case json.Number:
		return numberCell(v.String(), t)
	case float64:
		return floatCell(v, 64, t)
	case float32:
		return floatCell(float64(v), 32, t)
	case int:
		return numberCell(strconv.Itoa(v), t)
	case int64:
		return numberCell(strconv.FormatInt(v, 10), t)
	case int32:
		return numberCell(strconv.FormatInt(int64(v), 10), t)
	case uint64:
		return numberCell(strconv.FormatUint(v, 10), t)
	case time.Time:
		if t == wire.TypeDate {
			return wire.Date(v), nil
		}
		return wire.Datetime(v), nil
	case []byte:
		return wire.Bytes(v), nil
	case map[string]any, []any:
		return nestedCell(v)
	}
	return wire.Null(), fmt.Errorf("a Go value of type %T has no spelling; convert it to a wire.Value", v)
}

// isText reports whether every cell of the type is a string on the wire that
// holds the value's own text: a number there would change its spelling.
func isText(t wire.Type) bool {
	switch t {
	case wire.TypeString, wire.TypeReference, wire.TypeJSON, wire.TypeArray:
		return true
	}
	return false
}

// nestedCell is compact JSON text (D3). It is not escaped for HTML, as
// json.Marshal would.
func nestedCell(v any) (wire.Value, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return wire.Null(), fmt.Errorf("a nested value cannot be spelled as JSON")
	}
	return wire.Text(strings.TrimSuffix(b.String(), "\n")), nil
}

// textCell keeps a text as it is, but for dates, which cross in UTC (D2), and
// for JSON: there a text that is no JSON text is a JSON string (D3).
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
	case wire.TypeJSON, wire.TypeArray:
		if v := wire.JSON(s); v.Err() == nil {
			return v
		}
		if quoted, err := jsontext.AppendString(nil, s); err == nil {
			return wire.Text(string(quoted))
		}
	}
	return wire.Text(s)
}

// floatCell spells a double in its shortest digits.
func floatCell(f float64, bits int, t wire.Type) (wire.Value, error) {
	if v := wire.Float(f); v.Err() != nil {
		return v, v.Err()
	}
	return numberCell(strconv.FormatFloat(f, 'f', -1, bits), t)
}

// numberCell spells a JSON number without losing a digit: as a text where the
// column is one, as a decimal where it is that or where a double could not hold
// the number.
func numberCell(s string, t wire.Type) (wire.Value, error) {
	if isText(t) {
		return wire.Text(s), nil
	}
	s, ok := plain(s)
	if !ok {
		return wire.Null(), fmt.Errorf("a number too large or too small; have the upstream send it as text")
	}
	if t != wire.TypeDecimal {
		short := s
		if strings.Contains(s, ".") {
			short = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
		}
		if i, err := strconv.ParseInt(short, 10, 64); err == nil {
			return wire.Int(i), nil
		}
		if f, err := strconv.ParseFloat(short, 64); err == nil && strconv.FormatFloat(f, 'f', -1, 64) == short {
			return wire.Float(f), nil
		}
	}
	v := wire.Decimal(s)
	return v, v.Err()
}

// mostShift bounds an exponent: doubles end at 308, and nothing is to be
// expanded to pages of zeros.
const mostShift = 400

// plain is a JSON number without exponent, its digits kept.
func plain(s string) (string, bool) {
	e := strings.IndexAny(s, "eE")
	if e < 0 {
		return s, true
	}
	shift, err := strconv.Atoi(s[e+1:])
	if err != nil || shift < -mostShift || shift > mostShift {
		return "", false
	}
	digits, sign := s[:e], ""
	if strings.HasPrefix(digits, "-") {
		digits, sign = digits[1:], "-"
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = whole + fraction
	at := len(whole) + shift
	if at <= 0 {
		digits, at = strings.Repeat("0", 1-at)+digits, 1
	}
	if at > len(digits) {
		digits += strings.Repeat("0", at-len(digits))
	}
	text := strings.TrimLeft(digits[:at], "0")
	if text == "" {
		text = "0"
	}
	if at < len(digits) {
		text += "." + digits[at:]
	}
	return sign + text, true
}
