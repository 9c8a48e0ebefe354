package filesource

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// heap returns the bytes that the program holds right now.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestALargeFile serves a file of 10 MB in constant memory. A file of more rows needs several
// readings to check its key: see TestKeysInParts.
func TestALargeFile(t *testing.T) {
	testrun.Long(t)
	const n = 150_000
	// What may be held beyond what is held at rest: the buffers of one stream
	// in client and server. The file is larger by far.
	const most = 6 << 20
	dir := t.TempDir()
	put(t, dir, map[string]string{"acme/large.table.json": `{"primaryKey":["id"]}`, "acme/large.csv": ""})
	path := filepath.Join(dir, "acme", "large.csv")
	f := testkit.Must(os.Create(path))(t)
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = w.WriteString("id,amount,placed,status,note\n")
	for i := range n {
		status := []string{"open", "paid", "", "shipped"}[i%4]
		_, _ = fmt.Fprintf(w, "%d,%d.%02d,2024-01-%02dT10:%02d:00+02:00,%s,a note of some length %06d\n", i+1, i%1000, i%100,
			1+i%28, i%60, status, i%1000)
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
	require.NoError(t, os.Chtimes(path, rested, rested))
	size := testkit.Must(os.Stat(path))(t).Size()
	require.Greater(t, size, int64(most))
	s, _ := host(t, dir)

	table := discovered(t, s, "acme").Tables[0]
	require.Equal(t, int64(n), *table.RowCount)
	assert.Equal(t, []string{"id"}, table.PrimaryKey, "the key was checked, all of it")
	assert.Equal(t, int64(n), table.Field("id").Stats.DistinctCount)
	assert.Equal(t, int64(3), table.Field("status").Stats.DistinctCount)
	assert.Equal(t, 25.0, *table.Field("status").Stats.NullPercent)

	rest := heap()
	var peak uint64
	rows, lines, ended := 0, 0, false
	r := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+wire.PathQuery, strings.NewReader(body("acme", "",
		`"table":"large","and":[],"sort":[],"fields":["id","amount","placed","status","note"]`))))(t)
	r.Header.Set("Authorization", "Bearer "+connectortest.Token)
	r.Header.Set("Content-Type", terms.MediaJSON)
	res := testkit.Must(s.Client.Do(r))(t)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, http.StatusOK, res.StatusCode)
	for answer := bufio.NewReaderSize(res.Body, 1<<20); ; {
		line, err := answer.ReadSlice('\n')
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if lines++; lines%20 == 0 {
			peak = max(peak, heap())
		}
		rows += bytes.Count(line, []byte(`{"id":`))
		ended = bytes.Equal(line, []byte("{\"end\":1}\n"))
	}
	assert.True(t, ended)
	assert.Equal(t, n, rows)
	require.NotZero(t, peak)
	t.Logf("%d MB of file, %d lines; held at rest %d KiB, at most %d KiB more while streaming", size/1_000_000, lines,
		rest>>10, (max(peak, rest)-rest)>>10)
	assert.Less(t, peak, rest+most)

	// A sort with a limit keeps what it answers and no more.
	top := rowsOf(t, s, "acme", `"table":"large","and":[{"field":"status","op":"eq","value":"paid"}],"sort":[{"field":"amount",`+
		`"dir":"desc"},{"field":"id","dir":"asc"}],"fields":["id","amount"],"limit":2`)
	assert.Equal(t, []string{`{"id":998,"amount":"997.97"}`, `{"id":1998,"amount":"997.97"}`}, top)
	assert.Less(t, heap(), rest+most)
}
