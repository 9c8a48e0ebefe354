package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkS12 answers the first 100 of a million rows by a column that the
// source does not sort by, through the whole handler. Its rival is Node, in the
// command; this shows what a row costs. B/op is the memory of a whole answer.
func BenchmarkS12(b *testing.B) {
	const n = 1_000_000
	h, err := newConnector(n)
	require.NoError(b, err)
	q := query()
	q.Sort = []wire.SortKey{{Field: "price", Dir: wire.Desc}}
	q.Limit = topRows
	body, err := wire.EncodeRequest(q)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		serveInto(b, h, body, &discardWriter{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}
