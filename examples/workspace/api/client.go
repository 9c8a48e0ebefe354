package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Options are what a user of the client may set. Nil, and every zero member, is the
// default.
type Options struct {
	// Transport makes the requests. Default: an http.Transport that ignores the
	// environment. The client puts a restsource.Transport around it.
	Transport http.RoundTripper
	// Timeout is how long one call may take, with its repetitions and with the wait
	// for a new budget. It does not bound uploads and streams: their context does.
	// Default: 2 minutes, because a budget is full again after one.
	Timeout time.Duration
	// MaxBody is the largest body of an answer, in bytes. Default: 16 MiB.
	MaxBody int64
}

const (
	defaultTimeout = 2 * time.Minute
	defaultMaxBody = 16 << 20
	// unlimited is the largest MaxBody of a restsource.Transport: the client bounds
	// what it reads by itself, because a stream has no end to bound.
	unlimited = 1 << 62
)

// Client calls the general API with one token. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	token   wire.Credentials // a closed type: it shows its values to nobody who prints it
	options Options
	paces   map[Budget]*restsource.Transport
}

// New returns a client of the API at a base address, such as
// "https://platform.example.com". The address must be https, except on this machine,
// because the token travels in every request.
func New(base, token string, options *Options) (*Client, error) {
	address, err := url.Parse(strings.TrimRight(base, "/"))
	switch {
	case err != nil || address.Hostname() == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "":
		return nil, errors.New("api: the base address must be a scheme and a host, such as https://platform.example.com")
	case address.Scheme != "https" && (address.Scheme != "http" || !thisMachine(address.Hostname())):
		return nil, errors.New("api: the base address must begin with https://")
	case token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("api: the token is empty, or has characters that a header cannot carry")
	}
	c := &Client{base: address, token: wire.NewCredentials(map[string]string{"token": token}), paces: map[Budget]*restsource.Transport{}}
	if options != nil {
		c.options = *options
	}
	if c.options.Transport == nil {
		c.options.Transport = &http.Transport{
			DisableCompression:  true, // MaxBody is what was sent
			ForceAttemptHTTP2:   true,
			TLSHandshakeTimeout: 10 * time.Second,
			IdleConnTimeout:     90 * time.Second,
		}
	}
	if c.options.Timeout <= 0 {
		c.options.Timeout = defaultTimeout
	}
	if c.options.MaxBody <= 0 {
		c.options.MaxBody = defaultMaxBody
	}
	for _, e := range endpoints {
		if c.paces[e.Budget] == nil {
			c.paces[e.Budget] = &restsource.Transport{Base: c.options.Transport, MaxBody: unlimited}
		}
	}
	return c, nil
}

func thisMachine(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback()
	}
	return host == "localhost"
}

// Path are the parameters of an endpoint's path, such as {"id": "..."}.
type Path map[string]string

// Args are what a call carries. Nil carries nothing.
type Args struct {
	Path  Path
	Query url.Values
	Body  any // is sent as JSON, an [Upload] as a form; nil sends no body
	// URL is an address that an answer gave, such as a run's statusUrl. It takes the
	// place of the endpoint's path. It is refused if it leads to another origin than
	// the client's, which must not see the token.
	URL string
}

// ErrForeign is the error of an address that leads to another origin.
var ErrForeign = errors.New("the address leads to another host, which must not see the token; it was not requested")

// Open calls an endpoint and returns the answer with its body unread. Use it for the
// event stream, and close the body. An answer that is no success is an [*Error].
func (c *Client) Open(ctx context.Context, endpoint string, args *Args) (*http.Response, error) {
	e, err := find(endpoint)
	if err != nil {
		return nil, err
	}
	if args == nil {
		args = &Args{}
	}
	r, err := c.request(ctx, e, args)
	if err != nil {
		return nil, err
	}
	res, err := c.paces[e.Budget].RoundTrip(r)
	if err != nil {
		return nil, c.failed(ctx, e, args, err)
	}
	if res.StatusCode >= 200 && res.StatusCode <= 299 {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 300 && res.StatusCode <= 399 {
		return nil, &AnswerError{e.Name(), "the API redirects; the client does not follow, because its token could go elsewhere"}
	}
	return nil, refusal(e, res, c.secrets(args))
}

// request returns the request of a call.
func (c *Client) request(ctx context.Context, e Endpoint, args *Args) (*http.Request, error) {
	address, err := c.address(e, args)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	var contentType string
	length := int64(0)
	switch content := args.Body.(type) {
	case nil:
	case Upload:
		if body, contentType, length, err = content.form(); err != nil {
			return nil, err
		}
	default:
		text, err := json.Marshal(content)
		if err != nil {
			return nil, fmt.Errorf("api: %s: the body: %w", e.Name(), err)
		}
		body, contentType, length = bytes.NewReader(text), "application/json", int64(len(text))
	}
	// A bytes.Reader can be sent again, which the transport makes use of.
	r, err := http.NewRequestWithContext(ctx, e.Method, address, body)
	if err != nil {
		return nil, fmt.Errorf("api: %s: the address is malformed", e.Name()) // err quotes the address
	}
	if body != nil {
		r.ContentLength = length
		r.Header.Set("Content-Type", contentType)
	}
	r.Header.Set("Authorization", "Bearer "+c.token.Get("token"))
	r.Header.Set("Accept", "application/json")
	if e.Answer == Stream {
		r.Header.Set("Accept", "text/event-stream")
	}
	return r, nil
}

// address returns the URL of a call.
func (c *Client) address(e Endpoint, args *Args) (string, error) {
	if args.URL != "" {
		u, err := c.base.Parse(args.URL)
		if err != nil {
			return "", fmt.Errorf("api: %s: the address is malformed", e.Name())
		}
		if !c.owns(u) {
			return "", fmt.Errorf("api: %s: %w", e.Name(), ErrForeign)
		}
		u.Fragment = ""
		return u.String(), nil
	}
	path, err := e.expand(args.Path)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("api: %s needs an address that an answer gave", e.Name())
	}
	address := c.base.String() + path
	if len(args.Query) > 0 {
		address += "?" + args.Query.Encode()
	}
	return address, nil
}

// owns reports whether an address has the client's origin.
func (c *Client) owns(u *url.URL) bool {
	return u.User == nil && u.Scheme == c.base.Scheme && origin(u) == origin(c.base)
}

// origin returns host and port, with the port that the scheme implies.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// answer is a successful answer, read.
type answer struct {
	status int
	body   []byte
}

// exchange calls an endpoint and reads the whole answer.
func (c *Client) exchange(ctx context.Context, e Endpoint, args *Args) (answer, error) {
	if args == nil {
		args = &Args{}
	}
	if _, uploads := args.Body.(Upload); !uploads {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
	}
	res, err := c.Open(ctx, e.Name(), args)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	switch media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); {
	case res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated && res.StatusCode != http.StatusNoContent && !e.Bare:
		return answer{}, &AnswerError{e.Name(), fmt.Sprintf("the document knows no success with the status %d", res.StatusCode)}
	case media == "text/html":
		return answer{}, &AnswerError{e.Name(), "the answer is HTML; is the base address that of the API?"}
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, c.options.MaxBody+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return answer{}, c.failed(ctx, e, args, err)
	case err != nil:
		return answer{}, &AnswerError{e.Name(), "the answer broke off"}
	case int64(len(body)) > c.options.MaxBody:
		return answer{}, &AnswerError{e.Name(), fmt.Sprintf("the answer is larger than %d bytes", c.options.MaxBody)}
	}
	return answer{res.StatusCode, body}, nil
}

// Do calls an endpoint whose answer does not matter, such as a deletion.
func (c *Client) Do(ctx context.Context, endpoint string, args *Args) error {
	e, err := find(endpoint)
	if err != nil {
		return err
	}
	_, err = c.exchange(ctx, e, args)
	return err
}

// Call calls an endpoint that answers with one object, and returns what its member
// "data" holds. With T = json.RawMessage, it returns that as it is. It refuses one page
// of a list that has more, unless the query asks for that page: see [List].
func Call[T any](ctx context.Context, c *Client, endpoint string, args *Args) (T, error) {
	var value T
	e, err := find(endpoint)
	if err != nil {
		return value, err
	}
	a, err := c.exchange(ctx, e, args)
	if err != nil {
		return value, err
	}
	envelope, err := e.open(a)
	if err != nil {
		return value, err
	}
	if p := envelope.Pagination; p != nil && p.HasMore && (args == nil || !args.Query.Has("limit") && !args.Query.Has("offset")) {
		return value, &AnswerError{e.Name(), "the answer is one page of a list that has more; read it with List"}
	}
	if err := decode(e, envelope.Data, &value); err != nil {
		return *new(T), err
	}
	return value, nil
}

// envelope is the object around an answer.
type envelope struct {
	Data       json.RawMessage `json:"data"`
	Pagination *Pagination     `json:"pagination"`
}

// open takes the envelope of an answer apart.
func (e Endpoint) open(a answer) (envelope, error) {
	if a.status == http.StatusNoContent || len(bytes.TrimSpace(a.body)) == 0 {
		return envelope{}, &AnswerError{e.Name(), "the answer has no content"}
	}
	var env envelope
	if !json.Valid(a.body) {
		return env, &AnswerError{e.Name(), "the answer is not JSON, or only a part of it"}
	}
	err := json.Unmarshal(a.body, &env)
	if len(env.Data) == 0 && (e.Bare || e.Answer == NotShown) {
		return envelope{Data: a.body}, nil
	}
	if err != nil || len(env.Data) == 0 {
		return env, &AnswerError{e.Name(), `the answer is not an object with a member "data"`}
	}
	return env, nil
}

// identified is a type that has an id in every answer.
type identified interface{ identity() string }

// decode decodes an object of an answer.
func decode(e Endpoint, data []byte, to any) error {
	if err := json.Unmarshal(data, to); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) { // its own text quotes the value
			return &AnswerError{e.Name(), fmt.Sprintf("the member %q is not a %s", kind.Field, kind.Type)}
		}
		return &AnswerError{e.Name(), "a member has a value that its type does not take"}
	}
	if object, ok := to.(identified); ok && object.identity() == "" {
		return &AnswerError{e.Name(), "an object has no id"}
	}
	return nil
}
