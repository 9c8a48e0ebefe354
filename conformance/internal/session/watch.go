package session

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/redact"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// watch judges every exchange of the run by the rules that concern all of them,
// and keeps the first fault found of each.
type watch struct {
	session  *Session
	findLeak atomic.Pointer[func(text []byte) *check.Finding] // returns what a text holds of the run's secrets
	mu       sync.Mutex
	seen     map[string]int // exchanges that a rule applied to, by check id
	faults   map[string]*check.Finding
}

func newWatch(s *Session) *watch {
	w := &watch{session: s, seen: map[string]int{}, faults: map[string]*check.Finding{}}
	w.learnSecrets()
	return w
}

// leaks searches an answer for what no answer may hold.
func (w *watch) leaks(a *Answer, body []byte) *check.Finding {
	f := w.leak(body)
	for _, values := range a.Header {
		for _, value := range values {
			if f == nil {
				f = w.leak([]byte(value))
			}
		}
	}
	return f.From(a.Request)
}

// learnSecrets notes what no answer may hold, as far as the document was read.
func (w *watch) learnSecrets() {
	var document *wire.Document
	if d := w.session.Document; d != nil {
		document = &d.Document
	}
	find := redact.Leaks(w.session.Token, w.session.Tenants, document)
	w.findLeak.Store(&find)
}

// leak returns what a text holds of the run's secrets.
func (w *watch) leak(text []byte) *check.Finding { return (*w.findLeak.Load())(text) }

// Watched records one exchange that the rule of a check applies to, and its fault, or nil.
func (s *Session) Watched(id string, f *check.Finding) {
	w := s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[id]++
	if f == nil {
		return
	}
	f.Failed = 1
	w.faults[id] = w.faults[id].And(f)
}

// judge records an answer that the rule of a check applies to, and its fault if it has one.
func (w *watch) judge(id string, a *Answer, fault bool, expected, received, format string, args ...any) {
	var f *check.Finding
	if fault {
		f = check.Differs(expected, received, format, args...)
	}
	w.session.Watched(id, f.From(a.Request))
}

// verdict returns how many exchanges a rule applied to, and the first fault.
func (w *watch) verdict(id string) (seen int, f *check.Finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[id], w.faults[id]
}

// answer judges an answer that is not a stream.
func (w *watch) answer(c Call, a *Answer) {
	if a.Err != nil {
		return
	}
	// What a caller without the token is told has a check of its own.
	leaks := "P3.12"
	if a.Status == http.StatusUnauthorized {
		leaks = "P1.4"
	}
	w.session.Watched(leaks, w.leaks(a, a.Body))
	if c.Path == wire.PathDocument {
		w.unknownMember(a, message.Unknown("document", a.Body))
		return
	}
	switch route := routes.At(c.Path); {
	case a.Status >= 400:
		w.refusal(c, a)
	case a.Status == http.StatusOK && route != nil && route.Schema != "":
		w.judge("P3.11b", a, len(a.Body) > terms.MaxAnswerBytes, "", "", "a JSON answer is longer than 32 MiB")
		w.unknownMember(a, message.Unknown(route.Schema, a.Body))
	}
	w.cacheable(a)
}

// stream judges a stream that was read.
func (w *watch) stream(st *Stream, r *lineReader) {
	w.judge("P3.6a", st.Answer, st.Media != terms.MediaNDJSON, terms.MediaNDJSON,
		message.Excerpt([]byte(st.Header.Get("Content-Type")), 80),
		"the stream has another content type")
	for _, id := range []string{"P3.6b", "P3.6c", "P3.6d", "P3.6e", "P3.6f", "P3.6g"} {
		w.session.Watched(id, r.faults[id].From(st.Request))
	}
	w.session.Watched("P3.12", w.leaks(st.Answer, nil)) // its lines were judged one by one
	w.cacheable(st.Answer)
	w.unknownMember(st.Answer, st.unknownMember)
	w.judge("A.10", st.Answer, len(st.Table.Columns) > 0 && st.extraMember != "",
		"the requested fields, and the fields of joins under their as", "",
		"rows have a member %s that was not asked for", terms.QuoteName(st.extraMember))
	w.session.Watched("A.4", earlyPing(st).From(st.Request))
	if d := w.session.Document; d != nil {
		ceiling := func(id, name string, most int64) {
			if most > 0 {
				w.judge(id, st.Answer, int64(r.rows) > most, fmt.Sprintf("at most %d", most), fmt.Sprintf("%d or more", r.rows),
					"a stream has more rows than limits.%s", name)
			}
		}
		ceiling("A.5", "rowsPerTableMax", d.Capabilities.Limits.RowsPerTableMax)
		ceiling("A.36", "pageSizeMax", d.Capabilities.Limits.PageSizeMax)
	}
}

// earlyPing returns what is wrong with a stream that pings before its served line, long before a ping is due.
func earlyPing(st *Stream) *check.Finding {
	const slack = time.Second
	for _, l := range st.Lines {
		switch {
		case l.Kind != "ping":
			return nil
		case st.Stated && l.At < wire.HeartbeatInterval-slack:
			return check.Differs("served first; a ping before it only when 10 seconds have passed", "",
				"a ping %s after the request precedes the line served", l.At.Round(time.Millisecond))
		}
	}
	return nil
}

// unknownMember records an answer, and a member of it that the protocol does not define, or "".
func (w *watch) unknownMember(a *Answer, member string) {
	w.judge("A.20", a, member != "", "", "", "the protocol defines no %s", member)
}

// cacheable records an authenticated answer, and whether a proxy may keep it.
func (w *watch) cacheable(a *Answer) {
	if a.Status == http.StatusUnauthorized {
		return
	}
	directives := strings.ToLower(strings.Join(a.Header.Values("Cache-Control"), ","))
	w.judge("A.13", a, !strings.Contains(directives, "no-store"), "Cache-Control: no-store",
		message.Excerpt([]byte("Cache-Control: "+directives), 120), "an authenticated answer may be cached")
}

// refusal judges an answer with an error status.
func (w *watch) refusal(c Call, a *Answer) {
	// Hosts answer paths and methods that the protocol does not have as they like; A.11 advises.
	if c.Method != http.MethodPost || routes.At(c.Path) == nil {
		return
	}
	// The same holds for routes that the document does not list, unless the answer is JSON.
	if d := w.session.Document; d != nil && !d.Offers(c.Path) && a.Media != terms.MediaJSON {
		return
	}
	var e wire.ErrorAnswer
	f := message.Check(a.Body, "error", &e).In("the body of a %d is not the error envelope: %s", a.Status)
	if f != nil {
		f.Expected, f.Received = `{"error":{"code":...,"message":...}}`, a.Describe()
	}
	code := e.Error.Code
	if a.Status == http.StatusUnauthorized {
		if f == nil && code != wire.CodeUnauthorized {
			f = check.Differs(string(wire.CodeUnauthorized), message.Excerpt([]byte(code), 80), "a 401 has another code")
		}
		w.session.Watched("P1.5", f.From(a.Request))
		return
	}
	w.session.Watched("P3.10a", f.From(a.Request))
	if f != nil {
		return
	}
	w.unknownMember(a, message.Unknown("error", a.Body))
	w.judge("P3.10b", a, code.Status() != a.Status || code == wire.CodeCheckFailed && c.Path != wire.PathCheck,
		whereAllowed(code), fmt.Sprintf("%d with code %s on %s", a.Status, message.Excerpt([]byte(code), 80), c.Path),
		"the status and the code do not belong together on this route")
	if code == wire.CodeInternal {
		w.session.Watched("P3.10c", internalMessage(&e.Error).From(a.Request))
	}
}

// whereAllowed returns the status and the routes on which a code is allowed.
func whereAllowed(code wire.Code) string {
	switch {
	case code == wire.CodeCheckFailed:
		return "400 with code check_failed, on /check only"
	case code.Status() == http.StatusInternalServerError && code != wire.CodeInternal:
		return "a code of the protocol's table of errors"
	}
	return fmt.Sprintf("%d with code %s", code.Status(), code)
}

// internalMessage returns what is wrong with the message of an internal error.
func internalMessage(e *wire.Error) *check.Finding {
	if e.Message == terms.InternalMessage {
		return nil
	}
	return check.Differs(terms.InternalMessage, message.Excerpt([]byte(e.Message), 200), "an internal error says more than that it is one")
}
