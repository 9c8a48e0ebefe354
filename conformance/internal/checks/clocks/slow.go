package clocks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	// shortTimeout is a deadline that ends long before the table slow begins.
	shortTimeout = 1500 * time.Millisecond
	// longTimeout is a deadline that ends before it too, but after a ping was due.
	longTimeout = wire.HeartbeatInterval + 2*time.Second
	// slowRows is more rows than the table slow has.
	slowRows = 100
	// maxBeside is how many exchanges with the table slow run beside the other checks.
	maxBeside = 4
)

// Clocks makes the checks of one run, and what they share: the exchanges with the table slow.
// They take as long as its rows stall, so they run beside the other checks.
type Clocks struct {
	found     bool // the table was discovered
	exchanges []*exchange
}

// exchange is one exchange with the table slow, for one check. Its answer may be read once done is closed.
type exchange struct {
	id       string // of the check
	call     session.Call
	deadline deadline // the zero deadline: it is to come to its end
	done     chan struct{}
	answer   *session.Answer
	bug      any // a panic, which the check that waits for the answer raises again
}

// Start begins the exchanges with the table slow, if a planned check needs them and the table exists. The caller calls
// stop at the end of the run: it ends the exchanges that nobody waits for any more.
func (k *Clocks) Start(ctx context.Context, s *session.Session) (stop func()) {
	if !slices.ContainsFunc(exchangesWith(s), func(e *exchange) bool { return s.Planned[e.id] }) {
		return func() {}
	}
	s.Judge(ctx, &session.Check{ID: "slow", Judge: func(run *session.Run) *check.Finding {
		d, f := run.Discovery(0)
		if f == nil {
			k.found = slices.ContainsFunc(d.Tables, func(t wire.Table) bool { return declared.IsSlow(&t) })
		}
		return f
	}})
	if !k.found {
		return func() {}
	}
	needless := map[string]bool{}
	for _, c := range k.Checks() {
		needless[c.ID] = !s.Planned[c.ID] || c.Needs != nil && c.Needs(s.Document) != ""
	}
	k.exchanges = slices.DeleteFunc(exchangesWith(s), func(e *exchange) bool {
		return needless[e.id] || !s.Document.Offers(e.call.Path)
	})
	// One request at a time stays free for the other checks.
	beside := maxBeside
	if most := s.Document.Capabilities.Limits.Concurrency; most > 0 {
		beside = min(beside, most-1)
	}
	if beside == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	waiting := make(chan *exchange, len(k.exchanges))
	for _, e := range k.exchanges {
		e.done = make(chan struct{})
		waiting <- e
	}
	close(waiting)
	var wg sync.WaitGroup
	for range beside {
		wg.Go(func() {
			for e := range waiting {
				e.run(ctx, s)
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

func (e *exchange) run(ctx context.Context, s *session.Session) {
	defer close(e.done)
	defer func() { e.bug = recover() }()
	e.answer = s.ExchangeWith(ctx, e.call)
}

// exchangesWith returns all exchanges, those first that take longest.
func exchangesWith(s *session.Session) (list []*exchange) {
	table := corpus.Slow()
	add := func(id string, d deadline, path string, m wire.Request) {
		c := s.Ask(path, m, 0)
		c.Most, c.Wait = slowRows, corpus.SlowStall+defaults.Grace
		if d.after > 0 {
			c.Wait = d.latest + tolerance // what has not come by then is not on time
		}
		list = append(list, &exchange{id: id, call: c, deadline: d})
	}
	query := func(id string, d deadline, change func(*wire.QueryRequest)) {
		req := declared.AllRows(&table.Table)
		change(req)
		add(id, d, wire.PathQuery, req)
	}
	short, long := within(shortTimeout, tolerance), within(longTimeout, tolerance)
	timeout := func(req *wire.QueryRequest) { req.TimeoutMS = shortTimeout.Milliseconds() }
	query("P3.7a", deadline{}, func(*wire.QueryRequest) {})
	query("P3.5e", long, func(req *wire.QueryRequest) { req.TimeoutMS = longTimeout.Milliseconds() })
	query("P3.5f", long, func(req *wire.QueryRequest) { req.IdleTimeoutMS = longTimeout.Milliseconds() })
	// Its first line may be the first ping.
	query("A.35", within(shortTimeout, wire.HeartbeatInterval+tolerance), func(req *wire.QueryRequest) {
		req.MaxTimeoutMS = shortTimeout.Milliseconds()
	})
	query("P3.5a", short, timeout)
	query("P3.5b", short, func(req *wire.QueryRequest) { req.IdleTimeoutMS = shortTimeout.Milliseconds() })
	query("P3.5g", short, func(req *wire.QueryRequest) { // joins the table to itself
		timeout(req)
		req.Joins = []wire.JoinHop{{FromTable: table.Name, ToTable: table.Name, FromField: "id", ToField: "id",
			Fields: []wire.JoinField{{Field: "name", As: "same_name", Type: wire.TypeString}}}}
	})
	for i := range routes.All {
		r := &routes.All[i]
		if r.Legal == nil || r.Answer == nil {
			continue
		}
		id := "P3.5c"
		if r.Measure {
			id = "P3.5d"
		}
		m, envelope := r.About(table.Name, "name")
		envelope.TimeoutMS = shortTimeout.Milliseconds()
		add(id, short, r.Path, m)
	}
	return list
}

// judgeSlow judges the exchanges of a check. One that came late is tried again
// by itself, without the other checks beside it.
func (k *Clocks) judgeSlow(run *session.Run) *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	if !k.found {
		return check.Skip(check.NoData, "the corpus's table %s is not loaded; the README.md of conform -fixture DIR says how",
			corpus.Slow().Name)
	}
	if f := run.Consequence("without a deadline that is kept there is nothing more to see"); f != nil {
		return f
	}
	for _, e := range k.exchanges {
		if e.id != run.Check.ID {
			continue
		}
		if f := await(run, e); f != nil {
			return f
		}
		shown := false
		f := everyTime(func() (f *check.Finding) {
			if e.answer == nil {
				e.answer = run.ExchangeWith(run.Ctx, e.call)
			}
			shown, f = e.judge(run)
			e.answer = nil
			return f
		})
		if shown {
			run.Cases++
		}
		if f != nil {
			return f
		}
	}
	return run.Judged("the table %s does not stall here, or the host ends requests before it matters", corpus.Slow().Name)
}

func (e *exchange) judge(run *session.Run) (shown bool, f *check.Finding) {
	run.Last = e.answer.Request
	if e.deadline.after == 0 {
		return pinged(e.answer.Stream)
	}
	shown, f = e.deadline.judge(e.answer)
	if f != nil || e.answer.Err != nil || !complete(e.answer) {
		return shown, f
	}
	// The table does not stall, or not all of it was waited for.
	if some, known := amount(e.answer); known && some < tableRows {
		return true, inPart(some, tableRows)
	}
	return false, nil
}

// tableRows is the number of rows of the table slow, which is also the least that any measurement of it amounts to.
const tableRows = 3

func await(run *session.Run, e *exchange) *check.Finding {
	if e.done == nil {
		return nil
	}
	select {
	case <-e.done:
		if e.bug != nil {
			panic(e.bug)
		}
		return nil
	case <-run.Ctx.Done():
		return check.Interrupted(run.Ctx, run.Timeout)
	}
}
