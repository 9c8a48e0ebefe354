package enginetest

import (
	"bytes"
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLBlob reads bytes as they are: as base64, the server takes the square of
// their length.
func TestMySQLBlob(t *testing.T) {
	db := newMySQL(t)
	db.execute(t, "CREATE TABLE t (id INT PRIMARY KEY, body LONGBLOB, code VARBINARY(20), KEY (code))")
	large := bytes.Repeat([]byte{0, 0xff, 0x10, 0xab, 'A'}, 1<<20)
	for id, body := range [][]byte{large, []byte("\x00\xfftext"), {}} {
		_, err := db.Exec("INSERT INTO t VALUES (?, ?, ?)", id, body, body[:min(len(body), 20)])
		require.NoError(t, err)
	}
	caller := db.caller(t, nil).Unverified()
	start := time.Now()
	answer, err := caller.Query(wire.QueryRequest{
		Table: "t", Fields: []string{"body"}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}},
		Envelope: wire.Envelope{TimeoutMS: 120_000}, // for the race detector on a busy machine
	})
	require.NoError(t, err)
	t.Logf("5 MB in %v", time.Since(start).Round(time.Millisecond))
	require.Equal(t, wire.Bytes(large), answer.Rows[0][0])
	require.Equal(t, "AP90ZXh0", answer.Rows[1][0].Text())
	require.Equal(t, "", answer.Rows[2][0].Text())

	for _, c := range []struct {
		why, operand string
		op           wire.Op
		want         int64
	}{
		{"the same bytes", "AP90ZXh0", wire.OpEq, 1},
		{"no bytes", "", wire.OpEq, 1},
		{"the first twenty of many", base64.StdEncoding.EncodeToString(large[:20]), wire.OpEq, 1},
		{"not base64", "AP90ZXh", wire.OpEq, 0},
		{"base64 in lines", "AP90\nZXh0", wire.OpEq, 0},
		{"bits beyond the bytes", "AP90ZXh0AB==", wire.OpEq, 0},
		{"the text as bytes", "text", wire.OpEq, 0},
		{"other bytes", "AP90ZXh0", wire.OpNeq, 2},
		{"above, as base64", "AP90ZXgz", wire.OpGt, 1},
	} {
		n, err := caller.Count(wire.CountRequest{Table: "t", Where: wire.Where{And: []wire.Filter{
			{Field: "code", Op: c.op, Value: wire.Text(c.operand)},
		}}})
		require.NoError(t, err, c.why)
		require.Equal(t, c.want, n, c.why)
	}
	groups, err := caller.Aggregate(wire.AggregateRequest{Table: "t", Limit: wire.AggregateLimit,
		Measures: []wire.Measure{{Fn: wire.AggMax, Field: "code", As: "most"}}})
	require.NoError(t, err)
	require.Equal(t, "AP90ZXh0", groups[0]["most"].Text())
}
