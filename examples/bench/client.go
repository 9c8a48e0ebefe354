package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// requestTimeout limits one request.
const requestTimeout = 5 * time.Minute

// client reads answers. It is the same for every server, and as cheap as net/http
// allows, because it shares the machine with them.
type client struct {
	http *http.Client
	buf  []byte
}

func newClient() *client {
	return &client{
		http: &http.Client{
			Transport:     &http.Transport{DisableCompression: true, ReadBufferSize: 256 << 10},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       requestTimeout,
		},
		buf: make([]byte, 256<<10),
	}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// answer is the times of one request.
type answer struct {
	first time.Duration // until the whole first row had arrived
	wall  time.Duration // until the end
	cpu   time.Duration // of the server; 0 if unknown
}

// post sends a query to a server. The caller closes the body.
func (c *client) post(ctx context.Context, s *server, q *wire.QueryRequest) (io.ReadCloser, error) {
	body, err := wire.EncodeRequest(q)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", s.kind, err)
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, fmt.Errorf("server %s answered status %d", s.kind, res.StatusCode)
	}
	return res.Body, nil
}

var (
	rowsBegin = []byte(`{"rows":[{`)
	endLine   = []byte("{\"end\":1}\n")
)

// discard times a query. It looks at the first row and at the end, and drops what
// is between.
func (c *client) discard(ctx context.Context, s *server, q *wire.QueryRequest) (answer, error) {
	var a answer
	used, _ := s.processorTime()
	began := time.Now()
	body, err := c.post(ctx, s, q)
	if err != nil {
		return a, err
	}
	defer body.Close()
	var head, tail []byte
	for {
		n, err := body.Read(c.buf)
		piece := c.buf[:n]
		if a.first == 0 {
			// No cell of a first row holds a brace.
			head = append(head, piece...)
			if i := bytes.Index(head, rowsBegin); i >= 0 && bytes.IndexByte(head[i:], '}') >= 0 {
				a.first = time.Since(began)
			}
		}
		if n >= len(endLine) {
			tail = append(tail[:0], piece[n-len(endLine):]...)
		} else {
			tail = append(tail, piece...)
			tail = tail[max(0, len(tail)-len(endLine)):]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return a, fmt.Errorf("server %s: %w", s.kind, err)
		}
	}
	a.wall = time.Since(began)
	if now, err := s.processorTime(); err == nil {
		a.cpu = now - used
	}
	if !bytes.Equal(tail, endLine) {
		return a, fmt.Errorf("server %s ended its answer early", s.kind)
	}
	if a.first == 0 {
		return a, fmt.Errorf("server %s answered no rows", s.kind)
	}
	return a, nil
}

var errNotTheRows = errors.New("the rows differ from the reference table")

// verify reads the first n rows of a server strictly and compares each cell with
// the table. It also warms the server up.
func (c *client) verify(ctx context.Context, s *server, n int) error {
	q := query()
	q.Limit = int64(n)
	body, err := c.post(ctx, s, q)
	if err != nil {
		return err
	}
	defer body.Close()
	read := 0
	var o order
	var want []wire.Value
	for row, err := range ndjson.NewReader(body).Rows() {
		if err != nil {
			return fmt.Errorf("server %s: %w", s.kind, err)
		}
		at := read
		if s.kind == serverPrebuilt {
			at %= prebuiltRows
		}
		o.at(at)
		want = o.cells(want[:0])
		for i, c := range columns {
			v, ok := row.Get(c.Name)
			if !ok || v.IsNull() != want[i].IsNull() || v.String() != want[i].String() {
				return fmt.Errorf("server %s: row %d, column %s: %w", s.kind, read+1, c.Name, errNotTheRows)
			}
		}
		read++
	}
	if read != n {
		return fmt.Errorf("server %s: %d rows instead of %d: %w", s.kind, read, n, errNotTheRows)
	}
	return nil
}

// ids reads a whole answer strictly and returns the ids in it.
func (c *client) ids(ctx context.Context, s *server, q *wire.QueryRequest) ([]int64, error) {
	body, err := c.post(ctx, s, q)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var ids []int64
	for row, err := range ndjson.NewReader(body).Rows() {
		if err != nil {
			return nil, fmt.Errorf("server %s: %w", s.kind, err)
		}
		id, _ := row.Get("id")
		ids = append(ids, id.Int64())
	}
	return ids, nil
}
