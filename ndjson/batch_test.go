package ndjson_test

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func layoutOf(t testing.TB, names ...string) *lines.Layout {
	t.Helper()
	l, err := lines.NewLayout(names, nil)
	require.NoError(t, err)
	return l
}

func TestBatchLines(t *testing.T) {
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	type rows = [][]wire.Value
	for _, c := range []struct {
		why   string
		names []string
		from  []int
		rows  rows
		line  string
	}{
		{"one row", []string{"a", "b"}, nil, rows{{wire.Int(1), wire.Text("x")}}, `{"rows":[{"a":1,"b":"x"}]}`},
		{"several rows, one object each", []string{"a"}, nil, rows{{wire.Int(1)}, {wire.Int(2)}, {wire.Int(3)}},
			`{"rows":[{"a":1},{"a":2},{"a":3}]}`},
		{"query-5: exactly the requested fields, in the layout's order, a cell twice", []string{"z", "a", "again"},
			[]int{2, 0, 2}, rows{{wire.Int(1), wire.Int(2), wire.Int(3)}}, `{"rows":[{"z":3,"a":1,"again":3}]}`},
		{"query-5: cells missing at the end are null", []string{"a", "b", "c"}, nil, rows{{wire.Int(1)}, nil},
			`{"rows":[{"a":1,"b":null,"c":null},{"a":null,"b":null,"c":null}]}`},
		{"query-5: also by position", []string{"a"}, []int{7}, rows{{wire.Int(1)}}, `{"rows":[{"a":null}]}`},
		{"cells beyond the layout are left out", []string{"a"}, nil, rows{{wire.Int(1), wire.Int(2)}}, `{"rows":[{"a":1}]}`},
		{"query-5: no fields are empty objects, so a reader can count", []string{}, nil, rows{{}, {wire.Int(1)}, nil}, `{"rows":[{},{},{}]}`},
		{"names are escaped", []string{"a\"b\\", "\n", "ü"}, nil, rows{{wire.Int(1), wire.Int(2), wire.Int(3)}},
			`{"rows":[{"a\"b\\":1,"\n":2,"ü":3}]}`},
		{"names of every length", []string{"a", "fourteen bytes", "fifteen bytes !", "sixteen bytes !!",
			strings.Repeat("long", 100), "b"}, nil, rows{{wire.Int(1), wire.Int(2), wire.Int(3), wire.Int(4), wire.Int(5)}, {}},
			`{"rows":[{"a":1,"fourteen bytes":2,"fifteen bytes !":3,"sixteen bytes !!":4,"` + strings.Repeat("long", 100) + `":5,"b":null},` +
				`{"a":null,"fourteen bytes":null,"fifteen bytes !":null,"sixteen bytes !!":null,"` + strings.Repeat("long", 100) +
				`":null,"b":null}]}`},
		{"the empty name is a name", []string{""}, nil, rows{{wire.Int(1)}}, `{"rows":[{"":1}]}`},
		{"cell-1 to cell-3: every kind of cell as the protocol spells it",
			[]string{"null", "bool", "int", "big", "float", "small", "decimal", "date", "datetime", "text", "array"}, nil,
			rows{{wire.Null(), wire.Bool(true), wire.Int(-5), wire.Int(math.MaxInt64), wire.Float(0.5), wire.Float(1e-7),
				wire.Decimal("10.250"), wire.Date(noon), wire.DatetimeWidth(noon, 3), wire.Text("tab\t\"quoted\" ü"),
				wire.Array(wire.Int(1), wire.Text("x"))}},
			`{"rows":[{"null":null,"bool":true,"int":-5,"big":"9223372036854775807","float":0.5,"small":"0.0000001",` +
				`"decimal":"10.250","date":"2024-02-29","datetime":"2024-02-29T12:00:00.000Z","text":"tab\t\"quoted\" ü","array":"[1,\"x\"]"}]}`},
	} {
		t.Run(c.why, func(t *testing.T) {
			l, err := lines.NewLayout(c.names, c.from)
			require.NoError(t, err)
			b := l.NewBatch()
			for _, r := range c.rows {
				require.NoError(t, b.Append(r))
			}
			assert.Equal(t, c.line+"\n", string(b.Line()))
			assert.Equal(t, c.line+"\n", string(b.Line()), "asking again changes nothing")
			assert.Equal(t, len(c.line)+1, b.Size())
			assert.Equal(t, len(c.rows), b.Len())
			assert.True(t, json.Valid(b.Line()))

			b.Reset()
			assert.Zero(t, b.Len())
			assert.Zero(t, b.Size())
			assert.Nil(t, b.Line(), "stream-6: an empty batch has no line")
			for _, r := range c.rows {
				require.NoError(t, b.Append(r))
			}
			assert.Equal(t, c.line+"\n", string(b.Line()), "a reset batch is a new one")
		})
	}
}

func TestNewLayoutRefuses(t *testing.T) {
	for _, c := range []struct {
		why   string
		names []string
		from  []int
		says  string
	}{
		{"a reader refuses two members of one name, so a writer must not write them", []string{"a", "b", "a"}, nil, `duplicate column "a"`},
		{"cell-4: a name is text on the wire too", []string{"a", "b\xff"}, nil, "name 1"},
		{"a position before the first cell", []string{"a"}, []int{-1}, "negative"},
		{"as many positions as names", []string{"a", "b"}, []int{0}, "2 names"},
		{"as many names as positions", nil, []int{0}, "0 names"},
	} {
		t.Run(c.why, func(t *testing.T) {
			l, err := lines.NewLayout(c.names, c.from)
			assert.ErrorContains(t, err, c.says)
			assert.Nil(t, l)
		})
	}
}

func TestLayoutCopiesWhatItWasMadeOf(t *testing.T) {
	names, from := []string{"a", "b"}, []int{0, 1}
	l, err := lines.NewLayout(names, from)
	require.NoError(t, err)
	names[0], from[0] = "changed", 1
	b := l.NewBatch()
	require.NoError(t, b.Append([]wire.Value{wire.Int(1), wire.Int(2)}))
	assert.Equal(t, `{"rows":[{"a":1,"b":2}]}`+"\n", string(b.Line()))
}

func TestBatchErrorsLeaveItAsItWas(t *testing.T) {
	for _, c := range []struct {
		why  string
		bad  wire.Value
		says string
	}{
		{"cell-1: NaN cannot cross", wire.Float(math.NaN()), "NaN"},
		{"cell-1: an infinity cannot cross", wire.Float(math.Inf(-1)), "NaN and infinities"},
		{"filter-6: a decimal is plain digits", wire.Decimal("1e5"), "plain decimal digits"},
		{"cell-4: text that is not UTF-8 is never replaced in silence", wire.Text("secret\xff"), "not valid UTF-8"},
		{"cell-4: nor when it is long", wire.Text(strings.Repeat("secret", 20_000) + "\xc3"), "not valid UTF-8"},
	} {
		t.Run(c.why, func(t *testing.T) {
			l, err := lines.NewLayout([]string{"x", "total"}, []int{0, 1})
			require.NoError(t, err)
			b := l.NewBatch()
			for before := range 3 {
				line := string(b.Line())
				err := b.Append([]wire.Value{wire.Text("long enough to have grown the buffer"), c.bad})
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

	t.Run("stream-6: a line of exactly 16 MiB passes", func(t *testing.T) {
		b := layoutOf(t, "a").NewBatch()
		require.NoError(t, b.Append(text(wire.MaxLineBytes-around)))
		assert.Equal(t, wire.MaxLineBytes, b.Size())
		assert.Len(t, b.Line(), wire.MaxLineBytes)
	})
	t.Run("stream-6: a single row of one byte more fits no line", func(t *testing.T) {
		b := layoutOf(t, "a").NewBatch()
		require.ErrorIs(t, b.Append(text(wire.MaxLineBytes-around+1)), lines.ErrRowTooLarge)
		assert.Zero(t, b.Len())
		require.NoError(t, b.Append(text(1)), "the batch stays valid")
		assert.Equal(t, `{"rows":[{"a":"x"}]}`+"\n", string(b.Line()))
	})
	t.Run("stream-6: a second row that would not fit waits for the next line", func(t *testing.T) {
		b := layoutOf(t, "a").NewBatch()
		require.NoError(t, b.Append(text(10<<20)))
		line := string(b.Line())
		require.ErrorIs(t, b.Append(text(10<<20)), lines.ErrFull)
		assert.Equal(t, line, string(b.Line()))
		assert.Equal(t, 1, b.Len())
		b.Reset()
		require.NoError(t, b.Append(text(10<<20)))
	})
	t.Run("stream-6: two rows fill a line to the byte, and one byte more does not", func(t *testing.T) {
		b := layoutOf(t, "a").NewBatch()
		rest := wire.MaxLineBytes - around - len(`{"a":""},`)
		require.NoError(t, b.Append(text(100)))
		require.ErrorIs(t, b.Append(text(rest-100+1)), lines.ErrFull)
		require.NoError(t, b.Append(text(rest-100)))
		assert.Equal(t, wire.MaxLineBytes, b.Size())
		require.ErrorIs(t, b.Append(nil), lines.ErrFull)
	})
	t.Run("stream-6: a row too large for any line says so even when the batch has rows", func(t *testing.T) {
		b := layoutOf(t, "a").NewBatch()
		require.NoError(t, b.Append(text(1)))
		require.ErrorIs(t, b.Append(text(wire.MaxLineBytes)), lines.ErrRowTooLarge)
		assert.Equal(t, `{"rows":[{"a":"x"}]}`+"\n", string(b.Line()))
	})
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
