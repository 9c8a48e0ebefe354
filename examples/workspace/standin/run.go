package standin

import (
	"encoding/json"
	"fmt"
	"time"
)

// The states of runs and jobs. The documents show pending, running and completed;
// the others have the name of the webhook event that announces them.
const (
	pending   = "pending"
	running   = "running"
	waiting   = "awaiting_input"
	completed = "completed"
	failed    = "failed"
	cancelled = "cancelled"
)

// run is one run of a workflow. Its steps run one after the other, each for
// Options.Step; a Human Input step without a prepared input waits instead.
type run struct {
	id       string
	workflow *workflow
	state    string
	trigger  string
	started  time.Time
	ended    time.Time // zero until the run has ended
	jobs     []*job
	step     int             // index of the current job
	prepared map[string]bool // nodes whose input came with the trigger
	hook     *hook           // nil for a run that no key started

	messages []json.RawMessage // all that the event stream has had to say since the start
	changed  chan struct{}     // closed and replaced when messages grow
}

// job is one step of a run.
type job struct {
	ID      string `json:"id"`
	NodeID  string `json:"nodeId"`
	State   string `json:"state"`
	Summary string `json:"summary"`
	Result  any    `json:"result"`
	human   bool
}

// workflowView is what a workflow message of the event stream shows.
type workflowView struct {
	ID         string `json:"id"`
	WorkflowID string `json:"workflowId"`
	State      string `json:"state"`
	Summary    string `json:"summary"`
	Duration   int64  `json:"duration"`
	Trigger    string `json:"trigger"`
}

// runView is the run status object.
type runView struct {
	workflowView
	Jobs []*job `json:"jobs"`
}

func (r *run) finished() bool { return !r.ended.IsZero() }

func (r *run) current() *job { return r.jobs[r.step] }

func (r *run) view(now time.Time) runView { return runView{r.head(now), append([]*job{}, r.jobs...)} }

// head returns the run without its jobs. Durations are in whole seconds.
func (r *run) head(now time.Time) workflowView {
	end := now
	if r.finished() {
		end = r.ended
	}
	summary := fmt.Sprintf("Step %d of %d.", r.step+1, len(r.jobs))
	if r.finished() {
		summary = fmt.Sprintf("The run ended as %s after %d of %d steps.", r.state, r.step, len(r.jobs))
	}
	return workflowView{
		ID:         r.id,
		WorkflowID: r.workflow.id,
		State:      r.state,
		Summary:    summary,
		Duration:   int64(end.Sub(r.started) / time.Second),
		Trigger:    r.trigger,
	}
}

// newRun returns a run with one pending job for each node.
func (s *Service) newRun(w *workflow, trigger string, started time.Time) *run {
	r := &run{id: s.uuid(), workflow: w, state: running, trigger: trigger, started: started,
		prepared: map[string]bool{}, changed: make(chan struct{})}
	for _, n := range w.nodes {
		r.jobs = append(r.jobs, &job{ID: s.nextID("job"), NodeID: n.ID, State: pending, human: *n.Type == humanInput})
	}
	w.runs = append(w.runs, r)
	s.runs[r.id] = r
	return r
}

// start begins a run: its first step runs when it returns, even if that is a
// Human Input step, which starts to wait at the end of the step.
func (s *Service) start(w *workflow, trigger string, hook *hook) *run {
	r := s.newRun(w, trigger, time.Now())
	r.hook = hook
	if len(r.jobs) > 0 {
		r.current().set(running)
	}
	s.afterStep(r)
	return r
}

// afterStep calls advance when the current step is over.
func (s *Service) afterStep(r *run) {
	time.AfterFunc(s.options.Step, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.state == running { // not if it has been cancelled
			s.advance(r)
		}
	})
}

// advance pauses the run, or starts its next step, or completes it. Call it when the
// current step has run.
func (s *Service) advance(r *run) {
	if len(r.jobs) == 0 {
		s.end(r, completed)
		return
	}
	j := r.current()
	if j.human && !r.prepared[j.NodeID] {
		r.state = waiting
		j.set(waiting)
		s.changed(r, j)
		s.announce(r, waiting)
		return
	}
	s.completeStep(r)
}

// resumeRun takes the input of a paused run: its step is complete.
func (s *Service) resumeRun(r *run) {
	r.state = running
	s.completeStep(r)
}

func (s *Service) completeStep(r *run) {
	j := r.current()
	j.set(completed)
	r.step++
	if r.step == len(r.jobs) {
		r.message("job", j)
		s.end(r, completed)
		return
	}
	r.current().set(running)
	s.changed(r, j, r.current())
	s.afterStep(r)
}

// end finishes a run in a state that is also the name of the webhook event. It
// does nothing if the run has ended.
func (s *Service) end(r *run, state string) {
	if r.finished() {
		return
	}
	if state != completed && r.step < len(r.jobs) {
		r.current().set(state)
		r.message("job", r.current())
	}
	r.state, r.ended = state, time.Now()
	r.message("workflow", r.head(r.ended))
	r.message("done", struct{}{})
	s.announce(r, state)
}

// Fail ends a run that has not ended as failed. Nothing in the API makes a run
// fail: tests and demonstrations call this.
func (s *Service) Fail(runID string) error { return s.endByID(runID, failed) }

// Cancel ends a run that has not ended as cancelled. The documents show what
// follows a cancellation, but no request that cancels.
func (s *Service) Cancel(runID string) error { return s.endByID(runID, cancelled) }

func (s *Service) endByID(runID, state string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[runID]
	if r == nil || r.finished() {
		return fmt.Errorf("no run %q that has not ended", runID)
	}
	s.end(r, state)
	return nil
}

// set moves a job to a state. The result of a completed job is an empty object:
// the documents show no members.
func (j *job) set(state string) {
	j.State, j.Summary = state, "The step is "+state+"."
	if state == completed {
		j.Result = struct{}{}
	}
}

// changed sends a run and some of its jobs to the event stream.
func (s *Service) changed(r *run, jobs ...*job) {
	r.message("workflow", r.head(time.Now()))
	for _, j := range jobs {
		r.message("job", j)
	}
}

// message appends a message to the event stream: the members of v and a type.
func (r *run) message(kind string, v any) {
	r.messages = append(r.messages, typed(kind, v))
	close(r.changed)
	r.changed = make(chan struct{})
}

// typed returns v, which encodes as an object, with a type as its first member.
func typed(kind string, v any) json.RawMessage {
	text := append([]byte(`{"type":"`+kind+`"`), ',')
	rest := encoded(v)[1:]
	if rest[0] == '}' {
		text = text[:len(text)-1]
	}
	return append(text, rest...)
}
