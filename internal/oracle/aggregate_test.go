package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func measure(fn wire.AggFunc, field string) wire.Measure {
	return wire.Measure{Fn: fn, Field: field, As: "m"}
}

func group(field string, grain wire.Grain) []wire.GroupKey {
	return []wire.GroupKey{{Field: field, As: "g", Grain: grain}}
}

// TestSums has the sums whose digits or sign are hard to get right. TestAgreesOnGeneratedTables
// compares everything else of an aggregate with package relation.
func TestSums(t *testing.T) {
	tenths := make([]wire.Value, 10)
	for i := range tenths {
		tenths[i] = flt(0.1)
	}
	for _, c := range []struct {
		why   string
		table *oracle.Table
		want  wire.Value
	}{
		{"ten tenths are one", column(decimal, tenths...), dec("1")},
		{"beyond the doubles", column(decimal, txt("9007199254740993"), txt("0.0000000000000000001"), null),
			dec("9007199254740993.0000000000000000001")},
		{"signs", column(decimal, txt("-1.25"), num(1)), dec("-0.25")},
		{"a sum of zero has no sign", column(decimal, txt("-1.25"), txt("1.250")), dec("0")},
		{"a sum over nothing is null", column(number, null), null},
	} {
		got, err := oracle.Aggregate(oracle.Tables{"t": c.table},
			&wire.AggregateRequest{Table: "t", Measures: []wire.Measure{measure(wire.AggSum, "c")}})
		require.NoError(t, err)
		require.Equal(t, [][]wire.Value{{c.want}}, got.Rows, "aggregate-1: %s", c.why)
	}
}

func TestAggregateWithoutAnswer(t *testing.T) {
	m := func(fn wire.AggFunc, field string) wire.AggregateRequest {
		return wire.AggregateRequest{Measures: []wire.Measure{measure(fn, field)}}
	}
	g := func(grain wire.Grain) wire.AggregateRequest {
		return wire.AggregateRequest{GroupBy: group("c", grain)}
	}
	var undefined *oracle.Undefined
	var malformed *oracle.Malformed
	var unknown *oracle.UnknownField
	cases := []struct {
		why   string
		table *oracle.Table
		req   wire.AggregateRequest
		err   any
	}{
		{"aggregate-1: a sum over text", column(str, txt("1")), m(wire.AggSum, "c"), &undefined},
		{"aggregate-1: a sum over an undeclared column", column(undeclared, txt("1")), m(wire.AggSum, "c"), &undefined},
		{"aggregate-1: a sum with a cell that is no number", column(number, num(1), txt("n/a")), m(wire.AggSum, "c"), &undefined},
		{"aggregate-1: a minimum over booleans", column(boolean, yes), m(wire.AggMin, "c"), &undefined},
		{"aggregate-1: a maximum over JSON", column(jsonT, txt("1")), m(wire.AggMax, "c"), &undefined},
		{"filter-6: a minimum with a cell that is no number", column(number, txt("n/a"), num(1)), m(wire.AggMin, "c"), &undefined},
		{"filter-8: a minimum over numbers and text", column(undeclared, txt("n/a"), num(1)), m(wire.AggMin, "c"), &undefined},
		{"aggregate-4: a grain over text", column(str, txt("2024-05-01")), g(wire.GrainDay), &undefined},
		{"aggregate-4: a grain over what is no date", column(date, txt("soon")), g(wire.GrainDay), &undefined},
		{"aggregate-4: a period beyond the years", column(datetime, txt("9999-12-31T23:59:59-01:00")), g(wire.GrainDay), &undefined},
		{"aggregate-7: an average", column(number, num(1)), m("avg", "c"), &malformed},
		{"aggregate-7: an unknown grain", column(date), g("week"), &malformed},
		{"aggregate-7: a sum of nothing", column(number), m(wire.AggSum, ""), &malformed},
		{"aggregate-7: neither groups nor measures", column(number), wire.AggregateRequest{}, &malformed},
		{"filter-11: an unknown measure", column(number), m(wire.AggSum, "x"), &unknown},
		{"filter-11: before what has no answer", column(str),
			wire.AggregateRequest{GroupBy: group("c", wire.GrainDay), Measures: []wire.Measure{measure(wire.AggSum, "x")}}, &unknown},
		{"filter-11: an unknown group", column(number), wire.AggregateRequest{GroupBy: group("x", "")}, &unknown},
		{"filter-11: an unknown filter field", column(number),
			wire.AggregateRequest{GroupBy: group("c", ""), Where: wire.Where{And: []wire.Filter{{Field: "x", Op: wire.OpIsNull}}}}, &unknown},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			c.req.Table = "t"
			tables := oracle.Tables{"t": c.table}
			_, err := oracle.Aggregate(tables, &c.req)
			require.ErrorAs(t, err, c.err)
			require.NotNil(t, oracle.VerifyGroups(tables, &c.req, nil), "no answer is right")
		})
	}
}

func TestVerifyGroups(t *testing.T) {
	type answer = map[string]wire.Value
	prices := func() *oracle.Table {
		return column(decimal, dec("1.50"), dec("1.5"), num(2), null)
	}
	groups := wire.AggregateRequest{Table: "t", GroupBy: group("c", ""), Measures: []wire.Measure{measure(wire.AggCount, "")}}
	sum := wire.AggregateRequest{Table: "t", Measures: []wire.Measure{measure(wire.AggSum, "c")}}
	distinct := wire.AggregateRequest{Table: "t", Measures: []wire.Measure{measure(wire.AggCountDistinct, "c")}}
	split := oracle.Reading{SplitGroups: true}
	cases := []struct {
		why     string
		reading oracle.Reading
		table   *oracle.Table
		req     wire.AggregateRequest
		got     []answer
		detail  string
	}{
		{"in another order, the keys spelled otherwise", oracle.Reading{}, prices(), groups,
			[]answer{{"g": null, "m": num(1)}, {"g": txt("2.0"), "m": txt("1")}, {"g": flt(1.5), "m": num(2)}}, ""},
		{"a null group lost", oracle.Reading{}, prices(), groups,
			[]answer{{"g": num(2), "m": num(1)}, {"g": flt(1.5), "m": num(2)}}, "1 of 3 groups missing"},
		{"a null key may be absent", oracle.Reading{}, prices(), groups,
			[]answer{{"m": num(1)}, {"g": num(2), "m": num(1)}, {"g": flt(1.5), "m": num(2)}}, ""},
		{"a wrong count", oracle.Reading{}, prices(), groups,
			[]answer{{"g": num(2), "m": num(2)}}, `row 0: the group {"g":2} has another m`},
		{"a group that does not exist", oracle.Reading{}, prices(), groups,
			[]answer{{"g": num(3), "m": num(2)}}, `row 0: the group {"g":3} does not exist, or is answered before`},
		{"a group twice", oracle.Reading{}, prices(), groups,
			[]answer{{"g": num(2), "m": num(1)}, {"g": num(2), "m": num(1)}}, `row 1: the group {"g":2} does not exist, or is answered before`},
		{"aggregate-2: scale twins apart", oracle.Reading{}, prices(), groups,
			[]answer{{"g": null, "m": num(1)}, {"g": num(2), "m": num(1)}, {"g": dec("1.50"), "m": num(1)},
				{"g": dec("1.5"), "m": num(1)}}, `row 2: the group {"g":"1.50"} has another m`},
		{"which the split reading takes", split, prices(), groups,
			[]answer{{"g": null, "m": num(1)}, {"g": num(2), "m": num(1)}, {"g": dec("1.50"), "m": num(1)}, {"g": dec("1.5"), "m": num(1)}}, ""},
		{"and it takes only that", split, prices(), groups,
			[]answer{{"g": null, "m": num(1)}, {"g": num(2), "m": num(1)}, {"g": dec("1.5"), "m": num(2)}},
			`row 2: the group {"g":"1.5"} has another m`},
		{"a sum in digits", oracle.Reading{}, prices(), sum, []answer{{"m": txt("5.00")}}, ""},
		{"a sum as a number", oracle.Reading{}, prices(), sum, []answer{{"m": num(5)}}, ""},
		{"a sum of floats", oracle.Reading{}, column(decimal, flt(0.1), flt(0.2)), sum,
			[]answer{{"m": flt(0.30000000000000004)}}, `row 0: the group has another m (sum of "c")`},
		{"a sum of zero over nothing", oracle.Reading{}, column(decimal, null), sum, []answer{{"m": num(0)}},
			`row 0: the group has another m (sum of "c")`},
		{"no row where one is due", oracle.Reading{}, column(decimal), sum, nil, "1 of 1 group missing"},
		{"a row over no groups", oracle.Reading{}, column(decimal), groups, []answer{{"g": null, "m": num(0)}},
			`row 0: the group {"g":null} does not exist, or is answered before`},
		{"aggregate-2: distinct by digits", oracle.Reading{}, prices(), distinct, []answer{{"m": num(2)}}, ""},
		{"aggregate-2: distinct by spelling", oracle.Reading{}, prices(), distinct, []answer{{"m": num(3)}},
			`row 0: the group has another m (count_distinct of "c")`},
		{"which the split reading takes", oracle.Reading{SplitDistinct: true}, prices(), distinct, []answer{{"m": num(3)}}, ""},
		{"filter-7: JSON of two spellings is two groups, however they are spelled", oracle.Reading{},
			column(jsonT, txt(`{"a":1}`), txt(`{"a": 1}`)), groups,
			[]answer{{"g": txt(`{"a":1}`), "m": num(1)}, {"g": txt(`{"a":1}`), "m": num(1)}}, ""},
		{"filter-9: dates as instants", oracle.Reading{}, column(datetime, txt("2024-05-01"), txt("2024-05-01T00:00:00Z")), groups,
			[]answer{{"g": txt("2024-05-01"), "m": num(2)}}, ""},
		{"which is a decision: by bytes they are two", oracle.Reading{DatesAsText: true},
			column(datetime, txt("2024-05-01"), txt("2024-05-01T00:00:00Z")), groups,
			[]answer{{"g": txt("2024-05-01"), "m": num(1)}, {"g": txt("2024-05-01T00:00:00Z"), "m": num(1)}}, ""},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			d := c.reading.VerifyGroups(oracle.Tables{"t": c.table}, &c.req, c.got)
			if c.detail == "" {
				require.Nil(t, d)
				return
			}
			require.NotNil(t, d)
			require.Equal(t, c.detail, d.Detail)
		})
	}
}

func TestReadings(t *testing.T) {
	all := oracle.Readings()
	require.Len(t, all, 8)
	require.Equal(t, oracle.Reading{}, all[0], "the rules come first")
	seen := map[oracle.Reading]bool{}
	for _, r := range all {
		require.False(t, seen[r])
		seen[r] = true
	}

	// [rule filter-9] is a decision: a source that compares dates by bytes is wrong under the
	// rules, and right under another reading.
	table := column(datetime, txt("2024-05-01T12:00:00Z"), txt("2024-05-01T13:00:00+02:00"))
	tables := oracle.Tables{"t": table}
	q := &wire.QueryRequest{Table: "t", Fields: []string{"id"}, Sort: []wire.SortKey{by("c", wire.Asc)}}
	asInstants, asText := [][]wire.Value{{num(1)}, {num(0)}}, [][]wire.Value{{num(0)}, {num(1)}}
	require.Nil(t, oracle.Verify(tables, q, asInstants))
	require.NotNil(t, oracle.Verify(tables, q, asText))
	require.Nil(t, oracle.Reading{DatesAsText: true}.Verify(tables, q, asText))
	require.NotNil(t, oracle.Reading{DatesAsText: true}.Verify(tables, q, asInstants))
}
