package ndjson_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestReaderAccepts(t *testing.T) {
	for _, c := range []struct {
		why    string
		stream string
		said   []string
	}{
		{"stream-1: the usual stream", servedAll + oneRow + ping + oneRow + end,
			[]string{"served true true true", "{a=int:1}", "{a=int:1}"}},
		{"stream-1: no rows", servedNone + end, []string{"served false false false"}},
		{"stream-12: a stream without served claims nothing", oneRow + end, []string{"{a=int:1}"}},
		{"stream-12: not even rows", end, nil},
		{"stream-1: pings may precede served", ping + ping + servedNone + end, []string{"served false false false"}},
		{"stream-3: an error ends a stream", servedNone + oneRow + failure,
			[]string{"served false false false", "{a=int:1}", "error timeout: too slow"}},
		{"stream-3: an error after a ping only", ping + failure, []string{"error timeout: too slow"}},
		{"an error alone", failure, []string{"error timeout: too slow"}},
		{"the members of served and error stand in any order",
			`{"served":{"window":false,"filters":true,"sort":false}}` + "\n" + `{"error":{"message":"m","code":"c"}}` + "\n",
			[]string{"served true false false", "error c: m"}},
		{"stream-2: a senseless claim is passed on as it is, for a judge to see",
			`{"served":{"filters":false,"sort":false,"window":true}}` + "\n" + end,
			[]string{"served false false true"}},
		{"the last line needs no newline when it ends the stream", servedNone + `{"end":1}`, []string{"served false false false"}},
		{"the last line needs no newline when it is an error", `{"error":{"code":"c","message":"m"}}`, []string{"error c: m"}},
		{"a blank line at the very end is let pass", servedNone + end + "\n", []string{"served false false false"}},
		{"also as another system writes it", end + "\r\n", nil},
		{"a blank line after an error", failure + "\n", []string{"error timeout: too slow"}},
		{"a carriage return is a blank, as JSON has it", "{\"ping\":1}\r\n{\"end\":1}\r\n", nil},
		{"blanks within a line mean nothing",
			" { \"rows\" : [ { \"a\" : 1 , \"b\" : null } , {\"a\":2,\t\"b\":3} ] } \n { \"end\" : 1 }\n",
			[]string{"{a=int:1 b=null}", "{a=int:2 b=int:3}"}},
		{"as Python's json writes it", `{"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}]}` + "\n" +
			`{"end": 1}` + "\n", []string{"{a=int:1 b=text:x}", "{a=int:2 b=text:y}", "{a=int:3 b=text:z}"}},
		{"query-4: one is one however it is spelled", `{"ping":1.0}` + "\n" + `{"end":10e-1}` + "\n", nil},
		{"query-5: empty rows count", `{"rows":[{},{},{ }]}` + "\n" + end, []string{"{}", "{}", "{}"}},
		{"the kinds of cell", `{"rows":[{"n":null,"t":true,"f":false,"s":"x","e":"","i":-7,"d":0.5,"z":-0,"w":2.0,"x":1e3}]}` + "\n" + end,
			[]string{"{n=null t=bool:true f=bool:false s=text:x e=text: i=int:-7 d=float:0.5 z=int:0 w=int:2 x=int:1000}"}},
		{"numbers are doubles, as the platform reads them", `{"rows":[{"a":9007199254740991,"b":9007199254740993,"c":1e-7}]}` + "\n" + end,
			[]string{"{a=int:9007199254740991 b=float:9007199254740992 c=float:0.0000001}"}},
		{"escapes", `{"rows":[{"a\u0062\n":"\"\\\/\b\f\n\r\t\u00fc\ud83d\ude00"}]}` + "\n" + end,
			[]string{"{ab\n=text:\"\\/\b\f\n\r\tü😀}"}},
		{"an escaped newline ends no line", `{"rows":[{"a":"x\ny"}]}` + "\n" + end, []string{"{a=text:x\ny}"}},
		{"rows of one line may have different members: the protocol does not forbid it",
			`{"rows":[{"a":1,"b":2},{"a":1},{"b":2,"a":1},{"a":1,"c":3},{},{"a":1,"b":2,"c":3},{"a":1,"b":2}]}` + "\n" + end,
			[]string{"{a=int:1 b=int:2}", "{a=int:1}", "{b=int:2 a=int:1}", "{a=int:1 c=int:3}", "{}", "{a=int:1 b=int:2 c=int:3}",
				"{a=int:1 b=int:2}"}},
		{"names that differ only in case are different names", `{"rows":[{"a":1,"A":2}]}` + "\n" + end,
			[]string{"{a=int:1 A=int:2}"}},
		{"the empty name is a name", `{"rows":[{"":1}]}` + "\n" + end, []string{"{=int:1}"}},
		{"one name, spelled in two ways in two rows", `{"rows":[{"a":1},{"\u0061":2},{"a":3}]}` + "\n" + end,
			[]string{"{a=int:1}", "{a=int:2}", "{a=int:3}"}},
		{"codes are open", `{"error":{"code":"","message":""}}` + "\n", []string{"error : "}},
	} {
		t.Run(c.why, func(t *testing.T) {
			for name, reader := range deliveries(c.stream) {
				said, err := transcript(ndjson.NewReader(reader))
				require.NoError(t, err, name)
				assert.Equal(t, c.said, said, name)
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
	long := strings.Repeat("x", 40)
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
	for _, c := range []struct {
		why     string
		stream  string
		line    int
		path    string
		problem string
	}{
		// The order of lines.
		{"stream-1: served once", servedNone + servedNone + end, 2, "", "second served line"},
		{"stream-1: served once, also later", servedNone + oneRow + servedNone + end, 3, "", "second served line"},
		{"stream-1: served before rows", oneRow + servedNone + end, 2, "", "served comes after rows"},
		{"stream-1: nothing after the end: a ping", end + ping, 2, "", "unexpected data after the end or error line"},
		{"stream-1: nothing after the end: rows", servedNone + end + oneRow, 3, "", "unexpected data after the end or error line"},
		{"stream-1: nothing after the end: an error", end + failure, 2, "", "unexpected data after the end or error line"},
		{"stream-1: exactly one end", end + end, 2, "", "unexpected data after the end or error line"},
		{"stream-1: nothing after the end, not even part of a line", end + "{", 2, "", "unexpected data after the end or error line"},
		{"stream-1: nothing after the end, of any length", end + strings.Repeat(" ", 100), 2, "", "unexpected data after the end or error line"},
		{"one blank line is let pass, two are not", end + "\n\n", 2, "", "unexpected data after the end or error line"},
		{"stream-3: no end follows an error", failure + end, 2, "", "unexpected data after the end or error line"},
		{"stream-3: nothing follows an error", failure + "x", 2, "", "unexpected data after the end or error line"},

		// The line as a whole.
		{"a blank line between others is no object", servedNone + "\n" + end, 2, "", "blank line"},
		{"a blank line at the start", "\n" + end, 1, "", "blank line"},
		{"a line of blanks", servedNone + " \t\r\n" + end, 2, "", "blank line"},
		{"one object, not an array", "[]\n" + end, 1, "", "expected '{'"},
		{"not JSON at all", "<html>\n" + end, 1, "", "invalid JSON at byte 0"},
		{"a byte order mark is no part of JSON", "\ufeff" + end + end, 1, "", "invalid JSON at byte 0"},
		{"a line has a member", "{}\n" + end, 1, "", "empty object"},
		{"a line has one member", `{"ping":1,"end":1}` + "\n", 1, "", "more than one member"},
		{"two objects on a line", `{"ping":1}{"end":1}` + "\n", 1, "", "unexpected data after the JSON value"},
		{"unknown kind of line", `{"secret":1}` + "\n" + end, 1, "", "unknown kind of line"},
		{"http-4: names are exact: a letter that folds to s",
			"{\"ſerved\":{\"filters\":true,\"sort\":true,\"window\":true}}\n" + end, 1, "", "unknown kind of line"},
		{"a line that breaks off though a newline follows", `{"rows":[{"a":1}` + "\n" + end, 1, "rows", "unexpected end"},
		{"a bracket too many", `{"rows":[{"a":1}]]}` + "\n" + end, 1, "", "expected '}'"},
		{"a NUL after a line", "{\"ping\":1}\x00\n" + end, 1, "", "a NUL byte"},
		{"a NUL instead of a line", "\x00\n" + end, 1, "", "expected '{'"},
		{"cell-4: a line is UTF-8", "{\"rows\":[{\"a\":\"\xff\"}]}\n" + end, 1, "", "not valid UTF-8"},

		// ping and end.
		{"a ping is 1", `{"ping":0}` + "\n" + end, 1, "ping", "must be the number 1"},
		{"a ping is not an object", `{"ping":{}}` + "\n" + end, 1, "ping", "must be the number 1"},
		{"an end is not an array", `{"end":[1]}` + "\n", 1, "end", "must be the number 1"},
		{"an end is 1", `{"end":2}` + "\n", 1, "end", "must be the number 1"},
		{"an end is not nearly 1", `{"end":1.0000001}` + "\n", 1, "end", "must be the number 1"},
		{"an end has a value", `{"end":}` + "\n", 1, "end", "expected a value"},

		// served.
		{"served is an object", `{"served":true}` + "\n" + end, 1, "served", "must be an object"},
		{"served has three members", `{"served":{"filters":true,"sort":true}}` + "\n" + end, 1, "served.window", "is missing"},
		{"served has no others", `{"served":{"filters":true,"sort":true,"window":true,"joins":true}}` + "\n" + end, 1,
			"served", "unknown member"},
		{"served has each once", `{"served":{"filters":true,"filters":true,"sort":true,"window":true}}` + "\n" + end, 1,
			"served", "duplicate member"},
		{"served is booleans, not numbers", `{"served":{"filters":1,"sort":true,"window":true}}` + "\n" + end, 1,
			"served.filters", "must be true or false"},
		{"served is booleans, spelled right", `{"served":{"filters":truth,"sort":true,"window":true}}` + "\n" + end, 1,
			"served.filters", "expected a value"},
		{"served has commas", `{"served":{"filters":true "sort":true,"window":true}}` + "\n" + end, 1, "served", "expected ','"},

		// error.
		{"an error is an object", `{"error":"x"}` + "\n", 1, "error", "must be an object"},
		{"an error has a code", `{"error":{"message":"m"}}` + "\n", 1, "error.code", "is missing"},
		{"an error has no more", `{"error":{"code":"c","message":"m","stack":"s"}}` + "\n", 1, "error", "unknown member"},
		{"an error's code is a string", `{"error":{"code":408,"message":"m"}}` + "\n", 1, "error.code", "must be a string"},
		{"half of a surrogate pair is no text", `{"error":{"code":"c","message":"\ud83d"}}` + "\n", 1, "error.message",
			"half of a surrogate pair"},

		// rows.
		{"rows are an array", `{"rows":{}}` + "\n" + end, 1, "rows", "must be an array"},
		{"rows are something", `{"rows":` + "\n" + end, 1, "rows", "unexpected end"},
		{"stream-6: at least one row", `{"rows":[]}` + "\n" + end, 1, "rows", "is empty; a line has 1 to 5000 rows"},
		{"stream-6: at most 5,000 rows", manyRows(5001) + end, 1, "rows", "more than 5000 rows"},
		{"a row is an object, not an array", `{"rows":[[1]]}` + "\n" + end, 1, "rows[0]", "must be an object"},
		{"a row is an object, not a number", `{"rows":[{},{},7]}` + "\n" + end, 1, "rows[2]", "must be an object"},
		{"no trailing comma after rows", `{"rows":[{"a":1},]}` + "\n" + end, 1, "rows[1]", "must be an object"},
		{"a comma between rows", `{"rows":[{"a":1}{"a":1}]}` + "\n" + end, 1, "rows", "expected ']'"},
		{"rows end", `{"rows":[{"a":1},` + "\n" + end, 1, "rows[1]", "unexpected end"},
		{"a cell is a scalar, not an object", `{"rows":[{"a":1,"b":{}}]}` + "\n" + end, 1, "rows[0]",
			"member 2: invalid JSON at byte 20: expected a string, a number, true, false or null"},
		{"a cell is a scalar, not an array", `{"rows":[{"a":1},{"a":[1]}]}` + "\n" + end, 1, "rows[1]",
			"member 1: invalid JSON at byte 22: expected a string, a number, true, false or null"},
		{"a cell is there", `{"rows":[{"a":1},{"a":}]}` + "\n" + end, 1, "rows[1]", "member 1: invalid JSON at byte 22: expected a value"},
		{"a cell of the last known member", `{"rows":[{"a":1,"b":2},{"a":1,"b":nil}]}` + "\n" + end, 1, "rows[1]",
			"member 2: invalid JSON at byte 34: expected a value"},
		{"a cell is a number a double can hold", `{"rows":[{"a":1e999}]}` + "\n" + end, 1, "rows[0]",
			"member 1: at byte 14: a number too large"},
		{"a control character is escaped", "{\"rows\":[{\"a\":\"x\ty\"}]}\n" + end, 1, "rows[0]", "must be escaped"},
		{"members have commas", `{"rows":[{"a":1 "b":2}]}` + "\n" + end, 1, "rows[0]", "expected ','"},
		{"no trailing comma after members", `{"rows":[{"a":1,}]}` + "\n" + end, 1, "rows[0]", "expected a string"},
		{"no comma before members of a known row", `{"rows":[{"a":1},{,"a":1}]}` + "\n" + end, 1, "rows[1]", "expected a string"},
		{"a row ends", `{"rows":[{"a":1}, {"a":1` + "\n" + end, 1, "rows[1]", "unexpected end"},

		// Duplicates: encoding/json keeps the last in silence.
		{"no two members of one name", `{"rows":[{"a":1,"a":1}]}` + "\n" + end, 1, "rows[0]", "member 2 is a duplicate"},
		{"no two members of one name, apart", `{"rows":[{"a":1,"b":2,"c":3,"a":4}]}` + "\n" + end, 1, "rows[0]", "member 4 is a duplicate"},
		{"no two members of one name, spelled in two ways", `{"rows":[{"a":1,"\u0061":1}]}` + "\n" + end, 1, "rows[0]",
			"member 2 is a duplicate"},
		{"no two members of one name, beyond the members of the row before",
			`{"rows":[{"a":1,"b":2},{"a":1,"b":2,"a":3}]}` + "\n" + end, 1, "rows[1]", "member 3 is a duplicate"},
		{"no two members of one name, instead of a known one", `{"rows":[{"a":1,"b":2},{"a":1,"a":2}]}` + "\n" + end, 1,
			"rows[1]", "member 2 is a duplicate"},
		{"no two members of one name, in a later line", oneRow + `{"rows":[{"a":1,"a":2}]}` + "\n" + end, 2, "rows[0]",
			"member 2 is a duplicate"},
		{"no two empty names", `{"rows":[{"":1,"":2}]}` + "\n" + end, 1, "rows[0]", "member 2 is a duplicate"},
		{"no two members of one name among 16", manyMembers(16, `"m15":0`) + end, 1, "rows[0]", "member 17 is a duplicate"},
		{"no two members of one name among 17", manyMembers(17, `"m0":0`) + end, 1, "rows[0]", "member 18 is a duplicate"},
		{"no two members of one name among many", manyMembers(1000, `"m999":0`) + end, 1, "rows[0]", "member 1001 is a duplicate"},
		{"no two members of one name among many, in a row that goes on from a known one",
			strings.Replace(manyMembers(1000, `"x":0`), "}]}",
				"},"+strings.TrimPrefix(strings.TrimSuffix(manyMembers(1000, `"y":0,"m500":1`), "\n"), `{"rows":[`), 1) + "\n" +
				end, 1, "rows[1]", "member 1002 is a duplicate"},

		// Sizes.
		{"stream-6: the line is named, whatever came before",
			servedNone + oneRow + ping + oneRow + `{"rows":[{"a":"` + long + `"},{"a":tru}]}` + "\n" + end, 5, "rows[1]",
			"expected a value"},
	} {
		t.Run(c.why, func(t *testing.T) {
			for name, reader := range deliveries(c.stream) {
				r := ndjson.NewReader(reader)
				_, err := transcript(r)
				var fault *ndjson.LineError
				require.ErrorAs(t, err, &fault, name)
				assert.Equal(t, c.line, fault.Line, name)
				assert.Equal(t, c.path, fault.Path, name)
				assert.Contains(t, fault.Problem, c.problem, name)
				assert.NoError(t, fault.Err, "%s: a fault of the stream, not of the reader below", name)
				assert.NotContains(t, err.Error(), "secret", "no text of the stream is quoted")

				_, again := transcript(r)
				assert.Equal(t, err, again, "%s: a fault is final", name)
			}
		})
	}
}
