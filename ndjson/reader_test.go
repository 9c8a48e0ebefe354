package ndjson_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range row.Names() {
		if i > 0 {
			b.WriteByte(' ')
		}
		v := row.Values()[i]
		b.WriteString(name + "=" + map[wire.Kind]string{
			wire.KindNull: "", wire.KindBool: "bool:", wire.KindInt: "int:", wire.KindFloat: "float:", wire.KindText: "text:",
		}[v.Kind()] + v.String())
	}
	return b.String() + "}"
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
