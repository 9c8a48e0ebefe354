package ndjson

import (
	"io"
	"iter"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// state is how far a stream has come.
type state uint8

const (
	beforeServed state = iota // no line yet, or pings only
	inRows                    // rows and pings, in any order
	ended
)

// Reader reads one answer to /query strictly: the order of lines, exact member
// names, no duplicate and no unknown member, cells that are scalars, 1 to 5,000
// rows and at most 16 MiB a line, UTF-8, and nothing after the line that ends the
// stream. A stream that closes before that line is an error: it never looks
// complete.
//
// A Reader holds one line at a time. It neither closes the reader below nor sets
// deadlines on it: the opener of the stream bounds how long it may stall. A
// Reader is not safe for concurrent use.
type Reader struct {
	in      input
	parser  parser
	state   state
	lines   int   // begun so far
	inRows  bool  // in a rows line of which rows may be left
	err     error // the first fault; io.EOF after a complete stream
	served  wire.Served
	claimed bool        // a served line was read
	failure *wire.Error // of an error line
}

// NewReader returns a reader of the stream r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: input{r: r}}
}

// Served returns the stream's served line, and whether there was one among the
// lines read so far. Without one, nothing was served. The result is final once
// the first row has been yielded, or the stream has ended.
func (r *Reader) Served() (s wire.Served, present bool) { return r.served, r.claimed }

// Position returns where the row stands that was yielded last: its line, counted
// from 1, and its index in that line.
func (r *Reader) Position() (line, row int) { return r.lines, r.parser.read - 1 }

// Rows yields the rows of the stream, each valid until the next one. An error
// line is yielded as its [*wire.Error], any fault as a [*LineError]; either
// ends the loop. A loop that ends without an error has seen all rows of a
// complete answer. Rows reads to the end of the stream before it yields an error
// line, because more after that line is a fault.
//
// Rows are yielded as they are read, in memory that does not grow with their
// number; so a fault late in a line comes after the rows before it. After a loop
// was left early, another call of Rows reads on.
func (r *Reader) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for {
			for r.inRows {
				row, ok, err := r.row()
				if err != nil {
					yield(Row{}, err)
					return
				}
				if ok && !yield(row, nil) {
					return
				}
			}
			if r.failure != nil {
				yield(Row{}, r.failure)
				return
			}
			if err := r.begin(); err != nil {
				if err != io.EOF {
					yield(Row{}, err)
				}
				return
			}
		}
	}
}

// row reads the next row of a rows line and reports whether there was one.
func (r *Reader) row() (Row, bool, error) {
	row, ok, fault := r.parser.row()
	if fault != nil {
		r.inRows = false
		fault.Line = r.lines
		r.err = fault
		return Row{}, false, fault
	}
	r.inRows = ok
	return row, ok, nil
}

// begin reads one line, or the part of a rows line that precedes the rows. It
// returns io.EOF after a complete stream.
func (r *Reader) begin() error {
	if r.err == nil {
		r.err = r.next()
	}
	return r.err
}

func (r *Reader) next() error {
	if r.state == ended {
		return io.EOF
	}
	text, err := r.in.line()
	r.lines++
	last := err == io.EOF
	if err != nil && !last {
		return r.broken(err)
	}
	if last && len(text) == 0 {
		return r.truncated("the stream ends without an end or error line")
	}
	l, fault := r.parser.begin(text)
	if last && (fault != nil || l.kind != lineEnd && l.kind != lineError) {
		// A last line needs no newline if it is whole and ends the stream.
		// Whatever else it is, more should have come.
		return r.truncated("the stream ends within a line, or without an end or error line")
	}
	if fault != nil {
		fault.Line = r.lines
		return fault
	}
	return r.order(&l)
}

// order checks the line against the lines before it.
func (r *Reader) order(l *line) error {
	switch l.kind {
	case lineServed:
		if r.claimed {
			return &LineError{Line: r.lines, Problem: "second served line; served is written once"}
		}
		if r.state != beforeServed {
			return &LineError{Line: r.lines, Problem: "served comes after rows; it must precede everything but pings"}
		}
		r.served, r.claimed = l.served, true
		r.state = inRows
	case lineRows:
		r.state = inRows
		r.inRows = true
	case lineEnd:
		r.state = ended
		return r.nothingFollows(l.kind)
	case lineError:
		r.state = ended
		if err := r.nothingFollows(l.kind); err != nil {
			return err
		}
		r.failure = l.err
	}
	return nil
}

// nothingFollows reads to the end of the stream after its last line. It accepts one
// blank line. An error line says that the answer failed, so it does not matter
// whether the connection breaks behind it.
func (r *Reader) nothingFollows(last lineKind) error {
	more, err := r.in.more()
	switch {
	case more:
		r.lines++
		return &LineError{Line: r.lines, Problem: "unexpected data after the end or error line"}
	case err != nil && last == lineEnd:
		r.lines++
		return r.broken(err)
	}
	return nil
}

// truncated returns the error of a stream that ends too early.
func (r *Reader) truncated(problem string) error {
	return &LineError{Line: r.lines, Problem: problem, Err: io.ErrUnexpectedEOF}
}

// broken returns the error of a line that could not be read.
func (r *Reader) broken(err error) error {
	if err == errLong {
		return &LineError{Line: r.lines, Problem: errLong.Error()}
	}
	return &LineError{Line: r.lines, Problem: "reading failed", Err: err}
}
