package conformance

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// stream is the answer to a /query, read line by line. Package ndjson stops at
// the first fault; this reader goes on where it can and tells which rule each
// fault breaks, since each has a check of its own.
type stream struct {
	*answer
	// table holds the rows, positional in the requested fields and then the
	// members of joins; their types are unknown here.
	table  *oracle.Table
	served wire.Served
	stated bool // there was a served line
	ended  bool
	fault  *wire.Error // of an error line
	broken string      // the check whose rule the stream broke first, so that its rows cannot be judged
	why    string
	over   bool // there were more rows than were asked to be read, and reading stopped
	lines  []lineInfo
	named  bool   // the caller told which members rows have
	extra  string // a row member that was not asked for; "" when there was none
	member string // a member of a line that the protocol does not name; "" when there was none
}

// lineInfo is when a line came, and what it was.
type lineInfo struct {
	kind string
	at   time.Duration // since the request
	rows int
}

// maxStreamBytes bounds what of one stream is read and held in memory.
const maxStreamBytes = 192 << 20

// query sends a request and reads its stream.
func (x *exam) query(req *wire.QueryRequest) *stream {
	return x.stream(x.ask(wire.PathQuery, req, 0), members(req))
}

// members are the row members that a request asks for.
func members(req *wire.QueryRequest) []string {
	names := append([]string(nil), req.Fields...)
	for _, j := range req.Joins {
		for _, f := range j.Fields {
			if f.As != "" {
				names = append(names, f.As)
			} else {
				names = append(names, f.Field)
			}
		}
	}
	return names
}

// stream makes a call to /query and reads its answer.
func (x *exam) stream(c call, names []string) *stream {
	st := x.session.stream(x.ctx, c, names, x.Rows)
	x.last = st.request
	return st
}

// rows is the stream of a request that must be answered: the check fails when
// it is refused, and is blocked when the stream itself is at fault.
func (x *exam) rows(req *wire.QueryRequest) *stream {
	st := x.query(req)
	x.found(st.unusable())
	if st.broken != "" {
		x.blocked(st.broken, st.why)
	}
	return st
}

// unusable says why a stream holds no answer, other than by a fault of its own
// form.
func (st *stream) unusable() *finding {
	switch {
	case st.err != nil:
		return &finding{detail: st.err.Error(), request: st.request}
	case st.status != http.StatusOK:
		return &finding{detail: fmt.Sprintf("a legal request is refused with %d", st.status), expected: "200 and a stream", received: st.describe(), request: st.request}
	case st.fault != nil:
		return &finding{detail: "the stream ends with an error line", expected: "an end line", received: st.s.clean(st.fault.Error()), request: st.request}
	}
	return nil
}

// stream reads an answer to /query; most is how many rows are kept.
func (s *session) stream(ctx context.Context, c call, names []string, most int) *stream {
	began := time.Now()
	a, resp, done := s.open(ctx, c)
	defer done()
	st := &stream{answer: a, table: &oracle.Table{Name: "answer"}, named: names != nil}
	for _, name := range names {
		st.table.Columns = append(st.table.Columns, wire.Column{Name: name})
	}
	if a.err != nil {
		return st
	}
	if a.status != http.StatusOK {
		a.read(resp, wire.MaxAnswerBytes)
		s.watch.answer(c, a)
		return st
	}
	s.cover.add(func(c *coverage) { c.streams++ })
	r := &lineReader{s: s, st: st, began: began, most: most}
	if c.wait > 0 {
		ctx = resp.Request.Context() // ends when we stop waiting
	}
	r.read(ctx, resp.Body)
	s.watch.stream(c, st, r)
	s.cover.add(func(c *coverage) { c.rows += int64(r.rows); c.bytes += r.bytes })
	return st
}
