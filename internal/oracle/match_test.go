package oracle_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/semantics"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Short names, because the tables below are long.
var (
	null = wire.Null()
	txt  = wire.Text
	num  = wire.Int
	dec  = wire.Decimal
)

const (
	str, number, decimal, boolean = wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean
	date, datetime, jsonT, array  = wire.TypeDate, wire.TypeDatetime, wire.TypeJSON, wire.TypeArray
	reference, undeclared         = wire.TypeReference, wire.Type("")
)

func list(values ...wire.Value) []wire.Value { return values }

// TestFilter has what the rules of filters leave to a judge: requests that have no answer, and
// the first row that does not match. TestFilterVectors has the rules themselves.
func TestFilter(t *testing.T) {
	table := &oracle.Table{Name: "t"}
	table.Columns, table.Rows = cells.Table(t, `id:number n:number s:string u | 1 "1.0" "1.0" "1.0" | 2 1 "1" "1" | 3 null null null | 4`)
	for _, c := range testkit.Table(t, "testdata/filter.tsv", 3) {
		t.Run(c[2], func(t *testing.T) {
			var req wire.CountRequest
			cells.Decode(t, c[0], &req)
			got, err := oracle.Filter(table, req.And, req.Or, req.FieldTypes)
			if c[1] == "-" {
				require.Equal(t, &oracle.UnknownField{Table: "t", Field: "x", Where: "filter"}, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "["+c[1]+"]", fmt.Sprint(ids(got)))

			at, ok := oracle.Unmatched(table, req.And, req.Or, req.FieldTypes)
			require.Equal(t, len(got.Rows) == len(table.Rows), ok)
			if !ok {
				require.NotContains(t, ids(got), table.Rows[at][0].Int64())
				require.Subset(t, ids(got), ids(&oracle.Table{Rows: table.Rows[:at]}), "the first one is told")
			}
		})
	}
	for detail, f := range map[string]wire.Filter{ // [rule filter-14]
		`"like" is not an operator`: {Field: "s", Op: "like"},
		"isnull takes no value":     {Field: "s", Op: wire.OpIsNull, Value: num(1)},
		"eq takes no values":        {Field: "s", Op: wire.OpEq, Values: list(num(1))},
	} {
		_, err := oracle.Filter(table, []wire.Filter{f}, nil, nil)
		require.Equal(t, &oracle.Malformed{Detail: detail}, err)
	}
	type filters = []wire.Filter
	eq := func(field, value string) wire.Filter {
		return wire.Filter{Field: field, Op: wire.OpEq, Value: txt(value)}
	}
	t.Run("what the rows lack cannot be judged", func(t *testing.T) {
		_, ok := oracle.Unmatched(table, filters{eq("x", "1")}, []filters{{eq("x", "1"), eq("n", "1")}, {eq("y", "2")}}, nil)
		require.True(t, ok)
		at, ok := oracle.Unmatched(table, nil, []filters{{eq("x", "1"), eq("n", "1")}}, nil)
		require.False(t, ok)
		require.Equal(t, 2, at)
	})
}

// TestMatchUnknown has an operator that is none, which a request cannot have.
func TestMatchUnknown(t *testing.T) {
	require.False(t, oracle.Match(txt("a"), wire.Filter{Field: "c", Op: "like", Value: txt("a")}, str))
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

// TestFilterVectors runs the vectors of package filter against the oracle. They
// are data, not code; the README beside them describes their format.
func TestFilterVectors(t *testing.T) {
	ran := 0
	for name, cases := range semantics.Read(t, "../../filter/testdata/semantics") {
		for _, c := range cases {
			vector{c}.run(t, name)
			ran++
		}
	}
	require.GreaterOrEqual(t, ran, 1000)
}

type vector struct{ semantics.Case }

func (c vector) run(t *testing.T, file string) {
	what := file + ": " + c.Rule + ": " + c.Why
	req, err := c.Request()
	if err != nil {
		require.Equal(t, wire.CodeBadRequest, c.Error, "%s: %v", what, err)
		return
	}
	table := &oracle.Table{Name: "t"}
	var row []wire.Value
	table.Columns, row = c.Table()
	table.Rows = [][]wire.Value{append(row, make([]wire.Value, len(table.Columns)-len(row))...)}

	n, err := oracle.Count(oracle.Tables{"t": table}, req)
	var unknown *oracle.UnknownField
	var malformed *oracle.Malformed
	switch {
	case errors.As(err, &unknown):
		require.Equal(t, wire.CodeUnsupported, c.Error, what)
	case errors.As(err, &malformed):
		require.Equal(t, wire.CodeBadRequest, c.Error, what)
	default:
		require.NoError(t, err, what)
		require.Empty(t, c.Error, what)
		require.NotNil(t, c.Match, what)
		require.Equal(t, *c.Match, n == 1, what)
		if len(req.And) == 1 && req.Or == nil {
			c.runOnCells(t, what, table, req)
		}
	}
}

// runOnCells judges the cell of a case's one filter by [oracle.Cells], beside others.
func (c vector) runOnCells(t *testing.T, what string, table *oracle.Table, req *wire.CountRequest) {
	f := req.And[0]
	at := table.Index(f.Field)
	typ, cell := table.Columns[at].Type, table.Rows[0][at]
	if typ == "" {
		typ = req.FieldTypes[f.Field]
	}
	matches := oracle.NewCells(list(null, cell, cell, txt("another cell")), typ).Matcher(f)
	require.Equal(t, []bool{*c.Match, *c.Match}, []bool{matches(1), matches(2)}, "%s, parsed once", what)
}
