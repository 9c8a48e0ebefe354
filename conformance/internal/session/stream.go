package session

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Stream is the answer to a /query, read line by line. Package ndjson stops at the first fault. This reader goes on
// where it can and records which rule each fault breaks, because each rule has a check of its own.
type Stream struct {
	*Answer
	// Table holds the rows, positional in the requested fields and then the members of joins. Their types are unknown
	// here, and there are no columns if the caller does not know which members rows have.
	Table  *oracle.Table
	Served wire.Served
	Stated bool        // there was a served line
	Ended  bool        // there was an end line
	Fault  *wire.Error // of an error line
	// Broken blocks checks that want the rows: the stream broke the rule of another check.
	Broken *check.Finding
	// Over is set when there were more rows than were to be read, and reading stopped.
	Over  bool
	Lines []arrival

	extraMember   string // a row member that was not asked for, or ""
	unknownMember string // a member of a line that the protocol does not define, or ""
}

// arrival is when a line of a stream came, and what it was.
type arrival = struct {
	Kind string
	At   time.Duration // since the request
}

// maxStreamBytes limits what is read of one stream and held in memory.
const maxStreamBytes = 192 << 20

// Problem returns why the stream's rows cannot be judged, or nil: it has no complete answer or, if it has one, it is
// Broken.
func (st *Stream) Problem() *check.Finding {
	switch {
	case st.Err != nil:
		return check.Fail("%s", st.Err).From(st.Request)
	case st.Status != http.StatusOK:
		return check.Differs("200 and a stream", st.Describe(), "a legal request is refused with %d", st.Status).From(st.Request)
	case st.Fault != nil:
		return check.Differs("an end line", st.session.Clean(st.Fault.Error()), "the stream ends with an error line").From(st.Request)
	}
	return st.Broken
}

// Unusable returns why the stream has no rows to judge, or nil: other than [Stream.Problem], it says nothing of a stream
// that is Broken.
func (st *Stream) Unusable() *check.Finding {
	if f := st.Problem(); f != st.Broken {
		return f
	}
	return nil
}

// newStream returns the stream of an answer of which no line was read.
func newStream(a *Answer, c Call) *Stream {
	st := &Stream{Answer: a, Table: &oracle.Table{Name: "answer"}}
	for _, name := range c.Members {
		st.Table.Columns = append(st.Table.Columns, wire.Column{Name: name})
	}
	return st
}

// read reads the lines.
func (st *Stream) read(ctx context.Context, body io.Reader, c Call) {
	s := st.session
	s.Covered.Add(func(c *coverage.Counts) { c.Streams++ })
	r := &lineReader{session: s, stream: st, began: st.began, most: cmp.Or(c.Most, s.Rows), first: c.Began}
	r.read(ctx, body)
	s.watch.stream(st, r)
	s.Covered.Add(func(c *coverage.Counts) { c.Rows += int64(r.rows); c.Bytes += r.bytes })
	s.Covered.AddRows(c.Table, r.rows)
}
