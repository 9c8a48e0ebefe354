package memsource_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var sortColumns = []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "n", Type: wire.TypeDecimal}}

func order(t testing.TB, tie []string, keys ...wire.SortKey) *filter.Order {
	t.Helper()
	o, err := filter.CompileOrder(keys, sortColumns, nil, tie)
	require.NoError(t, err)
	return o
}

// sorted runs a sort and tells what begin was told, and the rows.
func sorted(t *testing.T, rows memsource.Rows, o *filter.Order, budget memsource.Budget) (claims []bool, got []string) {
	t.Helper()
	err := memsource.Sort(rows, o, budget, func(sorted bool) func(...wire.Value) error {
		claims = append(claims, sorted)
		return func(values ...wire.Value) error {
			got = append(got, spelled(t, [][]wire.Value{values})...)
			return nil
		}
	})
	require.NoError(t, err)
	return claims, got
}

func TestSort(t *testing.T) {
	rows := [][]wire.Value{
		row(num(5), dec("10")), row(num(4), null), row(num(3), dec("9")), row(num(2), text("n/a")), row(num(1), dec("9.0")),
	}
	cases := []struct {
		name string
		keys []wire.SortKey
		want []string
		why  string
	}{
		{"ascending", []wire.SortKey{{Field: "n", Dir: wire.Asc}}, []string{`1 "9.0"`, `3 "9"`, `5 "10"`, `2 "n/a"`, `4 null`},
			"query-1: by filter-6, then what is no number, nulls last; query-3: equal rows by the primary key"},
		{"descending", []wire.SortKey{{Field: "n", Dir: wire.Desc, Collate: true}}, []string{`5 "10"`, `1 "9.0"`, `3 "9"`, `2 "n/a"`, `4 null`},
			"query-1: nulls last in both directions; query-2: collate is byte order"},
		{"several keys", []wire.SortKey{{Field: "n", Dir: wire.Asc}, {Field: "id", Dir: wire.Desc}},
			[]string{`3 "9"`, `1 "9.0"`, `5 "10"`, `2 "n/a"`, `4 null`},
			"the second key decides among equals"},
		{"no keys", nil, []string{`1 "9.0"`, `2 "n/a"`, `3 "9"`, `4 null`, `5 "10"`}, "query-3: the primary key alone"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			claims, got := sorted(t, reused(rows), order(t, []string{"id"}, c.keys...), 0)
			assert.Equal(t, []bool{true}, claims)
			assert.Equal(t, c.want, got, c.why)
		})
	}
	claims, got := sorted(t, memsource.RowsOf(), order(t, nil), 0)
	assert.Equal(t, []bool{true}, claims, "no rows are sorted rows, and the stream still begins")
	assert.Empty(t, got)
}

// TestSortOverBudget: never refused, never cut [rule query-8a].
func TestSortOverBudget(t *testing.T) {
	var rows [][]wire.Value
	var want []string
	for i := range 1000 {
		n := int64((i*7919 + 13) % 1000)
		rows = append(rows, row(num(n), text("some text")))
		want = append(want, fmt.Sprintf(`%d "some text"`, n))
	}
	o := order(t, nil, wire.SortKey{Field: "id", Dir: wire.Asc})
	for _, budget := range []memsource.Budget{1, 200, 50_000} {
		claims, got := sorted(t, reused(rows), o, budget)
		assert.Equal(t, []bool{false}, claims, "served.sort is false")
		assert.Equal(t, want, got, "every row, as it came")
	}
	claims, got := sorted(t, reused(rows), o, 0)
	assert.Equal(t, []bool{true}, claims)
	assert.Len(t, got, 1000)
	assert.Equal(t, `0 "some text"`, got[0])
}

func TestSortStops(t *testing.T) {
	rows := [][]wire.Value{row(num(2)), row(num(1)), row(num(3))}
	o := order(t, nil)
	begun := 0
	begin := func(after int) func(bool) func(...wire.Value) error {
		return func(bool) func(...wire.Value) error {
			begun++
			n := 0
			return func(...wire.Value) error {
				if n++; n > after {
					return errUpstream
				}
				return nil
			}
		}
	}
	assert.ErrorIs(t, memsource.Sort(failing(rows, errUpstream), o, 0, begin(99)), errUpstream)
	assert.Zero(t, begun, "stream-3: a failure before the first row begins no stream")
	for after := range 3 {
		assert.ErrorIs(t, memsource.Sort(memsource.RowsOf(rows...), o, 0, begin(after)), errUpstream, "sorted")
		assert.ErrorIs(t, memsource.Sort(memsource.RowsOf(rows...), o, 1, begin(after)), errUpstream, "unsorted")
		assert.ErrorIs(t, memsource.Sort(memsource.RowsOf(rows...), o, 100, begin(after)), errUpstream, "over budget in the middle")
	}
	assert.ErrorIs(t, memsource.Sort(failing(rows, errUpstream), o, 1, begin(99)), errUpstream, "the rest fails")
}

// TestSortAgainstSlices compares with a stable sort by the same order.
func TestSortAgainstSlices(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		var rows [][]wire.Value
		for range random.IntN(300) {
			rows = append(rows, row(num(int64(random.IntN(5))), spellings[random.IntN(len(spellings))]))
		}
		o := order(t, nil, wire.SortKey{Field: "n", Dir: wire.Desc})
		want := slices.Clone(rows)
		slices.SortStableFunc(want, o.Compare)
		_, got := sorted(t, reused(rows), o, 0)
		require.Equal(t, nilIfEmpty(spelled(t, want)), got)
	}
}

func ExampleSort() {
	columns := []wire.Column{{Name: "name", Type: wire.TypeString}, {Name: "moons", Type: wire.TypeNumber}}
	rows := memsource.RowsOf(
		[]wire.Value{wire.Text("Earth"), wire.Int(1)},
		[]wire.Value{wire.Text("Venus"), wire.Null()},
		[]wire.Value{wire.Text("Mars"), wire.Int(2)},
	)
	order, err := filter.CompileOrder([]wire.SortKey{{Field: "moons", Dir: wire.Desc}}, columns, nil, []string{"name"})
	if err != nil {
		fmt.Println(err)
		return
	}
	// In a source: return out.Begin(columns).Row
	err = memsource.Sort(rows, order, 0, func(sorted bool) func(...wire.Value) error {
		fmt.Println("sorted:", sorted)
		return func(values ...wire.Value) error {
			fmt.Println(values)
			return nil
		}
	})
	fmt.Println(err)
	// Output:
	// sorted: true
	// [Mars 2]
	// [Earth 1]
	// [Venus null]
	// <nil>
}

func orderOf(columns []wire.Column, keys ...wire.SortKey) (*filter.Order, error) {
	return filter.CompileOrder(keys, columns, nil, nil)
}
