package relation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var sortColumns = []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "n", Type: wire.TypeDecimal}}

func orderBy(t testing.TB, columns []wire.Column, tie []string, keys ...wire.SortKey) *filter.Order {
	t.Helper()
	return testkit.Must(filter.CompileOrder(keys, columns, nil, tie))(t)
}

// sorted offers rows, whose producer reuses its buffer, and spells what is kept.
func sorted(t *testing.T, top *relation.TopN, rows [][]wire.Value) []string {
	t.Helper()
	for r, err := range reused(rows) {
		require.NoError(t, err)
		require.NoError(t, top.Offer(r))
	}
	return cells.Spelled(t, top.Sorted()...)
}

// sortedOwned offers rows that nobody changes.
func sortedOwned(t *testing.T, top *relation.TopN, rows [][]wire.Value) []string {
	t.Helper()
	for _, r := range rows {
		require.NoError(t, top.OfferOwned(r))
	}
	return cells.Spelled(t, top.Sorted()...)
}

func TestTopN(t *testing.T) {
	rows := [][]wire.Value{
		row(num(5), dec("10")), row(num(4), null), row(num(3), dec("9")), row(num(2), text("n/a")), row(num(1), dec("9.0")),
	}
	for _, c := range []struct {
		why  string
		keys []wire.SortKey
		want []string
	}{
		{"query-1: by filter-6, then what is no number, nulls last; query-3: equal rows by the primary key",
			[]wire.SortKey{{Field: "n", Dir: wire.Asc}}, []string{`1 "9.0"`, `3 "9"`, `5 "10"`, `2 "n/a"`, `4 null`}},
		{"query-1: nulls last in both directions; query-2: collate is byte order",
			[]wire.SortKey{{Field: "n", Dir: wire.Desc, Collate: true}}, []string{`5 "10"`, `1 "9.0"`, `3 "9"`, `2 "n/a"`, `4 null`}},
		{"the second key decides among equals", []wire.SortKey{{Field: "n", Dir: wire.Asc}, {Field: "id", Dir: wire.Desc}},
			[]string{`3 "9"`, `1 "9.0"`, `5 "10"`, `2 "n/a"`, `4 null`}},
		{"query-3: the primary key alone", nil, []string{`1 "9.0"`, `2 "n/a"`, `3 "9"`, `4 null`, `5 "10"`}},
	} {
		order := orderBy(t, sortColumns, []string{"id"}, c.keys...)
		for _, most := range []int64{-1, 0, 1, 2, 3, 4, 5, 6} {
			want := c.want
			if most > 0 {
				want = want[:min(int(most), len(want))]
			}
			assert.Equal(t, want, sorted(t, &relation.TopN{Order: order, Most: most}, rows), "%s, %d rows", c.why, most)
		}
	}
	assert.Empty(t, sorted(t, &relation.TopN{Order: orderBy(t, sortColumns, nil), Most: 3}, nil), "no rows")
}

// TestTopNAgainstSlices compares with a stable sort of all rows, so pages of any size
// compose [rule query-3].
func TestTopNAgainstSlices(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		var rows [][]wire.Value
		for range random.IntN(300) {
			rows = append(rows, row(num(int64(random.IntN(5))), spellings[random.IntN(len(spellings))]))
		}
		order := orderBy(t, sortColumns, nil, wire.SortKey{Field: "n", Dir: wire.Desc})
		want := slices.Clone(rows)
		slices.SortStableFunc(want, order.Compare)
		for _, most := range []int64{0, 1, 2, 10, 100, 299, 5000} {
			first := want
			if most > 0 {
				first = first[:min(int(most), len(first))]
			}
			require.Equal(t, cells.Spelled(t, first...), sorted(t, &relation.TopN{Order: order, Most: most}, rows))
			require.Equal(t, cells.Spelled(t, first...), sortedOwned(t, &relation.TopN{Order: order, Most: most}, rows))
		}
	}
}

// TestTopNCells keeps some cells of rows only. It sorts by these.
func TestTopNCells(t *testing.T) {
	kept := []wire.Column{{Name: "n", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString}}
	order := orderBy(t, kept, nil, wire.SortKey{Field: "n", Dir: wire.Asc})
	rows := [][]wire.Value{
		row(text("wide"), num(3), text("-"), text("c")), row(text("wide"), num(1), text("-"), text("a")),
		row(text("wide"), num(2), text("-"), text("bb")),
	}
	top := &relation.TopN{Order: order, Most: 2, Cells: []int{1, 3}}
	assert.Equal(t, []string{`1 "a"`, `2 "bb"`}, sorted(t, top, rows))
	require.NoError(t, (&relation.TopN{Order: order, Most: 2, Cells: []int{1, 3}}).Offer(
		row(wire.Invalid("no text"), num(1), null, null)), "a cell that is not kept is not judged")
}

// TestTopNRefuses a row that has no place in the order, whether it would be kept or not,
// and one beyond the budget.
func TestTopNRefuses(t *testing.T) {
	order := orderBy(t, sortColumns, nil, wire.SortKey{Field: "id", Dir: wire.Asc})
	for n := range 3 {
		top := &relation.TopN{Order: order, Most: 2}
		for i := range n {
			require.NoError(t, top.Offer(row(num(int64(i)), null)))
		}
		err := top.Offer(row(num(9), wire.Invalid("no number")))
		var cell *relation.CellError
		require.ErrorAs(t, err, &cell)
		require.EqualError(t, err, "no number")
	}
	top := &relation.TopN{Order: order, Budget: relation.NewBudget(100)}
	require.NoError(t, top.Offer(row(num(1), null)))
	over(t, top.Offer(row(num(0), null)), 100, "the rows to sort")
}

// TestTopNAllocatesNothing for a row that comes after those that it keeps, and one text
// for a row that takes the place of another.
func TestTopNAllocatesNothing(t *testing.T) {
	top := &relation.TopN{Order: orderBy(t, sortColumns, nil, wire.SortKey{Field: "id", Dir: wire.Asc}), Most: 100,
		Cells: []int{0, 2}, Budget: relation.NewBudget(1 << 20)}
	buffer := row(null, text("wide"), text("text"))
	n := int64(1_000_000)
	offer := func(step int64) func() {
		return func() {
			n += step
			buffer[0] = wire.Int(n)
			_ = top.Offer(buffer)
		}
	}
	for range 200 {
		offer(1)()
	}
	assert.Zero(t, testing.AllocsPerRun(1000, offer(1)))
	n = 1_000_100 // the last that it keeps
	assert.Zero(t, testing.AllocsPerRun(1000, offer(0)), "nor for one that is equal to it")
	n = 1_000_000
	assert.Equal(t, 1.0, testing.AllocsPerRun(1000, offer(-1)))
}

// TestKeepRow copies rows, and looks at what they count in a budget: a slice header,
// the cells and their texts.
func TestKeepRow(t *testing.T) {
	for _, c := range []struct {
		cells string
		size  int
		why   string
	}{
		{"", 24, "no cells"},
		{"null 7 1.5 true", 24 + 4*32, "no texts"},
		{`"ab" "" null "cde" decimal:1.50 json:[1]`, 24 + 6*32 + 12, "each text is its own, whatever stands before it"},
		{`"é"*500 "é"`, 24 + 2*32 + 1002, "bytes, not characters"},
	} {
		row := cells.Row(t, c.cells)
		kept := relation.KeepRow(row)
		require.Len(t, kept, len(row), c.why)
		for i := range kept {
			assert.Equal(t, row[i].Kind(), kept[i].Kind(), c.why)
			assert.Equal(t, row[i].String(), kept[i].String(), c.why)
			if text := kept[i].Text(); text != "" {
				assert.NotSame(t, unsafe.StringData(row[i].Text()), unsafe.StringData(text), "the producer's buffer is let go")
			}
		}
		assert.Equal(t, c.size, relation.RowSize(row), c.why)
		assert.Equal(t, c.size, relation.RowSize(kept), c.why)
	}
	assert.Equal(t, 64, relation.KeySize(nil))
	assert.Equal(t, 67, relation.KeySize([]byte("abc")))
}

// TestJoinKey compares values as a join does (measure-2b).
func TestJoinKey(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/joinkey.tsv", 5) {
		a, okA := relation.AppendJoinKey([]byte("x"), cells.One(t, c[0]), c[2] == "true")
		b, okB := relation.AppendJoinKey([]byte("x"), cells.One(t, c[1]), c[2] == "true")
		assert.Equal(t, c[3], fmt.Sprint(okA && okB && string(a) == string(b)), c[4])
		assert.Equal(t, byte('x'), a[0], "the key is appended")
	}
}
