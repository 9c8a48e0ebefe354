package rowmap

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/infer"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Infer describes a table of documents, such as decoded JSON objects: it has a
// column for each member that any of them has, in the order of the names. Offer the
// documents with [OfferAll]. The types:
//
//	true, false                                         boolean
//	numbers without a fraction                          number
//	numbers, some of them with a fraction               decimal
//	numbers, some of them with an exponent, or floats   number
//	texts that are all dates                            date
//	texts that are all dates or times                   datetime
//	lists                                               array
//	objects, or objects and lists                       json
//	other texts, nothing, or a mixture                  string
//
// A column is nullable if a document lacks the member. Infer reads the documents
// once and keeps five samples of each column. Pass all documents where
// that is cheap. A later document that does not fit the types of a sample has cells
// that do not fit their columns: state the types that a sample does not show well.
//
// Decode with json.Decoder.UseNumber: in a float64, money has no scale. State the
// primary key yourself: Infer does not guess it. It stops at the first error of
// documents.
func Infer(name string, documents iter.Seq2[map[string]any, error]) (wire.Table, error) {
	table := wire.Table{Name: name, StoresRows: true}
	members := map[string]*member{}
	count := int64(0)
	for document, err := range documents {
		if err != nil {
			return wire.Table{}, err
		}
		count++
		for key, value := range document {
			m := members[key]
			if m == nil {
				m = &member{}
				members[key] = m
			}
			m.note(value)
		}
	}
	table.RowCount = &count
	for _, key := range slices.Sorted(maps.Keys(members)) {
		m := members[key]
		t := m.kinds.Type()
		table.Fields = append(table.Fields, wire.Field{
			Name:     key,
			Type:     t,
			Nullable: m.values < count,
			Samples:  m.samplesOf(t),
		})
	}
	return table, nil
}

// Decode returns a JSON object as [Infer] and [Offer] take it: decoded by
// encoding/json, with numbers as json.Number, which keep their digits. It refuses
// everything but one object, and its error never quotes it. The document is then
// empty, and not nil.
func Decode(data []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var document map[string]any
	err := decoder.Decode(&document)
	if err == nil && document != nil {
		if _, err = decoder.Token(); err == io.EOF {
			return document, nil
		}
	}
	return map[string]any{}, errors.New("a document is not one JSON object")
}

const (
	maxSamples    = 5   // values shown of a column
	maxSampleText = 100 // bytes of the text of one
)

// member is what Infer finds out about one member of the documents.
type member struct {
	kinds   infer.Kinds
	values  int64 // that are not null
	samples []any
}

func (m *member) note(value any) {
	switch v := value.(type) {
	case nil:
		return
	case decimal.NullDecimal:
		if !v.Valid {
			return
		}
	case wire.Value:
		if v.IsNull() {
			return
		}
	}
	text, _ := value.(string)
	m.values++
	m.kinds |= kindsOf(value)
	// Lists, objects and long texts would keep documents in memory.
	if len(m.samples) < maxSamples && len(text) <= maxSampleText && reflect.ValueOf(value).Comparable() && !slices.Contains(m.samples, value) {
		m.samples = append(m.samples, value)
	}
}

// samplesOf returns the samples as cells of type t.
func (m *member) samplesOf(t wire.Type) []wire.Value {
	samples := []wire.Value{}
	for _, value := range m.samples {
		if v, err := cell(value, t); err == nil && v.Err() == nil && len(v.Text()) <= maxSampleText {
			samples = append(samples, v)
		}
	}
	return samples
}

// kindsOf returns the kind of a value that Offer takes.
func kindsOf(value any) infer.Kinds {
	switch v := value.(type) {
	case bool:
		return infer.Bool
	case json.Number:
		return infer.Number(v.String())
	case float32, float64:
		return infer.Float
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return infer.Integer
	case decimal.Decimal, decimal.NullDecimal:
		return infer.Decimal
	case time.Time:
		return infer.Datetime
	case []any:
		return infer.Array
	case map[string]any:
		return infer.Object
	case string:
		if _, ok := exactInstant(v); ok && len(v) == len(time.DateOnly) {
			return infer.Date
		} else if ok {
			return infer.Datetime
		}
	case wire.Value:
		return valueKinds[v.Kind()]
	}
	return infer.Text
}

// valueKinds are the kinds of cells that are not texts.
var valueKinds = map[wire.Kind]infer.Kinds{
	wire.KindBool: infer.Bool, wire.KindInt: infer.Integer, wire.KindFloat: infer.Float, wire.KindDecimal: infer.Decimal,
	wire.KindDate: infer.Date, wire.KindDatetime: infer.Datetime, wire.KindText: infer.Text,
}

// exactInstant reads a date or a datetime, and reports false for a text that a
// datetime cannot hold without loss.
func exactInstant(s string) (time.Time, bool) {
	at, ok := filter.Instant(wire.Text(s))
	if !ok {
		return at, false
	}
	v := wire.Datetime(at)
	order, comparable := filter.Compare(v, wire.Text(s), wire.TypeDatetime)
	return at, v.Err() == nil && comparable && order == 0
}
