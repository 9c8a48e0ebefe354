package lines

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

// Layout says which cells of a source's positional row become members of the
// rows on the wire, under which names and in which order. It escapes the names
// once.
//
// A Layout is immutable: one serves any number of batches and goroutines.
type Layout struct {
	names []string
	keys  []key
	from  []int // nil: member i is cell i
}

// NewLayout returns the layout of rows whose i-th member is called names[i] and
// holds the cell at position from[i] of the values given to [Batch.Append]. A nil
// from is the identity. Several members may use the same cell.
//
// No names at all is legal: the rows are then empty objects, so that a reader can
// count them. NewLayout fails for equal names, for a name that is not UTF-8, for a
// negative position, and when names and from differ in length.
func NewLayout(names []string, from []int) (*Layout, error) {
	if from != nil && len(from) != len(names) {
		return nil, fmt.Errorf("ndjson: %d names need as many positions, got %d", len(names), len(from))
	}
	l := &Layout{names: make([]string, len(names)), keys: make([]key, len(names))}
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("ndjson: duplicate column %q; give each column a name of its own", name)
		}
		seen[name] = true
		text := []byte{','}
		if i == 0 {
			text[0] = '{'
		}
		text, err := jsontext.AppendString(text, name)
		if err != nil {
			return nil, fmt.Errorf("ndjson: name %d: %w", i, err)
		}
		l.names[i] = name
		l.keys[i].text = string(append(text, ':'))
		copy(l.keys[i].head[:], l.keys[i].text)
	}
	if from != nil {
		l.from = make([]int, len(from))
		for i, at := range from {
			if at < 0 {
				return nil, errors.New("ndjson: negative position")
			}
			l.from[i] = at
		}
	}
	return l, nil
}

// key is the text before a cell: `{"a":` for the first one, `,"b":` for others.
type key struct {
	text string
	head [16]byte // its beginning
}

// append appends the key. It copies a short one as sixteen bytes, of which the
// next text overwrites the rest: one move instead of a call.
func (k *key) append(buf []byte) []byte {
	n := len(buf)
	if len(k.text) > len(k.head) || cap(buf)-n < len(k.head) {
		return append(buf, k.text...)
	}
	*(*[16]byte)(buf[n : n+len(k.head)]) = k.head
	return buf[:n+len(k.text)]
}
