package protocol

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	// shortTimeout is a deadline that ends long before the table slow begins.
	shortTimeout = 1500 * time.Millisecond
	// tolerance is how late an answer or a heartbeat may be, for the network and a
	// busy machine.
	tolerance = 2 * time.Second
)

// slowChecks returns the checks about deadlines and heartbeats, which the corpus's optional table
// slow shows.
func slowChecks() []session.Check {
	return []session.Check{
		{ID: "P3.5a", Phase: 3, Judge: judgeSlow(queryDeadline), Rules: []string{"route-2", "stream-5", "error-6"},
			Title: "timeoutMs ends a query in time",
			Fix: "Enforce timeoutMs while waiting for the source: answer 408 timeout before the first line, " +
				"or an error line with code timeout after it."},
		{ID: "P3.5b", Phase: 3, Judge: judgeSlow(idleDeadline), Rules: []string{"stream-5a"},
			Title: "idleTimeoutMs ends a query without rows in time",
			Fix: "Start a clock at the request and with each row; when it reaches idleTimeoutMs end the stream " +
				"with an error line of code timeout. A ping does not reset it."},
		{ID: "P3.5c", Phase: 3, Judge: judgeSlow(countDeadline, aggregateDeadline), Needs: session.NeedsNumbers,
			Rules: []string{"error-6", "route-2"},
			Title: "timeoutMs ends a count and an aggregate in time",
			Fix:   "Enforce timeoutMs on every route: answer 408 timeout when it has elapsed, whatever the source is doing."},
		{ID: "P3.7a", Phase: 3, Judge: judgeSlow(heartbeat), Rules: []string{"stream-4"},
			Title: "a silent stream pings within 10 seconds, again and again",
			Fix: "Write a ping line, and flush it, whenever nothing was written for 10 seconds, from the request until the end. " +
				"A proxy that buffers answers must be told not to."},
	}
}

// The exchanges with the table slow.
const (
	heartbeat         = "heartbeat"
	queryDeadline     = "deadline of a query"
	idleDeadline      = "idle deadline of a query"
	countDeadline     = "deadline of a count"
	aggregateDeadline = "deadline of an aggregate"
)

// slowExchanges are the exchanges with the table slow. They take as long as its
// rows stall, so they run beside the other checks.
type slowExchanges struct {
	found  bool // the table was discovered
	byName map[string]*slowExchange
}

// slowExchange is one exchange with the table slow. Its answer may be read once
// done is closed.
type slowExchange struct {
	ask    func(context.Context) *slowAnswer
	done   chan struct{} // nil: it was not begun
	answer *slowAnswer
	bug    any // a panic, which the check that waits for the answer raises again
}

// slowAnswer is an answer about the table slow.
type slowAnswer struct {
	*session.Answer
	stream *session.Stream // nil for a route without one
}

func slow(s *session.Session) *slowExchanges {
	return session.Keep(s, func() *slowExchanges { return &slowExchanges{} })
}

// StartSlow begins the exchanges with the table slow, if a planned check needs them
// and the table exists. The caller calls stop at the end of the run: it ends the
// exchanges that nobody waits for any more.
func StartSlow(ctx context.Context, s *session.Session) (stop func()) {
	stop = func() {}
	if !slices.ContainsFunc(slowChecks(), func(c session.Check) bool { return s.Plans(c.ID) }) {
		return stop
	}
	exchanges := slow(s)
	result := s.Judge(ctx, &session.Check{ID: "slow", Open: true, Judge: func(run *session.Run) *check.Finding {
		if f := run.Begin(); f != nil {
			return f
		}
		d, f := run.Discovery(0)
		if f == nil {
			exchanges.found = slices.ContainsFunc(d.Tables, func(t wire.Table) bool { return session.IsSlow(&t) })
		}
		return f
	}})
	if result.Finding != nil || !exchanges.found {
		return stop
	}
	exchanges.byName = prepare(s)
	// One request at a time stays free for the other checks.
	beside := len(exchanges.byName)
	if most := s.Document.Capabilities.Limits.Concurrency; most > 0 {
		beside = min(beside, most-1)
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, name := range []string{heartbeat, queryDeadline, idleDeadline, countDeadline, aggregateDeadline} {
		e := exchanges.byName[name]
		if e == nil || beside == 0 {
			continue
		}
		beside--
		e.done = make(chan struct{})
		wg.Go(func() {
			defer close(e.done)
			defer func() { e.bug = recover() }()
			e.answer = e.ask(ctx)
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// prepare returns the exchanges that the document allows, none of them begun.
func prepare(s *session.Session) map[string]*slowExchange {
	query := func(timeout, idle, wait time.Duration) *slowExchange {
		t := corpus.Slow()
		req := session.AllRows(&t.Table)
		req.TimeoutMS, req.IdleTimeoutMS = timeout.Milliseconds(), idle.Milliseconds()
		c := s.Ask(wire.PathQuery, req, 0)
		c.Wait = wait
		return &slowExchange{ask: func(ctx context.Context) *slowAnswer {
			st := s.StreamWith(ctx, c, session.Members(req), 100)
			return &slowAnswer{st.Answer, st}
		}}
	}
	const soon = shortTimeout + 2*tolerance // later than that nothing is on time
	exchanges := map[string]*slowExchange{
		heartbeat:     query(session.UsualTimeout, session.IdleTimeout, corpus.SlowStall+session.Grace),
		queryDeadline: query(shortTimeout, session.IdleTimeout, soon),
		idleDeadline:  query(session.UsualTimeout, shortTimeout, soon),
	}
	post := func(path string, m wire.Message) *slowExchange {
		c := s.Ask(path, m, 0)
		c.Wait = soon
		return &slowExchange{ask: func(ctx context.Context) *slowAnswer {
			return &slowAnswer{Answer: s.ExchangeWith(ctx, c)}
		}}
	}
	envelope := wire.Envelope{TimeoutMS: shortTimeout.Milliseconds()}
	if s.Document.Has(wire.EndpointCount) {
		exchanges[countDeadline] = post(wire.PathCount, &wire.CountRequest{Table: corpus.SlowTable, Envelope: envelope})
	}
	if s.Document.Has(wire.EndpointAggregate) {
		exchanges[aggregateDeadline] = post(wire.PathAggregate, &wire.AggregateRequest{
			Table: corpus.SlowTable, Envelope: envelope,
			Measures: []wire.Measure{{Fn: wire.FnCount, As: "rows"}}, Limit: wire.AggregateLimit,
		})
	}
	return exchanges
}

// judgeSlow returns the judge of some exchanges. One that came late is tried again
// by itself: this machine may have been busy with the other checks.
func judgeSlow(names ...string) func(*session.Run) *check.Finding {
	return func(run *session.Run) *check.Finding {
		if _, f := run.Discovery(0); f != nil {
			return f
		}
		exchanges := slow(run.Session)
		if !exchanges.found {
			return check.Skip(check.NoData, "discovery does not list the table %s of the corpus, whose rows stall", corpus.SlowTable)
		}
		for _, name := range names {
			e := exchanges.byName[name]
			if e == nil {
				continue
			}
			judge := func() *check.Finding {
				run.Last = e.answer.Request
				if name == heartbeat {
					return pinged(run, e.answer.stream)
				}
				return onTime(run, e.answer)
			}
			if f := await(run, e); f != nil {
				return f
			}
			f := judge()
			if f.Failure() {
				e.answer = e.ask(run.Ctx)
				f = judge()
			}
			if f != nil {
				return f
			}
		}
		if run.Cases == 0 {
			return check.Skip(check.NoData, "the table %s does not stall, or the host ends requests before it matters", corpus.SlowTable)
		}
		return nil
	}
}

// await waits for an exchange, or runs it if it was not begun.
func await(run *session.Run, e *slowExchange) *check.Finding {
	if e.done == nil {
		e.answer = e.ask(run.Ctx)
		return nil
	}
	select {
	case <-e.done:
		if e.bug != nil {
			panic(e.bug)
		}
		return nil
	case <-run.Ctx.Done():
		return check.Skip(check.NotReached, "%s", run.Interrupted(run.Ctx))
	}
}

// onTime judges an answer that a short deadline has to end.
func onTime(run *session.Run, a *slowAnswer) *check.Finding {
	const expected = "408 timeout or, in a stream, an error line with code timeout"
	elapsed := a.Elapsed.Round(time.Millisecond)
	var late session.Late
	switch {
	case errors.As(a.Err, &late):
		run.Cases++
		return check.Differs(expected+fmt.Sprintf(", after %s", shortTimeout), a.Err.Error(), "the deadline is not enforced")
	case a.Err != nil:
		return check.Fail("%v", a.Err)
	case a.Declined() && a.Request.URL == run.Base+wire.PathAggregate:
		return nil
	case a.Status == http.StatusOK && a.stream == nil, a.stream != nil && a.stream.Ended:
		if a.Elapsed < shortTimeout+tolerance {
			return nil // it did not have to wait
		}
		run.Cases++
		return check.Differs(expected, fmt.Sprintf("an answer after %s", elapsed), "the deadline is not enforced")
	}
	run.Cases++
	if a.stream != nil && a.Status == http.StatusOK {
		switch st := a.stream; {
		case st.Fault == nil:
			received := ""
			if st.Broken != nil {
				received = st.Broken.Detail
			}
			return check.Differs(expected, received, "the stream is cut without a word when the deadline has elapsed")
		case st.Fault.Code != wire.CodeTimeout:
			return check.Differs(expected, st.FaultText(), "the error line of an elapsed deadline has another code")
		}
	} else if f := a.RefusedWith(wire.CodeTimeout); f != nil {
		return f
	}
	if a.Elapsed > shortTimeout+tolerance {
		return check.Differs(fmt.Sprintf("%s after %s", expected, shortTimeout), fmt.Sprintf("after %s", elapsed), "the deadline is enforced late")
	}
	return nil
}

// silences returns what is wrong with the longest silence of a stream.
func silences(run *session.Run, st *session.Stream) *check.Finding {
	silent := func(silence time.Duration, until string) *check.Finding {
		if silence <= wire.HeartbeatInterval+tolerance {
			return nil
		}
		run.Cases++
		return check.Differs(fmt.Sprintf("a ping after %s without a line", wire.HeartbeatInterval),
			fmt.Sprintf("nothing for %s", silence.Round(10*time.Millisecond)), "the stream was silent until %s", until)
	}
	last := time.Duration(0)
	for _, line := range st.Lines {
		until := fmt.Sprintf("its %s line, %s after the request", line.Kind, line.At.Round(10*time.Millisecond))
		if f := silent(line.At-last, until); f != nil {
			return f
		}
		last = line.At
	}
	if !st.Ended {
		return silent(st.Elapsed-last, "it was given up")
	}
	return nil
}

// pinged judges a stream whose rows stall.
func pinged(run *session.Run, st *session.Stream) *check.Finding {
	if f := silences(run, st); f != nil {
		return f
	}
	// A host may have a limit of its own for how long a request takes.
	limited := st.Fault != nil && st.Fault.Code == wire.CodeTimeout || st.RefusedWith(wire.CodeTimeout) == nil
	if !limited {
		if f := st.Problem(); f != nil {
			return f
		}
	}
	if n := len(st.Lines); n == 0 || st.Lines[n-1].At < wire.HeartbeatInterval {
		return nil // it did not stall, or was ended before a ping was due
	}
	run.Cases++
	if limited {
		return nil
	}
	pings := 0
	for _, line := range st.Lines {
		if line.Kind == "ping" {
			pings++
		}
	}
	table := corpus.Slow()
	known := oracle.Tables{table.Name: {Name: table.Name, Columns: table.Columns(), Rows: table.Rows}}
	if d := oracle.Verify(known, session.AllRows(&table.Table), st.Table.Rows); d != nil {
		return check.Differs(d.Expected, d.Received, "after %d pings the rows of table %s are not complete: %s", pings, table.Name, d.Detail)
	}
	return nil
}
