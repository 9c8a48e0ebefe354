package relation

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestBudgetIsCharged requires exactly what the documentation says: the bytes below are
// enough, and one less is not.
func TestBudgetIsCharged(t *testing.T) {
	key := func(v wire.Value, t wire.Type) int { return 64 + len(filter.AppendKey(nil, v, t)) }
	one := func(t wire.Type, cells ...wire.Value) Relation {
		rows := make([][]wire.Value, len(cells))
		for i, c := range cells {
			rows[i] = []wire.Value{c}
		}
		return Relation{Columns: []wire.Column{{Name: "c", Type: t}}, Rows: RowsOf(rows...)}
	}
	aggregate := func(rel Relation, group bool, fns ...wire.AggFunc) func(*Budget) error {
		req := &wire.AggregateRequest{}
		if group {
			req.GroupBy = []wire.GroupKey{{Field: "c"}}
		}
		for _, fn := range fns {
			req.Measures = append(req.Measures, wire.Measure{Fn: fn, Field: "c"})
		}
		return func(b *Budget) error { _, err := Aggregate(rel, req, b); return err }
	}
	order, err := filter.CompileOrder(nil, []wire.Column{{Name: "c"}}, nil, nil)
	require.NoError(t, err)
	abc := wire.Text("abc")
	for _, c := range []struct {
		name string
		run  func(*Budget) error
		want int
		why  string
	}{
		{"groups", aggregate(one(wire.TypeString, abc, wire.Text("de"), abc), true, wire.AggCount, wire.AggCount),
			key(abc, wire.TypeString) + key(wire.Text("de"), wire.TypeString) + 2*(24+32) + 5 + 4*totalBytes,
			"a key, its cells with their text, and each measure, once a group"},
		{"distinct values", aggregate(one(wire.TypeString, abc, abc, wire.Text("de")), false, wire.AggCountDistinct),
			key(abc, wire.TypeString) + key(wire.Text("de"), wire.TypeString) + 2, "a key for each, and the group's number"},
		{"a sum", aggregate(one(wire.TypeNumber, wire.Int(1), wire.Int(2)), false, wire.AggSum), sumBytes + 8,
			"a limb of eight bytes holds nine digits"},
		{"a longer sum", aggregate(one(wire.TypeNumber, wire.Int(1), wire.Decimal("1.5"), wire.Int(3)), false, wire.AggSum),
			sumBytes + 16, "and another one the nine behind the point"},
		{"a minimum", aggregate(one(wire.TypeString, abc, wire.Text("aa"), wire.Text("a")), false, wire.AggMin), 3,
			"the longest text held; what is dropped is given back"},
		{"a maximum", aggregate(one(wire.TypeString, wire.Text("a"), wire.Text("aa"), abc), false, wire.AggMax), 3, "text that grows"},
		{"a link", func(b *Budget) error {
			_, err := LinkHitRate(one(wire.TypeString), one(wire.TypeString, abc, abc, wire.Null()),
				&wire.LinkHitRateRequest{FromColumn: "c", ToColumn: "c"}, b)
			return err
		}, key(abc, wire.TypeString), "each distinct key once; a null is none"},
		{"a join", func(b *Budget) error {
			_, err := Join(one(wire.TypeString),
				JoinRequest{Table: "t", Joins: []wire.JoinHop{{FromTable: "t", FromField: "c", ToField: "c",
					Fields: []wire.JoinField{{Field: "c", As: "d"}}}}}, []Relation{one(wire.TypeString, abc, abc, wire.Null())}, b)
			return err
		}, key(abc, wire.TypeString) + 16 + 2*(24+32+3+8), "each row, and each distinct key once; a key that is a field too is held once"},
		{"a sort", func(b *Budget) error { return sortAll(&TopN{Order: order, Budget: b}, abc, wire.Null()) },
			2*(24+32) + 3, "each row with its text"},
		{"the first rows", func(b *Budget) error {
			return sortAll(&TopN{Order: order, Budget: b, Most: 1}, wire.Text("bb"), abc, wire.Text("aa"), wire.Text("z"))
		}, 24 + 32 + 3, "the wanted rows only, in place of those that they drop"},
		{"a cardinality", func(b *Budget) error {
			got, err := Cardinality(one(wire.TypeString, abc, abc), &wire.CardinalityRequest{Columns: []string{"c"}}, b, false)
			if err == nil && got["c"] == nil {
				err = errors.New("given up")
			}
			return err
		}, key(abc, wire.TypeString), "each distinct value once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.NoError(t, c.run(NewBudget(int64(c.want))), c.why)
			assert.Error(t, c.run(NewBudget(int64(c.want-1))), c.why)
			assert.NoError(t, c.run(NewBudget(-1)), "a negative budget is no bound")
		})
	}
}

// sortAll offers rows of one cell.
func sortAll(top *TopN, cells ...wire.Value) error {
	for _, v := range cells {
		if err := top.Offer([]wire.Value{v}); err != nil {
			return err
		}
	}
	return nil
}

// TestSumCarriesInTime: limbs are carried long before they overflow, and
// nobody notices.
func TestSumCarriesInTime(t *testing.T) {
	s := Sum{whole: []int64{1_000_000_000 * (carryEvery - 1)}, added: carryEvery - 1}
	require.True(t, s.Add(wire.Int(999_999_999)))
	assert.Zero(t, s.added)
	assert.Less(t, s.whole[0], int64(limbBase))
	assert.Equal(t, "4294967295999999999", s.Value().String())
}
