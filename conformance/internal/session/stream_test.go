package session

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// readLines reads a stream as it came over the wire, with the columns a and b.
func readLines(t *testing.T, body io.Reader, most int) (*Stream, *lineReader) {
	t.Helper()
	s, err := New(Config{Base: "https://connector.example.com", Token: "a-token-of-more-than-32-characters"})
	require.NoError(t, err)
	st := &Stream{
		Answer: &Answer{session: s, Request: &check.Request{}},
		Table:  &oracle.Table{Name: "answer", Columns: []wire.Column{{Name: "a"}, {Name: "b"}}},
	}
	r := &lineReader{session: s, stream: st, most: most}
	r.read(context.Background(), body)
	return st, r
}

const (
	servedLine = `{"served":{"filters":true,"sort":true,"window":true}}` + "\n"
	endLine    = `{"end":1}` + "\n"
)

// TestStreamFaults reads raw streams: which rules each
// breaks, and how many rows are had of it.
func TestStreamFaults(t *testing.T) {
	rows := func(n int) string {
		return `{"rows":[` + strings.TrimSuffix(strings.Repeat(`{"a":1,"b":"x"},`, n), ",") + "]}\n"
	}
	for _, c := range []struct {
		name, body string
		breaks     []string
		rows       int
		why        string
	}{
		{"complete", servedLine + rows(2) + endLine, nil, 2, "the usual stream"},
		{"without served", rows(1) + endLine, nil, 1, "it counts as serving nothing"},
		{"without rows", servedLine + endLine, nil, 0, "a table may be empty"},
		{"an error line", servedLine + rows(1) + `{"error":{"code":"timeout","message":"late"}}` + "\n", nil, 1, "a stream may fail"},
		{"pings", `{"ping":1}` + "\n" + servedLine + `{"ping":1}` + "\n" + rows(1) + endLine, nil, 1, "pings stand anywhere before the end"},
		{"blanks", " { \"rows\" : [ {\"b\" : null , \"a\" : \"x\" } ] } \r\n\n\t\n" + `{"end":1.0}`, nil, 1,
			"JSON allows blanks, and the last line needs no newline"},
		{"a full batch", rows(wire.MaxBatchRows) + endLine, nil, wire.MaxBatchRows, "5,000 are allowed"},
		{"members missing", `{"rows":[{},{"b":2}]}` + "\n" + endLine, nil, 2, "a missing member reads as null"},
		{"members beyond", `{"v":1,"rows":[{"a":1,"c":2}],"w":[{"x":1}]}` + "\n" + `{"end":1,"rowsSent":1}` + "\n",
			nil, 1, "members that the protocol does not name are passed over"},

		{"served after rows", rows(1) + servedLine + endLine, []string{"P3.6b"}, 1, "served is the first line"},
		{"served twice", servedLine + servedLine + endLine, []string{"P3.6b"}, 0, "served once"},
		{"served without window", `{"served":{"filters":true,"sort":true}}` + "\n" + endLine, []string{"P3.6b"}, 0, "three booleans"},
		{"served with text", `{"served":{"filters":"true","sort":true,"window":true}}` + "\n" + endLine, []string{"P3.6b"}, 0, "three booleans"},
		{"served a flag twice", `{"served":{"filters":true,"filters":false,"sort":true,"window":true}}` + "\n" + endLine,
			[]string{"P3.6b"}, 0, "of two flags one is wrong"},
		{"two kinds in a line", `{"ping":1,"end":1}` + "\n" + endLine, []string{"P3.6b"}, 0, "one kind a line"},
		{"another kind", `{"progress":50}` + "\n" + endLine, []string{"P3.6b"}, 0, "five kinds"},
		{"the case of a kind", `{"Rows":[]}` + "\n" + endLine, []string{"P3.6b"}, 0, "names are exact"},
		{"an empty object", "{}\n" + endLine, []string{"P3.6b"}, 0, "five kinds"},
		{"a bare array", "[{\"a\":1}]\n" + endLine, []string{"P3.6b"}, 0, "one JSON object per line"},
		{"not JSON", "<html>\n" + endLine, []string{"P3.6b"}, 0, "one JSON object per line"},
		{"two objects in a line", `{"ping":1}{"ping":1}` + "\n" + endLine, []string{"P3.6b"}, 0, "one JSON object per line"},
		{"a ping of true", `{"ping":true}` + "\n" + endLine, []string{"P3.6b"}, 0, "a ping is 1"},
		{"a ping of an object", `{"ping":{}}` + "\n" + endLine, []string{"P3.6b"}, 0, "a ping is 1"},
		{"an end of 0", `{"end":0}` + "\n", []string{"P3.6b"}, 0, "an end is 1, and it is the end all the same"},
		{"an error of text", `{"error":"boom"}` + "\n", []string{"P3.6b"}, 0, "an error has a code and a message"},
		{"an error without a message", `{"error":{"code":"internal"}}` + "\n", []string{"P3.6b"}, 0, "an error has a code and a message"},
		{"deep", `{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}\n" + endLine,
			[]string{"P3.6b"}, 0, "no depth overflows the judge"},

		{"an empty batch", `{"rows":[]}` + "\n" + endLine, []string{"P3.6c"}, 0, "1 to 5,000"},
		{"5,001 rows", rows(wire.MaxBatchRows+1) + endLine, []string{"P3.6c"}, wire.MaxBatchRows + 1, "1 to 5,000"},
		{"a line beyond 16 MiB", `{"rows":[{"a":"` + strings.Repeat("x", wire.MaxLineBytes) + `"}]}` + "\n" + endLine,
			[]string{"P3.6d"}, 0, "16 MiB"},

		{"rows after end", endLine + rows(1), []string{"P3.6e"}, 0, "nothing follows"},
		{"two ends", endLine + endLine, []string{"P3.6e"}, 0, "written once"},
		{"end after error", `{"error":{"code":"internal","message":"internal error"}}` + "\n" + endLine, []string{"P3.6e"}, 0, "no end follows"},

		{"rows that are an object", `{"rows":{"a":1}}` + "\n" + endLine, []string{"P3.6f"}, 0, "an array of rows"},
		{"rows of arrays", `{"rows":[[1,2]]}` + "\n" + endLine, []string{"P3.6f"}, 0, "a row is an object"},
		{"a null row", `{"rows":[null]}` + "\n" + endLine, []string{"P3.6f"}, 0, "a row is an object"},
		{"an array in a cell", `{"rows":[{"a":1},{"a":[1]}]}` + "\n" + endLine, []string{"P3.6f"}, 1, "cells are scalars"},
		{"an object in a cell that was not asked for", `{"rows":[{"c":{}}]}` + "\n" + endLine, []string{"P3.6f"}, 0, "cells are scalars"},
		{"a cell twice", `{"rows":[{"a":1,"a":2}]}` + "\n" + endLine, []string{"P3.6f"}, 0, "of two cells one is wrong"},
		{"an unknown cell twice", `{"rows":[{"c":1,"c":2}]}` + "\n" + endLine, []string{"P3.6f"}, 0, "of two cells one is wrong"},
		{"bad UTF-8", "{\"rows\":[{\"a\":\"\xff\"}]}\n" + endLine, []string{"P3.6f"}, 0, "text is UTF-8"},
		{"a lone surrogate", `{"rows":[{"a":"\ud800"}]}` + "\n" + endLine, []string{"P3.6f"}, 0, "text is UTF-8"},
		{"NaN", `{"rows":[{"a":NaN}]}` + "\n" + endLine, []string{"P3.6f"}, 0, "cells are JSON"},
		{"a number beyond doubles", `{"rows":[{"a":1e999}]}` + "\n" + endLine, []string{"P3.6f"}, 0, "no reader holds it"},

		{"nothing", "", []string{"P3.6g"}, 0, "neither end nor error"},
		{"no end", servedLine + rows(1), []string{"P3.6g"}, 1, "neither end nor error"},
		{"cut in a line", servedLine + rows(1)[:20], []string{"P3.6g"}, 0, "the fault is that it is cut, and no other"},
		{"a last line without a newline that is no end", `{"ping":1}`, []string{"P3.6g"}, 0, "neither end nor error"},

		{"several faults", rows(1) + servedLine + `{"rows":[]}` + "\n", []string{"P3.6b", "P3.6c", "P3.6g"}, 1,
			"reading goes on, and each is told"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, r := readLines(t, strings.NewReader(c.body), 200_000)
			require.Equal(t, c.breaks, slices.Sorted(maps.Keys(r.faults)), "%s: %+v", c.why, st.Broken)
			require.Len(t, st.Table.Rows, c.rows)
			require.False(t, st.Over)
			if c.breaks == nil {
				require.Nil(t, st.Broken)
			} else {
				require.Contains(t, c.breaks, st.Broken.By, "the first fault blocks whoever wants the rows")
				require.Less(t, len(st.Broken.Detail), 300, "texts are short")
			}
		})
	}
}

// TestStreamReads judges what is read of a stream.
func TestStreamReads(t *testing.T) {
	st, _ := readLines(t, strings.NewReader(`{"ping":1}`+"\n"+`{"served":{"filters":true,"sort":false,"window":false,"x":1}}`+"\n"+
		`{"rows":[{"b":"9007199254740993","a":-0.5},{"c":7,"a":true}]}`+"\n"+`{"error":{"code":"timeout","message":"late"}}`+"\n"), 10)
	require.Equal(t, wire.Served{Filters: true}, st.Served)
	require.True(t, st.Stated)
	require.False(t, st.Ended)
	require.Equal(t, wire.Errorf(wire.CodeTimeout, "late"), st.Fault)
	require.Equal(t, [][]string{{"-0.5", "9007199254740993"}, {"true", wire.Null().String()}},
		[][]string{{st.Table.Rows[0][0].String(), st.Table.Rows[0][1].String()}, {st.Table.Rows[1][0].String(), st.Table.Rows[1][1].String()}})
	require.Equal(t, "c", st.extraMember)
	require.Equal(t, `member served."x" of a line`, st.unknownMember)
	kinds := ""
	for _, l := range st.Lines {
		kinds += l.Kind + " "
	}
	require.Equal(t, "ping served rows error ", kinds)
	require.Len(t, st.Table.Rows, 2)
}

// endless repeats a text for ever, and fails the test when more is read of it
// than any reader should.
type endless struct {
	t     *testing.T
	first string
	text  string
	at    int // in text
	left  int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.first != "" {
		n := copy(p, e.first)
		e.first = e.first[n:]
		return n, nil
	}
	n := 0
	for n < len(p) {
		part := copy(p[n:], e.text[e.at:])
		n, e.at = n+part, (e.at+part)%len(e.text)
	}
	if e.left -= n; e.left < 0 {
		e.t.Error("the reader does not stop")
		return 0, errors.New("too much")
	}
	return n, nil
}

// TestStreamIsBounded reads streams that never end: hostile input costs a
// bounded amount of memory and time.
func TestStreamIsBounded(t *testing.T) {
	testrun.Long(t)
	for _, c := range []struct {
		name, first, text string
		most              int // bytes read
		breaks            string
		why               string
	}{
		{"rows", "", `{"rows":[{"a":1},{"a":2}]}` + "\n", 4 << 20, "", "the row budget ends it, and breaks no rule"},
		{"rows in one line", `{"rows":[`, `{"a":1},`, 40 << 20, "P3.6d", "no line is longer than 16 MiB"},
		{"one line", `{"rows":[{"a":"`, "xxxxxxxxxxxxxxxx", 40 << 20, "P3.6d", "no line is longer than 16 MiB"},
		{"pings", "", `{"ping":1}` + "\n", 8 << 20, "P3.6g", "65,536 lines without a row are no stream"},
		{"nonsense", "", "nonsense\n", 8 << 20, "P3.6b", "65,536 lines without a row are no stream"},
		{"blank lines", "", "\n", 8 << 20, "P3.6g", "65,536 lines without a row are no stream"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, r := readLines(t, &endless{t: t, first: c.first, text: c.text, left: c.most}, 1000)
			require.LessOrEqual(t, len(st.Table.Rows), 1000, c.why)
			require.LessOrEqual(t, len(st.Lines), maxLines)
			if c.breaks == "" {
				require.True(t, st.Over)
				require.Empty(t, r.faults)
			} else {
				require.Contains(t, r.faults, c.breaks, c.why)
			}
		})
	}
}
