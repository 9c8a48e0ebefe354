package connectortest

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// watch searches for credential values where the conformance program does not look:
// in the log, and in answers to wrong credentials.
type watch struct {
	t      testing.TB
	slug   string // the connector's
	logger *slog.Logger
	wrong  wire.Credentials // that no tenant has
	masked []secret         // of wrong, those that the form masks
	all    []secret

	restore func() // puts the process's default loggers back

	mu  sync.Mutex
	log bytes.Buffer
}

// secret is one credential value and its name for messages.
type secret struct {
	name  string
	value wire.Credentials // one value, whose encodings Scrub knows
}

// newWatch returns a watch that records what the process logs until restore is
// called.
func newWatch(t testing.TB, def connector.Definition, a, b map[string]string) *watch {
	w := &watch{t: t, slug: def.Slug, all: []secret{{"the bearer token", wire.NewCredentials(map[string]string{"token": Token})}}}
	wrong := map[string]string{}
	for _, f := range def.Credentials {
		value := "wrong-" + f.Key + "-83b1f6c2d5"
		wrong[f.Key] = value
		if f.Type != wire.CredentialText {
			w.masked = append(w.masked, secret{
				fmt.Sprintf("the wrong credential %q", f.Key), wire.NewCredentials(map[string]string{f.Key: value}),
			})
		}
	}
	w.wrong = wire.NewCredentials(wrong)
	w.add("tenant a's", a)
	w.add("tenant b's", b)
	w.add("the wrong", wrong)

	w.logger = newLogger(io.MultiWriter(w, newTerseLog(t)), slog.LevelDebug)
	logger, output, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(w.logger)
	w.restore = func() {
		slog.SetDefault(logger)
		log.SetOutput(output)
		log.SetFlags(flags)
	}
	return w
}

// add adds the values of a set of credentials.
func (w *watch) add(whose string, credentials map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(credentials)) {
		name := fmt.Sprintf("%s credential %q", whose, key)
		if len(credentials[key]) < 4 {
			w.t.Logf("connectortest: %s is shorter than four bytes, so Isolation does not search for it", name)
		}
		w.all = append(w.all, secret{name, wire.NewCredentials(map[string]string{key: credentials[key]})})
	}
}

// made matches what the library makes itself for the line of a request: a random id,
// and measures. A short credential occurs in them by chance.
var made = regexp.MustCompile(` (request=[a-z2-7]{26}|(status|rowsRead|rowsSent|firstRow|bytes|duration)=[0-9.hmnµs]+)\b`)

// Write records a line of the log, without what the library makes itself and without
// the connector's slug: that is public, and a credential may be the same word, such as
// the name of a database's user.
func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := strings.ReplaceAll(string(p), " slug="+w.slug+" ", " ")
	w.log.WriteString(made.ReplaceAllString(line, ""))
	return len(p), nil
}

// searchLog searches everything that was logged.
func (w *watch) searchLog() {
	w.mu.Lock()
	text := w.log.String()
	w.mu.Unlock()
	w.search(text, w.all, "the log")
}

// search fails the test for each secret in a text.
func (w *watch) search(text string, secrets []secret, where string) {
	for _, s := range secrets {
		if found := s.value.Scrub(text); found != text {
			at := max(0, strings.Index(found, "[redacted]")-60)
			w.t.Errorf("connectortest: %s, or an encoding of it, is in %s (credential-9): ...%s",
				s.name, where, found[at:min(len(found), at+160)])
		}
	}
}
