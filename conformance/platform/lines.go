package platform

import (
	"bytes"
	"io"
	"time"
)

// lines returns the body of a stream. Each silence of the connector is limited, but not
// the time that the caller takes between two reads.
func (e *exchange) lines() io.Reader {
	e.silent.Stop()
	// The headers are no line: the silence began with the request.
	return &lineWatch{e: e, left: e.idle - time.Since(e.sent)}
}

// lineWatch is the body of a stream, on which the client's clocks run. A line that
// comes slowly is no silence; what limits it is the time that the whole stream has.
type lineWatch struct {
	e     *exchange
	left  time.Duration // until the silence is too long
	begun bool          // a line came
	line  []byte        // begun and observed
}

func (l *lineWatch) Read(p []byte) (int, error) {
	e := l.e
	e.silent.Reset(max(l.left, 0))
	n, err := e.response.Body.Read(p)
	e.silent.Stop()
	if n > 0 {
		l.left = e.idle
	}
	if !l.begun && bytes.IndexByte(p[:n], '\n') >= 0 {
		l.begun = true
		if e.late.Stop() {
			e.late.Reset(max(time.Until(e.sent.Add(e.most)), 0))
		}
	}
	if e.client.options.Observe != nil {
		l.show(p[:n], err != nil)
	}
	return n, err
}

// show passes the lines on that have come whole, and the rest at the end.
func (l *lineWatch) show(p []byte, last bool) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		l.e.showText(append(l.line, p[:i]...))
		l.line, p = l.line[:0], p[i+1:]
	}
	l.line = append(l.line, p...) // the reader of a line that is too long reads no further
	if last && len(l.line) > 0 {
		l.e.showText(l.line)
		l.line = nil
	}
}
