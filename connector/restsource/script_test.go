package restsource_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// reply and always answer requests without a network.
var reply, always = testkit.Reply, testkit.Always

// secretText is what no log and no message may quote.
const secretText = "text-of-the-body"

// script is an API that answers in turn, the last answer for ever. It keeps when it was asked,
// and for what.
type script struct {
	answers []testkit.Transport
	begun   time.Time

	mu      sync.Mutex
	asked   []time.Duration // since begun
	methods []string
	urls    []string
	queries []string
	headers []http.Header
	bodies  []string
}

// following answers in turn. Made in a bubble, it tells the bubble's time.
func following(answers ...testkit.Transport) *script {
	return &script{answers: answers, begun: time.Now()}
}

// inTurn answers in turn with bodies, with a header Link and a body, or with a status and
// perhaps a body: `{"rows": []}`, `Link: <...> {...}`, "204". A 429 is for an hour.
func inTurn(texts ...string) *script {
	answers := make([]testkit.Transport, len(texts))
	for i, text := range texts {
		answers[i] = always(200, text)
		if status, err := strconv.Atoi(text[:min(3, len(text))]); err == nil {
			answers[i] = always(status, text[3:])
			if status == http.StatusTooManyRequests {
				answers[i] = always(status, text[3:], "Retry-After: 3600")
			}
		} else if link, ok := strings.CutPrefix(text, "Link: "); ok {
			link, body, _ := strings.Cut(link, " {")
			answers[i] = always(200, "{"+body, "Link: "+link)
		}
	}
	return following(answers...)
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(text)
	}
	s.mu.Lock()
	answer := s.answers[min(len(s.asked), len(s.answers)-1)]
	s.asked = append(s.asked, time.Since(s.begun))
	s.methods = append(s.methods, r.Method)
	s.urls, s.queries = append(s.urls, r.URL.String()), append(s.queries, r.URL.RawQuery)
	s.headers, s.bodies = append(s.headers, r.Header), append(s.bodies, body)
	s.mu.Unlock()
	return answer(r)
}
