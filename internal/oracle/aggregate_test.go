package oracle_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
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
	for _, c := range testkit.Table(t, "testdata/sums.tsv", 3) {
		got, err := oracle.Aggregate(oracle.Tables{"t": columnOf(t, c[0])},
			&wire.AggregateRequest{Table: "t", Measures: []wire.Measure{measure(wire.AggSum, "c")}})
		require.NoError(t, err)
		require.Equal(t, [][]wire.Value{{cells.One(t, c[1])}}, got.Rows, "aggregate-1: %s", c[2])
	}
}

func TestAggregateWithoutAnswer(t *testing.T) {
	unanswered := func(t *testing.T, table *oracle.Table, req *wire.AggregateRequest, as any) {
		t.Helper()
		req.Table = "t"
		tables := oracle.Tables{"t": table}
		_, err := oracle.Aggregate(tables, req)
		require.ErrorAs(t, err, as)
		require.NotNil(t, oracle.VerifyGroups(tables, req, nil), "no answer is right")
	}
	for _, c := range testkit.Table(t, "testdata/no-answer.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			req := &wire.AggregateRequest{}
			if field, grain, _ := strings.Cut(c[1], "/"); field != "-" {
				req.GroupBy = group(field, wire.Grain(grain))
			}
			if fn, field, _ := strings.Cut(c[2], " "); fn != "-" {
				req.Measures = []wire.Measure{measure(wire.AggFunc(fn), field)}
			}
			unanswered(t, columnOf(t, c[0]), req, map[string]any{"Undefined": new(*oracle.Undefined),
				"Malformed": new(*oracle.Malformed), "UnknownField": new(*oracle.UnknownField)}[c[3]])
		})
	}
	filtered := &wire.AggregateRequest{GroupBy: group("c", ""), Where: wire.Where{And: []wire.Filter{{Field: "x", Op: wire.OpIsNull}}}}
	unanswered(t, column(number), filtered, new(*oracle.UnknownField)) // filter-11
}

func TestVerifyGroups(t *testing.T) {
	readings := map[string]oracle.Reading{"-": {}, "SplitGroups": {SplitGroups: true}, "SplitDistinct": {SplitDistinct: true},
		"DatesAsText": {DatesAsText: true}}
	for _, c := range testkit.Table(t, "testdata/groups.tsv", 6) {
		t.Run(c[5], func(t *testing.T) {
			table := columnOf(t, strings.Replace(c[1], "prices", "decimal decimal:1.50 decimal:1.5 2 null", 1))
			req := &wire.AggregateRequest{Table: "t", Measures: []wire.Measure{measure(wire.AggFunc(c[2]), "c")}}
			if c[2] == "groups" {
				req.GroupBy, req.Measures = group("c", ""), []wire.Measure{measure(wire.AggCount, "")}
			}
			var got []map[string]wire.Value
			require.NoError(t, json.Unmarshal([]byte(c[3]), &got))
			differs(t, readings[c[0]].VerifyGroups(oracle.Tables{"t": table}, req, got), c[4], c[5])
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
