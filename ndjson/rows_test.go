package ndjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestRowsCanBeTakenUpAgain(t *testing.T) {
	stream := servedNone + `{"rows":[{"a":1},{"a":2},{"a":3}]}` + "\n" + ping + `{"rows":[{"a":4},{"a":[]}]}` + "\n" + end
	r := ndjson.NewReader(strings.NewReader(stream))
	var rows []string
	for range 4 {
		for row, err := range r.Rows() {
			require.NoError(t, err)
			rows = append(rows, spell(row))
			break
		}
	}
	assert.Equal(t, []string{"{a=int:1}", "{a=int:2}", "{a=int:3}", "{a=int:4}"}, rows)
	for range 2 {
		for _, err := range r.Rows() {
			require.ErrorContains(t, err, "line 4: rows[1]")
		}
	}
}

func TestRowGet(t *testing.T) {
	var wide strings.Builder
	for i := range 50 {
		fmt.Fprintf(&wide, `,"w%d":%d`, i, i)
	}
	stream := `{"rows":[{"a":1,"b":null},{"b":2},{"x":0` + wide.String() + `}]}` + "\n" + end
	r := ndjson.NewReader(strings.NewReader(stream))
	asked := 0
	for row, err := range r.Rows() {
		require.NoError(t, err)
		_, at := r.Position()
		for _, c := range testkit.Table(t, "testdata/members.tsv", 4) {
			if c[0] != fmt.Sprint(at) {
				continue
			}
			v, has := row.Get(c[1])
			assert.Equal(t, c[2] != "-", has, c[3])
			assert.Equal(t, cells.One(t, strings.Replace(c[2], "-", "null", 1)), v, c[3])
			asked++
		}
	}
	assert.Equal(t, 8, asked)
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
	r := ndjson.NewReader(strings.NewReader(ping + `{"rows":[{"a":1},{"a":2}]}` + "\n" + ping + `{"rows":[{"a":3},{"a":4}]}` + "\n" + end))
	var got [][2]int
	for _, err := range r.Rows() {
		require.NoError(t, err)
		line, row := r.Position()
		got = append(got, [2]int{line, row})
	}
	require.Equal(t, [][2]int{{2, 0}, {2, 1}, {4, 0}, {4, 1}}, got)
}
