package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	cells := make([][]wire.Value, n)
	var line struct {
		Rows []map[string]any `json:"rows"`
	}
	for i := range n {
		var o order
		o.at(i)
		cells[i] = o.cells(nil)
		line.Rows = append(line.Rows, o.object())
	}
	layout := testkit.Must(lines.NewLayout(reference.Names(), nil))(b)
	batch := layout.NewBatch()
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
	stream := referenceStream(b, n)
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

// referenceStream returns a whole answer with the first n rows.
func referenceStream(t testing.TB, n int) []byte {
	h := testkit.Must(newConnector(n))(t)
	body := testkit.Must(wire.EncodeRequest(query()))(t)
	r := httptest.NewRequest(http.MethodPost, wire.PathQuery, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+bearer)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code)
	return w.Body.Bytes()
}
