package platform_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// listed yields rows, and then an error unless it is nil.
func listed(err error, rows ...[]wire.Value) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// TestWriteCells writes each cell between two others. What a reader of CSV gets back is the text
// that crossed the wire; a null and an empty text differ on the line.
func TestWriteCells(t *testing.T) {
	special := strings.NewReplacer("<n>", "\n", "<t>", "\t")
	for _, c := range testkit.Table(t, "testdata/cells.tsv", 4) {
		why, csvText, ndjson := c[0], special.Replace(c[2]), c[3]
		var cell wire.Value
		if digits, decimal := strings.CutPrefix(c[1], "#"); decimal {
			cell = wire.Decimal(testkit.Must(strconv.Unquote(digits))(t))
		} else {
			require.NoError(t, cell.UnmarshalJSON([]byte(c[1])), why)
		}
		rows := listed(nil, []wire.Value{wire.Int(1), cell, wire.Text("z")})
		columns := []wire.Column{{Name: "a"}, {Name: `b "q"`}, {Name: "c"}}
		var text, lines strings.Builder
		require.NoError(t, platform.WriteCSV(&text, columns, rows), why)
		require.Equal(t, "a,\"b \"\"q\"\"\",c\n1,"+csvText+",z\n", text.String(), why)
		records := testkit.Must(csv.NewReader(strings.NewReader(text.String())).ReadAll())(t, why)
		want := cell.String()
		if cell.IsNull() {
			want = ""
		}
		require.Equal(t, [][]string{{"a", `b "q"`, "c"}, {"1", want, "z"}}, records, why)

		require.NoError(t, platform.WriteNDJSON(&lines, columns, rows), why)
		require.Equal(t, `{"a":1,"b \"q\"":`+ndjson+`,"c":"z"}`+"\n", lines.String(), why)
	}
}

// TestWriteTables writes few rows, none, and rows without columns.
func TestWriteTables(t *testing.T) {
	one := []wire.Column{{Name: "a"}}
	for _, c := range []struct {
		why         string
		columns     []wire.Column
		rows        [][]wire.Value
		csv, ndjson string
	}{
		{"no rows", one, nil, "a\n", ""},
		{"a null alone", one, [][]wire.Value{{wire.Null()}, {wire.Text("")}}, "a\n\n\"\"\n", "{\"a\":null}\n{\"a\":\"\"}\n"},
		{"no columns", []wire.Column{}, [][]wire.Value{{}, {}}, "\n\n\n", "{}\n{}\n"},
	} {
		var text, lines strings.Builder
		require.NoError(t, platform.WriteCSV(&text, c.columns, listed(nil, c.rows...)))
		require.NoError(t, platform.WriteNDJSON(&lines, c.columns, listed(nil, c.rows...)))
		require.Equal(t, [2]string{c.csv, c.ndjson}, [2]string{text.String(), lines.String()}, c.why)
	}
	var text strings.Builder
	require.NoError(t, platform.WriteCSV(&text, nil, listed(nil, cellsOf("1"))))
	require.Equal(t, "1\n", text.String(), "no columns, no line of names")
}

// TestWriteErrors ends with the error of the rows, after those that came, or with that of the
// writer, and asks for no more rows then.
func TestWriteErrors(t *testing.T) {
	broken, full := errors.New("the connector is gone"), errors.New("the disk is full")
	reader, disk := io.Pipe()
	_ = reader.CloseWithError(full)
	columns, row := []wire.Column{{Name: "a"}}, []wire.Value{wire.Text(strings.Repeat("x", 1000))}
	for name, write := range map[string]func(io.Writer, []wire.Column, iter.Seq2[[]wire.Value, error]) error{
		"csv": platform.WriteCSV, "ndjson": platform.WriteNDJSON,
	} {
		var text strings.Builder
		require.ErrorIs(t, write(&text, columns, listed(broken, row, row)), broken, name)
		require.Equal(t, 2, strings.Count(text.String(), "xxx\n")+strings.Count(text.String(), "xxx\"}\n"), name)

		asked := 0
		endless := func(yield func([]wire.Value, error) bool) {
			for yield(row, nil) {
				asked++
				require.Less(t, asked, 1000, "nothing is asked after the error")
			}
		}
		require.ErrorIs(t, write(disk, columns, endless), full, name)
		require.ErrorIs(t, write(disk, columns, listed(nil, row)), full, "not lost in the buffer")
		require.Error(t, write(&text, columns, listed(nil, []wire.Value{wire.Float(math.NaN())})), "no number of the wire")
	}
}

// TestWriteThroughABuffer flushes between two rows, as an export does that notes how far it has
// come: all rows before are written then.
func TestWriteThroughABuffer(t *testing.T) {
	var file bytes.Buffer
	w := bufio.NewWriterSize(&file, 64<<10)
	var seen []string
	rows := func(yield func([]wire.Value, error) bool) {
		for i := range int64(3) {
			if !yield([]wire.Value{wire.Int(i)}, nil) {
				return
			}
			require.NoError(t, w.Flush())
			seen = append(seen, file.String())
		}
	}
	require.NoError(t, platform.WriteCSV(w, []wire.Column{{Name: "n"}}, rows))
	require.Equal(t, []string{"n\n0\n", "n\n0\n1\n", "n\n0\n1\n2\n"}, seen)
}

// TestWriteAllocations writes rows without an allocation for each.
func TestWriteAllocations(t *testing.T) {
	columns := []wire.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	row := []wire.Value{wire.Text("text"), wire.Int(12), wire.Decimal("1.50")}
	rows := listed(nil, slices.Repeat([][]wire.Value{row}, 1000)...)
	require.Less(t, testing.AllocsPerRun(5, func() { _ = platform.WriteCSV(io.Discard, columns, rows) }), 50.0)
	require.Less(t, testing.AllocsPerRun(5, func() { _ = platform.WriteNDJSON(io.Discard, columns, rows) }), 50.0)
}
