package standin

import (
	"encoding/json"
	"net/http"
	"time"
)

// stream answers the events of a run: its state, then what changes, then done.
// If the run has ended, done follows the state at once.
func (c *call) stream(r *run) (any, error) {
	// State and position are taken under one lock, so that no change is missed.
	state, position := typed("state", r.view(c.now)), len(r.messages)
	if r.finished() {
		position-- // done
	}
	return func(w http.ResponseWriter) {
		h := w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusOK)
		if event(w, state) == nil {
			c.follow(w, r, position)
		}
	}, nil
}

// follow writes the messages of a run from a position on, and heartbeats between
// them. It returns after done, or when the client or the service leaves.
func (c *call) follow(w http.ResponseWriter, r *run, position int) {
	heartbeat := time.NewTicker(c.options.Heartbeat)
	defer heartbeat.Stop()
	for {
		c.mu.Lock()
		messages, changed, finished := r.messages[position:], r.changed, r.finished()
		c.mu.Unlock()
		for _, m := range messages {
			if event(w, m) != nil {
				return
			}
		}
		position += len(messages)
		if finished {
			return
		}
		select {
		case <-changed:
		case <-heartbeat.C:
			if comment(w, "heartbeat") != nil {
				return
			}
		case <-c.request.Context().Done():
			return
		case <-c.closed.Done():
			return
		}
	}
}

func event(w http.ResponseWriter, message json.RawMessage) error {
	return flushed(w, "data: "+string(message)+"\n\n")
}

func comment(w http.ResponseWriter, text string) error { return flushed(w, ": "+text+"\n\n") }

func flushed(w http.ResponseWriter, text string) error {
	if _, err := w.Write([]byte(text)); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
