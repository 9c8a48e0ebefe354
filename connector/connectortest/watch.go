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

// mostFailures is how many leaks are told one by one.
const mostFailures = 10

// watch looks for credential values where none may be: in answers and in logs.
type watch struct {
	t      testing.TB
	logger *slog.Logger
	wrong  wire.Credentials // that no tenant has
	// everywhere are the values that may stand nowhere; outside those that may
	// stand in data, but neither in errors nor in the log.
	everywhere, outside []secret

	restore func() // puts the process's default loggers back

	mu     sync.Mutex
	log    bytes.Buffer
	failed int
}

// secret is one credential value, with the name of what it is.
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
			s := secret{fmt.Sprintf("%s credential %q", set.name, key), wire.NewCredentials(map[string]string{key: value})}
			w.outside = append(w.outside, s)
			if !public[key] {
				w.everywhere = append(w.everywhere, s)
			}
			if len(value) < 4 {
				t.Logf("connectortest: %s is shorter than four bytes, and is not looked for", s.name)
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

// Write takes a line of the log.
func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

// fail reports a leak. After some, more say nothing new.
func (w *watch) fail(format string, args ...any) {
	w.mu.Lock()
	w.failed++
	failed := w.failed
	w.mu.Unlock()
	if failed <= mostFailures {
		w.t.Errorf("connectortest: "+format, args...)
	}
}

// searchAnswer looks through the bytes of an answer.
func (w *watch) searchAnswer(path string, status int, body []byte) {
	secrets, what := w.everywhere, "an answer"
	if status != 200 {
		secrets, what = w.outside, "an error"
	}
	w.search(string(body), secrets, fmt.Sprintf("%s of %s", what, path))
	// An error line ends a stream of data.
	if at := bytes.LastIndex(body, []byte("\n{\"error\":")); status == 200 && at >= 0 {
		w.search(string(body[at:]), w.outside, fmt.Sprintf("an error line of %s", path))
	}
}

// searchLog looks through everything that was logged.
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
			w.fail("G9: %s, or an encoding of it, is in %s: ...%s", s.name, where, found[at:min(len(found), at+160)])
		}
	}
}
