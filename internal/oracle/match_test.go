package oracle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Short names, because the tables below are long.
var (
	null = wire.Null()
	txt  = wire.Text
	num  = wire.Int
	flt  = wire.Float
	dec  = wire.Decimal
	yes  = wire.Bool(true)
	no   = wire.Bool(false)
)

const (
	str, number, decimal, boolean = wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean
	date, datetime, jsonT, array  = wire.TypeDate, wire.TypeDatetime, wire.TypeJSON, wire.TypeArray
	reference, undeclared         = wire.TypeReference, wire.Type("")
)

func list(values ...wire.Value) []wire.Value { return values }

// TestMatch derives every verdict from the text of the rules by hand.
func TestMatch(t *testing.T) {
	cases := []struct {
		rule  string
		why   string
		t     wire.Type
		cell  wire.Value
		op    wire.Op
		value any // a wire.Value, or the values of in and nin
		want  bool
	}{
		{"filter-2", "a null cell is not equal", str, null, wire.OpEq, txt("a"), false},
		{"filter-2", "nor different", str, null, wire.OpNeq, txt("a"), false},
		{"filter-2", "nor less", number, null, wire.OpLt, num(1), false},
		{"filter-2", "nor has it a part, not even the empty one", str, null, wire.OpIncludes, txt(""), false},
		{"filter-2", "nor the empty prefix", str, null, wire.OpStartsWith, txt(""), false},
		{"filter-2", "a null value matches nothing, not even null", str, null, wire.OpEq, null, false},
		{"filter-2", "a null value differs from nothing", str, txt("a"), wire.OpNeq, null, false},
		{"filter-2", "a null value is no element", array, txt("[null]"), wire.OpContains, null, false},
		{"filter-2", "a null value is no part", str, txt("null"), wire.OpIncludes, null, false},
		{"filter-2", "null is null", str, null, wire.OpIsNull, null, true},
		{"filter-2", "the empty string is not", str, txt(""), wire.OpIsNull, null, false},
		{"filter-2", "the text null is not", str, txt("null"), wire.OpIsNull, null, false},
		{"filter-2", "zero is not null", number, num(0), wire.OpNotNull, null, true},
		{"filter-2", "null is not notnull", number, null, wire.OpNotNull, null, false},

		{"filter-3", "a member is equal", str, txt("a"), wire.OpIn, list(txt("b"), txt("a")), true},
		{"filter-3", "no member is equal", str, txt("a"), wire.OpIn, list(txt("b")), false},
		{"filter-3", "a null cell is never in, although null is a member", str, null, wire.OpIn, list(null), false},
		{"filter-3", "a null cell is kept by nin", str, null, wire.OpNin, list(txt("a")), true},
		{"filter-3", "a null cell is kept by nin although null is a member", str, null, wire.OpNin, list(null), true},
		{"filter-3", "null members are ignored by in", str, txt("a"), wire.OpIn, list(null, txt("a")), true},
		{"filter-3", "null members are ignored by nin", str, txt("a"), wire.OpNin, list(null), true},
		{"filter-3", "nothing is in the empty list", str, txt("a"), wire.OpIn, list(), false},
		{"filter-3", "everything is outside the empty list", str, txt("a"), wire.OpNin, list(), true},
		{"filter-3", "in compares as the type does", decimal, txt("1.50"), wire.OpIn, list(txt("+1.5")), true},
		{"filter-3", "nin compares as the type does", decimal, txt("1.50"), wire.OpNin, list(num(2), flt(1.5)), false},

		{"filter-4", "an element", array, txt(`["red","blue"]`), wire.OpContains, txt("blue"), true},
		{"filter-4", "a part of an element is none", array, txt(`["red"]`), wire.OpContains, txt("re"), false},
		{"filter-4", "text is no array", str, txt("red"), wire.OpContains, txt("red"), false},
		{"filter-4", "elements compare as undeclared ones do", array, txt(`["01.50"]`), wire.OpContains, flt(1.5), true},
		{"filter-4", "an array in a string column is one", str, txt(`["a"]`), wire.OpContains, txt("a"), true},
		{"filter-4", "a number as an element, with an exponent", array, txt(`[1E2]`), wire.OpContains, num(100), true},
		{"filter-4", "a text with an exponent is no number", array, txt(`["1E2"]`), wire.OpContains, num(100), false},
		{"filter-4", "true is the text true", array, txt(`[true]`), wire.OpContains, txt("true"), true},
		{"filter-4", "nested values never match", array, txt(`[["a"],{"a":"a"}]`), wire.OpContains, txt("a"), false},
		{"filter-4", "null elements never match", array, txt(`[null]`), wire.OpContains, txt("null"), false},
		{"filter-4", "malformed JSON is no array", array, txt(`["a"`), wire.OpContains, txt("a"), false},
		{"filter-4", "an object is no array", jsonT, txt(`{"a":"a"}`), wire.OpContains, txt("a"), false},
		{"filter-4", "text behind the array", array, txt(`["a"]]`), wire.OpContains, txt("a"), false},

		{"filter-5", "a part", str, txt("a red house"), wire.OpIncludes, txt("red"), true},
		{"filter-5", "in the right case", str, txt("a red house"), wire.OpIncludes, txt("Red"), false},
		{"filter-5", "the empty part", str, txt(""), wire.OpIncludes, txt(""), true},
		{"filter-5", "a percent sign is itself", str, txt("100"), wire.OpIncludes, txt("%"), false},
		{"filter-5", "an underscore is itself", str, txt("abc"), wire.OpStartsWith, txt("a_"), false},
		{"filter-5", "a prefix", str, txt("red"), wire.OpStartsWith, txt("re"), true},
		{"filter-5", "a suffix is no prefix", str, txt("red"), wire.OpStartsWith, txt("ed"), false},
		{"filter-5", "a number by its wire text", number, flt(12.5), wire.OpIncludes, txt("2."), true},
		{"filter-5", "a decimal by its wire text, scale kept", decimal, dec("12.50"), wire.OpIncludes, txt(".50"), true},
		{"filter-5", "a number as the value", str, txt("a12b"), wire.OpIncludes, num(12), true},
		{"filter-5", "a boolean by its text", boolean, yes, wire.OpStartsWith, txt("tr"), true},
		{"filter-5", "a date by its text, not as an instant", datetime, txt("2024-05-01T01:00:00+02:00"),
			wire.OpStartsWith, txt("2024-04-30"), false},

		{"filter-6", "scales do not matter", number, txt("1.50"), wire.OpEq, txt("1.5"), true},
		{"filter-6", "nor leading zeros", number, txt("01.5"), wire.OpEq, txt("1.5"), true},
		{"filter-6", "nor a plus", number, txt("+1.5"), wire.OpEq, flt(1.5), true},
		{"filter-6", "minus zero is zero", number, txt("-0.0"), wire.OpEq, num(0), true},
		{"filter-6", "minus zero is not below zero", number, txt("-0"), wire.OpLt, num(0), false},
		{"filter-6", "2^53 and 2^53+1 differ", number, txt("9007199254740993"), wire.OpNeq, txt("9007199254740992"), true},
		{"filter-6", "and have an order", number, txt("9007199254740993"), wire.OpGt, txt("9007199254740992"), true},
		{"filter-6", "ten is above nine", number, txt("10"), wire.OpGt, txt("9"), true},
		{"filter-6", "minus ten is below minus nine", number, txt("-10"), wire.OpLt, txt("-9"), true},
		{"filter-6", "a longer fraction is not a larger number", decimal, txt("1.45"), wire.OpLt, txt("1.5"), true},
		{"filter-6", "a fraction that continues another is larger", decimal, txt("1.51"), wire.OpGt, txt("1.5"), true},
		{"filter-6", "of negative numbers it is smaller", decimal, txt("-1.51"), wire.OpLt, txt("-1.5"), true},
		{"filter-6", "a negative number is below a positive one", decimal, txt("-999"), wire.OpLt, txt("0.001"), true},
		{"filter-6", "a JSON number is spelled without an exponent", number, flt(1e-7), wire.OpEq, txt("0.0000001"), true},
		{"filter-6", "a large JSON number too", number, flt(1e21), wire.OpEq, txt("1000000000000000000000"), true},
		{"filter-6", "a JSON number has its shortest digits", decimal, flt(0.1), wire.OpEq, txt("0.1"), true},
		{"filter-6", "an exponent in text is no number", number, txt("1e2"), wire.OpEq, num(100), false},
		{"filter-6", "which does not differ either", number, txt("1e2"), wire.OpNeq, num(100), false},
		{"filter-6", "nor equal itself", number, txt("1e2"), wire.OpEq, txt("1e2"), false},
		{"filter-6", "nin keeps it", number, txt("1e2"), wire.OpNin, list(txt("1e2")), true},
		{"filter-6", "no digits before the dot", number, txt(".5"), wire.OpEq, txt("0.5"), false},
		{"filter-6", "no digits after the dot", number, txt("5."), wire.OpGte, num(0), false},
		{"filter-6", "a blank", number, txt(" 5"), wire.OpGte, num(0), false},
		{"filter-6", "the empty string", number, txt(""), wire.OpLte, num(0), false},
		{"filter-6", "a sign alone", number, txt("-"), wire.OpLte, num(0), false},
		{"filter-6", "two dots", number, txt("1.2.3"), wire.OpGt, num(0), false},
		{"filter-6", "NaN", number, txt("NaN"), wire.OpNeq, num(0), false},
		{"filter-6", "digits of another script", number, txt("٣"), wire.OpNeq, num(0), false},
		{"filter-6", "true is no number", number, yes, wire.OpEq, num(1), false},
		{"filter-6", "a value that is no number", number, num(1), wire.OpNeq, txt("one"), false},
		{"filter-6", "gte holds for equal spellings", decimal, txt("2.0"), wire.OpGte, num(2), true},
		{"filter-6", "lte too", decimal, txt("2.0"), wire.OpLte, num(2), true},
		{"filter-6", "gt does not", decimal, txt("2.0"), wire.OpGt, num(2), false},

		{"filter-7", "case matters", str, txt("a"), wire.OpEq, txt("A"), false},
		{"filter-7", "capitals are below small letters", str, txt("Z"), wire.OpLt, txt("a"), true},
		{"filter-7", "a blank at the end matters", str, txt("a "), wire.OpEq, txt("a"), false},
		{"filter-7", "the shorter text is less", str, txt("a"), wire.OpLt, txt("a "), true},
		{"filter-7", "no normalisation", str, txt("é"), wire.OpEq, txt("e\u0301"), false},
		{"filter-7", "UTF-8 order, not that of UTF-16", str, txt("\uFF5E"), wire.OpLt, txt("\U0001F600"), true},
		{"filter-7", "digits of a string are text", str, txt("10"), wire.OpLt, txt("9"), true},
		{"filter-7", "scales matter in a string", str, txt("1.50"), wire.OpEq, txt("1.5"), false},
		{"filter-7", "a number and the same digits as text are equal", str, txt("5"), wire.OpEq, num(5), true},
		{"filter-7", "a boolean is its text", boolean, yes, wire.OpEq, txt("true"), true},
		{"filter-7", "true is not 1", boolean, yes, wire.OpEq, num(1), false},
		{"filter-7", "false is below true", boolean, no, wire.OpLt, yes, true},
		{"filter-7", "a reference is text", reference, txt("007"), wire.OpNeq, txt("7"), true},
		{"filter-7", "JSON is text: a blank matters", jsonT, txt(`{"a":1}`), wire.OpEq, txt(`{"a": 1}`), false},
		{"filter-7", "an array is text", array, txt(`[1]`), wire.OpEq, txt(`[1]`), true},

		{"filter-8", "two numbers", undeclared, txt("1.50"), wire.OpEq, flt(1.5), true},
		{"filter-8", "two numbers have the order of numbers", undeclared, txt("10"), wire.OpGt, txt("9"), true},
		{"filter-8", "a number and text", undeclared, txt("10"), wire.OpLt, txt("9a"), true},
		{"filter-8", "text that is no number equals itself", undeclared, txt("1e2"), wire.OpEq, txt("1e2"), true},
		{"filter-8", "and differs from others", undeclared, txt("1e2"), wire.OpNeq, num(100), true},
		{"filter-8", "a boolean is its text", undeclared, yes, wire.OpEq, txt("true"), true},

		{"filter-9", "one instant in two offsets", datetime, txt("2024-05-01T12:00:00Z"), wire.OpEq, txt("2024-05-01T14:00:00+02:00"), true},
		{"filter-9", "no offset means UTC", datetime, txt("2024-05-01T12:00:00"), wire.OpEq, txt("2024-05-01T12:00:00Z"), true},
		{"filter-9", "a bare date is its midnight", datetime, txt("2024-05-01T00:00:00.000Z"), wire.OpEq, txt("2024-05-01"), true},
		{"filter-9", "any fraction", datetime, txt("2024-05-01T00:00:00.10Z"), wire.OpEq, txt("2024-05-01T00:00:00.1Z"), true},
		{"filter-9", "fractions count to the last digit", datetime, txt("2024-05-01T00:00:00.00000000001Z"), wire.OpGt, txt("2024-05-01"), true},
		{"filter-9", "a fraction is later than none", datetime, txt("2024-05-01T00:00:00.5Z"), wire.OpGt, txt("2024-05-01T00:00:00Z"), true},
		{"filter-9", "before 1970 too", datetime, txt("1969-12-31T23:59:59.5Z"), wire.OpLt, txt("1970-01-01"), true},
		{"filter-9", "a day that does not exist is text", date, txt("2023-02-29"), wire.OpEq, txt("2023-03-01"), false},
		{"filter-9", "text equals itself", date, txt("soon"), wire.OpEq, txt("soon"), true},
		{"filter-9", "text differs, unlike among numbers", date, txt("soon"), wire.OpNeq, txt("2024-05-01"), true},
		{"filter-9", "an expected cell may be a wire date", date,
			wire.Date(time.Date(2024, 5, 1, 9, 0, 0, 0, time.UTC)), wire.OpEq, txt("2024-05-01"), true},
		{"filter-9", "or a wire datetime", datetime,
			wire.DatetimeWidth(time.Date(2024, 5, 1, 9, 0, 0, 0, time.UTC), 3), wire.OpEq, txt("2024-05-01T09:00:00Z"), true},
		{"filter-9", "an instant in a string column is text", str, txt("2024-05-01T12:00:00Z"), wire.OpEq,
			txt("2024-05-01T14:00:00+02:00"), false},

		{"filter-13", "an operator that is none matches nothing", str, txt("a"), "like", txt("a"), false},
	}
	for _, c := range cases {
		t.Run(c.rule+" "+c.why, func(t *testing.T) {
			f := wire.Filter{Field: "c", Op: c.op}
			if values, ok := c.value.([]wire.Value); ok {
				f.Values = values
			} else {
				f.Value = c.value.(wire.Value)
			}
			require.Equal(t, c.want, oracle.Match(c.cell, f, c.t))
			matches := oracle.NewCells([]wire.Value{null, c.cell, c.cell, txt("another cell")}, c.t).Matcher(f)
			require.Equal(t, []bool{c.want, c.want}, []bool{matches(1), matches(2)}, "parsed once, beside others")
		})
	}
}

func TestFilter(t *testing.T) {
	table := &oracle.Table{
		Name:    "t",
		Columns: []wire.Column{{Name: "id", Type: number}, {Name: "n", Type: number}, {Name: "s", Type: str}, {Name: "u"}},
		Rows: [][]wire.Value{{num(1), txt("1.0"), txt("1.0"), txt("1.0")}, {num(2), num(1), txt("1"), txt("1")},
			{num(3), null, null, null}, {num(4)}},
	}
	eq := func(field, value string) wire.Filter {
		return wire.Filter{Field: field, Op: wire.OpEq, Value: txt(value)}
	}
	isnull := func(field string) wire.Filter { return wire.Filter{Field: field, Op: wire.OpIsNull} }
	type filters = []wire.Filter
	cases := []struct {
		why   string
		and   filters
		or    []filters
		types map[string]wire.Type
		want  []int64
		err   any
	}{
		{why: "filter-1: no filter constrains nothing", want: []int64{1, 2, 3, 4}},
		{why: "filter-1: all of and", and: filters{eq("n", "1"), eq("s", "1")}, want: []int64{2}},
		{why: "filter-1: an or without groups constrains nothing", and: filters{eq("n", "1")}, or: []filters{}, want: []int64{1, 2}},
		{why: "filter-1: an empty group is true of every row", or: []filters{{}}, want: []int64{1, 2, 3, 4}},
		{why: "filter-1: an empty group beside one that fails", or: []filters{{eq("s", "x")}, {}}, want: []int64{1, 2, 3, 4}},
		{why: "filter-1: one group suffices", or: []filters{{eq("s", "1")}, {isnull("s")}}, want: []int64{2, 3, 4}},
		{why: "filter-1: a group holds in full", or: []filters{{eq("n", "1"), eq("s", "1.0")}}, want: []int64{1}},
		{why: "filter-1: or is one more conjunct", and: filters{eq("n", "1")}, or: []filters{{isnull("s")}, {eq("s", "1")}}, want: []int64{2}},
		{why: "filter-11: a cell missing from a row is null", and: filters{isnull("u")}, want: []int64{3, 4}},
		{why: "filter-10: fieldTypes types what is undeclared", and: filters{eq("u", "1")},
			types: map[string]wire.Type{"u": str}, want: []int64{2}},
		{why: "filter-10: without it the column is undeclared [rule filter-8]", and: filters{eq("u", "1")}, want: []int64{1, 2}},
		{why: "filter-10: fieldTypes never overrides a declared string", and: filters{eq("s", "1")},
			types: map[string]wire.Type{"s": number}, want: []int64{2}},
		{why: "filter-10: fieldTypes never overrides a declared number", and: filters{eq("n", "1")},
			types: map[string]wire.Type{"n": str}, want: []int64{1, 2}},
		{why: "filter-11: an unknown field", and: filters{eq("x", "1")}, err: &oracle.UnknownField{Table: "t", Field: "x", Where: "filter"}},
		{why: "filter-11: an unknown field in a group", or: []filters{{}, {eq("x", "1")}},
			err: &oracle.UnknownField{Table: "t", Field: "x", Where: "filter"}},
		{why: "filter-11: fieldTypes makes no field", and: filters{isnull("x")},
			types: map[string]wire.Type{"x": str}, err: &oracle.UnknownField{Table: "t", Field: "x", Where: "filter"}},
		{why: "filter-14: an unknown operator", and: filters{{Field: "s", Op: "like"}},
			err: &oracle.Malformed{Detail: `"like" is not an operator`}},
		{why: "filter-14: a value on isnull", and: filters{{Field: "s", Op: wire.OpIsNull, Value: num(1)}},
			err: &oracle.Malformed{Detail: "isnull takes no value"}},
		{why: "filter-14: values on eq", and: filters{{Field: "s", Op: wire.OpEq, Values: list(num(1))}},
			err: &oracle.Malformed{Detail: "eq takes no values"}},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			got, err := oracle.Filter(table, c.and, c.or, c.types)
			if c.err != nil {
				require.Equal(t, c.err, err)
				return
			}
			require.NoError(t, err)
			var ids []int64
			for _, row := range got.Rows {
				ids = append(ids, row[0].Int64())
			}
			require.Equal(t, c.want, ids)

			at, ok := oracle.Unmatched(table, c.and, c.or, c.types)
			require.Equal(t, len(c.want) == len(table.Rows), ok)
			if !ok {
				require.NotContains(t, c.want, table.Rows[at][0].Int64())
				for _, row := range table.Rows[:at] {
					require.Contains(t, c.want, row[0].Int64(), "the first one is told")
				}
			}
		})
	}
	t.Run("what the rows lack cannot be judged", func(t *testing.T) {
		_, ok := oracle.Unmatched(table, filters{eq("x", "1")}, []filters{{eq("x", "1"), eq("n", "1")}, {eq("y", "2")}}, nil)
		require.True(t, ok)
		at, ok := oracle.Unmatched(table, nil, []filters{{eq("x", "1"), eq("n", "1")}}, nil)
		require.False(t, ok)
		require.Equal(t, 2, at)
	})
}

// The cost of hostile operands must be linear in their length [rule filter-6d].
func TestComparingIsLinear(t *testing.T) {
	long := strings.Repeat("9", 4<<20)
	pairs := [][2]string{
		{long, long + "0"}, {"0." + long, "0." + long + "1"}, {"-" + long, long},
		{strings.Repeat("0", 4<<20) + "1", "1"}, {"1." + strings.Repeat("0", 4<<20), "1"},
		{"2024-05-01T00:00:00." + long + "Z", "2024-05-01T00:00:00." + long + "1Z"},
		{strings.Repeat("[", 4<<20), strings.Repeat("[", 4<<20)},
	}
	orders := []int{-1, -1, -1, 0, 0, -1, 0}
	for i, p := range pairs {
		typ := wire.Type("")
		if i == 5 {
			typ = datetime
		}
		order, ok := oracle.Compare(txt(p[0]), txt(p[1]), typ)
		require.True(t, ok)
		require.Equal(t, orders[i], order, "pair %d", i)
	}
	deep := txt(strings.Repeat("[", 4<<20))
	require.False(t, oracle.Match(deep, wire.Filter{Op: wire.OpContains, Value: txt("a")}, array))
	require.False(t, oracle.Match(txt(strings.Repeat("[", 2000)+strings.Repeat("]", 2000)),
		wire.Filter{Op: wire.OpContains, Value: txt("a")}, array))
	require.False(t, oracle.Same(txt("1e999999999999999999999"), txt("1e999999999999999999998"), jsonT))
	require.True(t, oracle.Same(txt("[1e99999999]"), txt("[10e99999998]"), jsonT), "an exponent is never written out")
}
