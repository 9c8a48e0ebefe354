package textfile

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

// TestCSV reads the files of testdata/csv.tsv.
func TestCSV(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/csv.tsv", 5) {
		t.Run(row[0], func(t *testing.T) {
			header, cells, lines, err := readAll("t.csv", testkit.Must(strconv.Unquote(row[1]))(t))
			require.NoError(t, err)
			var wantHeader []string
			var wantCells [][]*string
			var wantLines []int
			for at, want := range map[int]any{2: &wantHeader, 3: &wantCells, 4: &wantLines} {
				require.NoError(t, json.Unmarshal([]byte(row[at]), want))
			}
			assert.Equal(t, wantHeader, header)
			assert.Equal(t, wantLines, append([]int{}, lines...))
			require.Len(t, cells, len(wantCells))
			for i, want := range wantCells {
				require.Len(t, cells[i], len(want))
				for j, text := range want {
					raw := textvalue.Raw{}
					if text != nil {
						raw = textvalue.Raw{Text: *text, Kind: textvalue.Plain}
					}
					assert.Equal(t, raw, cells[i][j])
				}
			}
		})
	}
}

// TestCSVKeepsLineBreaks reads quoted cells byte for byte: encoding/csv alone changes CR LF inside of them into LF.
func TestCSVKeepsLineBreaks(t *testing.T) {
	// At every place of the buffers, however little a read returns.
	for _, before := range []int{4090, csvBuffer - 16, 2*csvBuffer - 16} {
		for n := before; n < before+20; n++ {
			want := strings.Repeat("x", n) + "\r\n\r\n\"\r\ny"
			content := "a\n\"" + strings.ReplaceAll(want, `"`, `""`) + "\"\n"
			for _, from := range []io.Reader{strings.NewReader(content), iotest.HalfReader(strings.NewReader(content))} {
				all := testkit.Must(openCSV("t.csv", from, Format{}, nil))(t)
				cells := testkit.Must(all.Next())(t)
				require.True(t, want == cells[0].Text, "a break behind %d bytes", n)
			}
		}
	}
}

// TestCSVFindsWhatIsNotUTF8 puts bytes that are not UTF-8 at every place of the buffers,
// behind a character of three bytes that may lie across their ends.
func TestCSVFindsWhatIsNotUTF8(t *testing.T) {
	read := func(r io.Reader) (doubtful bool, err error) {
		all, err := openCSV("t.csv", r, Format{}, nil)
		err = drain(all, err)
		return all.(*csvRecords).text.doubtful, err
	}
	for _, line := range []string{"x,yyyy,z\n", "x,\"y\r\n\",z\r\n", strings.Repeat("€", csvBuffer) + ",y,z\n"} {
		before := "a,b,c\n" + strings.Repeat(line, csvBuffer/len(line)+1)
		after := "€\n" + strings.Repeat(line, csvBuffer/len(line)+1)
		want := fmt.Sprintf("t.csv line %d: cell 3 is not valid UTF-8; save the file as UTF-8, or state its encoding",
			strings.Count(before, "\n")+1)
		for n := range 2 * len("x,yyyy,z\n") {
			if !testrun.Runs(n, 4) {
				continue
			}
			before := before + strings.Repeat("x", n) + "€,y,"
			for _, bad := range []string{"\xff", "\xe2\x82", "\xe2\x82" + after, "\"\xff" + strings.ReplaceAll(after, `"`, "") + "\""} {
				_, err := read(strings.NewReader(before + bad))
				require.EqualError(t, err, want)
				_, err = read(iotest.HalfReader(strings.NewReader(before + bad)))
				require.EqualError(t, err, want)
			}
			slowly := iotest.OneByteReader
			if len(line) > csvBuffer {
				slowly = iotest.HalfReader
			}
			doubtful, err := read(slowly(strings.NewReader(before + after)))
			require.Equal(t, io.EOF, err)
			require.Equal(t, len(line) > csvBuffer, doubtful, "only lines longer than the buffer are checked cell by cell")
		}
	}
}

// TestCSVAgainstTheStandardLibrary reads random bytes: what encoding/csv alone reads or refuses is read or refused, and
// the cells differ in CR LF only. What it takes for text although it stands only in quotes is refused.
func TestCSVAgainstTheStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{`"`, `"`, `"`, "\r", "\n", "\n", "\r\n", "\r\n", ",", ",", "x", "x", "\x00"}
	accepted, strays := 0, 0
	rounds := testrun.Rounds(70_000)
	for range rounds {
		var content []byte
		for range random.IntN(16) {
			content = append(content, pieces[random.IntN(len(pieces))]...)
		}
		want, refused := csv.NewReader(bytes.NewReader(content)).ReadAll()
		from := &quotedLineEnds{from: bufio.NewReaderSize(bytes.NewReader(content), 16)}
		got, err := csv.NewReader(from).ReadAll()
		var found stray
		if errors.As(err, &found); hasStray(content) {
			require.Error(t, err, "%q", content)
			if found != "" {
				strays++
			}
			continue
		}
		require.Empty(t, found, "%q", content)
		var was, is *csv.ParseError
		if errors.As(refused, &was) != errors.As(err, &is) {
			require.Equal(t, refused, err, "%q", content)
		}
		if was != nil && (!errors.Is(is, was.Err) || was.StartLine != is.StartLine || was.Line != is.Line) {
			require.Equal(t, was, is, "%q", content)
		}
		accepted += len(got)
		for i, record := range got {
			for j, cell := range record {
				if cell = strings.ReplaceAll(cell, "\r\n", "\n"); want[i][j] != cell {
					require.Equal(t, want[i][j], cell, "%q", content)
				}
			}
		}
	}
	require.Greater(t, accepted, rounds/7)
	require.Greater(t, strays, rounds/7)
}

// hasStray reports whether a NUL, or a CR without an LF, stands outside of quotes. A CR that ends the file is none.
func hasStray(content []byte) bool {
	quoted := false
	for i, b := range content {
		switch {
		case b == '"':
			quoted = !quoted
		case b == 0 && !quoted:
			return true
		case b == '\r' && !quoted && i+1 < len(content) && content[i+1] != '\n':
			return true
		}
	}
	return false
}

// TestFaults reads the files of testdata/faults.tsv, none of which is one.
func TestFaults(t *testing.T) {
	for _, row := range append(testkit.Table(t, "testdata/faults.tsv", 4), []string{
		"t.csv", "blocks of NUL are what a crash leaves of a file", strconv.Quote("a\n1\n" + strings.Repeat("\x00", 5000)),
		"t.csv line 3: cell 1 holds a NUL byte, as UTF-16 and compressed files do; " +
			"save the file as UTF-8 text, or state its encoding",
	}, []string{
		"t.csv", "more columns than anybody means", strconv.Quote(strings.Repeat("a,", MaxColumns) + "b\n"),
		"t.csv line 1: more than 2000 columns",
	}) {
		file, why, want := row[0], row[1], row[3]
		t.Run(file+" "+why, func(t *testing.T) {
			content := testkit.Must(strconv.Unquote(row[2]))(t)
			var err error
			if strings.HasSuffix(file, SidecarExtension) {
				_, err = ParseSidecar(file, []byte(content))
			} else {
				_, _, _, err = readAll(file, content)
			}
			var f *Fault
			require.ErrorAs(t, err, &f)
			assert.Equal(t, want, err.Error())
		})
	}
}

// endless reads a CSV file whose last quote is never closed.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.read == 0 {
		e.read++
		return copy(p, "a\n\""), nil
	}
	for i := range p {
		p[i] = 'x'
	}
	e.read += int64(len(p))
	return len(p), nil
}

func TestRecordsAreBounded(t *testing.T) {
	t.Run("a quote left open does not gather the file in memory", func(t *testing.T) {
		from := &endless{}
		all := testkit.Must(openCSV("t.csv", from, Format{}, nil))(t)
		_, err := all.Next()
		var f *Fault
		require.ErrorAs(t, err, &f)
		assert.Equal(t, "t.csv line 2: a record of more than 16 MiB begins here or soon after; is a quote left open?", err.Error())
		assert.Less(t, from.read, int64(MaxRecord+1<<20))
	})
	t.Run("as many columns as there may be", func(t *testing.T) {
		names := make([]string, MaxColumns)
		for i := range names {
			names[i] = fmt.Sprint("c", i)
		}
		header, _, _, err := readAll("t.csv", strings.Join(names, ",")+"\n")
		require.NoError(t, err)
		assert.Equal(t, names, header)
	})
	t.Run("a file of many records is longer than one may be", func(t *testing.T) {
		line := strings.Repeat("x", 1<<20) + "\n"
		all := testkit.Must(openCSV("t.csv", strings.NewReader("a\n"+strings.Repeat(line, 40)), Format{}, nil))(t)
		require.Equal(t, io.EOF, drain(all, nil))
		assert.Equal(t, 41, all.Line())
	})
	t.Run("nor does a line that never ends", func(t *testing.T) {
		all, err := openNDJSON("t.ndjson", io.MultiReader(strings.NewReader("{\"a\":1}\n{\"a\":\""), &endless{1}), Format{}, nil)
		require.NoError(t, err)
		testkit.Must(all.Next())(t)
		_, err = all.Next()
		require.EqualError(t, err, "t.ndjson line 2: longer than 16 MiB; each line must be one JSON object")
		all, err = OpenJSON("t.json", io.MultiReader(strings.NewReader("{\"a\":1}\n{\"a\":\""), &endless{1}), Format{}, nil)
		require.NoError(t, err)
		testkit.Must(all.Next())(t)
		_, err = all.Next()
		require.EqualError(t, err, "t.json line 1: an object of more than 16 MiB begins here")
	})
	t.Run("blanks before an object are no record", func(t *testing.T) {
		all := testkit.Must(OpenJSON("t.json", strings.NewReader(strings.Repeat("\n", MaxRecord+1)+"{}"), Format{}, nil))(t)
		testkit.Must(all.Next())(t)
		assert.Equal(t, MaxRecord+2, all.Line())
	})
	t.Run("the disk's own errors are no faults of the file", func(t *testing.T) {
		broken := errors.New("input/output error")
		for _, c := range []struct {
			name, content string
		}{
			{"t.csv", "a\n1\n"}, {"t.csv", "a\n1"}, {"t.csv", "a,b\n1,2\n3"}, {"t.csv", "a,b\n1,\"2"}, {"t.csv", "a\r\n1\r"}, {"t.csv", "a"},
			{"t.ndjson", "{\"a\":1}\n"}, {"t.ndjson", "{\"a\":1}\n{\"a\":"}, {"t.ndjson", "{\"a\":1}\n{\"a\":1}"},
			{"t.json", "{\"a\":1}\n"}, {"t.json", "[{\"a\":1}"}, {"t.json", "[{\"a\":1}]"}, {"t.json", ""},
		} {
			fails := iotest.ErrReader(broken)
			open := Open
			if c.name == "t.json" {
				open = OpenJSON
			}
			err := drain(open(c.name, io.MultiReader(strings.NewReader(c.content), fails), Format{}, nil))
			assert.ErrorIs(t, err, broken, c.content)
			var f *Fault
			assert.False(t, errors.As(err, &f), c.content)
		}
	})
}

func TestNDJSON(t *testing.T) {
	header, cells, lines, err := readAll("t.ndjson", bom+`{"a":1,"b":"x"}

{"b":null,"c": [1, {"d":2}] }
{"e":{},"a":1.50,"é":true}
{}
`)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c", "e", "é"}, header, "columns come in order of their first appearance")
	assert.Equal(t, []int{1, 3, 4, 5}, lines)
	assert.Equal(t, [][]textvalue.Raw{
		{{Text: "1", Kind: textvalue.Number}, {Text: "x", Kind: textvalue.Text}},
		{{}, {Kind: textvalue.Null}, {Text: `[1, {"d":2}]`, Kind: textvalue.Array}},
		{{Text: "1.50", Kind: textvalue.Number}, {}, {}, {Text: "{}", Kind: textvalue.Object}, {Text: "true", Kind: textvalue.Bool}},
		{{}, {}, {}, {}, {}},
	}, cells, "a missing member is null")
}

// TestJSON reads the objects of testdata/json.tsv.
func TestJSON(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/json.tsv", 5) {
		in := testkit.Must(strconv.Unquote(c[1]))(t)
		for _, from := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			all := testkit.Must(OpenJSON("t.json", from, Format{}, nil))(t, c[0])
			texts, lines := []string{}, []int{}
			record, err := all.Next()
			for ; err == nil; record, err = all.Next() {
				assert.Equal(t, []textvalue.Raw{{Text: record[0].Text, Kind: textvalue.Number}}, record, c[0])
				texts, lines = append(texts, record[0].Text), append(lines, all.Line())
			}
			assert.JSONEq(t, c[2], string(testkit.Must(json.Marshal(texts))(t)), c[0])
			assert.JSONEq(t, c[3], string(testkit.Must(json.Marshal(lines))(t)), c[0])
			assert.EqualError(t, err, cmp.Or(c[4], io.EOF.Error()), c[0])
		}
	}
	_, err := OpenJSON("t.json", strings.NewReader("{}"), Format{Encoding: "utf-16"}, nil)
	require.Error(t, err)
	objects := strings.NewReader("{\"a\":1}\n{\"a\":\"\x81\"}")
	err = drain(OpenJSON("t.json", objects, Format{Encoding: "windows-1252"}, nil))
	assert.EqualError(t, err, "t.json line 2: has the byte 0x81, which is no character in windows-1252; state the encoding that the file has")
}

func TestNDJSONColumnsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range MaxColumns + 1 {
		b.WriteString(`{"c` + strings.Repeat("x", i) + `":1}` + "\n")
	}
	_, _, _, err := readAll("t.ndjson", b.String())
	require.EqualError(t, err, "t.ndjson line 2001: more than 2000 different members")
}

// TestCSVAllocations holds a record to one allocation, which is its text.
func TestCSVAllocations(t *testing.T) {
	all := testkit.Must(openCSV("t.csv", strings.NewReader("a,b\n"+strings.Repeat("1,text\n", 2000)), Format{}, nil))(t)
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() { _, _ = all.Next() }), 1.0)
}

// readAll parses a text as a file.
func readAll(name, content string) (header []string, cells [][]textvalue.Raw, lines []int, err error) {
	all, err := Open(name, strings.NewReader(content), Format{}, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	for {
		record, err := all.Next()
		if err == io.EOF {
			return all.Names(), cells, lines, nil
		}
		if err != nil {
			return all.Names(), cells, lines, err
		}
		cells = append(cells, append([]textvalue.Raw(nil), record...))
		lines = append(lines, all.Line())
	}
}

// drain reads all records, and returns the error behind them, or that of opening the file.
func drain(all Records, err error) error {
	for err == nil {
		_, err = all.Next()
	}
	return err
}
