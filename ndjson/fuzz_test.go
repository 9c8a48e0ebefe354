package ndjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// FuzzReader: the reader never panics, agrees with the oracle whatever comes,
// and what it accepts is written and read again as the same rows.
func FuzzReader(f *testing.F) {
	for _, stream := range wholeStreams {
		f.Add(stream)
	}
	for _, seed := range []string{
		"", "\n", "{}", ping, oneRow, oneRow + end, end + "\n", end + end, `{"end":1.0}`, `{"end":1e0}` + "\r\n",
		`{"rows":[{"a":1,"a":2}]}` + "\n" + end,
		`{"rows":[{"a":1},{"\u0061":2},{"a":1 }, {"b":1,"a":2}]}` + "\n" + end,
		`{"rows":[{"a":"\ud83d"}]}` + "\n" + end,
		`{"rows":[{"a":1e400}]}` + "\n" + end,
		`{"rows":[{"a":9007199254740993,"b":-0,"c":1E+2,"d":0.1e1}]}` + "\n" + end,
		"{\"rows\":[{\"a\":\"\xff\"}]}\n" + end,
		"{\"rows\":[{\"a\":\"\x00\"}]}\n" + end,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		complete := requireSameVerdict(t, "at once", stream, strings.NewReader(stream))
		if len(stream) < 4096 {
			requireSameVerdict(t, "byte by byte", stream, iotest.OneByteReader(strings.NewReader(stream)))
		}

		r := ndjson.NewReader(strings.NewReader(stream))
		names, cells, err := collect(r)
		var failure *wire.Error
		if isFailure := errors.As(err, &failure); !isFailure && complete != (err == nil) {
			t.Fatalf("by lines complete is %v, by rows %v", complete, err)
		}
		if !complete {
			return
		}

		var again bytes.Buffer
		w := lines.NewWriter(&again)
		served, _ := r.Served()
		if served.Window && (!served.Filters || !served.Sort) {
			served.Window = false // the writer refuses to say that [rule stream-2]
		}
		require.NoError(t, w.Served(served))
		for i := range cells {
			layout, err := lines.NewLayout(names[i], nil)
			require.NoError(t, err)
			batch := layout.NewBatch()
			require.NoError(t, batch.Append(cells[i]))
			require.NoError(t, w.Rows(batch))
		}
		if failure != nil {
			require.NoError(t, w.Error(failure))
		} else {
			require.NoError(t, w.End())
		}

		r = ndjson.NewReader(&again)
		names2, cells2, err2 := collect(r)
		served2, present := r.Served()
		require.True(t, present)
		require.Equal(t, served, served2)
		require.Equal(t, err, err2)
		require.Equal(t, names, names2)
		require.Len(t, cells2, len(cells))
		for i := range cells {
			for k, v := range cells[i] {
				got := cells2[i][k]
				if v.String() != got.String() || v.Kind() != got.Kind() && v.Kind() != wire.KindFloat {
					// A float beyond 2^53 crosses as its digits in a string [rule cell-1].
					t.Fatalf("%q became %q", v, got)
				}
			}
		}
	})
}

// collect reads all rows and keeps them.
func collect(r *ndjson.Reader) (names [][]string, cells [][]wire.Value, err error) {
	for row, err := range r.Rows() {
		if err != nil {
			return names, cells, err
		}
		names = append(names, slices.Clone(row.Names()))
		cells = append(cells, slices.Clone(row.Values()))
	}
	return names, cells, nil
}

// FuzzBatch: whatever the names and cells, a batch either refuses a row and is
// as it was, or holds a line that encoding/json and the reader understand
// alike.
func FuzzBatch(f *testing.F) {
	const every = "\x00\x01\x02\x03\x04\x05\x06\x07\x08" // kind of cell
	f.Add("a,b,c", []byte(every), "10.25", int64(7))
	f.Add("", []byte{}, "", int64(0))
	f.Add("ü,\",\\,\n", []byte(every+"\x0b\x16"), "\xff\xfea\"b", int64(math.MaxUint32))
	f.Add("a,a", []byte("\x00"), "", int64(0))
	f.Add("x", []byte("\x05\x06\x07"), "", int64(0x7ff8_0000_0000_0000)) // no number
	f.Add("x", []byte("\x05"), "", int64(0x3fb9_9999_9999_999a))         // 0.1
	f.Fuzz(func(t *testing.T, list string, kinds []byte, text string, number int64) {
		names := strings.Split(list, ",")
		valid := utf8.ValidString(list)
		for i, n := range names {
			valid = valid && !slices.Contains(names[:i], n)
		}
		layout, err := lines.NewLayout(names, nil)
		require.Equal(t, valid, err == nil, "%v", err)
		if err != nil {
			return
		}
		values := fuzzCells(kinds, text, number)
		batch := layout.NewBatch()
		var want [][]wire.Value
		for row := range slices.Chunk(values, max(1, len(names)-1)) {
			row = row[:min(len(row), len(names))]
			before, n := string(batch.Line()), batch.Len()
			sound := true
			for _, v := range row {
				sound = sound && v.Err() == nil
			}
			err := batch.Append(row)
			require.Equal(t, sound, err == nil, "%v", err)
			if err != nil {
				var cell *lines.CellError
				require.ErrorAs(t, err, &cell)
				require.Equal(t, before, string(batch.Line()))
				require.Equal(t, n, batch.Len())
				continue
			}
			full := slices.Clone(row)
			for len(full) < len(names) {
				full = append(full, wire.Null())
			}
			want = append(want, full)
		}
		if batch.Len() == 0 {
			require.Nil(t, batch.Line())
			return
		}
		line := string(batch.Line())
		require.Len(t, line, batch.Size())
		require.True(t, json.Valid([]byte(line)))
		require.True(t, requireSameVerdict(t, "a batch", line+end, strings.NewReader(line+end)))
		gotNames, got, err := collect(ndjson.NewReader(io.MultiReader(strings.NewReader(line), strings.NewReader(end))))
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, names, gotNames[i])
			for k, v := range want[i] {
				require.Equal(t, v.String(), got[i][k].String())
				require.Equal(t, v.IsNull(), got[i][k].IsNull())
			}
		}
	})
}

// fuzzCells makes a cell for each byte, which says its kind, and how much is left out of the text or the number.
func fuzzCells(kinds []byte, text string, number int64) (cells []wire.Value) {
	for _, b := range kinds[:min(len(kinds), 10_000)] {
		part, n := text[min(int(b/9), len(text)):], number>>(b/9)
		cells = append(cells, []wire.Value{
			wire.Null(), wire.Bool(n%2 == 0), wire.Text(part), wire.Int(n), wire.Decimal(part),
			wire.Float(math.Float64frombits(uint64(n))),
			wire.Date(time.Unix(n%(1<<38), 0).UTC()), wire.Datetime(time.Unix(n%(1<<38), n%1e9)), wire.JSON(part),
		}[b%9])
	}
	return cells
}
