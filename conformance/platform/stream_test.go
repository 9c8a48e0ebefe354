package platform_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// canned answers every request with what body returns.
func canned(media string, body func() io.Reader) testkit.Transport {
	return func(*http.Request) (*http.Response, error) {
		res := testkit.Reply(http.StatusOK, "", "Content-Type: "+media)
		res.Body = io.NopCloser(body())
		return res, nil
	}
}

// columns are those of the streams below.
var columns = []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "amount", Type: wire.TypeDecimal},
	{Name: "at", Type: wire.TypeDatetime}, {Name: "tags", Type: wire.TypeArray}, {Name: "note", Type: wire.TypeString},
	{Name: "on", Type: wire.TypeBoolean}}

const stream = `{"served":{"filters":true,"sort":true,"window":false}}
{"rows":[` + `{"id":1,"amount":"1.50","at":"2024-02-29T22:30:00Z","tags":"[\"a\"]","note":"Zoë","on":true},` +
	`{"id":2,"amount":null,"at":null,"tags":"[]","note":"","on":false}]}
{"ping":1}
{"rows":[{"id":3,"amount":"-7","at":"2024-01-01T00:00:00.125Z","tags":null,"note":"x","on":null}]}
{"end":1}
`

// readAll reads the rows of a body as a stream.
func readAll(t testing.TB, body io.Reader) (rows []string, err error) {
	t.Helper()
	c := clientOver(t, canned(terms.MediaNDJSON, func() io.Reader { return body }))
	answer := testkit.Must(c.Query(t.Context(), nobody, query("t"), columns))(t)
	for row, err := range answer.All() {
		if err != nil {
			require.Nil(t, row)
			return rows, err
		}
		require.Len(t, row, len(columns))
		var text strings.Builder
		for _, v := range row {
			text.WriteString(v.String() + "|")
		}
		rows = append(rows, text.String())
	}
	return rows, nil
}

// TestStreamCut cuts a stream after each byte, by a clean close and by a broken
// connection. It is never complete before its end line is. An error line ends it by the connector's own error.
func TestStreamCut(t *testing.T) {
	whole := testkit.Must(readAll(t, strings.NewReader(stream)))(t)
	require.Len(t, whole, 3)
	refused := strings.Replace(stream, `{"end":1}`, `{"error":{"code":"timeout","message":"no row for 30 s"}}`, 1)
	rows, err := readAll(t, strings.NewReader(refused))
	require.Equal(t, whole, rows, "the rows before the connector's own error")
	require.Equal(t, &wire.Error{Code: wire.CodeTimeout, Message: "no row for 30 s"}, err)
	broken := errors.New("connection reset")
	for n := range len(stream) {
		for _, breaks := range []bool{false, true} {
			if n == len(stream)-1 && !breaks {
				continue // the last line lacks its newline, and is whole
			}
			body := io.Reader(strings.NewReader(stream[:n]))
			if breaks {
				body = io.MultiReader(body, iotest.ErrReader(broken))
			}
			rows, err := readAll(t, body)
			fault := faultOf(t, err, "cut after %d bytes", n)
			require.Equal(t, "stream-13", fault.Rule, "%v", fault)
			require.NotContains(t, fault.Problem, "reading failed")
			require.Regexp(t, `^line \d`, fault.Place)
			if breaks {
				require.ErrorIs(t, err, broken)
			} else {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			}
			require.Subset(t, whole, rows, "rows before the cut are right")
		}
	}
}

// TestStreamFaults reads streams that break one rule each, and some that break none.
func TestStreamFaults(t *testing.T) {
	const rest = `"at":null,"tags":null,"note":null,"on":null}`
	whole := strings.NewReplacer(" ", "\n", "<served>", `{"served":{"filters":true,"sort":true,"window":true}}`, "<end>", `{"end":1}`,
		"<row>", `{"rows":[{"id":7,"amount":null,`, "<rest>", rest, "<5000>", strings.Repeat(`{"id":null,"amount":null,`+rest+",", 5000))
	for _, c := range testkit.Table(t, "testdata/streams.tsv", 5) {
		name, body, place, rule, why := c[0], c[1], c[2], c[3], c[4]
		t.Run(name, func(t *testing.T) {
			_, err := readAll(t, strings.NewReader(whole.Replace(body)+"\n"))
			requireFault(t, err, place, rule, why)
		})
	}
}

// TestServed reads claims as the platform believes them.
func TestServed(t *testing.T) {
	for _, c := range []struct{ name, line, query, want string }{
		{"all, as it is said", `{"served":{"filters":true,"sort":true,"window":true}}`, "id.notnull sort=id limit=1", "{true true true}"},
		{"none, as it is said", `{"served":{"filters":false,"sort":false,"window":false}}`, "id.notnull sort=id limit=1",
			"{false false false}"},
		{"nothing is served without a line", `{"ping":1}`, "id.notnull sort=id limit=1", "{false false false}"},
		{"a window is believed beside filters only", `{"served":{"filters":false,"sort":true,"window":true}}`,
			"id.notnull sort=id limit=1", "{false true false}"},
		{"a window is believed beside a sort that was asked for only", `{"served":{"filters":true,"sort":false,"window":true}}`,
			"id.notnull sort=id limit=1", "{true false false}"},
		{"what is not asked for is served", `{"served":{"filters":false,"sort":false,"window":true}}`, "limit=1", "{true true true}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := saysNDJSON(t, c.line+"\n"+`{"rows":[{"id":1},{"id":2}]}`+"\n"+`{"end":1}`+"\n")
			rows, err := client.Query(t.Context(), nobody, query("t "+c.query), columns[:1])
			require.NoError(t, err)
			require.Equal(t, c.want, fmt.Sprint(rows.Served()))
			n := 0
			for row, failed := range rows.All() {
				if err = failed; err == nil {
					n++
					require.Equal(t, int64(n), row[0].Int64(), "Served loses no row")
				}
			}
			if c.want != "{true true true}" {
				require.NoError(t, err)
				require.Equal(t, 2, n)
				return
			}
			requireFault(t, err, "line 2, rows[1]", "stream-2b", "two rows are beyond a window of one")
		})
	}
}

// TestSQL reads the rows of a statement, whose members the first row decides.
func TestSQL(t *testing.T) {
	ask := func(body string) *platform.Rows {
		client := saysNDJSON(t, body)
		return testkit.Must(client.SQL(t.Context(), nobody, &wire.SQLRequest{SQL: "SELECT 1"}))(t)
	}
	rows := ask(`{"rows":[{"a":1,"b":"x"},{"b":"y","a":2}]}` + "\n" + `{"end":1}` + "\n")
	require.Equal(t, []wire.Column{{Name: "a"}, {Name: "b"}}, rows.Columns())
	require.Equal(t, wire.Served{Filters: true, Sort: true, Window: true}, rows.Served())
	var got []string
	for row, err := range rows.All() {
		require.NoError(t, err)
		got = append(got, row[0].String()+row[1].String())
	}
	require.Equal(t, []string{"1x", "2y"}, got)
	for _, second := range []string{`{"a":1}`, `{"a":1,"c":2}`, `{"a":1,"b":2,"c":3}`} {
		var last error
		for _, err := range ask(`{"rows":[{"a":1,"b":"x"},` + second + `]}` + "\n" + `{"end":1}` + "\n").All() {
			last = err
		}
		require.ErrorAs(t, last, new(*platform.AnswerError), second)
	}
	require.Empty(t, ask(`{"end":1}`+"\n").Columns())
	refusing := clientOver(t, testkit.Always(422, `{"error":{"code":"unsupported","message":"no"}}`))
	_, err := refusing.SQL(t.Context(), nobody, &wire.SQLRequest{SQL: "SELECT 1"})
	require.ErrorIs(t, err, &wire.Error{Code: wire.CodeUnsupported})
}

// TestLeftEarly closes an answer whose loop was left, or that was never read.
func TestLeftEarly(t *testing.T) {
	client := saysNDJSON(t, stream)
	ask := func() *platform.Rows {
		return testkit.Must(client.Query(t.Context(), nobody, query("t"), columns))(t)
	}
	left := func(rows *platform.Rows, why string) {
		t.Helper()
		n := 0
		for row, err := range rows.All() {
			require.Nil(t, row)
			require.ErrorContains(t, err, "closed", why)
			n++
		}
		require.Equal(t, 1, n, why)
	}
	for _, ahead := range []bool{false, true} {
		rows := ask()
		require.False(t, ahead && rows.Served().Window, "the first row is read ahead")
		for row := range rows.All() {
			require.Equal(t, "1", row[0].String())
			break
		}
		left(rows, "what was closed is not complete")
	}
	rows := ask()
	require.NoError(t, rows.Close())
	require.NoError(t, rows.Close())
	left(rows, "it was never read")
	rows = ask()
	counted(t, rows.All())
	for range rows.All() {
		t.Fatal("a complete answer has no more rows")
	}
	require.NoError(t, rows.Close())
}

// benchColumns are eight columns of six types.
var benchColumns = []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "customer", Type: wire.TypeReference},
	{Name: "status", Type: wire.TypeString}, {Name: "amount", Type: wire.TypeDecimal}, {Name: "placed", Type: wire.TypeDatetime},
	{Name: "paid", Type: wire.TypeBoolean}, {Name: "note", Type: wire.TypeString}, {Name: "weight", Type: wire.TypeNumber}}

// TestMemory reads many rows. No row allocates, and the memory that is held does not grow
// with their number. It is compared with what was held before: other tests leave data.
// What the rest of the process allocates meanwhile may disturb a reading, but not three
// of them.
func TestMemory(t *testing.T) {
	var list []string
	for i := range 2000 {
		list = append(list, fmt.Sprintf(`{"id":%d,"customer":"C-%06d","status":"shipped","amount":"%d.50","placed":"2024-05-17T10:%02d:00Z",`+
			`"paid":%t,"note":null,"weight":%d.25}`, i, i*7, i, i%60, i%2 == 0, i%100))
	}
	line := `{"rows":[` + strings.Join(list, ",") + "]}\n"
	lines := 20
	if testrun.InFull() {
		lines = 500 // a million rows
	}
	c := clientOver(t, canned(terms.MediaNDJSON, func() io.Reader {
		served := strings.NewReader(`{"served":{"filters":true,"sort":true,"window":true}}` + "\n")
		return io.MultiReader(served, repeated(line, lines), strings.NewReader(`{"end":1}`+"\n"))
	}))
	read := func() (most int64, allocations uint64) {
		rows := testkit.Must(c.Query(t.Context(), nobody, query("orders"), benchColumns))(t)
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		n := 0
		for _, err := range rows.All() {
			require.NoError(t, err)
			if n++; n%(2000*lines/10) == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, int64(now.HeapAlloc)-int64(before.HeapAlloc))
			}
		}
		require.Equal(t, 2000*lines, n)
		allocations = now.Mallocs - before.Mallocs
		t.Logf("%.1f MiB more at most, %d allocations for %d rows", float64(most)/(1<<20), allocations, n)
		return most, allocations
	}
	most, allocations := read()
	for range 2 {
		again, more := read()
		most, allocations = min(most, again), min(allocations, more)
	}
	if !testrun.Race {
		require.Less(t, most, int64(2<<20))
		require.Less(t, allocations, uint64(2000*lines/100))
	}
}
