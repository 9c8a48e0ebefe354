package textvalue

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// What discovery shows of a column.
const (
	MaxSamples    = 5   // values
	MaxSampleText = 100 // bytes of the text of one
)

// Samples keeps the first few distinct values of a column: no nulls, no faulty cells,
// and no long texts. Its zero value is empty.
type Samples struct {
	values []wire.Value
	keys   []string // equal for equal values
}

// Values returns the samples. They are never nil, because discovery states a list.
func (s *Samples) Values() []wire.Value { return append([]wire.Value{}, s.values...) }

// Full reports whether no more values are kept.
func (s *Samples) Full() bool { return len(s.values) == MaxSamples }

// Add keeps a copy of a cell, unless it is no sample or there are enough. key is that
// of filter.AppendKey.
func (s *Samples) Add(v wire.Value, key []byte) {
	if s.Full() || v.IsNull() || v.Err() != nil || len(v.Text()) > MaxSampleText ||
		slices.ContainsFunc(s.keys, func(known string) bool { return known == string(key) }) {
		return
	}
	s.values = append(s.values, v.Clone())
	s.keys = append(s.keys, string(key))
}
