package connector_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
)

// wrapped hides every method of a ResponseWriter but the three, as middleware does
// that forgets Unwrap.
type wrapped struct{ w http.ResponseWriter }

func (w wrapped) Header() http.Header         { return w.w.Header() }
func (w wrapped) Write(p []byte) (int, error) { return w.w.Write(p) }
func (w wrapped) WriteHeader(status int)      { w.w.WriteHeader(status) }

// unwrapping is the same with the cure.
type unwrapping struct{ wrapped }

func (w unwrapping) Unwrap() http.ResponseWriter { return w.w }

// TestCannotFlush checks that a host whose ResponseWriter keeps streams back is told
// so, once for each handler, and that the answer is complete all the same.
func TestCannotFlush(t *testing.T) {
	const cure = "cure=mount the connector outside of http.TimeoutHandler and of middleware that collects answers; " +
		"a ResponseWriter that wraps another needs the method Unwrap, or Flush"
	const warning = "WARN the ResponseWriter cannot flush, so rows and heartbeats arrive late and write deadlines have no effect " +
		"slug=shop route=/query table=items writer="
	wrap := func(outer func(http.ResponseWriter) http.ResponseWriter) func(http.Handler) http.Handler {
		return func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(outer(w), r) })
		}
	}
	for _, c := range []struct {
		why   string
		path  string
		mount func(http.Handler) http.Handler
		want  string // the writer that the warning names, or "" for none
	}{
		{"http.TimeoutHandler collects the answer", "/query",
			func(h http.Handler) http.Handler { return http.TimeoutHandler(h, time.Minute, "") }, "*http.timeoutWriter"},
		{"a writer without Unwrap", "/query",
			wrap(func(w http.ResponseWriter) http.ResponseWriter { return wrapped{w} }), "connector_test.wrapped"},
		{"a whole answer needs no flush", "/check",
			wrap(func(w http.ResponseWriter) http.ResponseWriter { return wrapped{w} }), ""},
		{"a writer with Unwrap", "/query",
			wrap(func(w http.ResponseWriter) http.ResponseWriter { return unwrapping{wrapped{w}} }), ""},
		{"the server's own", "/query", wrap(func(w http.ResponseWriter) http.ResponseWriter { return w }), ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			log := &logbook{}
			var want []string
			for handlers := range 2 {
				mounted := c.mount(newHandler(t, core{}, &connector.Options{Logger: slog.New(log)}))
				for range 2 {
					w := direct(mounted, c.path, good(c.path))
					require.Equal(t, 200, w.Code)
					if c.path == "/query" {
						assert.True(t, strings.HasSuffix(w.Body.String(), "{\"end\":1}\n"), w.Body.String())
					}
				}
				if c.want != "" {
					want = append(want, warning+c.want+" "+cure)
				}
				assert.Equal(t, want, log.all(), "after %d handlers, each asked twice", handlers+1)
			}
		})
	}
}
