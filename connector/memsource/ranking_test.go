package memsource

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestRankingCuts: the first rows of an order are the same whether the rest
// was kept or not, so pages of any size compose [rule query-3].
func TestRankingCuts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	order, err := filter.CompileOrder([]wire.SortKey{{Field: "k", Dir: wire.Desc}},
		[]wire.Column{{Name: "k", Type: wire.TypeNumber}, {Name: "id"}}, nil, nil)
	require.NoError(t, err)
	for range 50 {
		var rows [][]wire.Value
		for i := range random.IntN(1000) {
			rows = append(rows, []wire.Value{wire.Int(int64(random.IntN(20))), wire.Int(int64(i))})
		}
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		want := slices.Clone(rows)
		slices.SortFunc(want, order.Compare)
		for _, most := range []int{1, 2, 10, 100, 999, 5000} {
			r := ranking{order: order, most: most}
			for _, row := range rows {
				r.offer(row)
				require.Less(t, len(r.rows), 2*most+64, "no more is held than that")
			}
			require.Equal(t, want[:min(most, len(want))], append([][]wire.Value(nil), r.sorted()...))
		}
	}
}
