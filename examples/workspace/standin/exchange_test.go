package standin

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// exchange is one request and the answer that the documents show for it, read
// from testdata/exchanges. README.md there describes the format.
type exchange struct {
	title  string
	wait   time.Duration // before the request
	from   string        // the address of the connection
	times  int           // how often the request is sent; every answer must match
	head   string        // request line and headers
	body   string
	status int
	header map[string]string
	want   string // JSON with placeholders; empty for an empty body
}

func readExchanges(t *testing.T, name string) []exchange {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	_, all, found := strings.Cut(string(text), "\n### ")
	require.True(t, found, "%s has no exchange", name)
	exchanges := []exchange{}
	for part := range strings.SplitSeq(all, "\n### ") {
		title, rest, _ := strings.Cut(part, "\n")
		e := exchange{title: title, times: 1, from: "192.0.2.1:1000", header: map[string]string{}}
		for strings.HasPrefix(rest, "@") {
			var directive string
			directive, rest, _ = strings.Cut(rest, "\n")
			name, value, _ := strings.Cut(directive, " ")
			switch name {
			case "@wait":
				e.wait, err = time.ParseDuration(value)
			case "@from":
				e.from = value
			case "@times":
				e.times, err = strconv.Atoi(value)
			default:
				t.Fatalf("%s: unknown directive %s", title, name)
			}
			require.NoError(t, err, title)
		}
		request, answer, found := strings.Cut(rest, "\n--- ")
		require.True(t, found, "%s: no answer", title)
		e.head, e.body, _ = strings.Cut(request, "\n\n")
		e.head, e.body = strings.TrimSpace(e.head), strings.TrimSpace(e.body)
		head, want, _ := strings.Cut(strings.TrimSpace(answer), "\n\n")
		status, headers, _ := strings.Cut(head, "\n")
		e.status = testkit.Must(strconv.Atoi(strings.TrimSpace(status)))(t, title)
		for line := range strings.Lines(headers) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			e.header[name] = value
		}
		e.want = strings.TrimSpace(want)
		exchanges = append(exchanges, e)
	}
	return exchanges
}

// variables are the values that exchanges refer to as {name}: the tokens, and
// what "<save:name>" kept from an earlier answer.
type variables map[string]string

func (v variables) expand(text string) string {
	for name, value := range v {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// request builds the request as a server would read it from the connection.
func (e *exchange) request(t *testing.T, v variables) *http.Request {
	t.Helper()
	head, body := v.expand(e.head), v.expand(e.body)
	if strings.Contains(head, "multipart/form-data") {
		body = strings.ReplaceAll(body, "\n", "\r\n") + "\r\n"
	}
	raw := strings.ReplaceAll(head, "\n", "\r\n") + "\r\nHost: platform.example\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body
	r := testkit.Must(http.ReadRequest(bufio.NewReader(strings.NewReader(raw))))(t, e.title)
	r.RemoteAddr = e.from
	return r
}

// TestExchanges sends every exchange, file by file, to a fresh service. Each
// answer must match the exchange and the service's own swagger.json.
func TestExchanges(t *testing.T) {
	files := testkit.Must(filepath.Glob("testdata/exchanges/*.http"))(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		exchanges := readExchanges(t, file)
		t.Run(filepath.Base(file), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := New(Options{SignIn: []string{"/sign-in", "/signup"}, Accounts: append(DefaultAccounts(), Account{
					Token: "limited", Organization: "org_1", PerMinute: 1000, Forbidden: []string{"GET /v1/chats"},
				}, Account{
					Token: "roomy", Organization: "org_1", PerMinute: 1000,
				})})
				defer service.Close()
				described := readDescription(t, service)
				vars := variables{
					"standard": DefaultAccounts()[0].Token, "professional": DefaultAccounts()[1].Token,
					"limited": "limited", "roomy": "roomy",
				}
				for _, e := range exchanges {
					time.Sleep(e.wait)
					for i := range e.times {
						name := fmt.Sprintf("%s (%d)", e.title, i+1)
						r := e.request(t, vars)
						w := httptest.NewRecorder()
						service.ServeHTTP(w, r)
						e.check(t, name, w, vars)
						if i == 0 || i == e.times-1 { // the others repeat the first
							described.check(t, r, w)
						}
						if t.Failed() {
							t.FailNow() // what follows builds on it
						}
					}
				}
			})
		})
	}
}

func (e *exchange) check(t *testing.T, name string, w *httptest.ResponseRecorder, vars variables) {
	t.Helper()
	require.Equal(t, e.status, w.Code, "%s: status of %s", name, w.Body)
	for header, want := range e.header {
		assert.Equal(t, vars.expand(want), w.Header().Get(header), "%s: %s", name, header)
	}
	if media := w.Header().Get("Content-Type"); e.want == "" || media != "application/json" {
		assert.Equal(t, vars.expand(e.want), strings.TrimSpace(w.Body.String()), name)
		return
	}
	var want, got any
	require.NoError(t, json.Unmarshal([]byte(vars.expand(e.want)), &want), "%s: the expected body", name)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got), name)
	if at, ok := matches(want, got, vars); !ok {
		t.Errorf("%s: the body differs at %s:\nwant %s\ngot  %s", name, at, e.want, w.Body)
	}
}

var placeholder = regexp.MustCompile(`^<([a-z]+)(?:[: ](.*))?>$`)

// matches compares a body with what is expected, and returns where they differ.
// Objects must have exactly the expected members.
func matches(want, got any, vars variables) (at string, ok bool) {
	switch want := want.(type) {
	case string:
		return "", matchesText(want, got, vars)
	case []any:
		list, isList := got.([]any)
		if !isList {
			return "", false
		}
		if p := placeholder.FindStringSubmatch(fmt.Sprint(append(want, "")[0])); p != nil && p[1] == "each" {
			if p[2] != "" && p[2] != strconv.Itoa(len(list)) {
				return fmt.Sprintf(" (%d elements)", len(list)), false
			}
			want = slices.Repeat(want[1:2], len(list))
		}
		if len(want) != len(list) {
			return fmt.Sprintf(" (%d elements)", len(list)), false
		}
		for i := range want {
			if at, ok := matches(want[i], list[i], vars); !ok {
				return fmt.Sprintf("[%d]%s", i, at), false
			}
		}
		return "", true
	case map[string]any:
		object, isObject := got.(map[string]any)
		if !isObject {
			return "", false
		}
		for name := range object {
			_, expected := want[name]
			if _, optional := want[name+"?"]; !expected && !optional {
				return "." + name, false
			}
		}
		for name := range want {
			value, present := object[strings.TrimSuffix(name, "?")]
			if !present && strings.HasSuffix(name, "?") {
				continue
			}
			if !present {
				return "." + name, false
			}
			if at, ok := matches(want[name], value, vars); !ok {
				return "." + name + at, false
			}
		}
		return "", true
	}
	return "", want == got
}

// matchesText compares a value with a text, which may be a placeholder.
func matchesText(want string, got any, vars variables) bool {
	p := placeholder.FindStringSubmatch(want)
	if p == nil {
		return want == got
	}
	text, isText := got.(string)
	switch p[1] {
	case "any":
		return true
	case "int":
		n, isNumber := got.(float64)
		return isNumber && n == float64(int64(n))
	case "bool":
		_, isBool := got.(bool)
		return isBool
	case "object":
		_, isObject := got.(map[string]any)
		return isObject
	case "list":
		_, isList := got.([]any)
		return isList
	case "string":
		return isText
	case "time":
		_, err := time.Parse("2006-01-02T15:04:05Z", text)
		return isText && err == nil
	case "matches":
		ok, err := regexp.MatchString("^(?:"+p[2]+")$", text)
		return isText && ok && err == nil
	case "save":
		vars[p[2]] = text
		return isText && text != ""
	}
	return false
}
