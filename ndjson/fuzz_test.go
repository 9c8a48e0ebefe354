package ndjson_test

import (
	"bytes"
	"encoding/binary"
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
	f.Add("a,b,c", []byte("\x02\x05hello\x03\x07\x00\x00\x00\x00\x00\x00\x00\x01\x01"))
	f.Add("", []byte{})
	f.Add("ü,\",\\,\n", []byte("\x02\x03a\"b\x02\x02\xff\xfe\x04\x0510.25"))
	f.Add("a,a", []byte("\x00"))
	f.Add("x",
		[]byte("\x05\x00\x00\x00\x00\x00\x00\xf8\x7f\x05\x9a\x99\x99\x99\x99\x99\xb9\x3f\x06\x00\x00\x00\x00\x00\x00\x00\x00\x07\xff\xff\xff\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, list string, data []byte) {
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
		values := fuzzCells(data)
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

// fuzzCells makes cells of every kind from bytes.
func fuzzCells(data []byte) (cells []wire.Value) {
	take := func(n int) []byte {
		n = min(n, len(data))
		b := data[:n]
		data = data[n:]
		return b
	}
	number := func() int64 {
		var b [8]byte
		copy(b[:], take(8))
		return int64(binary.LittleEndian.Uint64(b[:]))
	}
	text := func() string {
		n := 0
		if b := take(1); len(b) == 1 {
			n = int(b[0])
		}
		return string(take(n))
	}
	for len(data) > 0 && len(cells) < 10_000 {
		switch take(1)[0] % 9 {
		case 0:
			cells = append(cells, wire.Null())
		case 1:
			cells = append(cells, wire.Bool(len(data)%2 == 0))
		case 2:
			cells = append(cells, wire.Text(text()))
		case 3:
			cells = append(cells, wire.Int(number()))
		case 4:
			cells = append(cells, wire.Decimal(text()))
		case 5:
			cells = append(cells, wire.Float(math.Float64frombits(uint64(number()))))
		case 6:
			cells = append(cells, wire.Date(time.Unix(number()%(1<<38), 0).UTC()))
		case 7:
			cells = append(cells, wire.Datetime(time.Unix(number()%(1<<38), number()%1e9)))
		case 8:
			cells = append(cells, wire.JSON(text()))
		}
	}
	return cells
}
