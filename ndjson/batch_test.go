package ndjson_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func layoutOf(t testing.TB, names ...string) *lines.Layout {
	t.Helper()
	return testkit.Must(lines.NewLayout(names, nil))(t)
}

// layout returns the layout of two cells of a file.
func layout(t *testing.T, names, positions string) (*lines.Layout, error) {
	t.Helper()
	list, from := []string{}, []int(nil)
	for _, v := range cells.Row(t, strings.TrimPrefix(names, "-")) {
		list = append(list, v.Text())
	}
	if positions != "-" {
		for _, v := range cells.Row(t, positions) {
			from = append(from, int(v.Int64()))
		}
	}
	return lines.NewLayout(list, from)
}

func TestBatchLines(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/batches.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			b := testkit.Must(layout(t, c[0], c[1]))(t).NewBatch()
			rows, line := cells.Rows(t, c[2]), strings.Replace(c[3], "${long}", strings.Repeat("long", 100), 1)+"\n"
			for range 2 { // a reset batch is a new one
				for _, r := range rows {
					require.NoError(t, b.Append(r))
				}
				assert.Equal(t, line, string(b.Line()))
				assert.Equal(t, line, string(b.Line()), "asking again changes nothing")
				assert.Equal(t, len(line), b.Size())
				assert.Equal(t, len(rows), b.Len())
				assert.True(t, json.Valid(b.Line()))

				b.Reset()
				assert.Zero(t, b.Len())
				assert.Zero(t, b.Size())
				assert.Nil(t, b.Line(), "stream-6: an empty batch has no line")
			}
		})
	}
}

func TestNewLayoutRefuses(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/layouts.tsv", 4) {
		l, err := layout(t, c[0], c[1])
		assert.ErrorContains(t, err, c[2], c[3])
		assert.Nil(t, l, c[3])
	}
}

func TestLayoutCopiesWhatItWasMadeOf(t *testing.T) {
	names, from := []string{"a", "b"}, []int{0, 1}
	l := testkit.Must(lines.NewLayout(names, from))(t)
	names[0], from[0] = "changed", 1
	b := l.NewBatch()
	require.NoError(t, b.Append([]wire.Value{wire.Int(1), wire.Int(2)}))
	assert.Equal(t, `{"rows":[{"a":1,"b":2}]}`+"\n", string(b.Line()))
}

func TestBatchErrorsLeaveItAsItWas(t *testing.T) {
	for _, c := range []struct{ cell, says, why string }{
		{"float:NaN", "NaN", "cell-1: NaN cannot cross"},
		{"float:-Inf", "NaN and infinities", "cell-1: an infinity cannot cross"},
		{"decimal:1e5", "plain decimal digits", "filter-6: a decimal is plain digits"},
		{`"secret\xff"`, "not valid UTF-8", "cell-4: text that is not UTF-8 is never replaced in silence"},
		{`"` + strings.Repeat("secret", 20_000) + `\xc3"`, "not valid UTF-8", "cell-4: nor when it is long"},
	} {
		t.Run(c.why, func(t *testing.T) {
			b, bad := layoutOf(t, "x", "total").NewBatch(), cells.One(t, c.cell)
			for before := range 3 {
				line := string(b.Line())
				err := b.Append([]wire.Value{wire.Text("long enough to have grown the buffer"), bad})
				var cell *lines.CellError
				require.ErrorAs(t, err, &cell)
				assert.Equal(t, "total", cell.Column)
				assert.ErrorContains(t, err, c.says)
				assert.NotContains(t, err.Error(), "secret", "an error never quotes a cell (http-9)")

				assert.Equal(t, before, b.Len())
				assert.Equal(t, line, string(b.Line()))
				require.NoError(t, b.Append([]wire.Value{wire.Int(int64(before)), wire.Null()}), "the batch stays valid")
			}
			assert.Equal(t, `{"rows":[{"x":0,"total":null},{"x":1,"total":null},{"x":2,"total":null}]}`+"\n", string(b.Line()))
		})
	}
}

func TestBatchIsFullAt5000Rows(t *testing.T) {
	b := layoutOf(t, "a").NewBatch()
	for i := range wire.MaxBatchRows {
		require.NoError(t, b.Append([]wire.Value{wire.Int(int64(i))}))
	}
	line := string(b.Line())
	require.ErrorIs(t, b.Append([]wire.Value{wire.Int(0)}), lines.ErrFull, "stream-6: batches are cut at 5,000 rows")
	assert.Equal(t, wire.MaxBatchRows, b.Len())
	assert.Equal(t, line, string(b.Line()))
	b.Reset()
	require.NoError(t, b.Append([]wire.Value{wire.Int(0)}), "write, reset, append again")
	assert.Equal(t, `{"rows":[{"a":0}]}`+"\n", string(b.Line()))
}

// One row {"a":"xxx"} makes a line of 18 bytes around the text.
const around = len(`{"rows":[{"a":""}]}` + "\n")

func TestBatchIsFullAt16MiB(t *testing.T) {
	testrun.Long(t)
	whole := strings.Repeat("x", wire.MaxLineBytes)
	text := func(n int) []wire.Value { return []wire.Value{wire.Text(whole[:n])} }

	const most, rest = wire.MaxLineBytes - around, wire.MaxLineBytes - around - len(`{"a":""},`)
	type step struct { // a row with a text of so many bytes, and what comes of it
		size int
		err  error
	}
	for _, c := range []struct {
		why   string
		steps []step
		size  int // of the line
	}{
		{"a line of exactly 16 MiB passes", []step{{most, nil}}, wire.MaxLineBytes},
		{"a single row of one byte more fits no line", []step{{most + 1, lines.ErrRowTooLarge}, {1, nil}}, around + 1},
		{"a second row that would not fit waits for the next line", []step{{10 << 20, nil}, {10 << 20, lines.ErrFull}}, around + 10<<20},
		{"two rows fill a line to the byte, and one byte more does not",
			[]step{{100, nil}, {rest - 100 + 1, lines.ErrFull}, {rest - 100, nil}, {0, lines.ErrFull}}, wire.MaxLineBytes},
		{"a row too large for any line says so even when the batch has rows",
			[]step{{1, nil}, {wire.MaxLineBytes, lines.ErrRowTooLarge}}, around + 1},
	} {
		t.Run("stream-6: "+c.why, func(t *testing.T) {
			b := layoutOf(t, "a").NewBatch()
			var taken []string
			for _, s := range c.steps {
				n, line := b.Len(), string(b.Line())
				err := b.Append(text(s.size))
				require.ErrorIs(t, err, s.err)
				if err != nil {
					assert.Equal(t, n, b.Len())
					assert.True(t, line == string(b.Line()), "a refused row changes nothing")
				} else {
					taken = append(taken, `{"a":"`+strings.Repeat("x", s.size)+`"}`)
				}
			}
			assert.Equal(t, c.size, b.Size())
			assert.Len(t, b.Line(), c.size)
			assert.True(t, `{"rows":[`+strings.Join(taken, ",")+"]}\n" == string(b.Line()))
			b.Reset()
			require.NoError(t, b.Append(text(10<<20)))
		})
	}
	t.Run("stream-6: what counts is the escaped length", func(t *testing.T) {
		for _, quotes := range []int{100, 100_000} { // the long text is measured before it is encoded
			b := layoutOf(t, "a").NewBatch()
			require.NoError(t, b.Append(text(wire.MaxLineBytes-around-len(`{"a":""},`)-2*quotes)))
			for _, one := range []string{"x", "\"", "\n", "\x01"} {
				require.ErrorIs(t, b.Append([]wire.Value{wire.Text(strings.Repeat(`"`, quotes) + one)}), lines.ErrFull)
			}
			require.NoError(t, b.Append([]wire.Value{wire.Text(strings.Repeat(`"`, quotes))}))
			assert.Equal(t, wire.MaxLineBytes, b.Size())
		}
	})
	t.Run("stream-6: a long text of any kind fits to the byte", func(t *testing.T) {
		for _, c := range []struct {
			one  string
			size int
		}{{"x", 1}, {`"`, 2}, {`\`, 2}, {"\n", 2}, {"\r", 2}, {"\t", 2}, {"\x00", 6}, {"\x1f", 6}, {"\x7f", 1}, {"ü", 2}, {"😀", 4}} {
			if testrun.Race && c.size != 6 {
				continue // 16 MiB each
			}
			b := layoutOf(t, "a", "b").NewBatch()
			rest := wire.MaxLineBytes - around - len(`,"b":""`) - 70_000*c.size
			require.NoError(t, b.Append([]wire.Value{wire.Text(whole[:rest]), wire.Text(strings.Repeat(c.one, 70_000))}), "%q", c.one)
			assert.Equal(t, wire.MaxLineBytes, b.Size(), "%q", c.one)
		}
	})
	t.Run("stream-7: a row that is refused takes no more memory than a line", func(t *testing.T) {
		names := make([]string, 2000)
		wide := make([]wire.Value, len(names))
		for i := range names {
			names[i] = fmt.Sprint(i)
			wide[i] = wire.Text(whole[:60_000])
		}
		long := strings.Repeat("\x01", 15<<20)
		b := layoutOf(t, names...).NewBatch()
		before := allocated()
		require.ErrorIs(t, b.Append(wide), lines.ErrRowTooLarge)
		require.ErrorIs(t, b.Append([]wire.Value{wire.Text(long)}), lines.ErrRowTooLarge)
		require.ErrorIs(t, b.Append([]wire.Value{wire.Null(), wire.Text(long)}), lines.ErrRowTooLarge)
		// A buffer that grows to 16 MiB has had about six times that in all.
		assert.Less(t, allocated()-before, uint64(7*wire.MaxLineBytes), "of 120 and 90 MiB of JSON")
	})
	t.Run("stream-7: a decimal that fits no line is refused before it is copied", func(t *testing.T) {
		b := layoutOf(t, "a").NewBatch()
		digits := []wire.Value{wire.Decimal(strings.Repeat("1", wire.MaxLineBytes))}
		before := allocated()
		require.ErrorIs(t, b.Append(digits), lines.ErrRowTooLarge)
		assert.Less(t, allocated()-before, uint64(1<<20))
		digits[0] = wire.Decimal(digits[0].Text()[around:])
		require.NoError(t, b.Append(digits))
		assert.Equal(t, wire.MaxLineBytes, b.Size())
	})
	t.Run("stream-6: many cells, none of them large", func(t *testing.T) {
		names := make([]string, 600)
		row := make([]wire.Value, len(names))
		for i := range names {
			names[i] = strings.Repeat("n", i+1)
			row[i] = wire.Text(whole[:30_000])
		}
		b := layoutOf(t, names...).NewBatch()
		require.ErrorIs(t, b.Append(row), lines.ErrRowTooLarge)
		require.NoError(t, b.Append(row[:500]))
		require.ErrorIs(t, b.Append(row[:500]), lines.ErrFull)
	})
	t.Run("stream-6: a decimal can be long too", func(t *testing.T) {
		b := layoutOf(t, "a", "b").NewBatch()
		digits := wire.Decimal(strings.Repeat("7", 9<<20))
		require.NoError(t, b.Append([]wire.Value{digits}))
		b.Reset()
		require.ErrorIs(t, b.Append([]wire.Value{digits, digits}), lines.ErrRowTooLarge)
	})
}

func TestBatchAllocatesNothing(t *testing.T) {
	cells := reference.Rows(64)
	b := layoutOf(t, reference.Names()...).NewBatch()
	fill := func() {
		b.Reset()
		for _, c := range cells {
			if b.Append(c) != nil {
				panic("a row was refused")
			}
		}
		if len(b.Line()) != b.Size() {
			panic("the line and its size disagree")
		}
	}
	fill()
	assert.Zero(t, testing.AllocsPerRun(100, fill), "no allocation once the buffer has grown")
	assert.InDelta(t, 306, float64(b.Size())/float64(b.Len()), 10, "the reference row of the speed goals")
}

// allocated is the number of bytes that were ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
