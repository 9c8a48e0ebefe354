package ndjson

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// lineKind is one of the five kinds of line in a stream.
type lineKind uint8

const (
	lineServed lineKind = iota + 1 // which parts of the request were applied
	lineRows                       // 1 to 5,000 rows
	linePing                       // a heartbeat
	lineEnd                        // the answer is complete
	lineError                      // the answer failed; nothing follows
)

// line is one line of a stream without its rows. Only the member that belongs to its
// kind is set.
type line struct {
	kind   lineKind
	served wire.Served // as the line says it, even if it makes no sense
	err    *wire.Error
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
