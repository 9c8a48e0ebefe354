//go:build unix

package sqlsourcetest

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Benchmark measures the answer of a whole connector to a request (a) against native
// (b), in which a program asks the same of the database without this library. path is
// that of the route, such as wire.PathQuery. It reports how many times as long a takes
// as b by the wall clock (x) and in processor time of this process (cpu-x), and the
// medians in milliseconds. Use it to see what a flavor costs, and where its statements
// miss an index: an answer of a few rows that takes many times as long as the native
// one has searched the table.
func Benchmark(
	b *testing.B, source *sqlsource.Source, credentials wire.Credentials, path string, request wire.Request, native func(),
) {
	h := benchHandler(b, source, credentials)
	if w := ask(b, h, path, request); w.status != http.StatusOK {
		b.Skipf("left to the platform: status %d", w.status)
	}
	duel(b, func() { serveInto(b, h, path, request) }, native)
}

// benchHandler returns a connector that takes these credentials.
func benchHandler(b *testing.B, source *sqlsource.Source, credentials wire.Credentials) http.Handler {
	token, err := wire.NewToken(connectortest.Token)
	require.NoError(b, err)
	def := connector.Definition{Slug: "bench"}
	for _, key := range credentials.Keys() {
		field := wire.CredentialField{Key: key, Label: key, Type: wire.CredentialPassword, Optional: true}
		def.Credentials = append(def.Credentials, field)
	}
	h, err := connector.New(def, source, token, &connector.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	return h
}

// duel runs a and b by turns, and reports the median of how many times as long a
// takes: by the wall clock (x) and in processor time of this process (cpu-x). It
// also reports the medians of both in milliseconds.
func duel(bench *testing.B, a, b func()) {
	const turns = 5
	sides := []func(){a, b}
	wall, cpu := make([][]float64, 2), make([][]float64, 2)
	a()
	b()
	for bench.Loop() {
		for turn := range turns {
			for i := range sides {
				k := (turn + i) % 2
				runtime.GC()
				began, used := time.Now(), processorTime()
				sides[k]()
				cpu[k] = append(cpu[k], float64(processorTime()-used)/1e6)
				wall[k] = append(wall[k], float64(time.Since(began))/1e6)
			}
		}
	}
	ratio := func(of [][]float64) float64 {
		ratios := make([]float64, len(of[0]))
		for i := range ratios {
			ratios[i] = of[0][i] / of[1][i]
		}
		return median(ratios)
	}
	bench.ReportMetric(ratio(wall), "x")
	bench.ReportMetric(ratio(cpu), "cpu-x")
	bench.ReportMetric(median(wall[0]), "a-ms")
	bench.ReportMetric(median(wall[1]), "b-ms")
	bench.ReportMetric(median(cpu[0]), "a-cpu-ms")
	bench.ReportMetric(median(cpu[1]), "b-cpu-ms")
	bench.ReportMetric(0, "ns/op") // would be of both together, which means nothing
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// processorTime returns the processor time that the process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serveInto runs one request through a connector and checks that it is answered.
func serveInto(b *testing.B, h http.Handler, path string, m wire.Request) {
	w := ask(b, h, path, m)
	if w.status != http.StatusOK || path == wire.PathQuery && string(w.last) != "{\"end\":1}\n" {
		b.Fatalf("status %d, and an answer that ends in %q", w.status, w.last)
	}
}

// ask runs one request through a connector.
func ask(b *testing.B, h http.Handler, path string, m wire.Request) *discardWriter {
	body, err := wire.EncodeRequest(m)
	require.NoError(b, err)
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+connectortest.Token)
	w := &discardWriter{}
	h.ServeHTTP(w, r)
	return w
}

// discardWriter is a connection whose reader takes everything at once.
type discardWriter struct {
	header http.Header
	status int
	last   []byte
}

func (w *discardWriter) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *discardWriter) WriteHeader(status int) { w.status = status }

func (w *discardWriter) Write(p []byte) (int, error) {
	w.last = append(w.last[:0], p[:min(len(p), 100)]...)
	return len(p), nil
}

func (w *discardWriter) FlushError() error                { return nil }
func (w *discardWriter) SetWriteDeadline(time.Time) error { return nil }
