package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"mime"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The types of events that the document shows.
const (
	State    = "state"    // first on every connection
	Workflow = "workflow" // the run changed
	StepJob  = "job"      // a step changed
	Done     = "done"     // last: the run has finished
)

// Event is one message of a run's stream.
type Event struct {
	Type string
	// Data is the whole message, a JSON object. The document shows no member of it but
	// "type".
	Data json.RawMessage
}

const (
	streamEndpoint = "GET /api/v3/workflows/runs/:runId/stream"
	defaultQuiet   = 90 * time.Second
	// connecting is how long a connection may take to begin. A budget that has to be
	// waited for is full again after one minute.
	connecting = 2 * time.Minute
	// firstWait is the wait before the first reconnect. Each later one is twice as
	// long, up to lastWait. Streams have a budget of one a second.
	firstWait = time.Second
	lastWait  = 30 * time.Second
	// maxFailures is how many connections in a row may break without use.
	maxFailures = 6
	// useful is how long a connection must have lasted to count as one that worked.
	useful = 10 * time.Second
)

// ErrBroken is the error of a stream that breaks again and again. The run may go on;
// ask for its status.
var ErrBroken = errors.New("the stream breaks again and again")

// Follow returns the events of a run until it is done. On a run that has finished,
// these are State and Done. If the connection breaks or falls silent, Follow connects
// again, and the next event is another State, which makes up for whatever was missed
// in between. An error ends the sequence.
func (c *Client) Follow(ctx context.Context, run string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		wait := firstWait
		for failures := 1; ; failures++ {
			s := c.connect(ctx, run, yield)
			var final *finalError
			switch {
			case s.ended:
				return
			case ctx.Err() != nil:
				yield(Event{}, context.Cause(ctx))
				return
			case errors.As(s.err, &final):
				yield(Event{}, final.err)
				return
			}
			if s.changes > 0 || s.lasted >= useful {
				failures, wait = 0, firstWait
			}
			if failures >= maxFailures {
				yield(Event{}, fmt.Errorf("%s: %w: %w", streamEndpoint, ErrBroken, s.err))
				return
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				yield(Event{}, context.Cause(ctx))
				return
			}
			wait = min(2*wait, lastWait)
		}
	}
}

// finalError is a failure that another connection does not change.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

// connection is what became of one connection.
type connection struct {
	ended   bool // by Done, or because no more events are wanted
	changes int  // events after the first
	lasted  time.Duration
	err     error
}

var errQuiet = errors.New("the stream sent nothing, not even a heartbeat")

// connect follows one connection to its end.
func (c *Client) connect(ctx context.Context, run string, yield func(Event, error) bool) (s connection) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(connecting, func() { cancel(errQuiet) })
	defer idle.Stop()
	res, err := c.api.Open(ctx, streamEndpoint, &api.Args{Path: api.Path{"runId": run}})
	if err != nil {
		s.err = lasting(err)
		return s
	}
	defer func() { _ = res.Body.Close() }()
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media != "text/event-stream" {
		s.err = malformed("the answer is no event stream")
		return s
	}
	opened := time.Now()
	defer func() { s.lasted = time.Since(opened) }()
	idle.Reset(c.quiet)
	reader := newReader(res.Body, func() { idle.Reset(c.quiet) })
	for first := true; ; first = false {
		data, err := reader.next()
		switch {
		case errors.Is(err, errTooLong):
			s.err = malformed(err.Error())
			return s
		case err != nil:
			if s.err = context.Cause(ctx); s.err == nil {
				s.err = errors.New("the connection ended before the run was done")
			}
			return s
		}
		event, err := parse(data)
		if err == nil && first && event.Type != State {
			err = malformed("the stream does not begin with the state of the run")
		}
		if err != nil {
			s.err = err
			return s
		}
		// The reader of the events may take its time.
		idle.Stop()
		wanted := yield(event, nil)
		idle.Reset(c.quiet)
		if !wanted || event.Type == Done {
			s.ended = true
			return s
		}
		if !first {
			s.changes++
		}
	}
}

// lasting marks a failure to connect that another attempt does not change.
func lasting(err error) error {
	var refusal *api.Error
	var answer *api.AnswerError
	switch {
	case errors.As(err, &refusal) && refusal.Status < http.StatusInternalServerError,
		errors.As(err, &answer), wire.CodeOf(err) == wire.CodeTimeout: // the API takes no more requests in time
		return &finalError{err}
	}
	return err
}

func malformed(problem string) error {
	return &finalError{&api.AnswerError{Endpoint: streamEndpoint, Problem: problem}}
}

// parse reads a message.
func parse(data []byte) (Event, error) {
	var message struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &message) != nil || message.Type == "" {
		return Event{}, malformed(`a message is not a JSON object with a "type"`)
	}
	return Event{message.Type, data}, nil
}
