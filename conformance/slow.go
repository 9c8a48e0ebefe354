package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	// shortTimeout is a deadline that ends long before the table slow begins.
	shortTimeout = 1500 * time.Millisecond
	// tolerance is how late an answer or a heartbeat may be, for the network and
	// a busy machine.
	tolerance = 2 * time.Second
)

// slowChecks are the deadlines and heartbeats that the corpus's optional table
// slow shows (corpus.SlowTable).
func slowChecks() []Check {
	return []Check{
		{
			ID: "P3.5a", Phase: 3, judge: slowJudge("P3.5a"),
			Title: "timeoutMs ends a query in time",
			Rule:  "protocol, Endpoints; Errors; C5",
			Quote: "Every authenticated body carries `credentials` and `timeoutMs` (positive integer, enforced by the server with 408).",
			Fix:   "Enforce timeoutMs while waiting for the source: answer 408 timeout before the first line, or an error line with code timeout after it.",
		},
		{
			ID: "P3.5b", Phase: 3, judge: slowJudge("P3.5b"),
			Title: "idleTimeoutMs ends a query without rows in time",
			Rule:  "protocol, Errors; C5",
			Quote: "An error during a stream is sent as an `error` line, for instance code `timeout` when no rows came within the idle deadline.",
			Fix:   "Start a clock at the request and with each row; when it reaches idleTimeoutMs end the stream with an error line of code timeout. A ping does not turn it back.",
		},
		{
			ID: "P3.5c", Phase: 3, judge: slowJudge("P3.5c", "P3.5c aggregate"), needs: needsFolding,
			Title: "timeoutMs ends a count and an aggregate in time",
			Rule:  "protocol, Errors; C5",
			Quote: "the request's own `timeoutMs` elapsed",
			Fix:   "Enforce timeoutMs on every route: answer 408 timeout when it has elapsed, whatever the source is doing.",
		},
		{
			ID: "P3.7a", Phase: 3, judge: slowJudge("P3.7a"),
			Title: "a silent stream pings within 10 seconds, again and again",
			Rule:  "protocol, /query; Limits; C4",
			Quote: "written after 10 seconds without a batch",
			Fix:   "Write a ping line, and flush it, whenever nothing was written for 10 seconds, from the request on until the end. A proxy that buffers answers must be told not to.",
		},
	}
}

func needsFolding(d *document) string {
	if !d.has(wire.EndpointCount) && !d.has(wire.EndpointAggregate) {
		return "endpoints lists neither count nor aggregate"
	}
	return ""
}

// slowProbes are the exchanges with the table slow. They take as long as its
// rows stall, so they run beside the other checks.
type slowProbes struct {
	found  bool // the table was discovered
	probes map[string]*probe
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// probe is one such exchange. Its answer may be read once done is closed.
type probe struct {
	run    func(context.Context) *slowAnswer
	done   chan struct{} // nil: it was not begun
	answer *slowAnswer
	fault  any // a panic, which is one of the check that waits
}

// slowAnswer is what came of a probe.
type slowAnswer struct {
	*answer
	stream *stream // nil for a route without one
}

// stop ends the probes that nobody waits for any more.
func (p *slowProbes) stop() {
	if p.cancel != nil {
		p.cancel()
	}
	p.wg.Wait()
}

// prepare begins the probes, when a check that needs them is planned and the
// table is there.
func (s *session) prepare(ctx context.Context) {
	if !slices.ContainsFunc(s.checks, func(planned Check) bool {
		return slices.ContainsFunc(slowChecks(), func(c Check) bool { return c.ID == planned.ID })
	}) {
		return
	}
	x := &exam{session: s, ctx: ctx, check: &Check{}}
	if !x.reaches(func() {
		x.authorized()
		s.slow.found = slices.ContainsFunc(x.discovery(0).Tables, func(t wire.Table) bool { return slowTable(&t) })
	}) || !s.slow.found {
		return
	}
	s.slow.probes = s.slowExchanges()
	// One request at a time stays free for the other checks.
	beside := len(s.slow.probes)
	if most := s.doc.Capabilities.Limits.Concurrency; most > 0 {
		beside = min(beside, most-1)
	}
	ctx, s.slow.cancel = context.WithCancel(ctx)
	for _, id := range []string{"P3.7a", "P3.5a", "P3.5b", "P3.5c", "P3.5c aggregate"} {
		p := s.slow.probes[id]
		if p == nil || beside == 0 {
			continue
		}
		beside--
		p.done = make(chan struct{})
		s.slow.wg.Go(func() {
			defer close(p.done)
			defer func() { p.fault = recover() }()
			p.answer = p.run(ctx)
		})
	}
}

// reaches tells whether a part came to its end, rather than that a check would
// have been skipped.
func (x *exam) reaches(part func()) (ok bool) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case ended:
			ok = false
		default:
			x.fault, ok = fmt.Sprintf("this program failed before the first check: %v", e), false
		}
	}()
	part()
	return true
}

// slowExchanges are the probes, none of them begun.
func (s *session) slowExchanges() map[string]*probe {
	query := func(timeout, idle, wait time.Duration) *probe {
		t := corpus.Slow()
		req := everything(&t.Table)
		req.TimeoutMS, req.IdleTimeoutMS = timeout.Milliseconds(), idle.Milliseconds()
		c := s.ask(wire.PathQuery, req, 0)
		c.wait = wait
		return &probe{run: func(ctx context.Context) *slowAnswer {
			st := s.stream(ctx, c, members(req), 100)
			return &slowAnswer{st.answer, st}
		}}
	}
	// Later than that nothing is on time.
	const soon = shortTimeout + 2*tolerance
	probes := map[string]*probe{
		"P3.7a": query(usualTimeout, idleTimeout, corpus.SlowStall+grace),
		"P3.5a": query(shortTimeout, idleTimeout, soon),
		"P3.5b": query(usualTimeout, shortTimeout, soon),
	}
	post := func(path string, m wire.Message) *probe {
		c := s.ask(path, m, 0)
		c.wait = soon
		return &probe{run: func(ctx context.Context) *slowAnswer { return &slowAnswer{answer: s.exchange(ctx, c)} }}
	}
	if s.doc.has(wire.EndpointCount) {
		probes["P3.5c"] = post(wire.PathCount, &wire.CountRequest{Table: corpus.SlowTable, Envelope: wire.Envelope{TimeoutMS: shortTimeout.Milliseconds()}})
	}
	if s.doc.has(wire.EndpointAggregate) {
		probes["P3.5c aggregate"] = post(wire.PathAggregate, &wire.AggregateRequest{Table: corpus.SlowTable, Envelope: wire.Envelope{TimeoutMS: shortTimeout.Milliseconds()},
			Measures: []wire.Measure{{Fn: wire.FnCount, As: "rows"}}, Limit: wire.AggregateLimit})
	}
	return probes
}

// slowJudge judges what probes have come to. What came late is tried again, by
// itself: this machine may have been busy with the other checks.
func slowJudge(ids ...string) func(*exam) {
	return func(x *exam) {
		x.discovery(0)
		if !x.slow.found {
			x.skip(NoData, "discovery does not list the table %s of the corpus, whose rows stall", corpus.SlowTable)
		}
		for _, id := range ids {
			p := x.slow.probes[id]
			if p == nil {
				continue
			}
			judge := func() {
				x.last = p.answer.request
				if id == "P3.7a" {
					x.pinged(p.answer.stream)
				} else {
					x.onTime(p.answer)
				}
			}
			x.await(p)
			if f := x.attempt(judge); f != nil {
				p.answer = p.run(x.ctx)
				judge()
			}
		}
		if x.cases == 0 {
			x.skip(NoData, "the table %s does not stall, or the host ends requests before it matters", corpus.SlowTable)
		}
	}
}

// await waits for a probe, or runs it when it was not begun.
func (x *exam) await(p *probe) {
	if p.done == nil {
		p.answer = p.run(x.ctx)
		return
	}
	select {
	case <-p.done:
		if p.fault != nil {
			panic(p.fault)
		}
	case <-x.ctx.Done():
		x.skip(NotReached, "%s", x.interrupted(x.ctx))
	}
}

// onTime judges an answer that a short deadline has to end.
func (x *exam) onTime(a *slowAnswer) {
	const expected = "408 timeout or, in a stream, an error line with code timeout"
	var late errLate
	switch {
	case errors.As(a.err, &late):
		x.cases++
		x.want(expected+fmt.Sprintf(", after %s", shortTimeout), a.err.Error(), "the deadline is not enforced")
	case a.err != nil:
		x.fail("%v", a.err)
	case a.status == http.StatusNoContent && a.request.URL == x.base+wire.PathAggregate:
		return // declined
	case a.status == http.StatusOK && a.stream == nil, a.stream != nil && a.stream.ended:
		if a.elapsed < shortTimeout+tolerance {
			return // it did not have to wait
		}
		x.cases++
		x.want(expected, fmt.Sprintf("an answer after %s", a.elapsed.Round(time.Millisecond)), "the deadline is not enforced")
	}
	x.cases++
	if a.stream != nil && a.status == http.StatusOK {
		switch st := a.stream; {
		case st.fault == nil:
			x.want(expected, st.why, "the stream is cut without a word when the deadline has elapsed")
		case st.fault.Code != wire.CodeTimeout:
			x.want(expected, a.s.clean(st.fault.Error()), "the error line of an elapsed deadline has another code")
		}
	} else {
		x.found(refused(a.answer, wire.CodeTimeout))
	}
	if a.elapsed > shortTimeout+tolerance {
		x.want(fmt.Sprintf("%s after %s", expected, shortTimeout), fmt.Sprintf("after %s", a.elapsed.Round(time.Millisecond)), "the deadline is enforced late")
	}
}

// pinged judges a stream whose rows stall.
func (x *exam) pinged(st *stream) {
	silent := func(silence time.Duration, until string) {
		if silence > wire.HeartbeatInterval+tolerance {
			x.cases++
			x.want(fmt.Sprintf("a ping after %s without a line", wire.HeartbeatInterval), fmt.Sprintf("nothing for %s", silence.Round(10*time.Millisecond)),
				"the stream was silent until %s", until)
		}
	}
	last, pings := time.Duration(0), 0
	for _, line := range st.lines {
		silent(line.at-last, fmt.Sprintf("its %s line, %s after the request", line.kind, line.at.Round(10*time.Millisecond)))
		if line.kind == "ping" {
			pings++
		}
		last = line.at
	}
	if !st.ended {
		silent(st.elapsed-last, "it was given up")
	}
	// A host may have a ceiling of its own for how long a request takes.
	capped := st.fault != nil && st.fault.Code == wire.CodeTimeout || refused(st.answer, wire.CodeTimeout) == nil
	if !capped {
		x.found(st.unusable())
		if st.broken != "" {
			x.blocked(st.broken, st.why)
		}
	}
	if last < wire.HeartbeatInterval {
		return // it did not stall, or was ended before a ping was due
	}
	x.cases++
	if capped {
		return
	}
	slow := corpus.Slow()
	req := everything(&slow.Table)
	if d := oracle.Verify(oracle.Tables{slow.Name: {Name: slow.Name, Columns: slow.Columns(), Rows: slow.Rows}}, req, st.table.Rows); d != nil {
		x.want(d.Expected, d.Received, "after %d pings the rows of table %s are not complete: %s", pings, slow.Name, d.Detail)
	}
}
