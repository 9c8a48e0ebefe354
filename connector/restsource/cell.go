package restsource

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// cell converts a member to a cell of a column. Errors never quote the value.
func (c *column) cell(r textvalue.Raw) (wire.Value, error) {
	if c.Convert != nil {
		v, err := c.Convert(goValue(r))
		if err != nil {
			err = recording.NewSecrets(r.Text).ScrubError(err) // such as that of strconv, which quotes the value
		}
		return v, err
	}
	v, err := textvalue.APIs.Value(r, c.Type, textvalue.OwnWidth)
	if errors.Is(err, textvalue.ErrMisfit) {
		err = fmt.Errorf("%s does not fit the type %s; declare another type, or a Convert function", r.Kind, c.Type)
	}
	return v, err
}

// goValue returns a value as Column.Convert takes it.
func goValue(r textvalue.Raw) any {
	switch r.Kind {
	case textvalue.Bool:
		return r.Text == "true"
	case textvalue.Number:
		return json.Number(r.Text)
	case textvalue.Text:
		return r.Text
	case textvalue.Array, textvalue.Object:
		return json.RawMessage(r.Text)
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
