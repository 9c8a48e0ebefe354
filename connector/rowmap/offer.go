package rowmap

import (
	"fmt"
	"iter"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Offer offers one document, such as a decoded JSON object, as a row. It finds each
// column's cell by name and spells it as the column's type asks. Numbers keep every
// digit; in a text column they keep the upstream's spelling. In a json or array
// column, a text that is not JSON becomes a JSON string. Missing members are null;
// others are ignored. Offer also takes the Go types that documents often hold: all
// integers, time.Time, []byte, decimal.Decimal and decimal.NullDecimal, wire.Value.
//
// In a text, a datetime without an offset is in UTC. A date column takes datetimes too, and
// drops their time: the date is the one that the text shows, whatever its offset.
//
// It is a convenience for sources that are themselves JSON APIs; RowWriter.Row is
// several times faster. Decode upstream answers with [Decode]: a float64 has already lost
// the digits of a large number, and encoding/json replaces text that is not valid UTF-8.
func Offer(w *connector.RowWriter, document map[string]any) error {
	columns := w.Columns()
	values := make([]wire.Value, len(columns))
	for i, c := range columns {
		v, err := cell(document[c.Name], c.Type)
		if err != nil {
			return w.Fail(fmt.Errorf("column %s: %w", terms.QuoteName(c.Name), err))
		}
		values[i] = v
	}
	return w.Row(values...)
}

// OfferAll offers every document of an iterator as [Offer] does, and stops at its
// first error.
func OfferAll(w *connector.RowWriter, documents iter.Seq2[map[string]any, error]) error {
	for document, err := range documents {
		if err == nil {
			err = Offer(w, document)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
