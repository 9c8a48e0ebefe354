package exam

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// prices returns two tables: amounts that are spelled in two ways, and texts that look like lists.
func prices(t *testing.T) []*oracle.Table {
	columns, rows := cells.Table(t, `id:number price:decimal note:string
		| 0 "1.5" "[" | 1 "1.50" "[\"" | 2 "2" "[\"a" | 3 "20" "[\"a\"" | 4 "3.25" "[\"a\"]"`)
	return []*oracle.Table{{Name: "prices", Columns: columns, PrimaryKey: []string{"id"}, Rows: rows},
		{Name: "others", Columns: columns, Rows: rows}}
}

// TestStrictSubject requires that a strict subject is asked what readings of the protocol answer differently,
// and with operands that databases get wrong.
func TestStrictSubject(t *testing.T) {
	everything := declaring(wire.Capabilities{Operators: terms.Operators[wire.Op](), Sort: wire.SortMulti, Offset: true})
	asked := func(s *Subject) (partsOfPrices, elementsOfNotes, hardPrices, groups int) {
		for seed := range uint64(5) {
			g := New(seed, everything, []*Subject{s})
			s.discriminating = nil
			for _, q := range g.Packed() {
				for f := range q.Filters() {
					switch {
					case f.Field == "price" && f.Op == wire.OpIncludes && (f.Value.String() == "0" || f.Value.String() == "50"):
						partsOfPrices++
					case f.Field == "note" && f.Op == wire.OpContains:
						elementsOfNotes++
					case f.Field == "price" && f.Op == wire.OpNeq && !f.Value.IsNull() && !terms.IsDecimal(f.Value.String()):
						hardPrices++
					}
				}
			}
			for q := range g.Combinations(KeepAll, wire.PathAggregate) {
				for _, group := range q.Groups {
					if group.Field == "price" {
						groups++
					}
				}
			}
		}
		return partsOfPrices, elementsOfNotes, hardPrices, groups
	}
	parts, elements, hard, groups := asked(subject("prices", prices(t)[0].Columns, prices(t)[0].Rows))
	require.Zero(t, parts+elements+groups, "%d, %d, %d", parts, elements, groups)
	require.Zero(t, hard)
	parts, elements, hard, groups = asked(NewStrictSubject(prices(t)[0]))
	for _, n := range []int{parts, elements, hard, groups} {
		require.Positive(t, n, "%d, %d, %d, %d", parts, elements, hard, groups)
	}
}

// TestJoined requires that joins and links can be answered, with one hop and with two, and that a question
// keeps its hops when another request is asked of it.
func TestJoined(t *testing.T) {
	known := oracle.Tables{}
	var subjects []*Subject
	for _, table := range prices(t) {
		known[table.Name] = table
		subjects = append(subjects, NewStrictSubject(table))
	}
	hops := map[int]int{}
	for seed := range uint64(10) {
		g := New(seed, declaring(wire.Capabilities{Operators: terms.Operators[wire.Op](), Sort: wire.SortMulti, Join: true}), subjects)
		for _, q := range g.Joined() {
			testkit.Must(oracle.Query(known, q.Query()))(t, "%v", q.Joins)
			require.Equal(t, q.Joins, q.asking(q.Message()).Joins)
			hops[len(q.Joins)]++
		}
		for _, link := range g.Links() {
			testkit.Must(oracle.LinkHitRate(known, link))(t)
		}
	}
	require.Zero(t, hops[0])
	require.Greater(t, hops[1], 10)
	require.Greater(t, hops[2], 10)
}
