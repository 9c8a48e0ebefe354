package relation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hops reads the hops of a join, such as "staff.home = places.town, land homeLand; ...", in
// which a field may have another name behind it.
func hops(text string) (joins []wire.JoinHop) {
	for _, hop := range strings.Split(text, "; ") {
		words := strings.Split(hop, ", ")
		var j wire.JoinHop
		from, to, _ := strings.Cut(words[0], " = ")
		j.FromTable, j.FromField, _ = strings.Cut(from, ".")
		j.ToTable, j.ToField, _ = strings.Cut(to, ".")
		for _, f := range words[1:] {
			var field wire.JoinField
			field.Field, field.As, _ = strings.Cut(f, " ")
			j.Fields = append(j.Fields, field)
		}
		joins = append(joins, j)
	}
	return joins
}

// joined joins tables to staff.
func joined(t *testing.T, joins []wire.JoinHop, tables ...string) (relation.Relation, error) {
	t.Helper()
	var to []relation.Relation
	for _, name := range tables {
		to = append(to, table(t, name))
	}
	req := relation.JoinRequest{Table: "staff", Fields: []string{"id", "name"}, Joins: joins}
	return relation.Join(table(t, "staff"), req, to, unlimited())
}

func TestJoin(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/join.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			joined := testkit.Must(joined(t, hops(c[1]), strings.Split(c[2], "; ")...))(t)
			got := []string{}
			for r, err := range joined.Rows {
				require.NoError(t, err)
				require.Len(t, r, len(joined.Columns))
				got = append(got, cells.Spelled(t, append(row(r[0]), r[5:]...))...)
			}
			assert.Equal(t, listed(c[3], " | "), got, c[4])
		})
	}
}

func TestJoinColumns(t *testing.T) {
	joins := hops("staff.home = places.town, land homeLand, town; staff.work = places.town, land")
	joins[0].Fields[0].Type, joins[0].Fields[1].Type = wire.TypeJSON, wire.TypeReference
	joined := testkit.Must(joined(t, joins, "town land:string", "places"))(t)
	assert.Equal(t, append(table(t, "staff").Columns,
		wire.Column{Name: "homeLand", Type: wire.TypeString, Hop: 1}, // [rule filter-10]: the source's own type
		wire.Column{Name: "town", Type: wire.TypeReference, Hop: 1},  // else the request's
		wire.Column{Name: "land", Type: wire.TypeString, Hop: 2},     // "as" absent: the field's own name
	), joined.Columns)
}

// TestJoinTypes: fieldTypes speak of the base table's fields where it declares
// nothing [rule filter-10], and of no other table's.
func TestJoinTypes(t *testing.T) {
	for _, c := range []struct{ base, hop, want, why string }{
		{`k | "1.0"`, `k:number | 1`, `"1.0" 1 "1.00"`, "measure-2b: numbers on both sides"},
		{`k:number | 1`, `k | "1"`, `1 "1" null`, "a hop's undeclared key is text, whatever a base field of its name is"},
	} {
		joined, err := relation.Join(table(t, c.base), relation.JoinRequest{Table: "base", Joins: hops("base.k = a.k, k a; a.k = b.k, k b"),
			FieldTypes: map[string]wire.Type{"k": wire.TypeNumber}},
			[]relation.Relation{table(t, c.hop), table(t, "k:number | decimal:1.00")}, unlimited())
		require.NoError(t, err)
		assert.Equal(t, []string{c.want}, collect(t, joined.Rows), c.why)
	}
}

func TestJoinCanBeReadTwiceAndLeftEarly(t *testing.T) {
	joined := testkit.Must(joined(t, hops("staff.home = places.town, land"), "places"))(t)
	n := 0
	for _, err := range joined.Rows {
		require.NoError(t, err)
		if n++; n == 3 { // in the middle of the matches of one row
			break
		}
	}
	all := collect(t, joined.Rows)
	require.Len(t, all, 5)
	assert.Equal(t, `4 "Di" 9 null null null`, all[4], "cells that a base row lacks are null")
}

func TestJoinRefuses(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/join-refuses.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			var tables []string
			for _, j := range hops(c[1]) {
				tables = append(tables, j.ToTable)
			}
			_, err := joined(t, hops(c[1]), tables...)
			require.Error(t, err, c[4])
			refused(t, err, wire.Code(c[2]), c[3])
		})
	}
	_, err := joined(t, hops("staff.home = places.town; staff.work = places.town"), "places")
	assert.ErrorContains(t, err, "2 hops", "a hop is refused rather than dropped")
}

func TestJoinPassesFailuresOn(t *testing.T) {
	req := relation.JoinRequest{Table: "staff", Joins: hops("staff.home = places.town, land")}
	broken := table(t, "places")
	broken.Rows = failing(nil, errUpstream)
	_, err := relation.Join(table(t, "staff"), req, []relation.Relation{broken}, unlimited())
	require.ErrorIs(t, err, errUpstream, "a hop fails before the first row")

	base := table(t, "staff")
	base.Rows = failing([][]wire.Value{row(num(1), text("Ada"))}, errUpstream)
	joined := testkit.Must(relation.Join(base, req, []relation.Relation{table(t, "places")}, unlimited()))(t)
	var last error
	n := 0
	for _, err := range joined.Rows {
		n, last = n+1, err
	}
	assert.ErrorIs(t, last, errUpstream, "the base fails among the rows")
	assert.Equal(t, 2, n)

	bad := relation.Relation{Columns: table(t, "places").Columns, Rows: relation.RowsOf(row(wire.Decimal("x"), null))}
	_, err = relation.Join(table(t, "staff"), req, []relation.Relation{bad}, unlimited())
	assert.ErrorContains(t, err, `table "places", column "town"`)
}

// TestJoinIndexed joins, and links, tables that have an index: their rows are not read, and
// nothing is kept of them.
func TestJoinIndexed(t *testing.T) {
	indexed := func(rel relation.Relation) relation.Relation {
		var rows [][]wire.Value
		for r, err := range rel.Rows {
			require.NoError(t, err)
			rows = append(rows, relation.KeepRow(r))
		}
		rel.Rows = failing(nil, errUpstream)
		rel.Index = func(column int, numeric bool) *relation.Index { return relation.NewIndex(rows, column, numeric) }
		return rel
	}
	joins := hops("staff.boss = staff.id, name bossName, home bossHome; staff.home = places.town, land")
	req := relation.JoinRequest{Table: "staff", Joins: joins}
	read, err := relation.Join(table(t, "staff"), req, []relation.Relation{table(t, "staff"), table(t, "places")}, unlimited())
	require.NoError(t, err)
	joined, err := relation.Join(table(t, "staff"), req,
		[]relation.Relation{indexed(table(t, "staff")), indexed(table(t, "places"))}, relation.NewBudget(0))
	require.NoError(t, err)
	assert.Equal(t, collect(t, read.Rows), collect(t, joined.Rows))
	mixed, err := relation.Join(table(t, "staff"), req, []relation.Relation{table(t, "staff"), indexed(table(t, "places"))}, unlimited())
	require.NoError(t, err)
	assert.Equal(t, collect(t, read.Rows), collect(t, mixed.Rows))

	boss := &wire.LinkHitRateRequest{FromTable: "staff", FromColumn: "boss", ToTable: "staff", ToColumn: "id"}
	rate := testkit.Must(relation.LinkHitRate(table(t, "staff"), indexed(table(t, "staff")), boss, relation.NewBudget(0)))(t)
	assert.Equal(t, &wire.LinkHitRate{FromNonNull: 3, OrphanCount: 1, OrphanRate: 1. / 3, OrphanSamples: []string{"9"}}, rate)
}

// TestJoinPlan tells what the joins need of each table, and where each of their columns
// comes from.
func TestJoinPlan(t *testing.T) {
	plan := testkit.Must(relation.PlanJoin(table(t, "staff").Columns,
		[][]wire.Column{table(t, "places").Columns, table(t, "lands").Columns}, relation.JoinRequest{
			Table: "staff",
			Joins: hops("staff.home = places.town, town, town again; places.land = lands.code, full")}))(t)
	assert.Equal(t, []int{0, 1}, plan.Needed(0), "the key, which is a field too, and the key of the next hop")
	assert.Equal(t, []int{0, 1}, plan.Needed(1))
	var origins [][2]int
	for i := range plan.Columns {
		hop, at := plan.Origin(i)
		origins = append(origins, [2]int{hop, at})
	}
	assert.Equal(t, [][2]int{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {1, 0}, {2, 1}}, origins)
}
