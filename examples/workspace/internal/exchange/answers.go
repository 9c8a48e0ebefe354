package exchange

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Answers returns a transport whose server answers requests in turn, and the last answer again to
// those that follow. It also returns the number of requests. Tildes separate answers, and bars the
// steps of one:
//
//	200 json {"data":[]}         a status, headers such as Retry-After=30, a type of content, and a body
//	events state done            event messages of these types
//	body : heartbeat<n>          text
//	wait 1m
//	hang                         until the client leaves
//	break                        the connection
//
// The words are expanded by [Expand] first. What was written is sent before the next step.
func Answers(t *testing.T, words string, names ...string) (http.RoundTripper, *atomic.Int64) {
	t.Helper()
	answers := strings.Split(Expand(words, names...), "~")
	count := &atomic.Int64{}
	return Serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := int(count.Add(1))
		steps := strings.Split(answers[min(n, len(answers))-1], "|")
		for i, step := range steps {
			perform(t, w, r, strings.Trim(step, " "))
			if i < len(steps)-1 {
				_ = http.NewResponseController(w).Flush()
			}
		}
	}), count
}

var (
	repeated = regexp.MustCompile(`<([^<>]*) (\d+)>`)
	types    = map[string]string{
		"json": "application/json", "html": "text/html; charset=utf-8", "text": "text/plain", "event-stream": "text/event-stream",
	}
)

// Expand replaces <n> by a line feed, each name in angle brackets by the value that follows it in
// names, and then <text 3> by the text three times, the innermost first.
func Expand(text string, names ...string) string {
	text = strings.ReplaceAll(text, "<n>", "\n")
	for i := 0; i < len(names); i += 2 {
		text = strings.ReplaceAll(text, "<"+names[i]+">", names[i+1])
	}
	for repeated.MatchString(text) {
		text = repeated.ReplaceAllStringFunc(text, func(s string) string {
			m := repeated.FindStringSubmatch(s)
			n, _ := strconv.Atoi(m[2])
			return strings.Repeat(m[1], n)
		})
	}
	return text
}

func perform(t *testing.T, w http.ResponseWriter, r *http.Request, step string) {
	word, rest, _ := strings.Cut(step, " ")
	switch word {
	case "hang":
		<-r.Context().Done()
	case "break":
		panic(http.ErrAbortHandler)
	case "wait":
		pause, err := time.ParseDuration(rest)
		if err != nil {
			t.Error(err)
		}
		time.Sleep(pause)
	case "body":
		_, _ = w.Write([]byte(rest))
	case "events":
		w.Header().Set("Content-Type", "text/event-stream")
		for kind := range strings.FieldsSeq(rest) {
			_, _ = w.Write([]byte(`data: {"type":"` + kind + `"}` + "\n\n"))
			_ = http.NewResponseController(w).Flush()
		}
	default:
		status, err := strconv.Atoi(word)
		if err != nil {
			t.Errorf("unknown step %q", step)
			status = http.StatusTeapot
		}
		_, _ = w.Write([]byte(begin(w, status, rest)))
	}
}

// begin writes the status and the headers that stand before a body, and returns the body.
func begin(w http.ResponseWriter, status int, text string) (body string) {
	for {
		word, rest, _ := strings.Cut(text, " ")
		name, value, isHeader := strings.Cut(word, "=")
		switch {
		case types[word] != "":
			w.Header().Set("Content-Type", types[word])
		case isHeader && http.CanonicalHeaderKey(name) == name:
			w.Header().Set(name, value)
		default:
			w.WriteHeader(status)
			return text
		}
		text = rest
	}
}
