package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Stream is the answer to a /query, read line by line. Package ndjson stops at
// the first fault. This reader goes on where it can and records which rule each
// fault breaks, because each rule has a check of its own.
type Stream struct {
	*Answer
	// Table holds the rows, positional in the requested fields and then the
	// members of joins. Their types are unknown here, and there are no columns if the
	// caller does not know which members rows have.
	Table  *oracle.Table
	Served wire.Served
	Stated bool        // there was a served line
	Ended  bool        // there was an end line
	Fault  *wire.Error // of an error line
	// Broken blocks checks that want the rows: the stream broke the rule of
	// another check.
	Broken *check.Finding
	// Over is set when there were more rows than were to be read, and reading
	// stopped.
	Over  bool
	Lines []Line

	extraMember   string // a row member that was not asked for, or ""
	unknownMember string // a member of a line that the protocol does not define, or ""
}

// Line is when a line of a stream came, and what it was.
type Line struct {
	Kind string
	At   time.Duration // since the request
}

// maxStreamBytes limits what is read of one stream and held in memory.
const maxStreamBytes = 192 << 20

// Members returns the row members that a request asks for.
func Members(req *wire.QueryRequest) []string {
	names := append([]string(nil), req.Fields...)
	for _, j := range req.Joins {
		for _, f := range j.Fields {
			names = append(names, cmp.Or(f.As, f.Field))
		}
	}
	return names
}

// Query sends a request for the first tenant and reads the stream, within the row
// budget.
func (run *Run) Query(req *wire.QueryRequest) *Stream { return run.Post(wire.PathQuery, req).Stream }

// Problem returns why the stream's rows cannot be judged, or nil.
func (st *Stream) Problem() *check.Finding {
	if f := st.Unusable(); f != nil {
		return f
	}
	return st.Broken
}

// Unusable returns why the stream has no complete answer, faults of its form
// aside.
func (st *Stream) Unusable() *check.Finding {
	switch {
	case st.Err != nil:
		return check.Fail("%s", st.Err).From(st.Request)
	case st.Status != http.StatusOK:
		return check.Differs("200 and a stream", st.Describe(), "a legal request is refused with %d", st.Status).From(st.Request)
	case st.Fault != nil:
		return check.Differs("an end line", st.FaultText(), "the stream ends with an error line").From(st.Request)
	}
	return nil
}

// FaultText returns the error line without secrets.
func (st *Stream) FaultText() string { return st.session.Clean(st.Fault.Error()) }

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
	s.Covered.Add(func(c *Counts) { c.Streams++ })
	r := &lineReader{session: s, stream: st, began: st.began, most: cmp.Or(c.Most, s.Rows)}
	r.read(ctx, body)
	s.Watch.stream(st, r)
	s.Covered.Add(func(c *Counts) { c.Rows += int64(r.rows); c.Bytes += r.bytes })
	s.Covered.addRows(c.Table, r.rows)
}

// ShowClaims returns what a stream claims to have served, for what was received.
func (st *Stream) ShowClaims() string {
	return fmt.Sprintf(`"filters":%t,"sort":%t,"window":%t and %d rows`,
		st.Served.Filters, st.Served.Sort, st.Served.Window, len(st.Table.Rows))
}

// WindowTooEarly reports whether a window is claimed without the claims it needs,
// in a way that loses rows. A limit over rows that nothing else changes can be cut
// twice.
func WindowTooEarly(req *wire.QueryRequest, served wire.Served) bool {
	filters := req.HasFilters() || req.Offset > 0
	return served.Window && req.Limit+req.Offset > 0 && (!served.Filters && filters || !served.Sort && len(req.Sort) > 0)
}
