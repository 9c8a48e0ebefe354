package ndjson

import (
	"io"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Writer writes one answer to /query: Begin, then any number of calls of Row,
// then End, or Error if the answer failed. Ping may come at any time before the
// end. A call out of order returns an error and writes nothing, and the stream can
// go on.
//
// Rows are collected into lines of up to [wire.MaxBatchRows] rows and
// [wire.MaxLineBytes] bytes. Every line is exactly one Write to the writer
// below. Once a Write fails, every later call returns the same error. A Writer
// is not safe for concurrent use.
type Writer struct {
	out   *lines.Writer
	batch *lines.Batch // nil before Begin and after the end
}

// NewWriter returns a writer of a stream to w.
func NewWriter(w io.Writer) *Writer { return &Writer{out: lines.NewWriter(w)} }

// Begin writes which parts of the request were applied to the rows, and names
// the members of every row. The zero [wire.Served] claims nothing and is always
// safe. Begin refuses a window that is claimed without filters and sort, and
// columns whose names are equal or not UTF-8. No columns at all is legal: the
// rows are then empty objects, so that a reader can count them.
func (w *Writer) Begin(served wire.Served, columns ...string) error {
	layout, err := lines.NewLayout(columns, nil)
	if err != nil {
		return err
	}
	if err := w.out.Served(served); err != nil {
		return err
	}
	w.batch = layout.NewBatch()
	return nil
}

// Row adds a row whose i-th value belongs to the i-th column. Columns without a
// value are null. Row encodes the values before it returns and keeps none.
//
// It fails for a value that cannot cross the wire, such as a NaN, and for a row
// that alone needs a line longer than [wire.MaxLineBytes]. The row is then left
// out, and the stream can go on.
func (w *Writer) Row(values ...wire.Value) error {
	if w.batch == nil {
		return w.out.Rows(nil)
	}
	err := w.batch.Append(values)
	if err == lines.ErrFull {
		if err := w.Flush(); err != nil {
			return err
		}
		err = w.batch.Append(values)
	}
	return err
}

// Flush writes the collected rows as one line. Without any it writes nothing.
func (w *Writer) Flush() error {
	if err := w.out.Rows(w.batch); err != nil {
		w.batch = nil // no later row can be written either
		return err
	}
	w.batch.Reset()
	return nil
}

// Ping writes a heartbeat. One is due when nothing was written for
// [wire.HeartbeatInterval].
func (w *Writer) Ping() error { return w.out.Ping() }

// End writes the collected rows and the line that makes the answer complete.
func (w *Writer) End() error {
	if w.batch != nil {
		if err := w.Flush(); err != nil {
			return err
		}
		w.batch = nil
	}
	return w.out.End()
}

// Error writes the line that ends a failed answer. Collected rows are dropped.
// It sends e's text as it is: give it deliberate errors only. Bytes that are
// not UTF-8 are replaced by U+FFFD, because a stream without its last line
// would be worse.
func (w *Writer) Error(e *wire.Error) error {
	err := w.out.Error(e)
	if err == nil {
		w.batch = nil
	}
	return err
}
