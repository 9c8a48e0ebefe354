package standin

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

const (
	attempts      = 5                // of one delivery
	attemptCutOff = 30 * time.Second // of one attempt
)

// hook is what a run keeps of the key and the request that started it.
type hook struct {
	hash     string // of the key; signs webhooks and resume URLs
	base     string // what resume URLs begin with
	callback string // empty if the caller wants no webhooks
}

// payload is the body of a webhook.
type payload struct {
	Event      string `json:"event"`
	RunID      string `json:"run_id"`
	WorkflowID string `json:"workflow_id"`
	State      string `json:"state"`
	Summary    string `json:"summary"`
	Duration   int64  `json:"duration"`
	TaskName   string `json:"task_name,omitempty"`
	JobID      string `json:"job_id,omitempty"`
	ResumeURL  string `json:"resume_url,omitempty"`
}

// announce delivers a webhook about the run, if it was started with a key and a
// callback URL. All attempts send the same bytes.
func (s *Service) announce(r *run, event string) {
	if r.hook == nil || r.hook.callback == "" || s.closed.Err() != nil {
		return
	}
	head := r.head(time.Now())
	p := payload{
		Event:      event,
		RunID:      r.id,
		WorkflowID: r.workflow.id,
		State:      r.state,
		Summary:    head.Summary,
		Duration:   head.Duration,
	}
	if event == waiting {
		j := r.current()
		p.TaskName, p.JobID, p.ResumeURL = j.NodeID, j.ID, r.resumeURL(j)
	}
	body := encoded(p)
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("X-Service-Signature", "sha256="+sign([]byte(r.hook.hash), body))
	header.Set("X-Service-Run-Id", r.id)
	header.Set("X-Service-Event", event)
	callback := r.hook.callback
	s.tasks.Go(func() { s.deliver(callback, header, body) })
}

// deliver sends the event, in up to five attempts. The wait between two doubles each time.
func (s *Service) deliver(callback string, header http.Header, body []byte) {
	wait := s.options.Backoff
	for attempt := 1; ; attempt++ {
		if s.attempt(callback, header, body) || attempt == attempts {
			return
		}
		select {
		case <-time.After(wait):
		case <-s.closed.Done():
			return
		}
		wait *= 2
	}
}

// attempt reports whether the receiver answered 2xx in time.
func (s *Service) attempt(callback string, header http.Header, body []byte) bool {
	ctx, cancel := context.WithTimeout(s.closed, attemptCutOff)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, callback, bytes.NewReader(body))
	if err != nil {
		return false
	}
	request.Header = header.Clone()
	// A redirect is an answer other than 2xx. The transport follows none.
	response, err := s.options.Callbacks.RoundTrip(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 1<<16) // lets the connection be used again
	return response.StatusCode/100 == 2
}
