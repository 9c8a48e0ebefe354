package ndjson_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/verdicts"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	servedNone = `{"served":{"filters":false,"sort":false,"window":false}}` + "\n"
	servedAll  = `{"served":{"filters":true,"sort":true,"window":true}}` + "\n"
	ping       = `{"ping":1}` + "\n"
	end        = `{"end":1}` + "\n"
	failure    = `{"error":{"code":"timeout","message":"too slow"}}` + "\n"
	oneRow     = `{"rows":[{"a":1}]}` + "\n"
)

// transcript spells what a stream says: its served line, its rows as
// {name=kind:text ...}, its error line.
func transcript(r *ndjson.Reader) (said []string, err error) {
	for row, e := range r.Rows() {
		var failure *wire.Error
		switch {
		case errors.As(e, &failure):
			said = append(said, "error "+failure.Error())
		case e != nil:
			err = e
		default:
			said = append(said, spell(row))
		}
	}
	if s, present := r.Served(); present {
		said = slices.Insert(said, 0, fmt.Sprintf("served %v %v %v", s.Filters, s.Sort, s.Window))
	}
	return said, err
}

func spell(row ndjson.Row) string {
	var members []string
	for i, name := range row.Names() {
		v := row.Values()[i]
		members = append(members, name+"="+map[wire.Kind]string{
			wire.KindNull: "", wire.KindBool: "bool:", wire.KindInt: "int:", wire.KindFloat: "float:", wire.KindText: "text:",
		}[v.Kind()]+v.String())
	}
	return "{" + strings.Join(members, " ") + "}"
}

// expand returns the stream that a cell of a file in testdata describes.
func expand(cell string) string {
	parts := map[string]string{
		"served": servedNone, "all": servedAll, "ping": ping, "end": end, "failure": failure, "row": oneRow,
		"n": "\n", "r": "\r", "t": "\t", "nul": "\x00", "ff": "\xff", "bom": "\ufeff",
	}
	return os.Expand(cell, func(name string) string { return parts[name] })
}

func TestReaderAccepts(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/streams.tsv", 3) {
		t.Run(c[0], func(t *testing.T) {
			for name, reader := range deliveries(expand(c[1])) {
				said := testkit.Must(transcript(ndjson.NewReader(reader)))(t, name)
				assert.Equal(t, expand(c[2]), strings.Join(said, " | "), name)
			}
		})
	}
}

// deliveries are the ways in which a stream arrives.
func deliveries(stream string) map[string]io.Reader {
	return map[string]io.Reader{
		"at once":                strings.NewReader(stream),
		"byte by byte":           iotest.OneByteReader(strings.NewReader(stream)),
		"in halves":              iotest.HalfReader(strings.NewReader(stream)),
		"the end with the data":  iotest.DataErrReader(strings.NewReader(stream)),
		"with reads of nothing":  &hesitant{r: strings.NewReader(stream)},
		"the last byte by bytes": iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(stream))),
	}
}

// hesitant answers every other read with nothing, which io.Reader allows.
type hesitant struct {
	r    io.Reader
	some bool
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.some = !h.some; h.some {
		return 0, nil
	}
	return h.r.Read(p[:min(len(p), 5)])
}

// TestReaderRefuses names the line, the place and the fault. What else is no line of a
// stream is in TestReaderAgreesWithTheSchemas, and what is no JSON in package scan.
func TestReaderRefuses(t *testing.T) {
	manyRows := func(n int) string {
		return `{"rows":[` + strings.TrimSuffix(strings.Repeat(`{},`, n), ",") + "]}\n"
	}
	manyMembers := func(n int, last string) string {
		var b strings.Builder
		b.WriteString(`{"rows":[{`)
		for i := range n {
			fmt.Fprintf(&b, `"m%d":%d,`, i, i)
		}
		return b.String() + last + "}]}\n"
	}
	const again = " is a duplicate; send each member once"
	type row = []string // its cells as in the file
	for _, c := range append(testkit.Table(t, "testdata/faults.tsv", 5), []row{
		{"stream-6: at most 5,000 rows", manyRows(5001) + end, "1", "rows", "more than 5000 rows"},
		{"no two members of one name among 16", manyMembers(16, `"m15":0`) + end, "1", "rows[0]", "member 17" + again},
		{"no two members of one name among 17", manyMembers(17, `"m0":0`) + end, "1", "rows[0]", "member 18" + again},
		{"no two members of one name among many", manyMembers(1000, `"m999":0`) + end, "1", "rows[0]", "member 1001" + again},
		{"no two members of one name among many, in a row that goes on from a known one",
			strings.Replace(manyMembers(1000, `"x":0`), "}]}",
				"},"+strings.TrimPrefix(strings.TrimSuffix(manyMembers(1000, `"y":0,"m500":1`), "\n"), `{"rows":[`), 1) + "\n" +
				end, "1", "rows[1]", "member 1002" + again},
	}...) {
		t.Run(c[0], func(t *testing.T) {
			for name, reader := range deliveries(expand(c[1])) {
				r := ndjson.NewReader(reader)
				_, err := transcript(r)
				var fault *ndjson.LineError
				require.ErrorAs(t, err, &fault, name)
				assert.Equal(t, c[2], strconv.Itoa(fault.Line), name)
				assert.Equal(t, c[3], fault.Path, name)
				assert.Equal(t, c[4], fault.Problem, name)
				assert.NoError(t, fault.Err, "%s: a fault of the stream, not of the reader below", name)
				assert.NotContains(t, err.Error(), "secret", "no text of the stream is quoted")

				_, again := transcript(r)
				assert.Equal(t, err, again, "%s: a fault is final", name)
			}
		})
	}
}

// The cases that hold the JSON Schemas of stream lines hold the reader too: the
// two must give equal verdicts, but for what only bytes can show, which is the
// reader's alone.
func TestReaderAgreesWithTheSchemas(t *testing.T) {
	const folder = "../wire/testdata/verdicts"
	for _, schema := range []string{"line", "line-served", "line-rows", "line-ping", "line-end", "line-error"} {
		for _, c := range verdicts.Read(t, filepath.Join(folder, schema)) {
			t.Run(schema+"/"+c.Why, func(t *testing.T) {
				line := c.Message()
				if c.Body != nil {
					line = bytes.ReplaceAll(line, []byte("\n"), []byte(" ")) // the file may break a body into lines
				}
				// It is the first of a stream that goes on soundly where it may.
				kind := "ping"
				said, err := transcript(ndjson.NewReader(strings.NewReader(string(line) + "\n" + end)))
				var fault *ndjson.LineError
				if errors.As(err, &fault) && fault.Line == 2 { // the line ends a stream
					kind = "end"
					said, err = transcript(ndjson.NewReader(strings.NewReader(string(line) + "\n")))
				}
				if len(said) > 0 {
					kind, _, _ = strings.Cut(said[0], " ")
				}
				if strings.HasPrefix(kind, "{") {
					kind = "rows"
				}
				if err != nil {
					require.ErrorAs(t, err, &fault)
					assert.Equal(t, 1, fault.Line)
				}
				// A sound line of another kind is none of this one.
				accepted := err == nil && (schema == "line" || schema == "line-"+kind)
				assert.Equal(t, c.Valid, accepted, "%v", err)
			})
		}
	}
}

func TestReaderPassesReadErrorsOn(t *testing.T) {
	reset := errors.New("connection reset")
	then := func(stream string) io.Reader {
		return io.MultiReader(strings.NewReader(stream), iotest.ErrReader(reset))
	}
	for _, c := range []struct {
		why    string
		stream io.Reader
		err    error
		line   int
	}{
		{"before anything", then(""), reset, 1},
		{"between lines", then(servedNone + oneRow), reset, 3},
		{"within a line", then(servedNone + oneRow + `{"rows":`), reset, 3},
		{"after the end: a stream whose close is not seen is not known to be whole", then(servedNone + end), reset, 3},
		{"after an end without newline", then(servedNone + `{"end":1}`), reset, 2},
		{"a reader that only ever answers nothing", readerFunc(func([]byte) (int, error) { return 0, nil }), io.ErrNoProgress, 1},
		{"a timeout", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(servedNone + end))), iotest.ErrTimeout, 1},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := ndjson.NewReader(c.stream)
			_, err := transcript(r)
			require.ErrorIs(t, err, c.err)
			var fault *ndjson.LineError
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, c.line, fault.Line)
			_, again := transcript(r)
			assert.Equal(t, err, again, "a broken stream stays broken")
		})
	}
	t.Run("after an error line, which says already that the answer failed", func(t *testing.T) {
		said := testkit.Must(transcript(ndjson.NewReader(then(failure))))(t)
		assert.Equal(t, []string{"error timeout: too slow"}, said)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReaderLineLength(t *testing.T) {
	line := func(size int) string {
		return `{"rows":[{"a":"` + strings.Repeat("x", size-around) + `"}]}` + "\n"
	}
	taken := 0
	endless := func(text string, b byte) io.Reader { // counts what is taken of the bytes behind the text
		taken = 0
		return io.MultiReader(strings.NewReader(text), readerFunc(func(p []byte) (int, error) {
			taken += len(p)
			return copy(p, bytes.Repeat([]byte{b}, len(p))), nil
		}))
	}
	t.Run("stream-6: 16 MiB with the newline", func(t *testing.T) {
		said := testkit.Must(transcript(ndjson.NewReader(strings.NewReader(servedNone + line(wire.MaxLineBytes) + end))))(t)
		require.Len(t, said, 2)
	})
	t.Run("stream-6: one byte more is refused", func(t *testing.T) {
		_, err := transcript(ndjson.NewReader(strings.NewReader(servedNone + line(wire.MaxLineBytes+1) + end)))
		require.ErrorContains(t, err, "line 2: longer than 16 MiB")
	})
	t.Run("stream-6: an endless line is refused when it passes the limit", func(t *testing.T) {
		begins := `{"rows":[{"a":"`
		_, err := transcript(ndjson.NewReader(endless(servedNone+begins, 'x')))
		require.ErrorContains(t, err, "line 2: longer than 16 MiB")
		assert.LessOrEqual(t, taken, wire.MaxLineBytes-len(begins), "no more than one line is buffered")
	})
	t.Run("stream-1: endless text after the end is refused at its first byte", func(t *testing.T) {
		_, err := transcript(ndjson.NewReader(endless(end, '\n')))
		require.ErrorContains(t, err, "unexpected data after the end or error line")
		assert.Less(t, taken, 1<<20)
	})
	t.Run("stream-6: 5,000 rows", func(t *testing.T) {
		stream := `{"rows":[` + strings.Repeat(`{"a":1},`, 4999) + `{"a":1}]}` + "\n" + end
		n := 0
		for _, err := range ndjson.NewReader(strings.NewReader(stream)).Rows() {
			require.NoError(t, err)
			n++
		}
		assert.Equal(t, 5000, n)
	})
}

func TestRowsCanBeTakenUpAgain(t *testing.T) {
	stream := servedNone + `{"rows":[{"a":1},{"a":2},{"a":3}]}` + "\n" + ping + `{"rows":[{"a":4},{"a":[]}]}` + "\n" + end
	r := ndjson.NewReader(strings.NewReader(stream))
	var rows []string
	for range 4 {
		for row, err := range r.Rows() {
			require.NoError(t, err)
			rows = append(rows, spell(row))
			break
		}
	}
	assert.Equal(t, []string{"{a=int:1}", "{a=int:2}", "{a=int:3}", "{a=int:4}"}, rows)
	for range 2 {
		for _, err := range r.Rows() {
			require.ErrorContains(t, err, "line 4: rows[1]")
		}
	}
}

func TestRowGet(t *testing.T) {
	var wide strings.Builder
	for i := range 50 {
		fmt.Fprintf(&wide, `,"w%d":%d`, i, i)
	}
	stream := `{"rows":[{"a":1,"b":null},{"b":2},{"x":0` + wide.String() + `}]}` + "\n" + end
	r := ndjson.NewReader(strings.NewReader(stream))
	asked := 0
	for row, err := range r.Rows() {
		require.NoError(t, err)
		_, at := r.Position()
		for _, c := range testkit.Table(t, "testdata/members.tsv", 4) {
			if c[0] != fmt.Sprint(at) {
				continue
			}
			v, has := row.Get(c[1])
			assert.Equal(t, c[2] != "-", has, c[3])
			assert.Equal(t, cells.One(t, strings.Replace(c[2], "-", "null", 1)), v, c[3])
			asked++
		}
	}
	assert.Equal(t, 8, asked)
	_, has := ndjson.Row{}.Get("a")
	assert.False(t, has, "the zero Row has no members")
	assert.Empty(t, ndjson.Row{}.Names())
}

func TestRowsOfOneShapeShareTheirNames(t *testing.T) {
	const a, b = `{"a":1,"b":2}`, `{"b":3}`
	stream := `{"rows":[` + strings.Join([]string{a, b, a, b, a}, ",") + "]}\n" + `{"rows":[` + a + "," + b + "]}\n" + end
	names := map[*string]int{}
	for row, err := range ndjson.NewReader(strings.NewReader(stream)).Rows() {
		require.NoError(t, err)
		names[&row.Names()[0]]++
	}
	counts := make([]int, 0, 2)
	for _, n := range names {
		counts = append(counts, n)
	}
	assert.ElementsMatch(t, []int{4, 3}, counts, "across rows and lines, also when shapes alternate")
}

func TestCellTextsOutliveTheirLine(t *testing.T) {
	stream := `{"rows":[{"a":"first"},{"a":"sec\u006fnd"}]}` + "\n" + `{"rows":[{"a":"third"},{"b":"xxxxx"}]}` + "\n" + end
	var kept []wire.Value
	var names []string
	for row, err := range ndjson.NewReader(strings.NewReader(stream)).Rows() {
		require.NoError(t, err)
		kept = append(kept, row.Values()...)
		names = append(names, row.Names()...)
	}
	assert.Equal(t, []wire.Value{wire.Text("first"), wire.Text("second"), wire.Text("third"), wire.Text("xxxxx")}, kept)
	assert.Equal(t, []string{"a", "a", "a", "b"}, names)
}

// TestReaderPosition asks where each row stands, pings and further lines between.
func TestReaderPosition(t *testing.T) {
	r := ndjson.NewReader(strings.NewReader(ping + `{"rows":[{"a":1},{"a":2}]}` + "\n" + ping + `{"rows":[{"a":3},{"a":4}]}` + "\n" + end))
	var got [][2]int
	for _, err := range r.Rows() {
		require.NoError(t, err)
		line, row := r.Position()
		got = append(got, [2]int{line, row})
	}
	require.Equal(t, [][2]int{{2, 0}, {2, 1}, {4, 0}, {4, 1}}, got)
}
