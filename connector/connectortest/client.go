package connectortest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// defaultTimeoutMS replaces a TimeoutMS of zero in a request.
const defaultTimeoutMS = 30_000

// client makes calls and reads their answers strictly. It does not use the test,
// so that any goroutine may use it. Its errors are a *wire.Error for a refusal,
// connector.ErrDecline for a 204, and another error for a transport that failed
// or an answer that breaks the protocol.
type client struct {
	server *Server
	ctx    context.Context
	creds  wire.Credentials
	seen   io.Writer // if not nil, it gets the bytes of every answer
}

// envelope returns the members that every request has.
func (c *client) envelope() wire.Envelope {
	return wire.Envelope{Credentials: c.creds, TimeoutMS: defaultTimeoutMS}
}

// fetchDocument reads the capability document.
func fetchDocument(ctx context.Context, s *Server) (*wire.Document, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+wire.PathDocument, nil)
	if err != nil {
		return nil, err
	}
	res, err := s.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d; the document is served without a token", res.StatusCode)
	}
	body, err := readBody(res, wire.MediaJSON, wire.MaxDocumentBytes)
	if err != nil {
		return nil, err
	}
	doc := new(wire.Document)
	return doc, wire.Decode(body, doc)
}

// readBody reads an answer. It returns an error if the answer has another media
// type or is longer than most bytes.
func readBody(res *http.Response, media string, most int64) ([]byte, error) {
	if got, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); strings.TrimSpace(got) != media {
		return nil, fmt.Errorf("status %d with content type %q instead of %s", res.StatusCode, res.Header.Get("Content-Type"), media)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("the answer is longer than %d bytes", most)
	}
	return body, nil
}

// post sends a request. Every status except 200 and 204 is an error.
func (c *client) post(path string, req wire.Message) (*http.Response, error) {
	body, err := wire.EncodeRequest(req)
	if err != nil {
		return nil, fmt.Errorf("the request cannot be sent: %w", err)
	}
	r, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.server.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+Token)
	r.Header.Set("Content-Type", wire.MediaJSON)
	res, err := c.server.Client.Do(r)
	if err != nil {
		return nil, err
	}
	if c.seen != nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(res.Body, c.seen), res.Body}
	}
	if res.StatusCode == http.StatusOK || res.StatusCode == http.StatusNoContent && path == wire.PathAggregate {
		return res, nil
	}
	defer res.Body.Close()
	return nil, refusal(res)
}

// refusal reads the error of an answer that is not 2xx.
func refusal(res *http.Response) error {
	body, err := readBody(res, wire.MediaJSON, wire.MaxAnswerBytes)
	if err != nil {
		return err
	}
	var envelope wire.ErrorAnswer
	if err := wire.Decode(body, &envelope); err != nil {
		return fmt.Errorf("status %d without a proper envelope: %w", res.StatusCode, err)
	}
	e := envelope.Error
	if e.Code.Status() != res.StatusCode {
		return fmt.Errorf("status %d with the code %q, which goes with status %d", res.StatusCode, e.Code, e.Code.Status())
	}
	return &e
}

// ask sends a request whose answer is one JSON object, and decodes the answer.
func (c *client) ask(path string, req, answer wire.Message) error {
	res, err := c.post(path, req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNoContent {
		return connector.ErrDecline
	}
	body, err := readBody(res, wire.MediaJSON, wire.MaxAnswerBytes)
	if err != nil {
		return err
	}
	if err := wire.Decode(body, answer); err != nil {
		return fmt.Errorf("a malformed answer: %w", err)
	}
	return nil
}

// stream sends a request whose answer is rows with these members, or with any
// members if members is nil. It returns errTooMany if there are more than most
// rows.
func (c *client) stream(req wire.Message, members []string, most int64) (*Answer, error) {
	res, err := c.post(wire.PathQuery, req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); got != wire.MediaNDJSON {
		return nil, fmt.Errorf("rows with content type %q instead of %s", got, wire.MediaNDJSON)
	}
	return readAnswer(res.Body, members, most)
}

func (c *client) discover(req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	var answer wire.Discovery
	return &answer, c.ask(wire.PathDiscovery, req, &answer)
}

func (c *client) query(req *wire.QueryRequest, most int64) (*Answer, error) {
	return c.stream(req, members(req), most)
}

// members returns the names of a row's members in the order of the request.
func members(req *wire.QueryRequest) []string {
	names := append([]string{}, req.Fields...)
	for _, j := range req.Joins {
		for _, f := range j.Fields {
			names = append(names, cmp.Or(f.As, f.Field))
		}
	}
	return names
}
