package platform

import "time"

// Step is one step of a request, for [Options.Observe].
type Step struct {
	Kind    StepKind
	ID      int64         // the same in all steps of a request, from 1
	Path    string        // the route
	At      time.Duration // since the request was sent
	Request []byte        // StepSent: the JSON body, with empty credentials; nil for the document
	Status  int           // StepAnswered
	// Text is a line of a stream without its newline, or the body of another
	// answer. It is cut after 64 KiB, and holds neither the token nor a credential.
	Text  string
	Bytes int // the whole length of what Text shows
	// Err is why the request failed, at StepDone; nil if it did not. The words of a
	// [*wire.Error] are the connector's own.
	Err error
}

// StepKind says what happened.
type StepKind string

// The kinds of steps, in the order in which they happen. StepText comes once for
// each line of a stream.
const (
	StepSent     StepKind = "sent"
	StepAnswered StepKind = "answered"
	StepText     StepKind = "text"
	StepDone     StepKind = "done"
)

// maxShown limits the text of a step.
const maxShown = 64 << 10

// observe passes a step on.
func (e *exchange) observe(s Step) {
	if e.client.options.Observe == nil {
		return
	}
	s.ID, s.Path, s.At = e.id, e.path, time.Since(e.sent)
	e.client.options.Observe(s)
}

// showText passes a line or a body on.
func (e *exchange) showText(text []byte) {
	if e.client.options.Observe != nil {
		shown := e.clean(string(text)) // before it is cut, perhaps within a secret
		e.observe(Step{Kind: StepText, Text: shown[:min(len(shown), maxShown)], Bytes: len(text)})
	}
}
