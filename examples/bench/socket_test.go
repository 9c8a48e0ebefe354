package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &http.Server{Handler: h}
	stopped := make(chan struct{})
	go func() { defer close(stopped); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-stopped })
	body := testkit.Must(wire.EncodeRequest(q))(t)
	conn := testkit.Must((&net.Dialer{}).DialContext(context.Background(), "tcp", l.Addr().String()))(t)
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
	h := testkit.Must(newConnector(b.N))(b)
	read := readerOf(b, h, filtered())
	b.ReportAllocs()
	b.ResetTimer()
	read()
}

// TestRowsAllocateNothing measures S7: rows allocate nothing; a whole answer
// allocates for the request and for each of its lines.
func TestRowsAllocateNothing(t *testing.T) {
	allocations := func(rows int) float64 {
		h := testkit.Must(newConnector(rows))(t)
		read := readerOf(t, h, filtered())
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
