package connectortest

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxFailures limits how many leaks are reported.
const maxFailures = 10

// watch searches answers and logs for credential values.
type watch struct {
	t      testing.TB
	logger *slog.Logger
	wrong  wire.Credentials // that no tenant has
	// everywhere are the values that may appear nowhere. outside are those that
	// may appear in data, but not in errors or the log.
	everywhere, outside []secret

	restore func() // puts the process's default loggers back

	mu     sync.Mutex
	log    bytes.Buffer
	failed int
}

// secret is one credential value and its name for messages.
type secret struct {
	name  string
	value wire.Credentials // one value, whose encodings Scrub knows
}

func newWatch(t testing.TB, def connector.Definition, a, b map[string]string) *watch {
	w := &watch{t: t}
	public := map[string]bool{}
	wrong := map[string]string{}
	for _, f := range def.Credentials {
		public[f.Key] = f.Type == wire.CredentialText
		wrong[f.Key] = "wrong-" + f.Key + "-83b1f6c2d5"
	}
	w.wrong = wire.NewCredentials(wrong)
	for _, set := range []struct {
		name   string
		values map[string]string
	}{{"tenant a's", a}, {"tenant b's", b}, {"the wrong", wrong}} {
		for _, key := range slices.Sorted(maps.Keys(set.values)) {
			value := set.values[key]
			name := fmt.Sprintf("%s credential %q", set.name, key)
			s := secret{name, wire.NewCredentials(map[string]string{key: value})}
			w.outside = append(w.outside, s)
			if !public[key] {
				w.everywhere = append(w.everywhere, s)
			}
			if len(value) < 4 {
				t.Logf("connectortest: %s is shorter than four bytes, so Isolation does not search for it", s.name)
			}
		}
	}
	token := secret{"the bearer token", wire.NewCredentials(map[string]string{"token": Token})}
	w.everywhere, w.outside = append(w.everywhere, token), append(w.outside, token)

	w.logger = slog.New(slog.NewTextHandler(io.MultiWriter(w, newTestLog(t)), &slog.HandlerOptions{Level: slog.LevelDebug}))
	logger, output, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(w.logger)
	w.restore = func() {
		slog.SetDefault(logger)
		log.SetOutput(output)
		log.SetFlags(flags)
	}
	return w
}

// Write records a line of the log.
func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

// fail reports a leak, unless many were reported already.
func (w *watch) fail(format string, args ...any) {
	w.mu.Lock()
	w.failed++
	failed := w.failed
	w.mu.Unlock()
	if failed <= maxFailures {
		w.t.Errorf("connectortest: "+format, args...)
	}
}

// searchAnswer searches the bytes of an answer.
func (w *watch) searchAnswer(path string, status int, body []byte) {
	secrets, what := w.everywhere, "an answer"
	if status != 200 {
		secrets, what = w.outside, "an error"
	}
	w.search(string(body), secrets, fmt.Sprintf("%s of %s", what, path))
	// An error line comes last, after the data.
	if at := bytes.LastIndex(body, []byte("\n{\"error\":")); status == 200 && at >= 0 {
		w.search(string(body[at:]), w.outside, fmt.Sprintf("an error line of %s", path))
	}
}

// searchLog searches everything that was logged.
func (w *watch) searchLog() {
	w.mu.Lock()
	text := w.log.String()
	w.mu.Unlock()
	w.search(text, w.outside, "the log")
}

func (w *watch) search(text string, secrets []secret, where string) {
	for _, s := range secrets {
		if found := s.value.Scrub(text); found != text {
			at := max(0, strings.Index(found, "[redacted]")-60)
			w.fail("credential-9: %s, or an encoding of it, is in %s: ...%s", s.name, where, found[at:min(len(found), at+160)])
		}
	}
}
