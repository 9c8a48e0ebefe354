package enginetest

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLBlob reads bytes as they are: as base64, the server takes the square of
// their length.
func TestMySQLBlob(t *testing.T) {
	db := newMySQL(t)
	db.execute(t, "CREATE TABLE t (id INT PRIMARY KEY, body LONGBLOB)")
	large := bytes.Repeat([]byte{0, 0xff, 0x10, 0xab, 'A'}, 1<<20)
	for id, body := range [][]byte{large, []byte("\x00\xfftext"), {}} {
		testkit.Must(db.Exec("INSERT INTO t VALUES (?, ?)", id, body))(t)
	}
	caller := db.caller(t, nil).Unverified()
	start := time.Now()
	answer := testkit.Must(caller.Query(wire.QueryRequest{
		Table: "t", Fields: []string{"body"}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}},
		Envelope: wire.Envelope{TimeoutMS: 120_000}, // for the race detector on a busy machine
	}))(t)
	t.Logf("5 MB in %v", time.Since(start).Round(time.Millisecond))
	require.Equal(t, wire.Bytes(large), answer.Rows[0][0])
	require.Equal(t, "AP90ZXh0", answer.Rows[1][0].Text())
	require.Equal(t, "", answer.Rows[2][0].Text())
}
