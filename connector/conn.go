package connector

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// conn is the way back to the reader of one answer. It bounds every write,
// whatever WriteTimeout the server has.
type conn struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration // see Options.WriteStall
	served  bool          // by net/http, whose ResponseWriter takes write deadlines
	http2   bool

	// cannot is called when the server, or a wrapper around its ResponseWriter, has no
	// way to flush or to limit a write.
	cannot  func(what string)
	endless bool // it takes no write deadline

	status int   // the answer's; 0 before it
	sent   int64 // bytes of its body
	cut    bool  // a write failed
}

// maxPiece is how many bytes a reader must take within Options.WriteStall.
const maxPiece = 64 << 10

// allow sets the deadline of the next write: the stall, or last if that is
// earlier and not zero.
func (c *conn) allow(last time.Time) {
	deadline := time.Now().Add(c.stall)
	if !last.IsZero() && last.Before(deadline) {
		deadline = last
	}
	c.endless = errors.Is(c.control.SetWriteDeadline(deadline), http.ErrNotSupported)
}

// rest lifts the deadline of the last write. In HTTP/2 one that expires resets a stream on
// which nothing is being written.
func (c *conn) rest() {
	if c.http2 {
		_ = c.control.SetWriteDeadline(time.Time{})
	}
}

// send writes p in pieces of a size, each with a new write deadline. So a slow reader
// is served, and one that takes nothing is cut off. If last is not zero, nothing is
// written after it.
func (c *conn) send(p []byte, size int, last time.Time) (n int, err error) {
	for len(p) > 0 {
		c.allow(last)
		piece := p[:min(len(p), size)]
		m, err := c.w.Write(piece)
		n += m
		c.sent += int64(m)
		if err != nil {
			c.cut = true
			return n, err
		}
		p = p[len(piece):]
	}
	return n, nil
}

// whole writes a whole answer.
func (c *conn) whole(status int, media string, body []byte) {
	header := c.w.Header()
	header.Set("Content-Type", media)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("X-Content-Type-Options", "nosniff")
	c.begin(status)
	_, _ = c.send(body, maxPiece, time.Time{})
}

// noContent writes an answer of status 204, which has no body.
func (c *conn) noContent() {
	c.allow(time.Time{})
	c.begin(http.StatusNoContent)
}

// begin writes the header.
func (c *conn) begin(status int) {
	c.status = status
	c.w.WriteHeader(status)
}

// flush sends what the server has buffered, until last at the latest. A writer that cannot flush still gets
// the whole answer to the reader, only late.
func (c *conn) flush(last time.Time) error {
	c.allow(last)
	err := c.control.Flush()
	switch {
	case errors.Is(err, http.ErrNotSupported):
		c.cannot("flush, so rows and heartbeats arrive late and write deadlines have no effect")
		return nil
	case c.endless && c.served:
		c.cannot("limit a write, so a reader that takes nothing holds its request until it leaves")
	}
	return err
}
