package session

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// largeNumbers remembers how the connector wrote the JSON numbers beyond 2^53-1 that cells held: as a
// double such a number has lost its digits.
type largeNumbers struct {
	mu      sync.Mutex
	written map[wire.Value]string
}

// maxLargeNumbers limits how many are remembered.
const maxLargeNumbers = 10_000

// read returns the cell of a number that was written so, with the digits of its double or with others. 2^53 itself
// may cross as a number, unlike its neighbour, which is the same double: it becomes an integer, so that they stay apart.
func (n *largeNumbers) read(v wire.Value, exact bool, text string) wire.Value {
	if exact && math.Abs(v.Float64()) == 1<<53 {
		return wire.Int(int64(v.Float64()))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.written == nil {
		n.written = map[wire.Value]string{}
	}
	if len(n.written) < maxLargeNumbers && n.written[v] == "" {
		n.written[v] = strings.Clone(text)
	}
	return v
}

// spelledLarge matches an integer beyond 2^53-1 as rows are shown: in quotes, by the digits of its double.
var spelledLarge = regexp.MustCompile(`"-?[0-9]{16,}"`)

// asWritten returns the cells that a text shows with those that were JSON numbers as the connector wrote them.
func (n *largeNumbers) asWritten(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.written) == 0 {
		return text
	}
	return spelledLarge.ReplaceAllStringFunc(text, func(cell string) string {
		digits := strings.Trim(cell, `"`)
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil || strconv.FormatFloat(f, 'f', -1, 64) != digits {
			return cell // it was written so
		}
		return cmp.Or(n.written[wire.Float(f)], cell)
	})
}

// Quote returns a cell that the connector answered as it crossed the wire, cut to a short text. Only a
// number beyond 2^53-1 needs it; all other cells say themselves how they were written.
func (s *Session) Quote(v wire.Value) string {
	s.numbers.mu.Lock()
	defer s.numbers.mu.Unlock()
	if text := s.numbers.written[v]; text != "" {
		return text + ", a JSON number"
	}
	return compare.Excerpt(v)
}
