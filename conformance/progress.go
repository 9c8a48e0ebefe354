package conformance

import (
	"sync"
	"time"
)

// progress reports how far a run is to Options.Progress. It is safe for concurrent use.
type progress struct {
	mu    sync.Mutex
	run   *run
	began time.Time
	last  time.Time // when the listener was told last
	event Event
	// The weights of all planned checks and of those that were done, and one for each, as a
	// measure of the work.
	all, done int
}

// begin starts the measurement of a run, and tells the listener of its requests.
func (p *progress) begin(r *run) {
	p.run, p.began = r, time.Now()
	p.event = Event{Planned: len(r.checks), Budget: r.Requests}
	r.outcomes = make([]Outcome, len(r.checks))
	for i := range r.checks {
		p.all += 1 + r.checks[i].Weight
	}
	if r.Progress != nil {
		r.session.Sent = p.sent
	}
}

// check reports that a check begins or, with its outcome, that it has ended.
func (p *progress) check(i int, done *Outcome) {
	if p.run.Progress == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &p.run.checks[i]
	p.event.ID, p.event.Title, p.event.Index, p.event.Done = c.ID, c.Title, i, done
	if done != nil {
		p.done = min(p.all, p.done+1+c.Weight)
	}
	p.tell()
	p.event.Done = nil
}

// sent reports a request, if the listener was not told anything for a while.
func (p *progress) sent(requests int) {
	const often = 500 * time.Millisecond
	p.mu.Lock()
	defer p.mu.Unlock()
	p.event.Requests = max(p.event.Requests, requests)
	if p.event.ID != "" && time.Since(p.last) > often {
		p.tell()
	}
}

func (p *progress) tell() {
	const enough = 3 * time.Second // to estimate from
	p.last = time.Now()
	p.event.Budget, p.event.Left = p.run.session.Forecast()
	if elapsed := time.Since(p.began); p.event.Budget == 0 && elapsed > enough && p.done > 0 {
		p.event.Left = elapsed * time.Duration(p.all-p.done) / time.Duration(p.done)
	}
	p.run.Progress(p.event)
}
