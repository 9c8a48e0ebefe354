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
	members []member
}

// member is a member of each row. Its key is the text before the cell: `{"a":` for the
// first one, `,"b":` for others.
type member struct {
	head [16]byte // the beginning of key
	key  string
	from int // the position of its cell
	name string
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
	l := &Layout{members: make([]member, len(names))}
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
		m := &l.members[i]
		m.name, m.key, m.from = name, string(append(text, ':')), i
		copy(m.head[:], m.key)
		if from != nil {
			m.from = from[i]
		}
		if m.from < 0 {
			return nil, errors.New("ndjson: negative position")
		}
	}
	return l, nil
}

// appendKey appends the key. It copies a short one as sixteen bytes, which is a move
// instead of a call, and leaves what is too much to be overwritten.
func (m *member) appendKey(buf []byte) []byte {
	if len(m.key) > len(m.head) {
		return append(buf, m.key...)
	}
	return append(buf, m.head[:]...)[:len(buf)+len(m.key)]
}
