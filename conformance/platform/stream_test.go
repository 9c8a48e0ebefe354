package platform_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
	answer := testkit.Must(c.Query(t.Context(), wire.Credentials{}, &wire.QueryRequest{Table: "t"}, columns))(t)
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
	const served, end = `{"served":{"filters":true,"sort":true,"window":true}}` + "\n", `{"end":1}` + "\n"
	row := func(cells string) string {
		return served + `{"rows":[{"id":7,"amount":null,` + cells + `}]}` + "\n" + end
	}
	for _, c := range []struct{ name, body, place, rule, why string }{
		{"as it should be", row(`"at":null,"tags":null,"note":null,"on":null`), "", "", "the usual stream"},
		{"members in another order", row(`"on":true,"note":"a","tags":null,"at":null`), "", "", "members have no order"},
		{"a further member", row(`"at":null,"tags":null,"note":null,"on":null,"more":1`), "", "", "advised against, not forbidden"},
		{"no served line", row(`"at":null,"tags":null,"note":null,"on":null`)[len(served):], "", "", "nothing is served then"},
		{"no rows", served + end, "", "", "a table may be empty"},
		{"a boolean as text", row(`"at":null,"tags":null,"note":null,"on":"false"`), "", "", "advised against, not forbidden"},
		{"a number in a text column", row(`"at":null,"tags":null,"note":3,"on":null`), "", "", "sources have columns of mixed kinds"},

		{"a member in another case", row(`"at":null,"tags":null,"note":null,"ON":null`), "line 2, rows[0].on", "query-10", "names are exact"},
		{"a missing member", row(`"at":null,"tags":null,"note":null`), "line 2, rows[0].on", "query-10", "each row has a value for each column"},
		{"a boolean as number", row(`"at":null,"tags":null,"note":null,"on":1`), "line 2, rows[0].on", "cell-7", "a type"},
		{"a datetime of another zone", row(`"at":"2024-01-01T00:00:00+02:00","tags":null,"note":null,"on":null`),
			"line 2, rows[0].at", "cell-2", "datetimes are in UTC"},
		{"a list that is no text", row(`"at":null,"tags":"a,b","note":null,"on":null`), "line 2, rows[0].tags", "cell-3", "JSON text"},
		{"an object in an array column", row(`"at":null,"tags":"{}","note":null,"on":null`),
			"line 2, rows[0].tags", "cell-3", "JSON text of an array"},
		{"a nested cell", row(`"at":null,"tags":["a"],"note":null,"on":null`), "line 2, rows[0]", "cell-5", "cells are scalars"},
		{"the third row of the second line", served + `{"rows":[` +
			strings.Repeat(`{"id":1,"amount":"1","at":null,"tags":null,"note":null,"on":null},`, 2) +
			`{"id":1,"amount":1.5,"at":null,"tags":null,"note":null,"on":null}]}` + "\n" + end,
			"line 2, rows[2].amount", "cell-1", "decimals are digit-exact"},
		{"an integer beyond 2^53", served +
			`{"rows":[{"id":9007199254740993,"amount":null,"at":null,"tags":null,"note":null,"on":null}]}` + "\n" + end,
			"line 2, rows[0].id", "cell-1", "integers beyond 2^53 are strings"},
		{"an empty batch", served + `{"rows":[]}` + "\n" + end, "line 2, rows", "stream-6", "1 to 5,000 rows"},
		{"served twice", served + served + end, "line 2", "stream-1", "served is written once"},
		{"served after rows", strings.TrimSuffix(row(`"at":null,"tags":null,"note":null,"on":null`)[len(served):], end) + served + end,
			"line 2", "stream-1", "served comes before the rows"},
		{"5,001 rows", served + `{"rows":[` + strings.Repeat(`{"id":null,"amount":null,"at":null,"tags":null,"note":null,"on":null},`, 5000) +
			`{"id":null}]}` + "\n" + end, "line 2, rows", "stream-6", "1 to 5,000 rows"},
		{"served in another case", `{"Served":{"filters":true,"sort":true,"window":true}}` + "\n" + end,
			"line 1", "stream-10", "names are exact"},
		{"a claim that is a text", `{"served":{"filters":"true","sort":true,"window":true}}` + "\n" + end,
			"line 1, served.filters", "stream-10", "booleans"},
		{"a further line", served + end + `{"ping":1}` + "\n", "line 3", "stream-1", "nothing follows the end"},
		{"an error line, then an end", served + `{"error":{"code":"timeout","message":"late"}}` + "\n" + end,
			"line 3", "stream-1", "no end follows"},
		{"an error line of an unknown code", served + `{"error":{"code":"oops","message":"late"}}` + "\n",
			"line 2, error.code", "error-1", "the codes are known"},
		{"an internal error line with its cause", served + `{"error":{"code":"internal","message":"ORA-1017"}}` + "\n",
			"line 2, error.message", "error-8", "the text is fixed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readAll(t, strings.NewReader(c.body))
			requireFault(t, err, c.place, c.rule, c.why)
		})
	}
}

// TestServed reads claims as the platform believes them.
func TestServed(t *testing.T) {
	filters := wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpNotNull}}}
	sort := []wire.SortKey{{Field: "id", Dir: wire.Asc}}
	for _, c := range []struct {
		name, line string
		req        wire.QueryRequest
		want       wire.Served
		why        string
	}{
		{"all", `{"served":{"filters":true,"sort":true,"window":true}}`, wire.QueryRequest{Where: filters, Sort: sort, Limit: 1},
			wire.Served{Filters: true, Sort: true, Window: true}, "as it is said"},
		{"none", `{"served":{"filters":false,"sort":false,"window":false}}`, wire.QueryRequest{Where: filters, Sort: sort, Limit: 1},
			wire.Served{}, "as it is said"},
		{"no line", `{"ping":1}`, wire.QueryRequest{Where: filters, Sort: sort, Limit: 1}, wire.Served{}, "nothing is served without"},
		{"a window without filters", `{"served":{"filters":false,"sort":true,"window":true}}`,
			wire.QueryRequest{Where: filters, Sort: sort, Limit: 1}, wire.Served{Sort: true}, "a window is believed beside both only"},
		{"a window without a sort that was asked for", `{"served":{"filters":true,"sort":false,"window":true}}`,
			wire.QueryRequest{Where: filters, Sort: sort, Limit: 1}, wire.Served{Filters: true}, "a window is believed beside both only"},
		{"a window alone, of a request with nothing else", `{"served":{"filters":false,"sort":false,"window":true}}`, wire.QueryRequest{Limit: 1},
			wire.Served{Filters: true, Sort: true, Window: true}, "what is not asked for is served"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := c.line + "\n" + `{"rows":[{"id":1},{"id":2}]}` + "\n" + `{"end":1}` + "\n"
			client := saysNDJSON(t, body)
			rows, err := client.Query(t.Context(), wire.Credentials{}, &c.req, columns[:1])
			require.NoError(t, err)
			require.Equal(t, c.want, rows.Served(), c.why)
			n := 0
			for row, failed := range rows.All() {
				if err = failed; err == nil {
					n++
					require.Equal(t, int64(n), row[0].Int64(), "Served loses no row")
				}
			}
			if !c.want.Window {
				require.NoError(t, err)
				require.Equal(t, 2, n)
				return
			}
			fault := faultOf(t, err, "two rows are beyond a window of one")
			require.Equal(t, "stream-2b", fault.Rule)
			require.Equal(t, "line 2, rows[1]", fault.Place)
		})
	}
}

// TestSQL reads the rows of a statement, whose members the first row decides.
func TestSQL(t *testing.T) {
	ask := func(body string) *platform.Rows {
		client := saysNDJSON(t, body)
		return testkit.Must(client.SQL(t.Context(), wire.Credentials{}, &wire.SQLRequest{SQL: "SELECT 1"}))(t)
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
	_, err := refusing.SQL(t.Context(), wire.Credentials{}, &wire.SQLRequest{SQL: "SELECT 1"})
	require.ErrorIs(t, err, &wire.Error{Code: wire.CodeUnsupported})
}

// TestLeftEarly closes an answer whose loop was left, or that was never read.
func TestLeftEarly(t *testing.T) {
	closed := 0
	client := saysNDJSON(t, stream)
	ask := func() *platform.Rows {
		return testkit.Must(client.Query(t.Context(), wire.Credentials{}, &wire.QueryRequest{Table: "t"}, columns))(t)
	}
	rows := ask()
	for range rows.All() {
		break
	}
	for row, err := range rows.All() {
		require.Nil(t, row)
		require.ErrorContains(t, err, "closed")
		closed++
	}
	require.Equal(t, 1, closed, "what was closed is not complete")
	rows = ask()
	require.False(t, rows.Served().Window)
	for row := range rows.All() {
		require.Equal(t, "1", row[0].String())
		break
	}
	for _, err := range rows.All() {
		require.ErrorContains(t, err, "closed", "the first row was read ahead")
		closed++
	}
	require.Equal(t, 2, closed)
	rows = ask()
	require.NoError(t, rows.Close())
	require.NoError(t, rows.Close())
	for _, err := range rows.All() {
		require.ErrorContains(t, err, "closed")
	}
	rows = ask()
	counted(t, rows.All())
	for range rows.All() {
		t.Fatal("a complete answer has no more rows")
	}
	require.NoError(t, rows.Close())
}
