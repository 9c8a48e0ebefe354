package relation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sales returns rows with a column of every kind that matters to an aggregate.
func sales() relation.Relation {
	day := func(s string) wire.Value {
		t, err := time.Parse(time.DateOnly, s)
		if err != nil {
			panic(err)
		}
		return wire.Date(t)
	}
	return relation.Relation{
		Columns: []wire.Column{
			{Name: "region", Type: wire.TypeString},
			{Name: "amount", Type: wire.TypeDecimal},
			{Name: "day", Type: wire.TypeDate},
			{Name: "paid", Type: wire.TypeBoolean},
			{Name: "code"}, // undeclared
			{Name: "tags", Type: wire.TypeArray},
		},
		Rows: reused([][]wire.Value{
			row(text("north"), dec("1.50"), day("2024-02-29"), wire.Bool(true), text("10"), text(`["a"]`)),
			row(text("North"), dec("2"), day("2024-03-31"), wire.Bool(false), text("010"), null),
			row(text("north"), dec("1.5"), null, wire.Bool(true), text("9"), null),
			row(null, null, day("2023-12-31"), null, null, null),
			row(null, dec("-0.25"), day("2024-01-01")), // the rest is null
		}),
	}
}

func by(fields ...string) (groups []wire.GroupKey) {
	for _, f := range fields {
		name, grain, _ := strings.Cut(f, "/")
		groups = append(groups, wire.GroupKey{Field: name, As: f, Grain: wire.Grain(grain)})
	}
	return groups
}

func of(measures ...string) (list []wire.Measure) {
	for _, m := range measures {
		fn, field, _ := strings.Cut(m, " ")
		list = append(list, wire.Measure{Fn: wire.AggFunc(fn), Field: field, As: m})
	}
	return list
}

func TestAggregate(t *testing.T) {
	cases := []struct {
		name string
		rel  relation.Relation
		req  wire.AggregateRequest
		want []string
		why  string
	}{
		{"everything", sales(), wire.AggregateRequest{Measures: of("count", "count region", "sum amount", "min amount",
			"max amount", "count_distinct amount")},
			[]string{`5 3 "4.75" "-0.25" "2" 3`},
			"aggregate-1: rows, non-null cells, an exact digit string, spelled as in a row; aggregate-2: 1.50 and 1.5 are one value"},
		{"over no rows", column("n", wire.TypeNumber),
			wire.AggregateRequest{Measures: of("count", "count n", "count_distinct n", "sum n", "min n", "max n")},
			[]string{`0 0 0 null null null`}, "aggregate-3a: exactly one row even over no rows; aggregate-1b: all but the counts are null"},
		{"groups over no rows", column("n", wire.TypeNumber), wire.AggregateRequest{GroupBy: by("n"), Measures: of("count")},
			[]string{}, "aggregate-3a: groupBy over no rows gives no rows"},
		{"over nulls", column("n", wire.TypeNumber, null, null),
			wire.AggregateRequest{Measures: of("count", "count n", "count_distinct n", "sum n", "min n", "max n")},
			[]string{`2 0 0 null null null`}, "aggregate-1b: null over nothing"},
		{"by text", sales(), wire.AggregateRequest{GroupBy: by("region"), Measures: of("count", "sum amount")},
			[]string{`"north" 2 "3.00"`, `"North" 1 "2"`, `null 2 "-0.25"`},
			"aggregate-3: null is a group of its own; aggregate-5: text groups byte for byte; the scale is that of the group's own addends"},
		{"without measures", sales(), wire.AggregateRequest{GroupBy: by("region")},
			[]string{`"north"`, `"North"`, `null`}, "measures may be empty where groupBy is not (aggregate-7): distinct values"},
		{"by number", sales(), wire.AggregateRequest{GroupBy: by("amount"), Measures: of("count")},
			[]string{`"1.50" 2`, `"2" 1`, `null 1`, `"-0.25" 1`}, "aggregate-2: 1.5 and 1.50 are one group, spelled as its first row spells it"},
		{"by boolean", sales(), wire.AggregateRequest{GroupBy: by("paid"), Measures: of("count")},
			[]string{`true 2`, `false 1`, `null 2`}, "booleans group, and stay booleans"},
		{"by two", sales(), wire.AggregateRequest{GroupBy: by("region", "paid"), Measures: of("count")},
			[]string{`"north" true 2`, `"North" false 1`, `null null 2`}, "keys are the combination"},
		{"undeclared", sales(), wire.AggregateRequest{GroupBy: by("code"), Measures: of("count")},
			[]string{`"10" 2`, `"9" 1`, `null 2`}, "filter-8: undeclared text that is plain digits groups as numbers"},
		{"string fields", sales(), wire.AggregateRequest{GroupBy: by("code"), Measures: of("count"), StringFields: []string{"code", "nowhere"}},
			[]string{`"10" 1`, `"010" 1`, `"9" 1`, `null 2`}, "aggregate-5: a field that stringFields names groups byte for byte"},
		{"string fields of a declared number", sales(),
			wire.AggregateRequest{GroupBy: by("amount"), Measures: of("count"), StringFields: []string{"amount"}},
			[]string{`"1.50" 2`, `"2" 1`, `null 1`, `"-0.25" 1`}, "filter-10: what the source declares is not overridden"},
		{"field types", sales(), wire.AggregateRequest{Measures: of("min code", "max code"),
			Where: wire.Where{FieldTypes: map[string]wire.Type{"code": wire.TypeString}}},
			[]string{`"010" "9"`}, "filter-10: fieldTypes decide where the source declares nothing; by bytes 010 < 10 < 9"},
		{"field types make numbers", sales(),
			wire.AggregateRequest{Measures: of("sum code", "max code"),
				Where: wire.Where{FieldTypes: map[string]wire.Type{"code": wire.TypeNumber}}},
			[]string{`"29" "10"`}, "filter-10; the maximum is spelled as the first row that has it"},
		{"undeclared extremes", sales(), wire.AggregateRequest{Measures: of("min code", "max code")},
			[]string{`"9" "10"`}, "filter-8: all of them are plain digits, so they compare as numbers"},
		{"text extremes", sales(), wire.AggregateRequest{Measures: of("min region", "max region", "count_distinct region")},
			[]string{`"North" "north" 2`}, "aggregate-1b: min and max over text, by bytes (filter-7)"},
		{"date extremes", sales(), wire.AggregateRequest{Measures: of("min day", "max day", "count day")},
			[]string{`"2023-12-31" "2024-03-31" 4`}, "aggregate-1b: min and max over dates"},
		{"instants", column("at", wire.TypeDatetime, text("2024-01-01T00:30:00+01:00"), text("2024-01-01T00:00:00Z"),
			text("2023-12-31T23:30:00Z"), text("2023-12-31T23:59:59.9999999999Z")),
			wire.AggregateRequest{GroupBy: nil, Measures: of("min at", "max at", "count_distinct at")},
			[]string{`"2024-01-01T00:30:00+01:00" "2024-01-01T00:00:00Z" 3`},
			"filter-9: instants whatever their offset; spelled as in their row; aggregate-2: one instant in two spellings is one value"},
		{"by year", sales(), wire.AggregateRequest{GroupBy: by("day/year"), Measures: of("count")},
			[]string{`"2024-01-01" 3`, `null 1`, `"2023-01-01" 1`}, "aggregate-4: the year's first day; null has no period and is a group"},
		{"by quarter", sales(), wire.AggregateRequest{GroupBy: by("day/quarter"), Measures: of("count")},
			[]string{`"2024-01-01" 3`, `null 1`, `"2023-10-01" 1`}, "aggregate-4: the quarter's first day"},
		{"by month and day", sales(), wire.AggregateRequest{GroupBy: by("day/month", "day/day", "day"), Measures: of("count")},
			[]string{`"2024-02-01" "2024-02-29" "2024-02-29" 1`, `"2024-03-01" "2024-03-31" "2024-03-31" 1`, `null null null 1`,
				`"2023-12-01" "2023-12-31" "2023-12-31" 1`, `"2024-01-01" "2024-01-01" "2024-01-01" 1`},
			"one field may be cut in several ways"},
		{"undeclared dates", column("at", "", text("2024-05-31T23:00:00-03:00"), text("2024-06-01")),
			wire.AggregateRequest{GroupBy: by("at/month"), Measures: of("count")},
			[]string{`"2024-06-01" 2`}, "a grain takes an undeclared column that holds dates, in UTC"},
		{"filtered", sales(), wire.AggregateRequest{Where: wire.Where{And: []wire.Filter{{Field: "amount", Op: wire.OpGt,
			Value: num(0)}}, Or: [][]wire.Filter{{{Field: "region", Op: wire.OpIsNull}},
			{{Field: "region", Op: wire.OpStartsWith, Value: text("n")}}}}, Measures: of("count", "sum amount")},
			[]string{`2 "3.00"`}, "filter-1: and, and one group of or; filter-2: a null amount is not greater than 0"},
		{"distinct per group", sales(),
			wire.AggregateRequest{GroupBy: by("paid"), Measures: of("count_distinct region", "count_distinct amount")},
			[]string{`true 1 1`, `false 1 1`, `null 0 1`}, "distinct values are counted within each group"},
		{"the empty string", column("s", wire.TypeString, text(""), null, text("")),
			wire.AggregateRequest{GroupBy: by("s"), Measures: of("count", "count s", "count_distinct s", "min s")},
			[]string{`"" 2 2 1 ""`, `null 1 0 0 null`}, "measure-1: the empty string is a value, and not null"},
		{"minus zero", column("n", wire.TypeNumber, wire.Float(0), dec("-0"), dec("0.00")),
			wire.AggregateRequest{GroupBy: by("n"), Measures: of("sum n", "max n", "count_distinct n")},
			[]string{`0 "0.00" 0 1`}, "filter-6: -0 = 0 = 0.00"},
		{"neighbours of 2^53", column("n", wire.TypeNumber, num(1<<53), num(1<<53+1), wire.Float(1<<53)),
			wire.AggregateRequest{Measures: of("count_distinct n", "max n", "sum n")},
			[]string{`2 "9007199254740993" "27021597764222977"`}, "filter-6: 2^53 and 2^53+1 differ"},
		{"several keys", relation.Relation{Columns: []wire.Column{{Name: "a", Type: wire.TypeString}, {Name: "b", Type: wire.TypeString}},
			Rows: reused([][]wire.Value{row(text("a"), text("bc")), row(text("ab"), text("c"))})}, wire.AggregateRequest{GroupBy: by("a", "b")},
			[]string{`"a" "bc"`, `"ab" "c"`}, "two keys are not one long one"},
		{"null and text", column("s", wire.TypeString, null, text(""), null, text("null")),
			wire.AggregateRequest{GroupBy: by("s"), Measures: of("count")}, []string{`null 2`, `"" 1`, `"null" 1`},
			"aggregate-3: null is a group of its own, and not that of a text"},
		{"equal extremes", column("n", wire.TypeDecimal, text("1.0"), text("1.00"), text("1")),
			wire.AggregateRequest{Measures: of("min n", "max n")}, []string{`"1.0" "1.0"`}, "the first of equal extremes stays"},
		{"numbers by value", column("n", wire.TypeNumber, text("9"), text("10"), text("-2"), text("-10")),
			wire.AggregateRequest{Measures: of("min n", "max n")}, []string{`"-10" "10"`}, "filter-6: numbers order by their value"},
		{"text by bytes", column("s", wire.TypeString, text("9"), text("10"), text("a"), text("B")),
			wire.AggregateRequest{Measures: of("min s", "max s")}, []string{`"10" "a"`}, "filter-7"},
		{"undeclared text extremes", column("s", "", text("x9"), text("x10")), wire.AggregateRequest{Measures: of("min s", "max s")},
			[]string{`"x10" "x9"`}, "filter-8: text if none is a number"},
		{"distinct values of two measures", relation.Relation{Columns: []wire.Column{{Name: "n", Type: wire.TypeNumber},
			{Name: "s", Type: wire.TypeString}}, Rows: reused([][]wire.Value{row(text("1"), text("1")), row(text("1.0"), text("1.0"))})},
			wire.AggregateRequest{Measures: of("count_distinct n", "count_distinct s")}, []string{`1 2`}, "each measure counts its own"},
		{"no groups and a limit", column("n", wire.TypeNumber, num(1), num(2)), wire.AggregateRequest{Measures: of("count"), Limit: 1},
			[]string{`2`}, "without groupBy there is nothing to limit (aggregate-3a)"},
		{"text among numbers, only counted", column("n", wire.TypeNumber, text("n/a"), num(1), text("n/a")),
			wire.AggregateRequest{GroupBy: by("n"), Measures: of("count", "count_distinct n")},
			[]string{`"n/a" 2 1`, `1 1 1`}, "what is no number groups by its text: nothing is computed with it"},
		{"undeclared joined columns", relation.Relation{Columns: []wire.Column{{Name: "code", Hop: 1}},
			Rows: reused([][]wire.Value{row(text("1")), row(text("1.0"))})},
			wire.AggregateRequest{Measures: of("count_distinct code"), Where: wire.Where{FieldTypes: map[string]wire.Type{"code": wire.TypeString}}},
			[]string{`1`}, "filter-10: fieldTypes speak of the base table's fields"},
		{"joined columns", relation.Relation{
			Columns: []wire.Column{{Name: "n", Type: wire.TypeNumber}, {Name: "city", Type: wire.TypeString, Hop: 1}},
			Rows:    reused([][]wire.Value{row(num(1), text("Rome")), row(num(2), null)}),
		}, wire.AggregateRequest{GroupBy: by("city"), Measures: of("sum n"),
			Where: wire.Where{FieldTypes: map[string]wire.Type{"city": wire.TypeNumber}}},
			[]string{`"Rome" "1"`, `null "2"`}, "a hop's column groups by its as"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := relation.Aggregate(c.rel, &c.req, unlimited())
			require.NoError(t, err, c.why)
			require.NotNil(t, got, "an empty answer is rows: []")
			assert.Equal(t, c.want, spelled(t, got), c.why)
		})
	}
}

func TestPlanAggregateColumns(t *testing.T) {
	columns := append(sales().Columns, wire.Column{Name: "n", Type: wire.TypeNumber})
	plan, err := relation.PlanAggregate(columns, &wire.AggregateRequest{GroupBy: by("region", "code/month"),
		Measures: of("count", "count_distinct region", "sum n", "max day")})
	require.NoError(t, err)
	types := []wire.Type{}
	for _, c := range plan.Columns {
		types = append(types, c.Type)
	}
	assert.Equal(t, []wire.Type{wire.TypeString, wire.TypeDate, wire.TypeNumber, wire.TypeNumber, wire.TypeDecimal, wire.TypeDate}, types)
}

func TestAggregateRefuses(t *testing.T) {
	cases := []struct {
		name     string
		req      wire.AggregateRequest
		code     wire.Code
		mentions string
		why      string
	}{
		{"nothing asked", wire.AggregateRequest{}, wire.CodeBadRequest, "both empty", "aggregate-7"},
		{"a sum of nothing", wire.AggregateRequest{Measures: of("sum")}, wire.CodeBadRequest, "measures[0].field",
			"aggregate-7: only a count needs no field"},
		{"an average", wire.AggregateRequest{Measures: of("count", "avg amount")}, wire.CodeBadRequest, "measures[1].fn",
			"aggregate-7: avg is never pushed"},
		{"an unknown grain", wire.AggregateRequest{GroupBy: by("day/week")}, wire.CodeBadRequest, "groupBy[0].grain", "aggregate-7"},
		{"an unknown group", wire.AggregateRequest{GroupBy: by("colour")}, wire.CodeUnknownEntity, `"colour"`,
			"filter-11a: a column the source does not have"},
		{"an unknown measure", wire.AggregateRequest{Measures: of("max colour")}, wire.CodeUnknownEntity, `"colour"`, "filter-11a"},
		{"an unknown filter field", wire.AggregateRequest{Where: wire.Where{And: []wire.Filter{{Field: "colour",
			Op: wire.OpIsNull}}}, Measures: of("count")}, wire.CodeUnsupported, "colour", "filter-11: in a filter it is 422"},
		{"a refusal before a decline", wire.AggregateRequest{Measures: of("sum region", "sum colour")},
			wire.CodeUnknownEntity, `"colour"`, "a 204 would hide the mistake"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.req.Table = "sales"
			_, err := relation.Aggregate(sales(), &c.req, unlimited())
			refused(t, err, c.code, c.mentions)
		})
	}
}

func TestAggregateDeclines(t *testing.T) {
	numbers := func(cells ...wire.Value) relation.Relation { return column("n", wire.TypeNumber, cells...) }
	cases := []struct {
		name     string
		rel      relation.Relation
		req      wire.AggregateRequest
		mentions string
		why      string
	}{
		{"a sum of text", sales(), wire.AggregateRequest{Measures: of("sum region")}, "no number",
			"aggregate-1a: sum only over number and decimal"},
		{"a sum of the undeclared", sales(), wire.AggregateRequest{Measures: of("sum code")}, "no number",
			"aggregate-1a: no type says that these are numbers"},
		{"a sum with n/a", numbers(num(1), text("n/a")), wire.AggregateRequest{Measures: of("sum n")}, `a sum over field "n"`,
			"a sum that leaves a value out is wrong"},
		{"a sum with an exponent", numbers(text("1e5")), wire.AggregateRequest{Measures: of("sum n")}, "no number",
			"filter-6a: an exponent is no plain decimal"},
		{"a sum with a boolean", numbers(wire.Bool(true)), wire.AggregateRequest{Measures: of("sum n")}, "no number", "filter-7a: true is not 1"},
		{"a minimum with n/a", numbers(num(1), text("n/a")), wire.AggregateRequest{Measures: of("min n")},
			`a minimum or maximum over field "n"`, "filter-6: incomparable"},
		{"a minimum of booleans among numbers", numbers(wire.Bool(true)), wire.AggregateRequest{Measures: of("min n")},
			"no number", "filter-7a: true is not 1"},
		{"a minimum with n/a first", numbers(text("n/a"), num(1)), wire.AggregateRequest{Measures: of("min n")}, "no number",
			"whatever the order of the rows"},
		{"a maximum of a mixture", column("m", "", num(9), text("10"), text("1a")),
			wire.AggregateRequest{Measures: of("max m")}, "mixes", "filter-8 has no order here: 9 < 10 < 1a < 9"},
		{"a maximum of booleans", sales(), wire.AggregateRequest{Measures: of("max paid")}, "no order", "aggregate-1b: numbers, text, dates"},
		{"a minimum of json", column("j", wire.TypeJSON, text("{}")), wire.AggregateRequest{Measures: of("min j")}, "no order", "aggregate-1b"},
		{"a maximum of arrays", sales(), wire.AggregateRequest{Measures: of("max tags")}, "no order", "aggregate-1b"},
		{"a maximum of a mixture, text first", column("m", "", text("x"), num(1)),
			wire.AggregateRequest{Measures: of("max m")}, "mixes", "in either order"},
		{"a maximum of a bad date", column("d", wire.TypeDate, text("2024-01-01"), text("soon")),
			wire.AggregateRequest{Measures: of("max d")}, "no date", "filter-9 falls back to bytes, which has no order with instants"},
		{"a grain of a number", sales(), wire.AggregateRequest{GroupBy: by("amount/year")}, "no date", "aggregate-4: date and datetime columns"},
		{"a grain of text", column("s", wire.TypeString), wire.AggregateRequest{GroupBy: by("s/day")}, "no date",
			"aggregate-4: before any row is read"},
		{"a grain of a bad date", column("d", wire.TypeDate, text("2024-01-01"), text("2024-02-30")),
			wire.AggregateRequest{GroupBy: by("d/year")}, "no date", "a row in no period would be lost"},
		{"a grain of an undeclared number", column("d", "", num(2024)), wire.AggregateRequest{GroupBy: by("d/year")},
			"no date", "2024 is a number"},
		{"two columns of a name", relation.Relation{Columns: []wire.Column{{Name: "n"}, {Name: "n", Hop: 1}},
			Rows: relation.RowsOf()}, wire.AggregateRequest{GroupBy: by("n")}, "several columns", "query-6: which is meant is not known"},
		{"two hops of a name", relation.Relation{Columns: []wire.Column{{Name: "n", Hop: 1}, {Name: "n", Hop: 2}},
			Rows: relation.RowsOf()}, wire.AggregateRequest{Measures: of("max n")}, "several columns", "likewise"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := relation.Aggregate(c.rel, &c.req, unlimited())
			require.Error(t, err, c.why)
			declined(t, err, c.mentions)
			assert.NotContains(t, err.Error(), "n/a", "no cell in an error")
		})
	}
}

func TestAggregatePassesFailuresOn(t *testing.T) {
	rel := sales()
	rel.Rows = failing([][]wire.Value{row(text("north"))}, errUpstream)
	_, err := relation.Aggregate(rel, &wire.AggregateRequest{Measures: of("count")}, unlimited())
	assert.ErrorIs(t, err, errUpstream)

	bad := wire.Decimal("not a number")
	for _, req := range []wire.AggregateRequest{{GroupBy: by("n")}, {Measures: of("max n")}, {Measures: of("count n")}} {
		_, err = relation.Aggregate(column("n", wire.TypeDecimal, bad), &req, unlimited())
		assert.ErrorContains(t, err, `column "n"`, "cell-1: a cell that cannot cross fails, and is not declined")
		var cell *relation.CellError
		assert.ErrorAs(t, err, &cell)
		assert.NotContains(t, err.Error(), "not a number")
	}
}

// TestAggregateLimit: as many groups as the limit, or more, are refused and never cut
// [rule aggregate-6]. A row of a known group is not one more.
func TestAggregateLimit(t *testing.T) {
	for _, c := range []struct {
		limit  int64
		groups int
		ok     bool
	}{
		{0, 9, true}, {1, 0, true}, {1, 1, false}, {2, 1, true}, {2, 2, false}, {3, 2, true}, {3, 9, false},
		{wire.AggregateLimit, 1000, true}, {wire.AggregateLimit, 1001, false}, {wire.AggregateLimit, 5000, false},
	} {
		var cells []wire.Value
		for i := range 2 * c.groups {
			cells = append(cells, num(int64(i%c.groups)))
		}
		got, err := relation.Aggregate(column("n", wire.TypeNumber, cells...),
			&wire.AggregateRequest{GroupBy: by("n"), Limit: c.limit}, unlimited())
		if c.ok {
			require.NoError(t, err)
			assert.Len(t, got, c.groups)
			continue
		}
		var many *relation.GroupsError
		require.ErrorAs(t, err, &many)
		assert.Equal(t, c.limit, many.Limit)
		assert.ErrorContains(t, err, fmt.Sprint(c.limit, " groups or more"))
	}
}
