package ndjson

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A LineKind is one of the five kinds of line in a stream.
type LineKind uint8

// The kinds of line. The zero LineKind is not valid.
const (
	KindServed LineKind = iota + 1 // which parts of the request were applied
	KindRows                       // 1 to 5,000 rows
	KindPing                       // a heartbeat
	KindEnd                        // the answer is complete
	KindError                      // the answer failed; nothing follows
)

// String returns the member that marks a line of the kind.
func (k LineKind) String() string {
	switch k {
	case KindServed:
		return "served"
	case KindRows:
		return "rows"
	case KindPing:
		return "ping"
	case KindEnd:
		return "end"
	case KindError:
		return "error"
	}
	return fmt.Sprintf("LineKind(%d)", uint8(k))
}

// Line is one line of a stream, as [Reader.Lines] yields it. Only the member
// that belongs to its kind is set.
type Line struct {
	Kind   LineKind
	Served wire.Served // KindServed; as the line says it, even if it makes no sense
	Rows   []Row       // KindRows; valid until the next line
	Error  *wire.Error // KindError
	Bytes  int         // the length of the line, its newline included
}

// LineError reports a line that breaks the protocol, or the place where a stream
// broke off. It never quotes the line.
type LineError struct {
	Line    int    // counted from 1
	Path    string // where in the line, for example rows[17]; empty for the line as a whole
	Problem string // what is wrong, in words
	// Err is [io.ErrUnexpectedEOF] when the stream ended before its end or
	// error line, or the error of the reader below; nil for a fault of the
	// line itself.
	Err error
}

func (e *LineError) Error() string {
	text := fmt.Sprintf("ndjson: line %d: ", e.Line)
	if e.Path != "" {
		text += e.Path + ": "
	}
	text += e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *LineError) Unwrap() error { return e.Err }
