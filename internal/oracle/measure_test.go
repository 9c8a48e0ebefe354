package oracle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
		_, err := fmt.Sscan(c[0]+" "+c[1]+" "+c[2], &got.FromNonNull, &got.OrphanCount, &got.OrphanRate)
		require.NoError(t, err)
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
	cases := []struct {
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
	}
	for _, c := range cases {
		_, err := oracle.Query(shop(t), &wire.QueryRequest{Table: "orders", Fields: []string{"id"}, Joins: c.hops})
		require.ErrorAs(t, err, c.err, c.why)
	}

	// Two hops, the second from the table of the first; an absent "as" is the
	// field's own name; a self-join's columns are told apart.
	got, err := oracle.Query(shop(t), &wire.QueryRequest{
		Table: "orders", Fields: []string{"id"},
		Where: wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: num(2)}}},
		Joins: []wire.JoinHop{
			hop("orders", "city", "cities", "name", wire.JoinField{Field: "land"}),
			hop("cities", "land", "cities", "land", wire.JoinField{Field: "name", As: "again"}),
		},
	})
	require.NoError(t, err)
	require.Equal(t, [][]wire.Value{{num(2), txt("Italy"), txt("Rome")}, {num(2), txt("Georgia"), txt("Rome")}}, got.Rows)
	require.Equal(t, []wire.Column{{Name: "id", Type: number}, {Name: "land", Type: str, Hop: 1},
		{Name: "again", Type: str, Hop: 2}}, got.Columns)
}
