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

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
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
// Make the documents with [Decode], which keeps every digit and refuses what encoding/json
// would repair; in a float64, money has no scale. State the primary key yourself: Infer
// does not guess it. It stops at the first error of documents.
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
		t := m.class.Type(wire.TypeString)
		table.Fields = append(table.Fields, wire.Field{
			Name:     key,
			Type:     t,
			Nullable: m.values < count,
			Samples:  m.samplesOf(t),
		})
	}
	return table, nil
}

// maxNesting is how deep encoding/json reads.
const maxNesting = 10_000

// Decode returns a JSON object as [Infer] and [Offer] take it: decoded by
// encoding/json, with numbers as json.Number, which keep their digits. It refuses
// everything but one object, a member that is there twice, and text that is not valid
// UTF-8. Its error never quotes the object. The document is then empty, and not nil.
func Decode(data []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var document map[string]any
	err := decoder.Decode(&document)
	if err == nil && document != nil {
		if _, err = decoder.Token(); err == io.EOF {
			strict := textvalue.Reader{MaxDepth: maxNesting}
			strict.Reset(string(data))
			if strict.Value(1); strict.Err() == nil {
				return document, nil
			}
			return map[string]any{}, errors.New("a document has a member twice, or text that is not valid UTF-8")
		}
	}
	return map[string]any{}, errors.New("a document is not one JSON object")
}

// member is what Infer finds out about one member of the documents.
type member struct {
	class   textvalue.Class
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
	m.class |= classOf(value)
	// Lists, objects and long texts would keep documents in memory.
	if len(m.samples) < textvalue.MaxSamples && len(text) <= textvalue.MaxSampleText &&
		reflect.ValueOf(value).Comparable() && !slices.Contains(m.samples, value) {
		m.samples = append(m.samples, value)
	}
}

// samplesOf returns the samples as cells of type t.
func (m *member) samplesOf(t wire.Type) []wire.Value {
	var samples textvalue.Samples
	var key []byte
	for _, value := range m.samples {
		if v, err := cell(value, t); err == nil {
			key = filter.AppendKey(key[:0], v, t)
			samples.Add(v, key)
		}
	}
	return samples.Values()
}

// classOf returns what a value that Offer takes could be.
func classOf(value any) textvalue.Class {
	switch v := value.(type) {
	case bool:
		return textvalue.ClassBool
	case json.Number:
		class, _ := textvalue.Documents.Classify(textvalue.Raw{Text: v.String(), Kind: textvalue.Number})
		return class
	case float32, float64:
		return textvalue.ClassFloat
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return textvalue.ClassInteger
	case decimal.Decimal, decimal.NullDecimal:
		return textvalue.ClassDecimal
	case time.Time:
		return textvalue.ClassDatetime
	case []any:
		return textvalue.ClassArray
	case map[string]any:
		return textvalue.ClassObject
	case string:
		class, _ := textvalue.Documents.Classify(textvalue.Raw{Text: v, Kind: textvalue.Text})
		return class
	case wire.Value:
		return valueClasses[v.Kind()]
	}
	return textvalue.ClassText
}

// valueClasses are the kinds of cells that are not texts.
var valueClasses = map[wire.Kind]textvalue.Class{
	wire.KindBool: textvalue.ClassBool, wire.KindInt: textvalue.ClassInteger, wire.KindFloat: textvalue.ClassFloat,
	wire.KindDecimal: textvalue.ClassDecimal, wire.KindDate: textvalue.ClassDate, wire.KindDatetime: textvalue.ClassDatetime,
	wire.KindText: textvalue.ClassText,
}
