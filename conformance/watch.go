package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// watch holds every exchange of the run against the rules that concern all of
// them, and keeps the first fault found of each.
type watch struct {
	s       *session
	secrets func() []secret
	mu      sync.Mutex
	// seen counts the exchanges that a rule could be held against, by check id.
	seen   map[string]int
	faults map[string]*finding
}

func newWatch(s *session) *watch {
	w := &watch{s: s, seen: map[string]int{}, faults: map[string]*finding{}}
	w.secrets = w.secretsOnce()
	return w
}

// hold notes one exchange that the check's rule concerns, and its fault, if
// any.
func (w *watch) hold(id string, f *finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[id]++
	if f == nil {
		return
	}
	if first := w.faults[id]; first != nil {
		first.failed++
		return
	}
	f.failed = 1
	w.faults[id] = f
}

// verdict is what a watched check has come to.
func (w *watch) verdict(id string) (seen int, f *finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[id], w.faults[id]
}

// answerSchemas are the schemas of the JSON answers by route.
var answerSchemas = map[string]string{
	wire.PathCheck:       "check-answer",
	wire.PathDiscovery:   "discovery-answer",
	wire.PathCount:       "count-answer",
	wire.PathAggregate:   "aggregate-answer",
	wire.PathSize:        "size-answer",
	wire.PathCardinality: "cardinality-answer",
	wire.PathLinkHitRate: "link-hit-rate-answer",
}

// answer holds an answer that is not a stream against the rules of all answers.
func (w *watch) answer(c call, a *answer) {
	if a.err != nil {
		return
	}
	// What an answer to a caller without the token holds is P1.4's, the way it
	// is written P1.5's.
	leaks := "P3.12"
	if a.status == http.StatusUnauthorized {
		leaks = "P1.4"
	}
	w.hold(leaks, w.leaks(a, a.body))
	if c.path == wire.PathDocument {
		return
	}
	switch schema := answerSchemas[c.path]; {
	case a.status >= 400:
		w.refusal(c, a)
	case a.status == http.StatusOK && schema != "":
		w.hold("P3.11b", when(len(a.body) > wire.MaxAnswerBytes, func() *finding {
			return &finding{detail: "a JSON answer is longer than 32 MiB", request: a.request}
		}))
		w.foreign(a, unknownMember(schema, a.body))
	}
	w.cacheable(a)
}

// stream holds a stream that was read against the rules of all streams.
func (w *watch) stream(c call, st *stream, r *lineReader) {
	w.hold("P3.6a", when(st.media() != wire.MediaNDJSON, func() *finding {
		return &finding{detail: "a stream of another content type", expected: wire.MediaNDJSON, received: excerpt([]byte(st.header.Get("Content-Type")), 80)}
	}).of(st.answer))
	for _, id := range []string{"P3.6b", "P3.6c", "P3.6d", "P3.6e", "P3.6f", "P3.6g"} {
		w.hold(id, r.faults[id].of(st.answer))
	}
	w.hold("P3.12", w.leaks(st.answer, nil)) // its lines were held against it one by one
	w.cacheable(st.answer)
	w.foreign(st.answer, st.member)
	w.hold("A.10", when(st.named && st.extra != "", func() *finding {
		return &finding{detail: fmt.Sprintf("rows have a member %s that was not asked for", wire.QuoteName(st.extra)), expected: "the requested fields, and the fields of joins under their as"}
	}).of(st.answer))
	w.hold("A.4", early(st).of(st.answer))
	if most := w.rowsMax(); most > 0 {
		w.hold("A.5", when(int64(r.rows) > most, func() *finding {
			return &finding{detail: "a stream has more rows than limits.rowsPerTableMax says can be read",
				expected: fmt.Sprintf("at most %d", most), received: fmt.Sprintf("%d or more", r.rows)}
		}).of(st.answer))
	}
}

// early is what A.4 has against a stream: a ping before served, long before
// one is due (C1).
func early(st *stream) *finding {
	const slack = time.Second
	for _, l := range st.lines {
		switch {
		case l.kind != "ping":
			return nil
		case st.stated && l.at < wire.HeartbeatInterval-slack:
			return &finding{detail: fmt.Sprintf("a ping %s after the request stands before the line served", l.at.Round(time.Millisecond)),
				expected: "served first; a ping before it only when 10 seconds have passed"}
		}
	}
	return nil
}

func (w *watch) rowsMax() int64 {
	if w.s.doc == nil {
		return 0
	}
	return w.s.doc.Capabilities.Limits.RowsPerTableMax
}

// foreign notes a member that the protocol does not name.
func (w *watch) foreign(a *answer, member string) {
	w.hold("A.20", when(member != "", func() *finding {
		return &finding{detail: "the protocol names no " + member}
	}).of(a))
}

// cacheable notes an authenticated answer that may be kept on its way (G9).
func (w *watch) cacheable(a *answer) {
	if a.status == http.StatusUnauthorized {
		return
	}
	directives := strings.ToLower(strings.Join(a.header.Values("Cache-Control"), ","))
	w.hold("A.13", when(!strings.Contains(directives, "no-store"), func() *finding {
		return &finding{detail: "an authenticated answer may be cached", expected: "Cache-Control: no-store",
			received: excerpt([]byte("Cache-Control: "+directives), 120)}
	}).of(a))
}

func when(fault bool, f func() *finding) *finding {
	if !fault {
		return nil
	}
	return f()
}

// of is the finding with the request that produced it.
func (f *finding) of(a *answer) *finding {
	if f != nil {
		f.request = a.request
	}
	return f
}

// refusal holds an answer of an error status against the section Errors.
func (w *watch) refusal(c call, a *answer) {
	// Paths and methods that the protocol does not have are answered by hosts
	// as they like; A.11 advises.
	if c.method != http.MethodPost || !known(c.path) {
		return
	}
	// So are routes that the document does not list, as long as it is no JSON.
	if d := w.s.doc; d != nil && routeAt(c.path).needs(d) != "" && a.media() != wire.MediaJSON {
		return
	}
	var e wire.ErrorAnswer
	f := checkMessage(a.body, "error", &e)
	if f != nil {
		f.detail = fmt.Sprintf("the body of a %d is not the error envelope: %s", a.status, f.detail)
		f.expected, f.received = `{"error":{"code":...,"message":...}}`, a.describe()
	}
	if a.status == http.StatusUnauthorized {
		if f == nil && e.Error.Code != wire.CodeUnauthorized {
			f = &finding{detail: "a 401 with another code", expected: string(wire.CodeUnauthorized), received: excerpt([]byte(e.Error.Code), 80)}
		}
		w.hold("P1.5", f.of(a))
		return
	}
	w.hold("P3.10a", f.of(a))
	if f != nil {
		return
	}
	w.foreign(a, unknownMember("error", a.body))
	code := e.Error.Code
	w.hold("P3.10b", when(code.Status() != a.status || code == wire.CodeCheckFailed && c.path != wire.PathCheck, func() *finding {
		return &finding{detail: "a status and a code that do not belong together on this route", expected: belongs(code),
			received: fmt.Sprintf("%d with code %s on %s", a.status, excerpt([]byte(code), 80), c.path)}
	}).of(a))
	if code == wire.CodeInternal {
		w.hold("P3.10c", internalProblem(&e.Error, a.request))
	}
}

// belongs is where a code may stand.
func belongs(code wire.Code) string {
	switch {
	case code == wire.CodeCheckFailed:
		return "400 with code check_failed, on /check only"
	case code.Status() == http.StatusInternalServerError && code != wire.CodeInternal:
		return "a code of the protocol's table of errors"
	}
	return fmt.Sprintf("%d with code %s", code.Status(), code)
}

// internalProblem is what is wrong with an internal error.
func internalProblem(e *wire.Error, r *Request) *finding {
	return when(e.Message != wire.InternalMessage, func() *finding {
		return &finding{detail: "an internal error tells more than that it is one", expected: wire.InternalMessage, received: excerpt([]byte(e.Message), 200), request: r}
	})
}

func known(path string) bool { return path == wire.PathQuery || answerSchemas[path] != "" }
