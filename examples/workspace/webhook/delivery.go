package webhook

import (
	"encoding/json"
	"errors"
)

// Name is the name of an event.
type Name string

// The four events.
const (
	AwaitingInput Name = "awaiting_input" // the run paused at a Human Input step
	Completed     Name = "completed"      // the run finished successfully
	Failed        Name = "failed"         // the run ended in failure
	Cancelled     Name = "cancelled"      // the run was cancelled
)

// Run is what every delivery tells about its run.
type Run struct {
	RunID      string  `json:"run_id"`
	WorkflowID string  `json:"workflow_id"`
	State      string  `json:"state"`
	Summary    string  `json:"summary"`
	Duration   float64 `json:"duration"` // in a unit that the document does not show
}

// Delivery is one webhook. It is one of [*Paused], [*Finished], [*Failure] and
// [*Cancellation].
type Delivery interface {
	Event() Name
	About() Run
	Key() Key
}

// Key identifies what a delivery is about. Deliveries with the same key are
// repetitions of one.
//
// The document names run and event as the pair to recognise. The job belongs to it:
// a run with two Human Input steps awaits input twice, and both deliveries count.
type Key struct {
	RunID string `json:"run_id"`
	Event Name   `json:"event"`
	JobID string `json:"job_id,omitempty"` // only of AwaitingInput
}

// Paused says that a run waits for a person's answer.
type Paused struct {
	Run
	TaskName string // the step that waits
	JobID    string
	// ResumeURL takes the answer, for this run alone. Anyone with it and the key can
	// answer: keep it out of logs.
	ResumeURL string
}

// Finished says that a run finished successfully.
type Finished struct{ Run }

// Failure says that a run ended in failure.
type Failure struct{ Run }

// Cancellation says that a run was cancelled.
type Cancellation struct{ Run }

// About returns what the delivery tells about its run.
func (r Run) About() Run { return r }

// Event returns AwaitingInput.
func (*Paused) Event() Name { return AwaitingInput }

// Event returns Completed.
func (*Finished) Event() Name { return Completed }

// Event returns Failed.
func (*Failure) Event() Name { return Failed }

// Event returns Cancelled.
func (*Cancellation) Event() Name { return Cancelled }

// Key returns run, event and job.
func (p *Paused) Key() Key { return Key{p.RunID, AwaitingInput, p.JobID} }

// Key returns run and event.
func (f *Finished) Key() Key { return Key{RunID: f.RunID, Event: Completed} }

// Key returns run and event.
func (f *Failure) Key() Key { return Key{RunID: f.RunID, Event: Failed} }

// Key returns run and event.
func (c *Cancellation) Key() Key { return Key{RunID: c.RunID, Event: Cancelled} }

// ErrPayload is the error of a body that is signed, but is no delivery.
var ErrPayload = errors.New("webhook: the body is not a delivery that the document shows")

// Parse reads a body. Verify its signature first.
func Parse(body []byte) (Delivery, error) {
	var p struct {
		Event Name `json:"event"`
		Run
		TaskName  string `json:"task_name"`
		JobID     string `json:"job_id"`
		ResumeURL string `json:"resume_url"`
	}
	if err := json.Unmarshal(body, &p); err != nil || p.RunID == "" {
		return nil, ErrPayload // err may quote the body, which may hold a resume_url
	}
	switch p.Event {
	case AwaitingInput:
		// Without its job, one pause could not be told from another.
		if p.JobID == "" || p.ResumeURL == "" {
			return nil, ErrPayload
		}
		return &Paused{p.Run, p.TaskName, p.JobID, p.ResumeURL}, nil
	case Completed:
		return &Finished{p.Run}, nil
	case Failed:
		return &Failure{p.Run}, nil
	case Cancelled:
		return &Cancellation{p.Run}, nil
	}
	return nil, ErrPayload
}
