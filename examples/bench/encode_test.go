package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkS1 encodes a batch of 5,000 rows that exist as each side takes them:
// cells, and maps.
func BenchmarkS1(b *testing.B) {
	const n = wire.MaxBatchRows
	cells, _ := sample(b, n)
	var line struct {
		Rows []map[string]any `json:"rows"`
	}
	for i := range n {
		var o order
		o.at(i)
		line.Rows = append(line.Rows, o.object())
	}
	batch := testkit.Must(lines.NewLayout(reference.Names(), nil))(b).NewBatch()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)

	duel(b, n,
		side{"lines.Batch", func() {
			batch.Reset()
			for _, c := range cells {
				if err := batch.Append(c); err != nil {
					b.Fatal(err)
				}
			}
			batch.Line()
		}},
		side{"encoding-json", func() {
			text.Reset()
			if err := enc.Encode(line); err != nil {
				b.Fatal(err)
			}
		}})
}

// BenchmarkS2 takes an author's rows to bytes: each side reads the upstream's
// rows, makes of them what it needs, and encodes that. Ours goes through the
// whole handler into a writer that discards.
func BenchmarkS2(b *testing.B) {
	const n = 100_000 // of a million: a stream that is under way
	h := testkit.Must(newConnector(n))(b)
	body := testkit.Must(wire.EncodeRequest(query()))(b)
	duel(b, n,
		side{"connector", func() { serveInto(b, h, body, &discardWriter{}) }},
		side{"maps", func() {
			if err := writeMaps(&discardWriter{}, n); err != nil {
				b.Fatal(err)
			}
		}})
}

// serveInto runs one request through a handler and checks that its answer is
// whole.
func serveInto(t testing.TB, h http.Handler, body []byte, w *discardWriter) {
	r := httptest.NewRequest(http.MethodPost, wire.PathQuery, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+bearer)
	h.ServeHTTP(w, r)
	if w.status != http.StatusOK || !bytes.Equal(w.last, endLine) {
		t.Fatalf("status %d, and an answer that ends in %q", w.status, w.last)
	}
}

// discardWriter is a connection whose reader takes everything at once, or so long a byte.
type discardWriter struct {
	perByte time.Duration
	header  http.Header
	status  int
	bytes   int64
	last    []byte
}

func (w *discardWriter) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *discardWriter) WriteHeader(status int) { w.status = status }

func (w *discardWriter) Write(p []byte) (int, error) {
	if w.perByte > 0 {
		time.Sleep(time.Duration(len(p)) * w.perByte)
	}
	w.bytes += int64(len(p))
	w.last = append(w.last[:0], p[max(0, len(p)-len(endLine)):]...)
	return len(p), nil
}

func (w *discardWriter) FlushError() error                { return nil }
func (w *discardWriter) SetReadDeadline(time.Time) error  { return nil }
func (w *discardWriter) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkS11 reads the stream of 20,000 rows: strictly, and with
// encoding/json into maps.
func BenchmarkS11(b *testing.B) {
	const n = 20_000
	body := testkit.Must(wire.EncodeRequest(query()))(b)
	w := testkit.Post(testkit.Must(newConnector(n))(b), bearer, wire.PathQuery, string(body))
	require.Equal(b, http.StatusOK, w.Code)
	stream := w.Body.Bytes()
	duel(b, n,
		side{"ndjson.Reader", func() {
			rows := 0
			for row, err := range ndjson.NewReader(bytes.NewReader(stream)).Rows() {
				if err != nil || len(row.Values()) != len(columns) {
					b.Fatal("misread", err)
				}
				rows++
			}
			if rows != n {
				b.Fatal(rows)
			}
		}},
		side{"encoding-json", func() {
			dec := json.NewDecoder(bytes.NewReader(stream))
			rows := 0
			for {
				var line struct {
					Rows []map[string]any `json:"rows"`
				}
				err := dec.Decode(&line)
				if err == io.EOF {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				rows += len(line.Rows)
			}
			if rows != n {
				b.Fatal(rows)
			}
		}})
}

// filtered returns a query whose filters keep about half of the rows.
func filtered() *wire.QueryRequest {
	q := query()
	q.And = []wire.Filter{
		{Field: "amount", Op: wire.OpGte, Value: wire.Text("10000.00")},
		{Field: "status", Op: wire.OpIn, Values: []wire.Value{wire.Text("pending"), wire.Text("shipped"), wire.Text("delivered")}},
		{Field: "created_at", Op: wire.OpLt, Value: wire.Text("2025-05-01T00:00:00Z")},
	}
	return q
}

// readerOf connects to a real server over the loopback and returns a function that
// posts a query, once, and reads the answer to its end without allocating.
func readerOf(t testing.TB, h http.Handler, q *wire.QueryRequest) (read func()) {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	body := testkit.Must(wire.EncodeRequest(q))(t)
	conn := testkit.Must((&net.Dialer{}).DialContext(context.Background(), "tcp", s.Listener.Addr().String()))(t)
	t.Cleanup(func() { _ = conn.Close() })
	request := rawRequest(body)
	buf := make([]byte, 256<<10)
	tail := make([]byte, 0, 64)
	return func() {
		if _, err := conn.Write(request); err != nil {
			t.Fatal(err)
		}
		for {
			n, err := conn.Read(buf)
			tail = append(tail, buf[max(0, n-32):n]...)
			tail = append(tail[:0], tail[max(0, len(tail)-32):]...)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Contains(tail, endLine) {
			t.Fatalf("the answer ends in %q", tail)
		}
	}
}

// BenchmarkS7 counts what a row allocates on its way from Row to the socket,
// with a filter on. One operation is one row that the source emits.
func BenchmarkS7(b *testing.B) {
	read := readerOf(b, testkit.Must(newConnector(b.N))(b), filtered())
	b.ReportAllocs()
	b.ResetTimer()
	read()
}

// TestRowsAllocateNothing measures S7: rows allocate nothing; a whole answer
// allocates for the request and for each of its lines.
func TestRowsAllocateNothing(t *testing.T) {
	allocations := func(rows int) float64 {
		read := readerOf(t, testkit.Must(newConnector(rows))(t), filtered())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read()
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs - before.Mallocs)
	}
	const few, many = 20_000, 220_000
	allocations(few) // what is made once
	perRow := (allocations(many) - allocations(few)) / (many - few)
	require.Less(t, perRow, 0.01, "allocations for each further row")
}

const (
	aheadLatency  = 50 * time.Millisecond
	aheadPages    = 60
	aheadPageRows = 100
)

// farAPI answers the reference table in pages, by number and after a cursor, each in 50 ms. It also
// returns the size of a page.
func farAPI(t testing.TB) (api testkit.Transport, pageBytes int) {
	var pages []string
	for p := range aheadPages {
		line := testkit.Must(encodedLine(p*aheadPageRows, aheadPageRows))(t)
		next := "null"
		if p+1 < aheadPages {
			next = strconv.Quote(strconv.Itoa(p + 2))
		}
		pages = append(pages, fmt.Sprintf(`%s,"total":%d,"next":%s}`, line[:len(line)-len("}\n")], aheadPages*aheadPageRows, next))
	}
	return func(r *http.Request) (*http.Response, error) {
		time.Sleep(aheadLatency)
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		body := fmt.Sprintf(`{"rows":[],"total":%d,"next":null}`, aheadPages*aheadPageRows)
		if page = max(page, 1); page <= len(pages) {
			body = pages[page-1]
		}
		res := testkit.Reply(http.StatusOK, body, "Content-Type: application/json")
		res.Request = r
		return res, nil
	}, len(pages[0])
}

// BenchmarkS20 reads 60 pages of 100 rows from an API that answers in 50 ms. x-latencies is the
// time of the read as a multiple of the sum of the latencies; x-turns as one of an API and an
// equally slow reader that wait for each other. peak-B is the most memory in use.
func BenchmarkS20(b *testing.B) {
	api, pageBytes := farAPI(b)
	for _, c := range []struct {
		name  string
		pages restsource.Pages
		total string
		slow  bool // the reader is
	}{
		{"number", restsource.Pages{By: restsource.PagingPage, Param: "page", SizeParam: "limit", Size: aheadPageRows}, "total", false},
		{"cursor", restsource.Pages{By: restsource.PagingCursor, Param: "page", Next: "next", SizeParam: "limit", Size: aheadPageRows}, "", true},
	} {
		b.Run(c.name, func(b *testing.B) {
			t := restsource.Table{Name: tableName, Path: "/orders", Rows: "rows", Key: []string{"id"}, Pages: c.pages, Total: c.total}
			for _, col := range columns {
				t.Columns = append(t.Columns, restsource.Column{Name: col.Name, Type: col.Type})
			}
			src := testkit.Must(restsource.New(restsource.API{Base: "https://api.example.com"}, []restsource.Table{t},
				&restsource.Options{Transport: api, Concurrency: 8}))(b)
			h := testkit.Must(newHandler(connector.Definition{Slug: "bench-ahead"}, src))(b)
			body := testkit.Must(wire.EncodeRequest(query()))(b)
			b.ReportAllocs()
			defer debug.SetGCPercent(debug.SetGCPercent(20))
			stop, peak := make(chan struct{}), make(chan uint64)
			go func() { peak <- peakHeap(stop) }()
			for b.Loop() {
				w := &discardWriter{}
				if c.slow {
					w.perByte = aheadLatency / time.Duration(pageBytes)
				}
				serveInto(b, h, body, w)
			}
			close(stop)
			b.ReportMetric(float64(<-peak), "peak-B")
			sum, unit := float64(aheadPages*aheadLatency), "x-latencies"
			if c.slow {
				sum, unit = 2*sum, "x-turns"
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/sum, unit)
		})
	}
}

// peakHeap returns the most bytes of objects that were in use until stop is closed.
func peakHeap(stop <-chan struct{}) (most uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		metrics.Read(sample)
		most = max(most, sample[0].Value.Uint64())
		select {
		case <-stop:
			return most
		case <-time.After(time.Millisecond):
		}
	}
}
