package lines

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ErrOrder is wrapped by the error of a [Writer] call that comes out of order.
// Nothing was written, and the stream can go on.
var ErrOrder = errors.New("ndjson: line out of order")

var (
	errWindow   = errors.New("ndjson: served.window needs served.filters and served.sort: rows beyond the window would be lost")
	errNilError = errors.New("ndjson: the error is nil")
)

// state is how far a stream has come.
type state uint8

const (
	beforeServed state = iota // nothing yet, or pings only
	inRows                    // rows and pings, in any order
	ended
	failed // an error line
)

// Writer writes the lines of one answer to /query in the protocol's order: served
// once, then rows and pings, then end or an error. Pings may also precede served.
// A call out of order returns an error that wraps [ErrOrder] and writes nothing.
//
// Every call is exactly one Write of one whole line, so that the writer below
// decides on flushing, pacing and deadlines. Once a Write fails, every later call
// returns the same error. A Writer is not safe for concurrent use.
type Writer struct {
	w       io.Writer
	state   state
	err     error  // of a failed write
	scratch []byte // for lines other than rows
}

// NewWriter returns a writer of a stream to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, scratch: make([]byte, 0, 128)}
}

// Served writes which parts of the request were applied to the rows. Only pings
// may precede it. The zero [wire.Served] claims nothing and is always safe. Served
// refuses a window that is claimed without filters and sort.
func (w *Writer) Served(s wire.Served) error {
	if err := w.ready("served"); err != nil {
		return err
	}
	if w.state != beforeServed {
		return fmt.Errorf("%w: served is written once, before any row", ErrOrder)
	}
	if s.Window && (!s.Filters || !s.Sort) {
		return errWindow
	}
	line := appendBool(append(w.scratch[:0], `{"served":{"filters":`...), s.Filters)
	line = appendBool(append(line, `,"sort":`...), s.Sort)
	line = appendBool(append(line, `,"window":`...), s.Window)
	return w.write(append(line, "}}\n"...), inRows)
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// Rows writes the batch, which the caller then resets. It writes nothing for an
// empty batch.
func (w *Writer) Rows(b *Batch) error {
	if err := w.ready("rows"); err != nil {
		return err
	}
	if w.state == beforeServed {
		return fmt.Errorf("%w: rows before served; write served first, with the zero value to claim nothing", ErrOrder)
	}
	line := b.Line()
	if line == nil {
		return nil
	}
	return w.write(line, inRows)
}

// Ping writes a heartbeat, due when nothing was written for
// [wire.HeartbeatInterval].
func (w *Writer) Ping() error {
	if err := w.ready("ping"); err != nil {
		return err
	}
	return w.write(append(w.scratch[:0], "{\"ping\":1}\n"...), w.state)
}

// End writes the line that makes the answer complete. Nothing may follow.
func (w *Writer) End() error {
	if err := w.ready("end"); err != nil {
		return err
	}
	if w.state == beforeServed {
		return fmt.Errorf("%w: end before served; write served first, with the zero value to claim nothing", ErrOrder)
	}
	return w.write(append(w.scratch[:0], "{\"end\":1}\n"...), ended)
}

// Error writes the line that ends a failed stream. It may come at any point before
// the end, and nothing may follow it. It sends e's text as it is: give it
// deliberate errors only. It replaces bytes that are not UTF-8 by U+FFFD, because
// a stream without its last line would be worse.
func (w *Writer) Error(e *wire.Error) error {
	if err := w.ready("error"); err != nil {
		return err
	}
	if e == nil {
		return errNilError
	}
	line := append(w.scratch[:0], `{"error":{"code":`...)
	line, _ = jsontext.AppendString(line, strings.ToValidUTF8(string(e.Code), "\uFFFD"))
	line = append(line, `,"message":`...)
	line, _ = jsontext.AppendString(line, strings.ToValidUTF8(e.Message, "\uFFFD"))
	line = append(line, "}}\n"...)
	if len(line) > wire.MaxLineBytes {
		return fmt.Errorf("ndjson: the error line has %d bytes; a line may have %d MiB", len(line), wire.MaxLineBytes>>20)
	}
	return w.write(line, failed)
}

// ready returns an error if no line can be written any more.
func (w *Writer) ready(line string) error {
	switch {
	case w.err != nil:
		return w.err
	case w.state == ended:
		return fmt.Errorf("%w: %s after end", ErrOrder, line)
	case w.state == failed:
		return fmt.Errorf("%w: %s after error", ErrOrder, line)
	}
	return nil
}

func (w *Writer) write(line []byte, next state) error {
	n, err := w.w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("ndjson: write: %w", err)
		return w.err
	}
	w.state = next
	return nil
}
