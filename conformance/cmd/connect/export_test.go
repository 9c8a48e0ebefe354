package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const exportToken = "the-token-of-the-tests-of-an-export"

func TestMain(m *testing.M) { testrun.Main(m) }

// things is a table with a key of two fields.
func things(n int) memsource.Table {
	t := memsource.Table{Table: wire.Table{Name: "the/things", PrimaryKey: []string{"room", "place"}, Fields: []wire.Field{
		{Name: "note", Type: wire.TypeString, Nullable: true},
		{Name: "place", Type: wire.TypeNumber}, {Name: "room", Type: wire.TypeString},
	}}}
	for i := range n {
		t.Rows = append(t.Rows, []wire.Value{wire.Text(fmt.Sprintf("\"n\",\n%d", i)), wire.Int(int64(i / 3)), wire.Text(fmt.Sprint("r", i%3))})
	}
	return t
}

// exportTo runs the command.
func exportTo(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), append([]string{"-local", "-export", dir}, args...), func(name string) string {
		if name == check.EnvToken {
			return exportToken
		}
		return ""
	}, &out)
	return out.String(), err
}

// TestExport writes tables as CSV and NDJSON. Null and empty text are told apart.
func TestExport(t *testing.T) {
	table := cells.TableOf(t, "t", `id:number* a,b:string? price:decimal ok:boolean | 0 null decimal:1.50 false
		| 1 "" decimal:1.50 false | 2 "a \"b\"\nc" decimal:1.50 true | 3 " x" decimal:1.50 true`)
	p := newPier(t, wire.Limits{}, table, cells.TableOf(t, "empty", "id:number"))
	server := httptest.NewServer(p)
	defer server.Close()
	url, dir := server.URL, t.TempDir()
	for _, format := range []string{"csv", "ndjson"} {
		testkit.Must(exportTo(t, dir, "-format", format, url))(t)
	}
	read := func(name string) string {
		return string(testkit.Must(os.ReadFile(filepath.Join(dir, name)))(t))
	}
	require.Equal(t, "id,\"a,b\",price,ok\n"+
		"0,,1.50,false\n1,\"\",1.50,false\n2,\"a \"\"b\"\"\nc\",1.50,true\n3,\" x\",1.50,true\n", read("t.csv"))
	require.Equal(t, `{"id":0,"a,b":null,"price":"1.50","ok":false}`, strings.SplitN(read("t.ndjson"), "\n", 2)[0])
	require.Equal(t, "id\n", read("empty.csv"))
	require.Empty(t, read("empty.ndjson"))

	p.queries = nil
	out := testkit.Must(exportTo(t, dir, url))(t)
	require.Empty(t, p.queries, "what is complete is not read again")
	require.Contains(t, out, `"t": complete, 4 rows`)
	_, err := exportTo(t, dir, strings.TrimPrefix(url, "http://"))
	require.NoError(t, err, "an address of this machine is completed as on the page")
	_, err = exportTo(t, dir, "-format", "xml", url)
	require.ErrorContains(t, err, "-format takes csv or ndjson")
}

func TestFileName(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/names.tsv", 3) {
		table, want := testkit.Must(strconv.Unquote(c[1]))(t), testkit.Must(strconv.Unquote(c[2]))(t)
		require.Equal(t, want, fileName(table), c[0])
	}
}

// pier is a connector of which the answers can be cut.
type pier struct {
	handler http.Handler
	wait    time.Duration // before the answer of each query

	left atomic.Int64 // bytes of rows until the connection breaks, and all later ones

	mu      sync.Mutex
	queries []string
	open    map[string]int // queries of each table that are open
	most    int            // tables that were open at once
}

func newPier(t testing.TB, limits wire.Limits, tables ...memsource.Table) *pier {
	t.Helper()
	handler := connectors.New(exportToken, connector.Definition{Slug: "shop", Limits: limits}, connectors.Tables(tables...), connectors.Quiet())
	p := &pier{handler: handler, open: map[string]int{}}
	p.left.Store(math.MaxInt64)
	return p
}

func (p *pier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != wire.PathQuery {
		p.handler.ServeHTTP(w, r)
		return
	}
	body := testkit.Body(r)
	_, table, _ := strings.Cut(string(body), `"table":"`)
	table, _, _ = strings.Cut(table, `"`)
	p.mu.Lock()
	p.queries = append(p.queries, string(body))
	p.open[table]++
	p.most = max(p.most, len(p.open))
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.open[table]--; p.open[table] == 0 {
			delete(p.open, table)
		}
	}()
	time.Sleep(p.wait)
	p.handler.ServeHTTP(&pierWriter{w, p}, r)
}

// pierWriter breaks the connection when the bytes of its connector are used up.
type pierWriter struct {
	http.ResponseWriter
	p *pier
}

func (w *pierWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *pierWriter) Write(b []byte) (int, error) {
	if left := w.p.left.Add(-int64(len(b))); left < 0 {
		_, _ = w.ResponseWriter.Write(b[:max(0, left+int64(len(b)))])
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return w.ResponseWriter.Write(b)
}

// export runs an export of the connector, which notes its progress after every three rows.
func (p *pier) export(t *testing.T, dir, format string) error {
	t.Helper()
	in, stop := memlisten.Client(p)
	defer stop()
	client := testkit.Must(platform.NewClient("https://shop.test", wire.NewBearer(exportToken), &platform.Options{HTTP: in}))(t)
	c, err := platform.Connect(t.Context(), client, wire.Credentials{}, &platform.ConnectionOptions{DiscoverOnly: true})
	require.NoError(t, err)
	e := &export{dir: dir, format: format, url: "https://shop.test", connection: c, every: 3,
		log: &exportLog{out: io.Discard, tables: len(c.Tables)}}
	return e.run(t.Context())
}

// contents returns the files of rows in a folder.
func contents(t *testing.T, dir, format string) map[string]string {
	t.Helper()
	names := testkit.Must(filepath.Glob(filepath.Join(dir, "*."+format)))(t)
	files := map[string]string{}
	for _, name := range names {
		files[filepath.Base(name)] = string(testkit.Must(os.ReadFile(name))(t))
	}
	return files
}

// keyedTables returns tables with a key of two fields, with decimals as keys, with a unique field
// alone, without a key, and without rows.
func keyedTables(t *testing.T) []memsource.Table {
	unique := cells.TableOf(t, "unique", "u:reference!")
	for i := range 8 {
		unique.Rows = append(unique.Rows, []wire.Value{wire.Text(strings.Repeat("=\"'", i) + "é")})
	}
	return []memsource.Table{things(14), cells.TableOf(t, "decimals", `d:decimal* t:string
		| decimal:-4.00 "" | decimal:3.10 "" | decimal:1.20 "" | decimal:-1.30 "" | decimal:-3.40 ""
		| decimal:4.50 "" | decimal:2.60 "" | decimal:0.70 "" | decimal:-2.80 ""`), unique,
		cells.TableOf(t, "keyless", "n:number? | 0 | 1 | 0 | 1 | 0 | 1 | 0"), cells.TableOf(t, "empty", "d:decimal* t:string")}
}

// TestExportCutAnywhere breaks the connection after each byte of the rows of an export, as if
// the process had died on top: what it wrote after its last note, and half of a note, is
// there. Another cut follows, and then the export is as if nothing had happened.
func TestExportCutAnywhere(t *testing.T) {
	t.Parallel()
	p := newPier(t, wire.Limits{PageSizeMax: 5, Concurrency: 2}, keyedTables(t)...)
	whole := t.TempDir()
	for _, format := range []string{"csv", "ndjson"} {
		p.left.Store(math.MaxInt64)
		require.NoError(t, p.export(t, whole, format))
		want := contents(t, whole, format)
		require.Len(t, want, 5)
		total, step := math.MaxInt64-p.left.Load(), int64(101)
		if testrun.InFull() && format == "csv" {
			step = 1
		}
		t.Log(format, total, "bytes of rows")
		began, resumed, cuts := 0, 0, 0
		for cut := int64(0); cut < total; cut += step {
			dir := filepath.Join(t.TempDir(), fmt.Sprint(cut))
			for _, left := range []int64{cut, cut / 3} {
				p.left.Store(left)
				if err := p.export(t, dir, format); err != nil { // what comes first when all is there may differ
					require.ErrorContains(t, err, "Run the same command again to go on", "cut after %d bytes", left)
					cuts++
				}
				dieUntidily(t, dir, format)
			}
			p.left.Store(math.MaxInt64)
			p.queries = nil
			require.NoError(t, p.export(t, dir, format))
			require.Equal(t, want, contents(t, dir, format), "cut after %d bytes", cut)
			if text := strings.Join(p.queries, "\n"); strings.Contains(text, `"op":"gt"`) {
				resumed++
			} else {
				began++
			}
		}
		require.Greater(t, 4*resumed, resumed+began, "many go on behind a key; how many depends on which table is sent first")
		require.Greater(t, cuts, resumed, "most are cut twice")
	}
}

// dieUntidily leaves in a folder what a process leaves that dies after its last note.
func dieUntidily(t *testing.T, dir, format string) {
	t.Helper()
	for name := range contents(t, dir, format) {
		name = filepath.Join(dir, name)
		if note, _ := os.ReadFile(name + progressSuffix); strings.Contains(string(note), `"done":true`) {
			continue
		}
		file := testkit.Must(os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0))(t)
		testkit.Must(file.WriteString("half of a li"))(t)
		require.NoError(t, file.Close())
		require.NoError(t, os.WriteFile(name+progressSuffix+".new", []byte(`{"url":"htt`), 0o600))
	}
}

// TestExportBeginsAnew exports again where what is there is not the beginning of it.
func TestExportBeginsAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, newPier(t, wire.Limits{}, cells.TableOf(t, "t", `id:string* | "1" | "2"`)).export(t, dir, "ndjson"))
	p := newPier(t, wire.Limits{}, cells.TableOf(t, "t", `id:decimal* | "1" | "2"`))
	require.NoError(t, p.export(t, dir, "ndjson"))
	require.Len(t, p.queries, 1, "the field has another type now")

	name := filepath.Join(dir, "t.ndjson")
	require.NoError(t, os.WriteFile(name, []byte("{\"id\":"), 0o600))
	require.NoError(t, p.export(t, dir, "ndjson"))
	require.Equal(t, map[string]string{"t.ndjson": "{\"id\":\"1\"}\n{\"id\":\"2\"}\n"}, contents(t, dir, "ndjson"),
		"the file was complete, and is not")

	note := testkit.Must(os.ReadFile(name + progressSuffix))(t)
	require.JSONEq(t, `{"url":"https://shop.test","columns":["id decimal"],"key":["id"],"rows":2,"bytes":22,"done":true}`, string(note))
	cut := strings.Replace(string(note), `"done":true`, `"last":["2"],"done":false`, 1)
	require.NoError(t, os.WriteFile(name+progressSuffix, []byte(cut), 0o600))
	require.NoError(t, os.Truncate(name, 10))
	require.NoError(t, p.export(t, dir, "ndjson"))
	require.Equal(t, map[string]string{"t.ndjson": "{\"id\":\"1\"}\n{\"id\":\"2\"}\n"}, contents(t, dir, "ndjson"), "it has lost rows")
	require.NoError(t, os.WriteFile(name+progressSuffix, []byte(strings.Replace(string(note), "shop.test", "desk.test", 1)), 0o600))
	err := p.export(t, dir, "ndjson")
	require.ErrorContains(t, err, "is of the connector at https://desk.test; export into another folder")
}

// TestExportFaults goes on with other tables when one is refused, and forgets how far a table
// has come whose rows contradict its order.
func TestExportFaults(t *testing.T) {
	t.Parallel()
	p := newPier(t, wire.Limits{PageSizeMax: 5, Concurrency: 1}, things(14), keyedTables(t)[1])
	honest := p.handler
	p.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := testkit.Body(r)
		if key := `"value":"r0"},{"field":"place","op":"gt","value":`; r.URL.Path == wire.PathQuery {
			r.Body = io.NopCloser(strings.NewReader(strings.Replace(string(body), key+"4", key+"2", 1)))
		}
		honest.ServeHTTP(w, r)
	})
	dir := t.TempDir()
	err := p.export(t, dir, "csv")
	require.ErrorContains(t, err, `table "the/things": the answer of /query is refused`)
	require.Len(t, strings.Split(contents(t, dir, "csv")["decimals.csv"], "\n"), 11)
	require.NoFileExists(t, filepath.Join(dir, "the%2Fthings.csv"+progressSuffix))
	p.handler, p.queries = honest, nil
	require.NoError(t, p.export(t, dir, "csv"))
	require.Len(t, p.queries, 3, "one table, from its first page")
	require.NotContains(t, p.queries[0], `"op":"gt"`)
}

// TestExportTogether exports eight tables of a source that takes 50 ms for each page, in
// virtual time: four at once where the connector takes as many requests, in more than 2.5 times
// less time than one page after the other takes.
func TestExportTogether(t *testing.T) {
	t.Parallel()
	var tables []memsource.Table
	for i := range 8 {
		one := things(30)
		one.Name = fmt.Sprint("t", i)
		tables = append(tables, one)
	}
	took := map[int]time.Duration{}
	for _, concurrency := range []int{1, 4, 16} {
		synctest.Test(t, func(t *testing.T) {
			p := newPier(t, wire.Limits{PageSizeMax: 10, Concurrency: concurrency}, tables...)
			p.wait = 50 * time.Millisecond
			begun := time.Now()
			require.NoError(t, p.export(t, t.TempDir(), "csv"))
			took[concurrency] = time.Since(begun)
			require.Equal(t, min(concurrency, tablesAtOnce), p.most, "tables at once")
		})
	}
	t.Log(took)
	require.Equal(t, 8*4*50*time.Millisecond, took[1], "three pages and an empty one of each")
	require.Less(t, took[4]*5/2, took[1])
}

// TestExportLog prints whole lines, and few of them.
func TestExportLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := &exportLog{out: &out, tables: 3}
		count := int64(2_000_000)
		l.skip(&wire.Table{Name: "there"}, &progress{Rows: 1})
		orders, items := l.begin(&wire.Table{Name: "orders", RowCount: &count}, 500_000), l.begin(&wire.Table{Name: "items"}, 0)
		for i := range int64(10) {
			time.Sleep(time.Second / 2)
			l.note(orders, &progress{Rows: 550_000 + i*50_000})
			l.note(items, &progress{Rows: 1 + i})
		}
		l.note(orders, &progress{Rows: 3_000_000, Bytes: 123_456_789, Done: true})
		l.end(orders)
		l.end(items) // after an error
		require.Equal(t, `"there": complete, 1 row
1 of 3 tables; reading "orders" 700,000 of 2,000,000 rows, "items" 3 rows
1 of 3 tables; reading "orders" 900,000 of 2,000,000 rows, "items" 7 rows
"orders": 3,000,000 rows, 123,456,789 bytes, 500,000 rows/s
`, out.String())
		require.Empty(t, l.now)
	})
}

// TestExportUnreached ends when nobody answers any more, instead of trying each table.
func TestExportUnreached(t *testing.T) {
	t.Parallel()
	p := newPier(t, wire.Limits{Concurrency: 1}, things(3), keyedTables(t)[1], keyedTables(t)[2])
	p.handler = testkit.OnPath(p.handler, wire.PathQuery, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	err := p.export(t, t.TempDir(), "csv")
	require.ErrorContains(t, err, "the/things")
	require.NotContains(t, err.Error(), "decimals")
	require.Len(t, p.queries, 1)
	var unreached *platform.ConnectionError
	require.ErrorAs(t, err, &unreached)
	require.NotErrorIs(t, err, context.Canceled)
}
