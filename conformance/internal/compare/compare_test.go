package compare

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// amounts is a table of four rows, whose amounts are three values in four spellings.
func amounts() oracle.Tables {
	return oracle.Tables{"amounts": {
		Name:    "amounts",
		Columns: []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "amount", Type: wire.TypeDecimal}},
		Rows: [][]wire.Value{
			{wire.Int(1), wire.Decimal("1.5")}, {wire.Int(2), wire.Decimal("1.50")},
			{wire.Int(3), wire.Null()}, {wire.Int(4), wire.Decimal("9")},
		},
	}}
}

// TestAnswer compares answers with what the rows give: under our decisions, and under every
// reading.
func TestAnswer(t *testing.T) {
	size := func(rows int64, exact bool) *wire.SizeAnswer {
		return &wire.SizeAnswer{Size: &wire.Size{Rows: rows, Exact: exact}}
	}
	counts := func(nonNull, distinct int64) *wire.CardinalityAnswer {
		return &wire.CardinalityAnswer{Columns: map[string]*wire.Cardinality{"amount": {NonNull: nonNull, Distinct: distinct}}}
	}
	groups := func(texts ...string) *wire.AggregateAnswer {
		a := &wire.AggregateAnswer{}
		for _, text := range texts {
			a.Rows = append(a.Rows, map[string]wire.Value{"n": wire.Text(text)})
		}
		return a
	}
	count := &wire.CountRequest{Table: "amounts"}
	sized := &wire.SizeRequest{Table: "amounts"}
	columns := &wire.CardinalityRequest{Table: "amounts", Columns: []string{"amount"}}
	distinct := &wire.AggregateRequest{Table: "amounts", Limit: wire.AggregateLimit,
		Measures: []wire.Measure{{Fn: wire.AggCountDistinct, Field: "amount", As: "n"}}}
	link := &wire.LinkHitRateRequest{FromTable: "amounts", FromColumn: "amount", ToTable: "amounts", ToColumn: "id"}
	for _, c := range []struct {
		why              string
		m                wire.Request
		got              wire.Answer
		said             int
		strictly, anyhow bool
	}{
		{"the number of rows", count, &wire.CountAnswer{Count: 4}, 1, true, true},
		{"one row too few", count, &wire.CountAnswer{Count: 3}, 1, false, false},
		{"a field that does not exist has no count", &wire.CountRequest{Table: "amounts",
			Where: wire.Where{And: []wire.Filter{{Field: "x", Op: wire.OpIsNull}}}}, &wire.CountAnswer{}, 1, false, false},
		{"an exact size", sized, size(4, true), 1, true, true},
		{"a wrong size that is called exact", sized, size(5, true), 1, false, false},
		{"an estimate says nothing", sized, size(5, false), 0, true, true},
		{"nor does an unknown size", sized, &wire.SizeAnswer{}, 0, true, true},
		{"two values by their digits", columns, counts(3, 2), 1, true, true},
		{"three spellings are another reading", columns, counts(3, 3), 1, false, true},
		{"fewer values than there are by any reading", columns, counts(3, 1), 1, false, false},
		{"more than there are", columns, counts(3, 4), 1, false, false},
		{"a null is counted", columns, counts(4, 2), 1, false, false},
		{"an unknown column says nothing", columns, &wire.CardinalityAnswer{}, 0, true, true},
		{"a measure", distinct, groups("2"), 1, true, true},
		{"a measure by another reading", distinct, groups("3"), 1, false, true},
		{"a wrong measure", distinct, groups("4"), 1, false, false},
		{"orphans", link, &wire.LinkHitRate{FromNonNull: 3, OrphanCount: 3, OrphanRate: 1, OrphanSamples: []string{"9"}}, 1, true, true},
		{"a null is no orphan", link, &wire.LinkHitRate{FromNonNull: 4, OrphanCount: 4, OrphanRate: 1}, 1, false, false},
	} {
		for by, right := range map[*By]bool{&Strictly: c.strictly, &Leniently: c.anyhow} {
			said, d := by.Answer(amounts(), c.m, c.got)
			require.Equal(t, c.said, said, c.why)
			require.Equal(t, right, d == nil, "%s: %v", c.why, d)
		}
	}
}

// TestRows accepts dates that compare as text, where our decisions compare them as instants.
func TestRows(t *testing.T) {
	at := wire.Text("2024-05-01T14:00:00Z")
	tables := oracle.Tables{"t": {Name: "t", Columns: []wire.Column{{Name: "at", Type: wire.TypeDatetime}}, Rows: [][]wire.Value{{at}}}}
	req := &wire.QueryRequest{Table: "t", Fields: []string{"at"}, Where: wire.Where{
		And: []wire.Filter{{Field: "at", Op: wire.OpEq, Value: wire.Text("2024-05-01T16:00:00+02:00")}},
	}}
	require.Nil(t, Strictly.Rows(tables, req, [][]wire.Value{{at}}))
	require.NotNil(t, Strictly.Rows(tables, req, nil))
	require.Nil(t, Leniently.Rows(tables, req, nil))
	require.NotNil(t, Leniently.Rows(tables, req, [][]wire.Value{{at}, {at}}))
}

// TestDescribed compares what discovery says of a column with its values.
func TestDescribed(t *testing.T) {
	rows := &oracle.Table{Name: "t", Columns: []wire.Column{{Name: "n", Type: wire.TypeNumber}}}
	for i := range int64(100) {
		rows.Rows = append(rows.Rows, []wire.Value{wire.Int(i)})
	}
	for range 25 {
		rows.Rows = append(rows.Rows, []wire.Value{wire.Null()})
	}
	value := func(n int64) *wire.Value { v := wire.Int(n); return &v }
	share := func(p float64) *float64 { return &p }
	stats := func(distinct int64, low, high *wire.Value, nulls *float64) *wire.Field {
		return &wire.Field{Name: "n", Stats: &wire.Stats{DistinctCount: distinct, Min: low, Max: high, NullPercent: nulls}}
	}
	for _, c := range []struct {
		why   string
		field *wire.Field
		right bool
	}{
		{"nothing is said", &wire.Field{Name: "n"}, true},
		{"a sample", &wire.Field{Name: "n", Samples: []wire.Value{wire.Text("7")}}, true},
		{"a sample of no row", &wire.Field{Name: "n", Samples: []wire.Value{wire.Int(700)}}, false},
		{"all of it", stats(100, value(0), value(99), share(20)), true},
		{"an estimate", stats(60, value(3), value(95), share(40)), true},
		{"no distinct values where there are many", stats(0, nil, nil, nil), false},
		{"three times as many", stats(300, nil, nil, nil), false},
		{"the share of what is not null", stats(100, nil, nil, share(80)), false},
		{"a minimum of no value", stats(100, value(-5), nil, nil), false},
		{"a minimum of the greatest values", stats(100, value(90), nil, nil), false},
		{"a maximum of the least values", stats(100, nil, value(9), nil), false},
		{"the two swapped", stats(100, value(50), value(49), nil), false},
	} {
		d := Described(c.field, rows, 0)
		require.Equal(t, c.right, d == nil, "%s: %v", c.why, d)
	}
	few := &oracle.Table{Name: "t", Columns: rows.Columns, Rows: rows.Rows[:3]}
	require.NotNil(t, Described(stats(0, nil, nil, nil), few, 0), "of few values, 0 is not roughly their number")
	require.Nil(t, Described(stats(9, nil, nil, nil), few, 0))
	count := func(n int64) *wire.Table { return &wire.Table{RowCount: &n} }
	require.Nil(t, RowCount(&wire.Table{}, rows))
	require.Nil(t, RowCount(count(200), rows))
	require.NotNil(t, RowCount(count(300), rows))
	require.NotNil(t, RowCount(count(50), rows))
}
