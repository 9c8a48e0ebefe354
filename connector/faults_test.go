package connector_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type interceptFunc = func(context.Context, connector.Call, action) error

// action stands for the work of an author's method.
type action = func(context.Context) error

// hook is a place where author code runs: a request that leads there, and a source that does an action there.
type hook struct {
	name, path, body string
	source           func(action) connector.Source
}

const (
	hopQuery = `"and":[],"sort":[],"fields":["id"],"joins":[{"fromTable":"items","toTable":"items",` +
		`"fromField":"id","toField":"id","fields":[{"field":"name","as":"x"}]}]`
	sqlBody = `{"sql":"select 1","params":[],` + tail
)

// hooks returns all places: each method, and those with rows once more when some are out already.
func hooks() (list []hook) {
	add := func(name, request, methods, before string) {
		path, body := asked(request)
		list = append(list, hook{name, path, body, func(do action) connector.Source {
			s := connectors.Full{Speaker: connectors.Speaker{Name: "ansi"}}
			if strings.Contains(name, "declined") {
				act(&s, "Count", script("decline"))
			}
			act(&s, methods, func(a *actor) error {
				if err := script(before)(a); err != nil {
					return err
				}
				return do(a.ctx)
			})
			return s
		}})
	}
	for _, method := range strings.Fields("Check Discover Query Size Count Aggregate Cardinality LinkHitRate") {
		path := "/" + strings.ToLower(method[:1]) + method[1:]
		add(method, strings.Replace(path, "discover", "discovery", 1), method, "")
	}
	add("Query for a declined Count", "/count", "Query", "")
	const out = "begin id; row 1; sleep 1500ms" // the row is out after a second
	add("QueryJoined", "/query HOP", "QueryJoined", "")
	add("QuerySQL", "/query STATEMENT", "QuerySQL", "")
	add("Query"+afterRows, "/query", "Query", out)
	add("QueryJoined"+afterRows, "/query BARE", "QueryJoined", out)
	add("QuerySQL"+afterRows, "/query STATEMENT", "QuerySQL", out)
	for _, r := range routes[2:] {
		add("Describe for "+r.path, r.path, "Describe", "")
	}
	add("Describe for a hop", "/query HOP", "Describe", "")
	return list
}

// hooksFor returns where the n-th case of a table is tried: every fifth at all hooks, the others at
// three. How a fault is told does not depend on the place, and that it is told at all not on the fault.
func hooksFor(n int) []hook {
	list := hooks()
	if n%5 == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(h hook) bool {
		return !slices.Contains([]string{"Check", "Discover", "Query" + afterRows}, h.name)
	})
}

const (
	afterRows = " after the first line"
	firstRow  = all + "\n" + `{"rows":[{"id":1}]}` + "\n"
)

// fails asserts the answer to an action at a hook.
func (h hook) fails(t *testing.T, a answer, status int, code wire.Code, message string) {
	t.Helper()
	if strings.HasSuffix(h.name, afterRows) {
		assert.Equal(t, 200, a.status)
		b := testkit.Must(wire.EncodeAnswer(&wire.ErrorAnswer{Error: wire.Error{Code: code, Message: message}}))(t)
		assert.Equal(t, firstRow+string(b)+"\n", a.body, "stream-3: an error line, and no end")
		return
	}
	a.refuses(t, status, code, message)
}

// Errors and values whose methods misbehave.
type (
	panickingError    struct{}
	exitingError      struct{}
	hangingError      struct{}
	panickingIs       struct{ error }
	panickingAs       struct{ error }
	panickingUnwrap   struct{ error }
	panickingStringer struct{}
	uncomparable      struct{ _ []string }
	holder            struct{ Cell, key string }
)

func (panickingError) Error() string     { panic("in Error") }
func (exitingError) Error() string       { runtime.Goexit(); return "" }
func (hangingError) Error() string       { time.Sleep(time.Hour); return "" }
func (panickingIs) Is(error) bool        { panic("in Is") }
func (panickingAs) As(any) bool          { panic("in As") }
func (panickingUnwrap) Unwrap() error    { panic("in Unwrap") }
func (panickingStringer) String() string { panic("in String") }
func (u uncomparable) Error() string     { return "uncomparable" }

// TestPanics checks that however an author's hook ends, the process lives, the request is answered as an internal
// error, the cause is in the log, and the next request is answered.
func TestPanics(t *testing.T) {
	var null *connectors.Endpoints
	throws := func(v any) action { return func(context.Context) error { panic(v) } }
	returns := func(err error) action { return func(context.Context) error { return err } }
	const panicked, internal = "ERROR the source panicked", "ERROR internal error"
	for n, c := range []struct {
		why        string
		do         action
		log, cause string
	}{
		{"a text", throws("boom"), panicked, "boom stack=goroutine "},
		{"an error", throws(errors.New("boom")), panicked, "boom stack="},
		{"a deliberate error is no answer when it is thrown", throws(connector.BadRequest("boom")), panicked, "bad_request: boom stack="},
		{"nil", throws(nil), panicked, "panic called with nil argument"},
		{"an error that panics again", throws(panickingError{}), panicked, "%!v(PANIC="},
		{"a value that panics again", throws(panickingStringer{}), panicked, "%!v(PANIC="},
		{"an error that ends the goroutine", throws(exitingError{}), internal, "the source ended its goroutine (runtime.Goexit)"},
		{"a number", throws(42), panicked, "42 stack="},
		{"http-9: a struct may hold cells, so its type is told", throws(&holder{canary, canary}), panicked,
			"a value of type *connector_test.holder stack="},
		{"http-9: nor a struct that is no pointer", throws(holder{canary, canary}), panicked, "a value of type connector_test.holder stack="},
		{"http-9: nor a map", throws(map[string]string{"a": canary}), panicked, "a value of type map[string]string stack="},
		{"http-9: nor a slice", throws([]string{canary}), panicked, "a value of type []string stack="},
		{"http-9: nor an array", throws([1]string{canary}), panicked, "a value of type [1]string stack="},
		{"net/http's own", throws(http.ErrAbortHandler), panicked, "net/http: abort Handler stack="},
		{"a nil pointer", func(context.Context) error { return null.Source.OnCheck(nil, nil) }, panicked,
			"runtime error: invalid memory address"},
		{"an index", func(context.Context) error { _ = routes[len(routes)+len(t.Name())]; return nil }, panicked,
			"runtime error: index out of range"},
		{"http-9: a secret", throws("key " + secret), panicked, "key [redacted] stack="},
		{"runtime.Goexit", func(context.Context) error { runtime.Goexit(); return nil }, internal,
			"the source ended its goroutine (runtime.Goexit)"},

		{"an error whose Error panics", returns(panickingError{}), panicked, "in Error"},
		{"an error whose Error ends the goroutine", returns(exitingError{}), internal, "the source ended its goroutine (runtime.Goexit)"},
		{"an error whose Is panics", returns(panickingIs{errors.New("x")}), panicked, "in Is"},
		{"an error whose As panics", returns(panickingAs{errors.New("x")}), panicked, "in As"},
		{"an error whose Unwrap panics", returns(panickingUnwrap{errors.New("x")}), panicked, "in Unwrap"},
		{"an error that cannot be compared", returns(uncomparable{}), internal, "uncomparable"},
	} {
		t.Run(c.why, func(t *testing.T) {
			goesOn := func(ctx context.Context, _ connector.Call, next action) error { return next(ctx) }
			for _, h := range hooksFor(n) {
				for _, intercept := range []interceptFunc{nil, goesOn} {
					synctest.Test(t, func(t *testing.T) {
						s := serve(t, h.source(c.do), &connector.Options{Intercept: intercept})
						a := s.post(h.path, h.body)
						h.fails(t, a, 500, wire.CodeInternal, "internal error")
						s.keepsSecrets(a)
						assert.Len(t, s.log.all(), 1, h.name)
						assert.Contains(t, s.log.String(), c.log, h.name)
						assert.Contains(t, s.log.String(), "cause="+c.cause, h.name)
						if h.name != "Check" {
							s.alive()
						}
						h.fails(t, s.post(h.path, h.body), 500, wire.CodeInternal, "internal error")
					})
				}
			}
		})
	}
}

// TestErrors is the table of errors: which carry their text out, where, and with which status and code.
func TestErrors(t *testing.T) {
	var null *wire.Error
	const (
		no       = "the upstream says no"
		sentence = `Acme says: "invalid key". Copy it from <Settings> & try again – 100 %.`
	)
	wrap := func(err error) error { return fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", err)) }
	for n, c := range []struct {
		why     string
		err     error
		code    wire.Code
		message string // or in the log, for an internal error; by default the code in words
	}{
		{"bad request", connector.BadRequest(no), wire.CodeBadRequest, no},
		{"unauthorized", wire.Errorf(wire.CodeUnauthorized, no), wire.CodeUnauthorized, no},
		{"unknown entity", connector.UnknownEntity(no), wire.CodeUnknownEntity, no},
		{"unsupported", connector.Unsupported(no), wire.CodeUnsupported, no},
		{"timeout", connector.UpstreamTimeout(no), wire.CodeTimeout, no},
		{"http-8: a rejected credential set is 400 bad_request but on /check, never 401", connector.CheckFailed(no), wire.CodeCheckFailed, no},
		{"a sentence for the person at the form", connector.CheckFailed("%s", sentence), wire.CodeCheckFailed, sentence},
		{"wrapped", wrap(connector.Unsupported(no)), wire.CodeUnsupported, no},
		{"wrapped for the person", wrap(connector.CheckFailed(no)), wire.CodeCheckFailed, no},
		{"joined", errors.Join(errors.New("x"), connector.CheckFailed(no)), wire.CodeCheckFailed, no},
		{"a sentinel has no text of its own", &wire.Error{Code: wire.CodeUnsupported}, wire.CodeUnsupported, ""},
		{"a sentinel on /check", &wire.Error{Code: wire.CodeCheckFailed}, wire.CodeCheckFailed, ""},
		{"http-9: a plain error", errors.New(no), wire.CodeInternal, no},
		{"a code that is nobody's to raise", wire.Errorf(wire.CodeNotFound, no), wire.CodeInternal, "not_found: " + no},
		{"internal, by name", wire.Errorf(wire.CodeInternal, no), wire.CodeInternal, "internal: " + no},
		{"a code nobody knows", wire.Errorf("teapot", no), wire.CodeInternal, "teapot: " + no},
		{"a nil *wire.Error in an error", null, wire.CodeInternal,
			"the source returned a nil *wire.Error as an error; return nil itself"},
		{"the same, wrapped", fmt.Errorf("x: %w", error(null)), wire.CodeInternal,
			"the source returned a nil *wire.Error as an error; return nil itself"},
		{"a context of the source's own that ended", context.DeadlineExceeded, wire.CodeInternal, "context deadline exceeded"},
		{"another", wrap(context.Canceled), wire.CodeInternal, "outer: inner: context canceled"},
		{"a text that is not UTF-8", connector.Unsupported("a\xffb"), wire.CodeUnsupported, "a\ufffdb"},
		{"an error of another code inside", fmt.Errorf("%w, %w", connector.Unsupported(no), connector.BadRequest("x")), wire.CodeUnsupported, no},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, h := range hooksFor(n) {
				synctest.Test(t, func(t *testing.T) {
					s := serve(t, h.source(func(context.Context) error { return c.err }), nil)
					a := s.post(h.path, h.body)
					if c.code == wire.CodeInternal {
						h.fails(t, a, 500, c.code, "internal error")
						require.Len(t, s.log.all(), 1, h.name)
						assert.Contains(t, s.log.String(), "ERROR internal error slug=shop route="+h.path, h.name)
						assert.Contains(t, s.log.String(), "cause="+c.message, h.name)
						return
					}
					code := c.code
					if code == wire.CodeCheckFailed && h.path != "/check" {
						code = wire.CodeBadRequest
					}
					h.fails(t, a, code.Status(), code, cmp.Or(c.message, strings.ReplaceAll(string(code), "_", " ")))
					assert.Empty(t, s.log.String(), "%s: a deliberate error is no event for the log", h.name)
				})
			}
		})
	}
}

// TestErrorCauses checks that a cause is found by errors.Is and stands in the
// request's line in the log, and is never sent.
func TestErrorCauses(t *testing.T) {
	broken := errors.New("dial " + canary + " with " + secret)
	const cause = ` cause=timeout: no answer for "x": dial ` + canary + ` with [redacted]`
	for _, c := range []struct {
		why            string
		err            error
		message, cause string
	}{
		{"none", connector.UpstreamTimeout("no answer for %q", "x"), `no answer for "x"`, ""},
		{"a cause", connector.UpstreamTimeout("no answer for %q: %w", "x", broken), `no answer for "x"`, cause},
		{"wrapped again", fmt.Errorf("read: %w", connector.UpstreamTimeout("no answer: %w", broken)), "no answer",
			" cause=read: timeout: no answer: dial "},
		{"beside the error", errors.Join(connector.UpstreamTimeout("no answer"), broken), "no answer", " cause=timeout: no answer\ndial "},
		{"a cause alone", connector.UpstreamTimeout(": %w", broken), "timeout", " cause=timeout: : dial "},
		{"not at the end", connector.UpstreamTimeout("%w, so no answer", broken), "timeout", " cause=timeout: dial "},
		{"two", connector.UpstreamTimeout("%w, so no answer: %w", errors.New(canary), broken), "timeout", " cause=timeout: "},
		{"by number", connector.UpstreamTimeout("no answer for %[2]q: %[1]w", broken, "x"), "timeout", " cause=timeout: no answer"},
	} {
		if c.cause != "" {
			assert.ErrorIs(t, c.err, broken, c.why)
		}
		assert.Equal(t, wire.CodeTimeout, wire.CodeOf(c.err), c.why)
		for _, path := range []string{"/check", "/discovery"} {
			s := serve(t, failing(c.err), nil)
			s.post(path, good(path)).refuses(t, 408, wire.CodeTimeout, c.message)
			require.Len(t, s.log.each(), 1, c.why)
			line := s.log.each()[0]
			if c.cause == "" {
				assert.NotContains(t, line, "cause=", c.why)
			} else {
				assert.Contains(t, line, c.cause, c.why)
			}
			assert.NotContains(t, line, secret, c.why)
		}
	}
}

// TestLongMessages checks that an upstream's page in an error does not come through whole.
func TestLongMessages(t *testing.T) {
	page := strings.Repeat("ä", 1<<20)
	serve(t, failing(connector.CheckFailed("%s", page)), nil).post("/check", good("/check")).
		refuses(t, 400, wire.CodeCheckFailed, strings.Repeat("ä", 2048)+"...")
}

// TestInterceptCalls checks that Intercept is called around each call of the source, and told which.
func TestInterceptCalls(t *testing.T) {
	src := connectors.Full{Speaker: connectors.Speaker{Name: "ansi"}}
	act(&src, "Count", script("decline"))
	var calls []string
	s := serve(t, src, &connector.Options{Intercept: func(ctx context.Context, call connector.Call, next action) error {
		calls = append(calls, strings.TrimSpace(call.Method+" "+call.Table))
		return next(ctx)
	}})
	for _, c := range testkit.Table(t, "testdata/calls.tsv", 3) {
		calls = nil
		s.post(asked(c[1]))
		assert.Equal(t, c[2], strings.Join(calls, ","), c[0])
	}
}

// TestInterceptMisbehaves checks that an Intercept that swallows, replaces, forgets
// or panics hides no failure and invents no success.
func TestInterceptMisbehaves(t *testing.T) { answers(t, "intercepts.tsv") }
