package oracle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestCardinality(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/cardinality.tsv", 5) {
		table := columnOf(t, c[0])
		got := testkit.Must(oracle.Cardinality(table, "c"))(t)
		least, greatest, err := oracle.DistinctRange(table, "c")
		require.NoError(t, err)
		require.Equal(t, c[1:4], strings.Fields(fmt.Sprint(got.NonNull, got.Distinct, greatest)), c[4])
		require.Equal(t, got.Distinct, least, c[4])
	}
	_, err := oracle.Cardinality(column(str), "x")
	require.Equal(t, &oracle.UnknownField{Table: "t", Field: "x", Where: "column"}, err)
	_, _, err = oracle.DistinctRange(column(str), "x")
	require.Error(t, err)
}

func TestLinkHitRate(t *testing.T) {
	req := func() *wire.LinkHitRateRequest {
		return &wire.LinkHitRateRequest{FromTable: "from", FromColumn: "c", ToTable: "to", ToColumn: "c"}
	}
	for _, c := range testkit.Table(t, "testdata/rates.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			tables := oracle.Tables{"from": columnOf(t, c[0]), "to": columnOf(t, c[1])}
			got := testkit.Must(oracle.LinkHitRate(tables, req()))(t)
			require.Equal(t, c[2], fmt.Sprint(got.FromNonNull, got.OrphanCount, got.OrphanRate))
			require.Equal(t, strings.Fields(strings.TrimPrefix(c[3], "-")), got.OrphanSamples)
			require.Nil(t, oracle.VerifyLinkHitRate(tables, req(), got))
		})
	}
	tables := oracle.Tables{"from": column(str), "to": column(str)}
	for why, change := range map[string]func(*wire.LinkHitRateRequest){
		"from table":  func(r *wire.LinkHitRateRequest) { r.FromTable = "x" },
		"to table":    func(r *wire.LinkHitRateRequest) { r.ToTable = "x" },
		"from column": func(r *wire.LinkHitRateRequest) { r.FromColumn = "x" },
		"to column":   func(r *wire.LinkHitRateRequest) { r.ToColumn = "x" },
	} {
		r := req()
		change(r)
		_, err := oracle.LinkHitRate(tables, r)
		require.Error(t, err, why)
		require.NotNil(t, oracle.VerifyLinkHitRate(tables, r, &wire.LinkHitRate{}), why)
	}
}

func TestVerifyLinkHitRate(t *testing.T) {
	tables := oracle.Tables{"from": columnOf(t, "decimal decimal:1.50 2 3 null"), "to": columnOf(t, "number 2")}
	req := &wire.LinkHitRateRequest{FromTable: "from", FromColumn: "c", ToTable: "to", ToColumn: "c"}
	many := strings.TrimSuffix(strings.Repeat("3 ", 21), " ")
	for _, c := range append(testkit.Table(t, "testdata/links.tsv", 6),
		[]string{"3", "2", "0.6666666666666666", many, "too many orphanSamples", "too many samples"}) {
		got := wire.LinkHitRate{OrphanSamples: strings.Fields(strings.TrimPrefix(c[3], "-"))}
		testkit.Must(fmt.Sscan(c[0]+" "+c[1]+" "+c[2], &got.FromNonNull, &got.OrphanCount, &got.OrphanRate))(t)
		differs(t, oracle.VerifyLinkHitRate(tables, req, &got), c[4], c[5])
	}
}

// differs requires a difference, or none if that is "-".
func differs(t *testing.T, d *oracle.Difference, detail, why string) {
	t.Helper()
	if detail == "-" {
		require.Nil(t, d, why)
		return
	}
	require.NotNil(t, d, why)
	require.Equal(t, detail, d.Detail, why)
}

func TestJoinRefuses(t *testing.T) {
	hop := func(from, fromField, to, toField string, fields ...wire.JoinField) wire.JoinHop {
		return wire.JoinHop{FromTable: from, FromField: fromField, ToTable: to, ToField: toField, Fields: fields}
	}
	city := hop("orders", "city", "cities", "name")
	var undefined *oracle.Undefined
	var malformed *oracle.Malformed
	var unknown *oracle.UnknownField
	var table *oracle.UnknownTable
	for _, c := range []struct {
		why  string
		hops []wire.JoinHop
		err  any
	}{
		{"from nowhere", []wire.JoinHop{hop("cities", "name", "orders", "city")}, &malformed},
		{"from a table that two hops reached", []wire.JoinHop{city, city, hop("cities", "land", "cities", "land")}, &undefined},
		{"to nowhere", []wire.JoinHop{hop("orders", "city", "x", "name")}, &table},
		{"from an unknown field", []wire.JoinHop{hop("orders", "x", "cities", "name")}, &unknown},
		{"to an unknown field", []wire.JoinHop{hop("orders", "city", "cities", "x")}, &unknown},
		{"an unknown field", []wire.JoinHop{hop("orders", "city", "cities", "name", wire.JoinField{Field: "x", As: "x"})}, &unknown},
		{"a clash of names", []wire.JoinHop{hop("orders", "city", "cities", "name", wire.JoinField{Field: "land", As: "id"})}, &malformed},
	} {
		_, err := oracle.Query(shop(t), &wire.QueryRequest{Table: "orders", Fields: []string{"id"}, Joins: c.hops})
		require.ErrorAs(t, err, c.err, c.why)
	}

	// Two hops, the second from the table of the first; an absent "as" is the
	// field's own name; a self-join's columns are told apart.
	got := testkit.Must(oracle.Query(shop(t), &wire.QueryRequest{
		Table: "orders", Fields: []string{"id"},
		Where: wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: num(2)}}},
		Joins: []wire.JoinHop{
			hop("orders", "city", "cities", "name", wire.JoinField{Field: "land"}),
			hop("cities", "land", "cities", "land", wire.JoinField{Field: "name", As: "again"}),
		},
	}))(t)
	require.Equal(t, [][]wire.Value{{num(2), txt("Italy"), txt("Rome")}, {num(2), txt("Georgia"), txt("Rome")}}, got.Rows)
	require.Equal(t, []wire.Column{{Name: "id", Type: number}, {Name: "land", Type: str, Hop: 1},
		{Name: "again", Type: str, Hop: 2}}, got.Columns)
}

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
		got := testkit.Must(oracle.Aggregate(oracle.Tables{"t": columnOf(t, c[0])},
			&wire.AggregateRequest{Table: "t", Measures: []wire.Measure{measure(wire.AggSum, "c")}}))(t)
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
