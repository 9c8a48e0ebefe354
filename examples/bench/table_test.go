package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// rowTexts returns the first n rows as the library encodes them.
func rowTexts(t *testing.T, n int) []json.RawMessage {
	line := testkit.Must(prebuiltLine(n))(t)
	var batch struct{ Rows []json.RawMessage }
	require.NoError(t, json.Unmarshal(line, &batch))
	require.Len(t, batch.Rows, n)
	return batch.Rows
}

// TestTableIsTheReference checks that the table has the size and the variety that
// the goals assume.
func TestTableIsTheReference(t *testing.T) {
	const n = 5000
	rows := rowTexts(t, n)
	size, nulls, beyondASCII, quoted := 0, 0, 0, 0
	ids, prices := map[int64]bool{}, map[float64]bool{}
	for i, text := range rows {
		size += len(text)
		var o order
		o.at(i)
		ids[o.id], prices[o.price] = true, true
		if o.region == "" {
			nulls++
		}
		for _, c := range o.note {
			if c > 127 {
				beyondASCII++
				break
			}
		}
		if bytes.Contains([]byte(o.note), []byte(`"`)) {
			quoted++
		}
		require.Len(t, []rune(o.note), 40)
		require.Len(t, o.uuid, 36)
		require.False(t, o.created.Before(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	require.InDelta(t, 306, float64(size)/n, 6, "bytes a row")
	require.Len(t, ids, n)
	require.Greater(t, len(prices), n*95/100, "a sort by price has hardly any ties")
	for _, count := range []int{nulls, beyondASCII, quoted} {
		require.Greater(t, count, n/20)
		require.Less(t, count, n/2)
	}
}

// TestMapsAreTheRows compares the maps of the rivals with the rows of the library.
func TestMapsAreTheRows(t *testing.T) {
	for i, text := range rowTexts(t, 3000) {
		var o order
		o.at(i)
		require.JSONEq(t, string(text), string(testkit.Must(json.Marshal(o.object()))(t)), "row %d", i)
	}
}

// TestNodeRowsAreTheRows compares the rows that Node makes, byte for byte.
func TestNodeRowsAreTheRows(t *testing.T) {
	testkit.Needs(t, "node")
	const n = 3000
	s := testkit.Must(start(t.Context(), serverNode, n))(t)
	defer s.stop()
	c := newClient()
	defer c.close()
	body := testkit.Must(c.post(t.Context(), s, query()))(t)
	defer body.Close()
	var answer bytes.Buffer
	testkit.Must(answer.ReadFrom(body))(t)
	ours := testkit.Must(prebuiltLine(n))(t)
	require.Equal(t, servedLine+string(ours)+"{\"end\":1}\n", answer.String())
}

// BenchmarkS12 answers the first 100 of a million rows by a column that the
// source does not sort by, through the whole handler. Its rival is Node, in the
// command; this shows what a row costs. B/op is the memory of a whole answer.
func BenchmarkS12(b *testing.B) {
	const n = 1_000_000
	h := testkit.Must(newConnector(n))(b)
	q := query()
	q.Sort = []wire.SortKey{{Field: "price", Dir: wire.Desc}}
	q.Limit = topRows
	body := testkit.Must(wire.EncodeRequest(q))(b)
	b.ReportAllocs()
	for b.Loop() {
		serveInto(b, h, body, &discardWriter{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}
