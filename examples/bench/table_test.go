package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rowTexts returns the first n rows as the library encodes them.
func rowTexts(t *testing.T, n int) []json.RawMessage {
	line, err := prebuiltLine(n)
	require.NoError(t, err)
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
		object, err := json.Marshal(o.object())
		require.NoError(t, err)
		require.JSONEq(t, string(text), string(object), "row %d", i)
	}
}

// TestNodeRowsAreTheRows compares the rows that Node makes, byte for byte.
func TestNodeRowsAreTheRows(t *testing.T) {
	needNode(t)
	const n = 3000
	s, err := start(t.Context(), serverNode, n)
	require.NoError(t, err)
	defer s.stop()
	c := newClient()
	defer c.close()
	body, err := c.post(t.Context(), s, query())
	require.NoError(t, err)
	defer body.Close()
	var answer bytes.Buffer
	_, err = answer.ReadFrom(body)
	require.NoError(t, err)
	ours, err := prebuiltLine(n)
	require.NoError(t, err)
	require.Equal(t, servedLine+string(ours)+"{\"end\":1}\n", answer.String())
}
