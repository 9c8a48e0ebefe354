//go:build unix

package duckdb_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// speedFiles are what the sections of testdata/speed_files.txtar answer, with so many events.
func speedFiles(b *testing.B, events int) map[string]string {
	all := map[string]string{}
	for _, f := range situation.Open(b, "testdata/speed_files.txtar").Sections {
		all[strings.TrimSuffix(f.Name, ".sql")] = strings.ReplaceAll(f.Text, "ROWS", strconv.Itoa(events))
	}
	return all
}

// speedFolder returns the folder of speedFiles. SQLSOURCE_LAKE names one that is kept
// and used again.
func speedFolder(b *testing.B) (dir string, rows int) {
	rows, err := strconv.Atoi(os.Getenv("SQLSOURCE_ROWS"))
	if err != nil {
		rows = 10_000_000
	}
	if dir = os.Getenv("SQLSOURCE_LAKE"); dir == "" {
		dir = b.TempDir()
	}
	db := open(b, "")
	for name, statement := range speedFiles(b, rows) {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err != nil {
			testkit.Must(db.Exec("COPY (" + statement + ") TO " + quoted(file)))(b)
		}
	}
	return dir, rows
}

// BenchmarkSpeed measures requests to a folder of Parquet files against the same asked
// of the driver on a connection that is open: x is how many times as long the whole
// request takes. SQLSOURCE_ROWS makes the table smaller than 10,000,000 rows.
//
//	go test -run '^$' -bench Speed -benchtime 1x -timeout 30m .
func BenchmarkSpeed(b *testing.B) {
	dir, rows := speedFolder(b)
	db := open(b, "")
	for name := range speedFiles(b, rows) {
		testkit.Must(db.Exec("CREATE VIEW " + strings.TrimSuffix(name, ".parquet") + " AS FROM " + quoted(filepath.Join(dir, name))))(b)
	}
	source := testkit.Must(duckdb.Folder(dir, nil))(b)
	situation.Benchmark(b, "testdata/speed.txtar", source, nil, strings.NewReplacer("{half}", strconv.Itoa(rows/2)), db)
}

// BenchmarkStream streams all rows of events to a reader that discards them, and
// measures the time to the first row and the most memory that the process has in use.
// Keep the files by SQLSOURCE_LAKE and run it twice: making them takes memory, too.
func BenchmarkStream(b *testing.B) {
	dir, rows := speedFolder(b)
	source := testkit.Must(duckdb.Folder(dir, nil))(b)
	h := connectors.New(connectortest.Token, connector.Definition{Slug: "bench"}, source, connectors.Quiet())
	body, err := wire.EncodeRequest(&wire.QueryRequest{Table: "events", Sort: []wire.SortKey{}, Envelope: wire.Envelope{TimeoutMS: 600_000},
		Fields: []string{"id", "day", "moment", "amount", "label", "kind", "rank", "score"}})
	require.NoError(b, err)
	for b.Loop() {
		used := situation.ProcessorTime(b)
		_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak begins anew
		r := httptest.NewRequest(http.MethodPost, wire.PathQuery, bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+connectortest.Token)
		w := &firstRow{ResponseRecorder: httptest.NewRecorder(), began: time.Now()}
		h.ServeHTTP(w, r)
		require.Equal(b, "{\"end\":1}\n", string(w.last))
		require.Greater(b, w.bytes, rows*100)
		b.ReportMetric(time.Since(w.began).Seconds(), "s")
		b.ReportMetric((situation.ProcessorTime(b) - used).Seconds(), "cpu-s")
		b.ReportMetric(float64(w.first)/1e6, "first-ms")
		b.ReportMetric(peakMemory(), "peak-MB")
	}
}

// firstRow is a reader who takes everything at once, and notes when the first row came.
type firstRow struct {
	*httptest.ResponseRecorder
	began time.Time
	first time.Duration
	bytes int
	last  []byte
}

func (w *firstRow) SetWriteDeadline(time.Time) error { return nil }

func (w *firstRow) Write(p []byte) (int, error) {
	if w.first == 0 && bytes.Contains(p, []byte("label")) {
		w.first = time.Since(w.began)
	}
	w.bytes += len(p)
	w.last = append(w.last[:0], p[:min(len(p), 100)]...)
	return len(p), nil
}

// peakMemory returns the most memory that the process had in use, in MB; 0 where the
// system does not tell.
func peakMemory() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return 0
	}
	kB, _ := strconv.ParseFloat(string(m[1]), 64)
	return kB / 1024
}
