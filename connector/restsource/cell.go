package restsource

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/digits"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// cell converts a member to a cell of a column. Errors never quote the value.
func (c *column) cell(r raw) (wire.Value, error) {
	if c.Convert != nil {
		v, err := c.Convert(r.goValue())
		if err != nil {
			err = recording.NewSecrets(r.text).ScrubError(err) // such as that of strconv, which quotes the value
		}
		return v, err
	}
	if r.none() {
		return wire.Null(), nil
	}
	switch c.Type {
	case wire.TypeString, wire.TypeReference:
		if r.kind == rawArray || r.kind == rawObject {
			return wire.JSON(r.text), nil
		}
		return wire.Text(r.text), nil
	case wire.TypeJSON:
		if r.kind == rawText {
			quoted, err := jsontext.AppendString(nil, r.text)
			return wire.Text(string(quoted)), err
		}
		return wire.JSON(r.text), nil
	case wire.TypeArray:
		if r.kind == rawArray {
			return wire.JSON(r.text), nil
		}
		return c.misfit(r)
	}
	if r.kind == rawText && r.text == "" {
		return wire.Null(), nil // the usual way to leave out a number or a date
	}
	switch c.Type {
	case wire.TypeNumber, wire.TypeDecimal:
		if r.kind == rawNumber || r.kind == rawText && wire.IsDecimal(r.text) {
			return digits.Number(r.text, c.Type)
		}
	case wire.TypeBoolean:
		if r.kind == rawBool || r.kind == rawText && (r.text == "true" || r.text == "false") {
			return wire.Bool(r.text == "true"), nil
		}
	case wire.TypeDate, wire.TypeDatetime:
		if r.kind == rawText {
			return c.instant(r)
		}
	}
	return c.misfit(r)
}

// instant converts a text to a date or a datetime. The date of a datetime is the
// one that it shows in its own zone.
func (c *column) instant(r raw) (wire.Value, error) {
	at, ok := filter.Instant(wire.Text(r.text))
	if !ok {
		return c.misfit(r)
	}
	if c.Type == wire.TypeDatetime {
		v := wire.Datetime(at)
		if order, _ := filter.Compare(v, wire.Text(r.text), wire.TypeDatetime); order != 0 {
			return wire.Null(), errors.New("a fraction beyond nanoseconds, or a leap second, cannot be kept; declare the type string")
		}
		return v, nil
	}
	shown, err := time.Parse(time.DateOnly, r.text[:len(time.DateOnly)])
	if err != nil {
		return c.misfit(r)
	}
	return wire.Date(shown), nil
}

// kindNames are what messages call the kinds of JSON values.
var kindNames = map[rawKind]string{
	rawBool: "a boolean", rawNumber: "a number", rawText: "a text", rawArray: "a list", rawObject: "an object",
}

func (c *column) misfit(r raw) (wire.Value, error) {
	return wire.Null(), fmt.Errorf("%s does not fit the type %s; declare another type, or a Convert function",
		kindNames[r.kind], c.Type)
}

// goValue returns the value as Column.Convert takes it.
func (r raw) goValue() any {
	switch r.kind {
	case rawBool:
		return r.text == "true"
	case rawNumber:
		return json.Number(r.text)
	case rawText:
		return r.text
	case rawArray, rawObject:
		return json.RawMessage(r.text)
	}
	return nil
}

// Unix returns a Column.Convert for a datetime that an API writes as a number of units
// since 1970: of time.Second, such as 1717243200, time.Millisecond, or a smaller unit.
// A number with a fraction is an error.
func Unix(unit time.Duration) func(v any) (wire.Value, error) {
	perSecond := int64(time.Second / unit)
	return func(v any) (wire.Value, error) {
		if v == nil {
			return wire.Null(), nil
		}
		n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64) // a number, or a text of digits
		if err != nil {
			return wire.Null(), fmt.Errorf("not a whole number of units of %s since 1970", unit)
		}
		return wire.Datetime(time.Unix(n/perSecond, n%perSecond*int64(unit))), nil
	}
}
