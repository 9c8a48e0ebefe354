package oracle_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// column returns a table with a column c and the number of each row.
func column(t wire.Type, cells ...wire.Value) *oracle.Table {
	table := &oracle.Table{Name: "t", Columns: []wire.Column{{Name: "id", Type: wire.TypeNumber},
		{Name: "c", Type: t}}, PrimaryKey: []string{"id"}}
	for i, c := range cells {
		table.Rows = append(table.Rows, []wire.Value{wire.Int(int64(i)), c})
	}
	return table
}

// columnOf returns the same table for a type, or -, and cells.
func columnOf(t testing.TB, text string) *oracle.Table {
	t.Helper()
	kind, row, _ := strings.Cut(text, " ")
	return column(wire.Type(strings.TrimPrefix(kind, "-")), cells.Row(t, row)...)
}

func ids(t *oracle.Table) []int64 {
	numbers := []int64{}
	for _, row := range t.Rows {
		numbers = append(numbers, row[0].Int64())
	}
	return numbers
}

func by(field string, dir wire.Direction) wire.SortKey { return wire.SortKey{Field: field, Dir: dir} }

func TestSorted(t *testing.T) {
	table := column(str, txt("a"), txt("c"), txt("b"), txt("a"))
	at, ok := oracle.Sorted(table, []wire.SortKey{by("c", wire.Asc)}, nil)
	require.False(t, ok)
	require.Equal(t, 2, at, "the first row that is out of order")
	_, ok = oracle.Sorted(table, []wire.SortKey{by("x", wire.Asc), by("c", wire.Asc)}, nil)
	require.True(t, ok, "rows may tie in what they lack")
	_, ok = oracle.Sorted(table, []wire.SortKey{by("c", wire.Asc), by("x", wire.Asc)}, nil)
	require.False(t, ok, "what stands before it is still looked at")
	_, err := oracle.Sort(column(str), []wire.SortKey{by("x", wire.Asc)}, nil)
	require.Equal(t, &oracle.UnknownField{Table: "t", Field: "x", Where: "sort"}, err)
}

func TestUnsettled(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/unsettled.tsv", 4) {
		dir := wire.Direction(c[1])
		got := oracle.Unsettled(columnOf(t, c[0]), []wire.SortKey{by("c", dir), by("x", dir)}, nil)
		require.Equal(t, strings.TrimPrefix(c[2], "-"), got, c[3])
	}
}

// Sort is a stable permutation, and its result is sorted.
func TestSortProperties(t *testing.T) {
	pool := values(t)
	for seed := range uint64(500) {
		d := generated(20_000+seed, pool)
		table := d.table("t")
		var keys []wire.SortKey
		for range 1 + d.below(3) {
			keys = append(keys, by(oneOf(d, table.Columns).Name, oneOf(d, []wire.Direction{wire.Asc, wire.Desc})))
		}
		got := testkit.Must(oracle.Sort(table, keys, nil))(t)
		_, ok := oracle.Sorted(got, keys, nil)
		require.True(t, ok)
		require.ElementsMatch(t, ids(table), ids(got))
		again := testkit.Must(oracle.Sort(got, keys, nil))(t)
		require.Equal(t, ids(got), ids(again), "sorting what is sorted changes nothing")

		shuffled := *table
		shuffled.Rows = slices.Clone(table.Rows)
		rand.New(rand.NewPCG(seed, 2)).Shuffle(len(shuffled.Rows), func(i, j int) {
			shuffled.Rows[i], shuffled.Rows[j] = shuffled.Rows[j], shuffled.Rows[i]
		})
		if oracle.Unsettled(table, keys, nil) == "" {
			total := testkit.Must(oracle.Sort(&shuffled, append(keys, by("id", wire.Asc)), nil))(t)
			require.Equal(t, ids(got), ids(total), "with the key as the last sort the order in which rows come does not matter")
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/same.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			typ, want, got := wire.Type(strings.TrimPrefix(c[0], "-")), cells.One(t, c[1]), cells.One(t, c[2])
			require.Equal(t, c[3] == "same", oracle.Same(want, got, typ))
			require.Equal(t, c[3] == "same", oracle.Same(got, want, typ), "the other way round")
		})
	}
}

// What a constructor of wire writes is the same cell when read back.
func TestSameSurvivesTheWire(t *testing.T) {
	for _, v := range values(t) {
		json := testkit.Must(v.AppendJSON(nil))(t)
		var read wire.Value
		require.NoError(t, read.UnmarshalJSON(json))
		for _, typ := range allTypes {
			require.True(t, oracle.Same(v, read, typ), "%s as %q", json, typ)
		}
	}
}

// Same is an equivalence relation.
func TestSameIsAnEquivalence(t *testing.T) {
	pool := values(t)
	for _, typ := range allTypes {
		for _, a := range pool {
			require.True(t, oracle.Same(a, a, typ))
			for _, b := range pool {
				if !oracle.Same(a, b, typ) {
					continue
				}
				require.True(t, oracle.Same(b, a, typ))
				for _, c := range pool {
					if left, right := oracle.Same(a, c, typ), oracle.Same(b, c, typ); left != right {
						require.Equal(t, left, right, "%q %q %q as %q", a, b, c, typ)
					}
				}
			}
		}
	}
}
