package ndjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// rowsOf spells what Rows yields.
func rowsOf(r *ndjson.Reader) (rows []string, err error) {
	for row, e := range r.Rows() {
		if e != nil {
			return rows, e
		}
		rows = append(rows, spell(row))
	}
	return rows, nil
}

func TestRows(t *testing.T) {
	const twoRows = `{"rows":[{"a":1},{"a":2}]}` + "\n"
	for _, c := range []struct {
		why    string
		stream string
		rows   []string
		says   string // of the error that ends the loop
	}{
		{"pings and served are passed over", ping + servedNone + ping + twoRows + ping + oneRow + end,
			[]string{"{a=int:1}", "{a=int:2}", "{a=int:1}"}, ""},
		{"no rows", servedNone + end, nil, ""},
		{"an error line is its error, after the rows before it", servedNone + twoRows + failure,
			[]string{"{a=int:1}", "{a=int:2}"}, "timeout: too slow"},
		{"a truncated stream never looks complete", servedNone + twoRows, []string{"{a=int:1}", "{a=int:2}"}, "line 3: the stream ends"},
		{"rows of a cut line are not yielded, though some are whole", servedNone + `{"rows":[{"a":1},{"a":2}`, nil, "line 2: the stream ends"},
		{"a fault comes after the rows before it", `{"rows":[{"a":1},{"a":2},{"a":[]}]}` + "\n" + end,
			[]string{"{a=int:1}", "{a=int:2}"}, "line 1: rows[2]"},
		{"also a fault behind the rows", `{"rows":[{"a":1}],"x":1}` + "\n" + end, []string{"{a=int:1}"}, "more than one member"},
		{"stream-6: a row too many", `{"rows":[{}` + strings.Repeat(",{}", 5000) + "]}\n" + end, slicesRepeat("{}", 5000), "more than 5000 rows"},
	} {
		t.Run(c.why, func(t *testing.T) {
			for name, reader := range deliveries(c.stream) {
				r := ndjson.NewReader(reader)
				rows, err := rowsOf(r)
				assert.Equal(t, c.rows, rows, name)
				again, errAgain := rowsOf(r)
				assert.Empty(t, again, "%s: a loop that has ended yields no row again", name)
				assert.Equal(t, err, errAgain, "%s: and ends as it did", name)
				if c.says == "" {
					assert.NoError(t, err, name)
				} else {
					assert.ErrorContains(t, err, c.says, name)
				}
			}
		})
	}
}

func slicesRepeat(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func TestRowsAnErrorLineIsAWireError(t *testing.T) {
	_, err := rowsOf(ndjson.NewReader(strings.NewReader(servedNone + failure)))
	assert.ErrorIs(t, err, wire.Errorf(wire.CodeTimeout, ""), "so that errors.Is tells its code")
}

func TestRowsCanBeTakenUpAgain(t *testing.T) {
	stream := servedNone + `{"rows":[{"a":1},{"a":2},{"a":3}]}` + "\n" + ping + `{"rows":[{"a":4},{"a":5}]}` + "\n" + end

	t.Run("row by row", func(t *testing.T) {
		r := ndjson.NewReader(strings.NewReader(stream))
		var rows []string
		for range 5 {
			for row, err := range r.Rows() {
				require.NoError(t, err)
				rows = append(rows, spell(row))
				break
			}
		}
		assert.Equal(t, []string{"{a=int:1}", "{a=int:2}", "{a=int:3}", "{a=int:4}", "{a=int:5}"}, rows)
		rest, err := rowsOf(r)
		require.NoError(t, err)
		assert.Empty(t, rest)
	})
	t.Run("when the rest of the line is wrong", func(t *testing.T) {
		r := ndjson.NewReader(strings.NewReader(`{"rows":[{"a":1},{"a":{}}]}` + "\n" + end))
		for _, err := range r.Rows() {
			require.NoError(t, err)
			break
		}
		_, err := rowsOf(r)
		require.ErrorContains(t, err, "line 1: rows[1]")
	})
}

func TestRowGet(t *testing.T) {
	var wide strings.Builder
	for i := range 50 {
		fmt.Fprintf(&wide, `,"w%d":%d`, i, i)
	}
	stream := `{"rows":[{"a":1,"b":null},{"b":2},{"x":0` + wide.String() + `}]}` + "\n" + end
	for _, c := range []struct {
		why  string
		row  int
		name string
		want wire.Value
		has  bool
	}{
		{"a member", 0, "a", wire.Int(1), true},
		{"a null member is there", 0, "b", wire.Null(), true},
		{"filter-11: a missing member reads as null", 1, "a", wire.Null(), false},
		{"rows of one line have members of their own", 1, "b", wire.Int(2), true},
		{"names are exact", 0, "A", wire.Null(), false},
		{"a member of a wide row", 2, "w49", wire.Int(49), true},
		{"the first member of a wide row", 2, "x", wire.Int(0), true},
		{"a member that a wide row lacks", 2, "w50", wire.Null(), false},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := ndjson.NewReader(strings.NewReader(stream))
			for row, err := range r.Rows() {
				require.NoError(t, err)
				if _, at := r.Position(); at != c.row {
					continue
				}
				v, has := row.Get(c.name)
				assert.Equal(t, c.has, has)
				assert.Equal(t, c.want, v)
				return
			}
			t.Fatal("no such row")
		})
	}
	_, has := ndjson.Row{}.Get("a")
	assert.False(t, has, "the zero Row has no members")
	assert.Empty(t, ndjson.Row{}.Names())
}

func TestRowsOfOneShapeShareTheirNames(t *testing.T) {
	const a, b = `{"a":1,"b":2}`, `{"b":3}`
	stream := `{"rows":[` + strings.Join([]string{a, b, a, b, a}, ",") + "]}\n" + `{"rows":[` + a + "," + b + "]}\n" + end
	names := map[*string]int{}
	for row, err := range ndjson.NewReader(strings.NewReader(stream)).Rows() {
		require.NoError(t, err)
		names[&row.Names()[0]]++
	}
	counts := make([]int, 0, 2)
	for _, n := range names {
		counts = append(counts, n)
	}
	assert.ElementsMatch(t, []int{4, 3}, counts, "across rows and lines, also when shapes alternate")
}

func TestCellTextsOutliveTheirLine(t *testing.T) {
	stream := `{"rows":[{"a":"first"},{"a":"sec\u006fnd"}]}` + "\n" + `{"rows":[{"a":"third"},{"b":"xxxxx"}]}` + "\n" + end
	var kept []wire.Value
	var names []string
	for row, err := range ndjson.NewReader(strings.NewReader(stream)).Rows() {
		require.NoError(t, err)
		kept = append(kept, row.Values()...)
		names = append(names, row.Names()...)
	}
	assert.Equal(t, []wire.Value{wire.Text("first"), wire.Text("second"), wire.Text("third"), wire.Text("xxxxx")}, kept)
	assert.Equal(t, []string{"a", "a", "a", "b"}, names)
}

// TestReaderPosition asks where each row stands, pings and further lines between.
func TestReaderPosition(t *testing.T) {
	r := ndjson.NewReader(strings.NewReader(`{"ping":1}` + "\n" + `{"rows":[{"a":1},{"a":2}]}` + "\n" + `{"ping":1}` + "\n" +
		`{"rows":[{"a":3},{"a":4}]}` + "\n" + `{"end":1}` + "\n"))
	var got [][2]int
	for _, err := range r.Rows() {
		require.NoError(t, err)
		line, row := r.Position()
		got = append(got, [2]int{line, row})
	}
	require.Equal(t, [][2]int{{2, 0}, {2, 1}, {4, 0}, {4, 1}}, got)
}
