package platform

import "time"

// Step is one step of a request, for [Options.Observe].
type Step struct {
	Kind    string        // "sent", "answered", then "text" for each line of a stream or a body, and "done"
	ID      int64         // the same in all steps of a request, from 1
	Path    string        // the route
	At      time.Duration // since the request was sent
	Request []byte        // of what is sent: the JSON body, with empty credentials; nil for the document
	Status  int           // of what is answered
	// Text is a line of a stream without its newline, or the body of another
	// answer. It is cut after 64 KiB, and holds neither the token nor a credential.
	Text  string
	Bytes int // the whole length of what Text shows
	// Err is why the request failed, when it is done; nil if it did not. The words of a
	// [*wire.Error] are the connector's own.
	Err error
}

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
		e.observe(Step{Kind: "text", Text: shown[:min(len(shown), maxShown)], Bytes: len(text)})
	}
}
