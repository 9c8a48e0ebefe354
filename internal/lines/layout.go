package lines

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

// Layout says which cells of a source's positional row become members of the
// rows on the wire, under which names and in which order (B5). The names are
// escaped once, when it is made.
//
// A Layout is immutable: one serves any number of batches and goroutines.
type Layout struct {
	names []string
	keys  []key
	from  []int // nil: member i is cell i
}

// NewLayout makes the layout of rows whose i-th member is called names[i] and
// holds the cell at position from[i] of the values given to [Batch.Append]. A
// nil from is the identity. A cell may be used by several members, or by none.
//
// No names at all is legal: the rows are then empty objects, so that a reader
// can count (B5). It fails for a name that stands twice, for one that is not
// UTF-8, for a negative position, and when names and from differ in length.
func NewLayout(names []string, from []int) (*Layout, error) {
	if from != nil && len(from) != len(names) {
		return nil, fmt.Errorf("ndjson: a layout of %d names needs as many positions, not %d", len(names), len(from))
	}
	l := &Layout{names: make([]string, len(names)), keys: make([]key, len(names))}
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("ndjson: two columns of a layout are named %q; a row's members are distinct", name)
		}
		seen[name] = true
		text := []byte{','}
		if i == 0 {
			text[0] = '{'
		}
		text, err := jsontext.AppendString(text, name)
		if err != nil {
			return nil, fmt.Errorf("ndjson: name %d of a layout: %w", i, err)
		}
		l.names[i] = name
		l.keys[i].text = string(append(text, ':'))
		copy(l.keys[i].head[:], l.keys[i].text)
	}
	if from != nil {
		l.from = make([]int, len(from))
		for i, at := range from {
			if at < 0 {
				return nil, errors.New("ndjson: a layout has a negative position")
			}
			l.from[i] = at
		}
	}
	return l, nil
}

// key is what precedes a cell: `{"a":` for the first one, `,"b":` for others.
type key struct {
	text string
	head [16]byte // its beginning
}

// append appends the key. A short one, as most are, goes out as sixteen bytes
// of which the rest is overwritten: that is one move instead of a call.
func (k *key) append(buf []byte) []byte {
	n := len(buf)
	if len(k.text) > len(k.head) || cap(buf)-n < len(k.head) {
		return append(buf, k.text...)
	}
	*(*[16]byte)(buf[n : n+len(k.head)]) = k.head
	return buf[:n+len(k.text)]
}
