// Package record has a transport that records the answers of an API once, without
// secrets, and answers tests from these files from then on.
package record

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
)

// Recorder is an http.RoundTripper for tests: it records the answers of a real API
// once, and answers from the recording from then on. Pass it as restsource.Options.Transport.
//
//	recorder := &record.Recorder{Dir: "testdata/orders"}
//	if os.Getenv("RECORD") != "" {
//		recorder.Upstream = http.DefaultTransport
//	}
//
// Each answer is a text file, named by the method, the path and the query of its
// request. Read the files before you commit them: they hold the API's data.
//
// Secrets stay out of the files and their names. Of a request only the method, the path
// and the query are written, of an answer only the headers that a restsource.Source reads. In all
// of them, [redacted] takes the place of the tenant's credentials, of what restsource.API.Base
// has of them, of long segments with a digit in its path, of what Authorize puts into a
// request, and of all headers that may hold a secret: by value, wherever it stands. A token that the API gives out is known once a
// request has it; what was recorded before is then cleaned too. Values of less than
// four bytes stay where they are not a whole parameter.
//
// Requests with other credentials than the first ones have recordings of their own. Their names end with
// _credentials2 and so on, in the order in which the recorder meets the credentials.
//
// Where a tenant's credential is part of the host, the recording has another host, and
// the answer from the recording that of the request. A number in a body that has a
// secret in it becomes 0.
//
// Outside of a restsource.Source, a Recorder does not know the credentials: the values of query
// parameters are then secret if their names say so, or if Secret has them.
//
// It is safe for concurrent use. It must not be copied.
type Recorder struct {
	// Dir is the directory of the recordings, such as "testdata/orders".
	Dir string
	// Upstream makes the requests that are recorded. Nil: nothing is requested, and a
	// request without a recording fails.
	Upstream http.RoundTripper
	// Secret names query parameters whose values are secret, beyond those that Authorize
	// sets and the usual names, such as api_key and access_token.
	Secret []string

	mu      sync.Mutex
	turns   map[string]int     // how often each request has been made
	known   *recording.Secrets // of all requests
	written map[string]bool
	tenants []string // the credentials of the requests, in the order in which they were met
}

// secretParam and pageParam tell, by their names, query parameters that usually hold
// secrets, and those that only seem to, such as page_token.
var (
	secretParam = regexp.MustCompile(
		`(?i)(app.?id|auth|credentials?|key|pass|passwd|password|pin|pwd|secret|session|session.?id|sid|sig|signature|token)$`)
	pageParam = regexp.MustCompile(`(?i)^(page|next|prev|previous|continuation|cursor|start|end|last|sort|order|partition|sync)`)
)

// keptHeaders are the headers of an answer that are recorded.
var keptHeaders = regexp.MustCompile(`(?i)^(Content-Type|Date|Link|Retry-After|.*-Count|(X-)?Rate-?Limit-.*|X-Rate-Limit-.*)$`)

// plainHeaders are the headers of a request that hold no secret.
var plainHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "Content-Length", "Content-Type", "User-Agent"}

// RoundTrip answers from the recording, or records. When a request is made again,
// the next recording of it answers; the last one answers for ever.
func (c *Recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := requestBody(r)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.learn(r); err != nil {
		return nil, err
	}
	name, title, sum := c.name(r, body)
	name += c.tenant(r)
	if first, err := os.ReadFile(c.file(name, 1)); err == nil && !strings.HasPrefix(string(first), title+"\n") {
		name += sum // another request has this name: it asks for "a b", and this one for "a_b"
	}
	c.turns[name]++
	if c.Upstream == nil {
		return c.replay(r, name, title)
	}
	sent := r.Clone(r.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	res, err := c.Upstream.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if err := c.record(res, r, name, title); err != nil {
		return nil, err
	}
	return res, nil
}

// tenant returns what the names of recordings end with for all credentials but the first.
func (c *Recorder) tenant(r *http.Request) string {
	sent := recording.SecretsOf(r.Context())
	if sent == nil {
		return ""
	}
	n := slices.Index(c.tenants, sent.Tenant)
	if n < 0 {
		n = len(c.tenants)
		c.tenants = append(c.tenants, sent.Tenant)
	}
	if n == 0 {
		return ""
	}
	return "_credentials" + strconv.Itoa(n+1)
}

func requestBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer func() { _ = r.Body.Close() }()
	return io.ReadAll(r.Body)
}

// name returns the name of a request's files without an extension, the first line of
// the files, and what tells requests of the same name apart. None has a secret.
func (c *Recorder) name(r *http.Request, body []byte) (name, title, sum string) {
	query := r.URL.Query()
	for param := range query {
		if c.isSecret(param) {
			query[param] = []string{redacted}
		}
	}
	// A path in a recording has the mark, and it comes back in an address of a next page.
	target := strings.ReplaceAll(c.known.Scrub(r.URL.EscapedPath()), url.PathEscape(redacted), redacted)
	if len(query) > 0 {
		readable, err := url.QueryUnescape(query.Encode())
		if err != nil {
			readable = query.Encode()
		}
		target += "?" + c.known.Scrub(readable)
	}
	title = r.Method + " " + target
	name = strings.Trim(unsafeInNames.ReplaceAllString(title, "_"), "_")
	hash := sha256.Sum256([]byte(title + "\n" + c.known.Scrub(string(body))))
	sum = "_" + hex.EncodeToString(hash[:4])
	if len(body) > 0 || len(name) > 120 || strings.ContainsAny(target, "%+") {
		name = name[:min(len(name), 100)] + sum
	}
	return name, title, sum
}

var unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9.=-]+`)

func (c *Recorder) isSecret(param string) bool {
	return c.known.HasParam(param) || slices.Contains(c.Secret, param) ||
		secretParam.MatchString(param) && !pageParam.MatchString(param)
}

// redacted is what stands in the place of a secret.
const redacted = "[redacted]"

// learn adds the secrets of a request to those that are known. If there are new ones,
// it removes them from what has been recorded.
func (c *Recorder) learn(r *http.Request) error {
	if c.known == nil {
		c.turns, c.known, c.written = map[string]int{}, recording.NewSecrets(), map[string]bool{}
	}
	own := recording.NewSecrets()
	if sent := recording.SecretsOf(r.Context()); sent != nil {
		own.Merge(sent)
	}
	for header, values := range r.Header {
		if !slices.Contains(plainHeaders, header) {
			own.AddHeader(header, values)
		}
	}
	for param, values := range r.URL.Query() {
		if c.isSecret(param) {
			own.Add(values...)
		}
	}
	if !c.known.Merge(own) {
		return nil
	}
	for file := range c.written {
		if err := c.clean(file); err != nil {
			return err
		}
	}
	return nil
}

// clean removes what has become known as a secret from a recording.
func (c *Recorder) clean(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	title, answer, _ := strings.Cut(string(text), "\n\n")
	head, body, _ := strings.Cut(answer, "\n\n")
	clean := c.known.Scrub(title+"\n\n"+head) + "\n\n" + c.scrubBody("", body)
	name := unsafeInNames.ReplaceAllString(c.known.Scrub(filepath.Base(file)), "_")
	if name != filepath.Base(file) {
		delete(c.written, file)
		if err := os.Remove(file); err != nil {
			return err
		}
		file = filepath.Join(c.Dir, name)
		c.written[file] = true
	}
	return os.WriteFile(file, []byte(clean), 0o644)
}

// file returns the path of a request's n-th recording.
func (c *Recorder) file(name string, n int) string {
	if n > 1 {
		name += "." + strconv.Itoa(n)
	}
	return filepath.Join(c.Dir, name+".http")
}

// record writes an answer, and gives it a body that can be read again. An answer
// like the one before it is not written.
func (c *Recorder) record(res *http.Response, r *http.Request, name, title string) error {
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n%d\n", title, res.StatusCode)
	for header := range res.Header {
		if sent := recording.SecretsOf(r.Context()); !keptHeaders.MatchString(header) &&
			(sent == nil || !strings.EqualFold(header, sent.Header)) {
			delete(res.Header, header)
		}
	}
	kept := make(http.Header, len(res.Header))
	for header, values := range res.Header {
		for _, v := range values {
			kept.Add(header, c.scrubAnswer(r.URL.Host, c.withoutParams(v)))
		}
	}
	if err := kept.Write(&b); err != nil {
		return err
	}
	text := strings.ReplaceAll(b.String(), "\r\n", "\n") + "\n" + c.scrubBody(r.URL.Host, string(body))
	n := c.turns[name]
	if n > 1 {
		if before, err := os.ReadFile(c.file(name, n-1)); err == nil && string(before) == text {
			c.turns[name]-- // the one before answers for this one too
			return nil
		}
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	c.written[c.file(name, n)] = true
	return os.WriteFile(c.file(name, n), []byte(text), 0o644)
}

// withoutParams redacts the secret parameters of a URL in a header, such as Link.
func (c *Recorder) withoutParams(header string) string {
	return param.ReplaceAllStringFunc(header, func(pair string) string {
		name, _, _ := strings.Cut(pair[1:], "=")
		if !c.isSecret(name) {
			return pair
		}
		return pair[:1+len(name)] + "=[redacted]"
	})
}

var param = regexp.MustCompile(`[?&][^=&>\s]+=[^&>\s]*`)

// replay answers from a file.
func (c *Recorder) replay(r *http.Request, name, title string) (*http.Response, error) {
	var text []byte
	err := fs.ErrNotExist
	for n := c.turns[name]; n > 0 && errors.Is(err, fs.ErrNotExist); n-- {
		text, err = os.ReadFile(c.file(name, n))
		c.turns[name] = n
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &recording.Missing{Request: title, Dir: c.Dir}
	}
	if err != nil {
		return nil, err
	}
	// The first line names the request; behind the blank line is the answer, whose
	// first line is a status.
	_, answer, ok := strings.Cut(strings.ReplaceAll(string(text), hostPlace, r.URL.Host), "\n\n")
	status, rest, _ := strings.Cut(answer, "\n")
	code, err := strconv.Atoi(strings.TrimSpace(status))
	if !ok || err != nil {
		return nil, fmt.Errorf("record: %s is not a recording", c.file(name, 1))
	}
	head, body, _ := strings.Cut("\n"+rest, "\n\n")
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(
		fmt.Sprintf("HTTP/1.1 %d %s%s\nContent-Length: %d\n\n%s", code, http.StatusText(code), head, len(body), body))), r)
	if err != nil {
		return nil, fmt.Errorf("record: %s is not a recording: %w", c.file(name, 1), err)
	}
	return res, nil
}

// hostPlace stands in a recording for the host of an API whose address is the
// tenant's, so that the addresses in the recording stay addresses.
const hostPlace = "upstream.invalid"

// scrubAnswer returns text of an answer of a host without the values.
func (c *Recorder) scrubAnswer(host, text string) string {
	if c.known.Scrub(host) != host {
		text = strings.ReplaceAll(text, host, hostPlace)
	}
	return c.known.Scrub(text)
}

// scrubBody removes secrets from a body. JSON stays JSON: a number or a word with a secret in it becomes 0. Each text is
// cleaned before the whole is, since a secret that ends in a quotation mark would take that of the text too.
func (c *Recorder) scrubBody(host, body string) string {
	text := c.scrubAnswer(host, body)
	if text == body || !json.Valid([]byte(body)) {
		return text
	}
	apart := textOrRest.ReplaceAllStringFunc(body, func(token string) string {
		if clean := `"` + c.scrubAnswer(host, token[1:len(token)-1]) + `"`; json.Valid([]byte(clean)) {
			return clean
		}
		return `"` + redacted + `"`
	})
	return textOrRest.ReplaceAllStringFunc(c.scrubAnswer(host, apart), func(token string) string {
		if token[0] == '"' {
			return token
		}
		return "0"
	})
}

// textOrRest finds the texts of JSON, and what is left of a number or a word.
var textOrRest = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[-+.0-9eE]*\[redacted\][-+.0-9eE]*`)
