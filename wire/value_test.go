package wire_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A spelling says how a constructor spells its value on the wire.
type spelling struct {
	why   string
	value wire.Value
	json  string
}

func spellings(t testing.TB) []spelling {
	t.Helper()
	list := []spelling{
		{"The zero Value is null.", wire.Value{}, `null`},
		{"The largest float of 32 bits (cell-1).", wire.Float32(math.MaxFloat32), `"34028235` + strings.Repeat("0", 31) + `"`},
		{"The smallest float of 32 bits (cell-1).", wire.Float32(math.SmallestNonzeroFloat32), `"0.` + strings.Repeat("0", 44) + `1"`},
		{"The smallest float is digits without exponent (cell-1).", wire.Float(5e-324), `"0.` + strings.Repeat("0", 323) + `5"`},
		{"An array is compact JSON text (cell-3).", wire.Array(wire.Text("a"), wire.Int(1), wire.Null(), wire.Decimal("1.50")),
			`"[\"a\",1,null,\"1.50\"]"`},
		{"An empty array is an array (cell-3).", wire.Array(), `"[]"`},
		{"Only what JSON requires is escaped.", wire.Text("</a> & \"q\" \\ \u2028 é 😀"), `"</a> & \"q\" \\ ` + "\u2028" + ` é 😀"`},
		{"Control characters are escaped.", wire.Text("\x00\x01\b\t\n\f\r\x1f\x7f"), `"\u0000\u0001\u0008\t\n\u000c\r\u001f` + "\x7f" + `"`},
	}
	for _, c := range testkit.Table(t, "testdata/spellings.tsv", 3) {
		list = append(list, spelling{c[2], cells.One(t, c[0]), c[1]})
	}
	return list
}

func TestValueSpelling(t *testing.T) {
	for _, c := range spellings(t) {
		t.Run(c.why, func(t *testing.T) {
			got := testkit.Must(c.value.AppendJSON([]byte("x")))(t)
			assert.Equal(t, "x"+c.json, string(got))
			assert.NoError(t, c.value.Err())
			assert.True(t, json.Valid(got[1:]))

			// String shows the text behind the quotes.
			text := c.json
			if strings.HasPrefix(text, `"`) {
				require.NoError(t, json.Unmarshal([]byte(c.json), &text))
			}
			assert.Equal(t, text, c.value.String())

			assert.JSONEq(t, c.json, string(testkit.Must(json.Marshal(c.value))(t)))
		})
	}
}

func TestValueThatCannotCross(t *testing.T) {
	beyond := time.Date(9999, 12, 31, 23, 30, 0, 0, time.FixedZone("UTC-1", -60*60))
	type invalid struct {
		why   string
		value wire.Value
		says  string
	}
	list := []invalid{
		{"A year has four digits (cell-2).", wire.Date(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), "year"},
		{"Years before 0 have no spelling (cell-2).", wire.Date(time.Date(-1, 12, 31, 0, 0, 0, 0, time.UTC)), "year"},
		{"A datetime's year is the one in UTC (cell-2).", wire.Datetime(beyond), "year"},
		{"A width is 0, 3, 6 or 9 (cell-2).", wire.DatetimeWidth(time.Unix(0, 0), 2), "0, 3, 6 or 9"},
		{"A negative width is none (cell-2).", wire.DatetimeWidth(time.Unix(0, 0), -3), "0, 3, 6 or 9"},
		{"Nothing is cut in silence (cell-2).", wire.DatetimeWidth(time.Unix(0, 1_000), 3), "more digits"},
		{"Nothing is cut in silence (cell-2).", wire.DatetimeWidth(time.Unix(0, 999_999_999), 0), "more digits"},
		{"Nothing is cut in silence (cell-2).", wire.DatetimeWidth(time.Unix(0, 1), 6), "more digits"},
		{"An array is no better than its elements (cell-3).", wire.Array(wire.Int(1), wire.Float(math.NaN())), "element"},
	}
	for _, c := range testkit.Table(t, "testdata/invalid.tsv", 3) {
		list = append(list, invalid{c[2], cells.One(t, c[0]), c[1]})
	}
	for _, c := range list {
		t.Run(c.why, func(t *testing.T) {
			before := []byte("kept")
			got, err := c.value.AppendJSON(before)
			require.ErrorContains(t, err, c.says)
			assert.Equal(t, "kept", string(got), "a failed append leaves no rest")
			assert.Equal(t, err, c.value.Err())
			assert.NotContains(t, err.Error(), "١")
		})
	}
}

// Every date that can cross, or in the plain run every 17th, is spelled as the standard library spells it.
func TestDatesAgainstStandardLibrary(t *testing.T) {
	var got, want []byte
	var err error
	step := int64(17)
	if testrun.InFull() {
		step = 1
	}
	last := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).Unix()
	for sec := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix(); sec <= last; sec += step * 24 * 60 * 60 {
		day := time.Unix(sec, 0).UTC()
		got, err = wire.Date(day).AppendJSON(got[:0])
		require.NoError(t, err)
		want = day.AppendFormat(want[:0], `"`+time.DateOnly+`"`)
		if string(got) != string(want) {
			t.Fatalf("%s is spelled %s", want, got)
		}
	}
}

func TestDatetimesAgainstStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	first := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	layouts := map[int]string{0: "2006-01-02T15:04:05Z", 3: "2006-01-02T15:04:05.000Z", 6: "2006-01-02T15:04:05.000000Z",
		9: "2006-01-02T15:04:05.000000000Z"}
	units := map[int]int64{0: 1e9, 3: 1e6, 6: 1e3, 9: 1}
	for range testrun.Rounds(50_000) {
		sec := first + random.Int64N(last-first+1)
		for digits, layout := range layouts {
			at := time.Unix(sec, random.Int64N(1e9)/units[digits]*units[digits])
			want := at.UTC().Format(layout)
			if got := wire.DatetimeWidth(at, digits).String(); got != want {
				t.Fatalf("%s is spelled %s", want, got)
			}
			// Without a width, the shortest exact one of the four is taken.
			short := wire.Datetime(at)
			parsed := testkit.Must(time.Parse(time.RFC3339Nano, short.String()))(t)
			if !parsed.Equal(at) || !short.Time().Equal(at) || len(short.String()) > len(want) {
				t.Fatalf("%s is spelled %s", want, short)
			}
		}
	}
}

func TestValueBounds(t *testing.T) {
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	assert.Equal(t, "9999-12-31T23:59:59Z", wire.Datetime(last).String())
	assert.Error(t, wire.Datetime(last.Add(time.Second)).Err())
	for _, text := range []string{"1:", "1.:", "1/", "1./", ":", "/"} {
		assert.False(t, terms.IsDecimal(text), "%s has a neighbour of the digits", text)
	}
	assert.True(t, wire.TypeNumber.Numeric() && wire.TypeDecimal.Numeric() && !wire.TypeString.Numeric())
	assert.Equal(t, wire.KindInt, wire.Uint(math.MaxInt64).Kind())
	assert.False(t, wire.Where{}.HasFilters())
	assert.True(t, wire.Where{And: []wire.Filter{{}}}.HasFilters())
	assert.True(t, wire.Where{Or: [][]wire.Filter{{}}}.HasFilters())
}

func TestValueReaders(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 10, time.UTC)
	assert.Equal(t, "a", wire.Text("a").Text())
	assert.Equal(t, "1.50", wire.Decimal("1.50").Text())
	assert.Equal(t, int64(-3), wire.Int(-3).Int64())
	assert.Equal(t, 1.5, wire.Float(1.5).Float64())
	assert.Equal(t, -3.0, wire.Int(-3).Float64())
	assert.True(t, wire.Bool(true).IsTrue())
	assert.False(t, wire.Bool(false).IsTrue())
	assert.True(t, at.Equal(wire.Datetime(at).Time()))
	assert.True(t, at.Truncate(24*time.Hour).Equal(wire.Date(at).Time()))

	// Each answers a zero for the kinds it does not read.
	for _, v := range []wire.Value{wire.Null(), wire.Bool(true)} {
		assert.Empty(t, v.Text())
		assert.Zero(t, v.Int64())
		assert.Zero(t, v.Float64())
		assert.True(t, v.Time().IsZero())
	}
	assert.False(t, wire.Int(1).IsTrue(), "1 is not true (filter-7)")
	assert.Empty(t, wire.Int(1).Text())
	assert.Empty(t, wire.Float(math.NaN()).Text(), "what is wrong is no text of the cell")
	assert.Equal(t, wire.KindInvalid, wire.Float(math.NaN()).Kind())
	assert.Equal(t, "invalid: not JSON text", wire.JSON("{").String())
}

func TestValueClone(t *testing.T) {
	buffer := []byte("first")
	shared := wire.Text(unsafe.String(&buffer[0], len(buffer)))
	kept := shared.Clone()
	copy(buffer, "other")
	assert.Equal(t, "other", shared.Text())
	assert.Equal(t, "first", kept.Text())
}

func TestValueSize(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(wire.Value{}), uintptr(32), "a row of cells is copied a lot")
}

func TestValueAppendsWithoutAllocation(t *testing.T) {
	buffer := make([]byte, 0, 1024)
	for _, c := range spellings(t) {
		v := c.value
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			buffer, _ = v.AppendJSON(buffer[:0])
		}), c.json)
	}
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for _, v := range [...]wire.Value{wire.Int(1), wire.Float(1.5), wire.Text("a"), wire.Decimal("1.5"),
			wire.Bool(true), wire.Date(at), wire.Datetime(at), wire.DatetimeWidth(at, 3)} {
			buffer, _ = v.AppendJSON(buffer[:0])
		}
	}), "nor do the constructors allocate")
}

func TestValueUnmarshal(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/unmarshal.tsv", 3) {
		var got wire.Value
		require.NoError(t, got.UnmarshalJSON([]byte(testkit.Must(strconv.Unquote(c[0]))(t))), c[2])
		assert.Equal(t, cells.One(t, c[1]), got, c[2])
	}
	for _, text := range []string{`{}`, `[1]`, ``, `1 2`, `nul`, `"\ud800"`, "\"\xff\"", `tru`, `"a`} {
		var v wire.Value
		assert.ErrorContains(t, v.UnmarshalJSON([]byte(text)), "invalid JSON at byte ", text)
	}
	assert.EqualError(t, new(wire.Value).UnmarshalJSON([]byte(`1e999`)), "at byte 0: a number too large for a double",
		"it is JSON, beyond a limit")
}

func FuzzValueJSON(f *testing.F) {
	for _, c := range spellings(f) {
		f.Add([]byte(c.json))
	}
	for _, s := range []string{`1e400`, `-0`, `0.000001`, `1E-7`, `123456789012345.5`, `"\udead"`, `"a\/b"`, `9007199254740993`, ` 1 `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v wire.Value
		if v.UnmarshalJSON(data) != nil {
			return
		}
		var lenient any
		require.NoError(t, json.Unmarshal(data, &lenient), "it accepts what is no JSON")
		switch lenient := lenient.(type) {
		case string:
			require.Equal(t, lenient, v.Text())
		case float64:
			require.Equal(t, lenient+0, v.Float64())
		case bool:
			require.Equal(t, lenient, v.IsTrue())
		case nil:
			require.True(t, v.IsNull())
		}
		once := testkit.Must(v.AppendJSON(nil))(t)
		var again wire.Value
		require.NoError(t, again.UnmarshalJSON(once))
		require.Equal(t, v.String(), again.String())
		require.Equal(t, string(once), string(testkit.Must(again.AppendJSON(nil))(t)))
	})
}

func TestInvalid(t *testing.T) {
	v := wire.Invalid("no exact cell")
	assert.Equal(t, wire.KindInvalid, v.Kind())
	assert.EqualError(t, v.Err(), "no exact cell")
	_, err := v.AppendJSON(nil)
	assert.Error(t, err)
}
