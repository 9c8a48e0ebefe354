package restsource

import (
	"encoding/json"
	"errors"
	"fmt"

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
	v, err := c.moment(r)
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
