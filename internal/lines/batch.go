package lines

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ErrFull is returned by [Batch.Append] when the line would grow beyond
// [wire.MaxBatchRows] or [wire.MaxLineBytes]. Nothing was appended: write the
// batch, reset it and append the same row again.
var ErrFull = errors.New("ndjson: the batch is full: write it, reset it, and append the row again")

// ErrRowTooLarge is returned by [Batch.Append] for a row that fits no line,
// however empty: it alone needs more than [wire.MaxLineBytes]. The stream must
// end with an error line.
var ErrRowTooLarge = fmt.Errorf("ndjson: a single row needs a line longer than %d MiB", wire.MaxLineBytes>>20)

// CellError reports a cell that cannot cross the wire: a NaN, a malformed decimal,
// text that is not UTF-8. It names the column and never the value.
type CellError struct {
	Column string // the member's name in the layout
	Err    error  // why the value cannot cross the wire
}

func (e *CellError) Error() string { return fmt.Sprintf("column %q: %v", e.Column, e.Err) }

// Unwrap returns the reason.
func (e *CellError) Unwrap() error { return e.Err }

const (
	opening = `{"rows":[`
	closing = "]}\n"
)

// Batch collects encoded rows until they are one line. It reuses its buffer for
// the next line.
//
// A batch belongs to one goroutine at a time. Once its buffer has grown to the
// size of the stream's lines, appending allocates nothing.
type Batch struct {
	layout *Layout
	buf    []byte // the line without its closing; always starts with opening
	rows   int
}

// NewBatch returns an empty batch of rows in this layout.
func (l *Layout) NewBatch() *Batch {
	return &Batch{layout: l, buf: append(make([]byte, 0, 1024), opening...)}
}

// Len returns the number of rows in the batch.
func (b *Batch) Len() int { return b.rows }

// Size returns the length of the finished line in bytes, its newline included. It
// returns 0 for an empty batch, which has no line.
func (b *Batch) Size() int {
	if b.rows == 0 {
		return 0
	}
	return len(b.buf) + len(closing)
}

// Cap returns the size of the batch's buffer.
func (b *Batch) Cap() int { return cap(b.buf) }

// Reset empties the batch and keeps its buffer.
func (b *Batch) Reset() {
	b.buf = b.buf[:len(opening)]
	b.rows = 0
}

// Grow reserves n bytes for a line, so that the buffer need not grow step by step.
func (b *Batch) Grow(n int) { b.buf = slices.Grow(b.buf, max(0, n-len(b.buf))) }

// Line returns the finished line, newline included. It returns nil for an empty
// batch, because a rows line without rows must not be written. The bytes are valid
// until the next Append or Reset.
func (b *Batch) Line() []byte {
	if b.rows == 0 {
		return nil
	}
	n := len(b.buf)
	line := append(b.buf, closing...)
	b.buf = line[:n]
	return line
}

// Append adds one row, whose cells the layout picks from values by position.
// Cells beyond the end of values are null. Append encodes the row before it
// returns and keeps nothing of values.
//
// It returns [ErrFull], [ErrRowTooLarge] or a [*CellError]. After any of them
// the batch is exactly as it was.
func (b *Batch) Append(values []wire.Value) error {
	if b.rows >= wire.MaxBatchRows {
		return ErrFull
	}
	buf := b.buf // what is appended counts only once it is assigned back
	if b.rows > 0 {
		buf = append(buf, ',')
	}
	start := len(buf)
	members := b.layout.members
	for i := range members {
		m := &members[i]
		buf = m.appendKey(buf)
		v := &null
		if m.from < len(values) {
			v = &values[m.from]
		}
		if kind := v.Kind(); kind == wire.KindText || kind == wire.KindDecimal { // most cells
			text := v.Text()
			if end, ascii := jsontext.PutString(buf, text); ascii || end > 0 && utf8.ValidString(text) {
				buf = buf[:end]
				continue
			}
			// A short text cannot lead far beyond the longest line, even if each of
			// its bytes is escaped in six.
			if len(buf)+6*len(text) > wire.MaxLineBytes {
				if size := len(buf) + escapedLen(text); size > wire.MaxLineBytes {
					return overflow(size - start)
				}
			}
		}
		var err error
		if buf, err = v.AppendJSON(buf); err != nil {
			return &CellError{Column: m.name, Err: err}
		}
	}
	if len(members) == 0 {
		buf = append(buf, '{')
	}
	buf = append(buf, '}')
	if len(buf)+len(closing) > wire.MaxLineBytes {
		return overflow(len(buf) - start)
	}
	b.buf = buf
	b.rows++
	return nil
}

// null is the cell of a member beyond the end of a row.
var null = wire.Null()

// escapedLen returns the length of s as a JSON string.
func escapedLen(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			n++
		case c < ' ':
			n += 5
		}
	}
	return n
}

// overflow returns the error for a row of at least size bytes: [ErrFull] if an
// empty batch could hold them.
func overflow(size int) error {
	if len(opening)+size+len(closing) > wire.MaxLineBytes {
		return ErrRowTooLarge
	}
	return ErrFull
}
