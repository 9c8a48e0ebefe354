package relation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// staff returns a table that refers to itself and to places.
func staff() relation.Relation {
	return relation.Relation{
		Columns: []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString},
			{Name: "boss", Type: wire.TypeNumber}, {Name: "home", Type: wire.TypeString}, {Name: "work", Type: wire.TypeString}},
		Rows: reused([][]wire.Value{
			row(num(1), text("Ada"), null, text("Rome"), text("Oslo")),
			row(num(2), text("Bo"), dec("1.0"), text("Oslo"), text("Oslo")),
			row(num(3), text("Cy"), num(2), text("Atlantis"), null),
			row(num(4), text("Di"), num(9)), // the rest is null
		}),
	}
}

// places returns a table with two rows for Oslo, and one without a name.
func places() relation.Relation {
	return relation.Relation{
		Columns: []wire.Column{{Name: "town", Type: wire.TypeString}, {Name: "land", Type: wire.TypeString}},
		Rows: reused([][]wire.Value{row(text("Oslo"), text("NO")), row(text("Rome"), text("IT")), row(null, text("?")),
			row(text("Oslo"), text("no"))}),
	}
}

func lands() relation.Relation {
	return relation.Relation{
		Columns: []wire.Column{{Name: "code", Type: wire.TypeString}, {Name: "full", Type: wire.TypeString}},
		Rows:    reused([][]wire.Value{row(text("NO"), text("Norway")), row(text("IT"), text("Italy"))}),
	}
}

// hop returns one hop; fields are "field" or "field as".
func hop(from, fromField, to, toField string, fields ...string) wire.JoinHop {
	j := wire.JoinHop{FromTable: from, FromField: fromField, ToTable: to, ToField: toField}
	for _, f := range fields {
		field := wire.JoinField{}
		_, _ = fmt.Sscan(f, &field.Field, &field.As)
		j.Fields = append(j.Fields, field)
	}
	return j
}

func TestJoin(t *testing.T) {
	cases := []struct {
		name  string
		joins []wire.JoinHop
		hops  []relation.Relation
		want  []string // id and the joined cells
		why   string
	}{
		{"several matches", []wire.JoinHop{hop("staff", "home", "places", "town", "land")}, []relation.Relation{places()},
			[]string{`1 "IT"`, `2 "NO"`, `2 "no"`, `3 null`, `4 null`},
			"query-6: LEFT; an unmatched row keeps nulls, several matches are several rows, a null key matches nothing, not even a null"},
		{"self-join", []wire.JoinHop{hop("staff", "boss", "staff", "id", "name bossName")}, []relation.Relation{staff()},
			[]string{`1 null`, `2 "Ada"`, `3 "Bo"`, `4 null`},
			"query-6a: the table and itself are told apart; measure-2b: 1.0 = 1 as both are numeric"},
		{"two hops to one table", []wire.JoinHop{hop("staff", "home", "places", "town", "land homeLand"),
			hop("staff", "work", "places", "town", "land workLand")}, []relation.Relation{places(), places()},
			[]string{`1 "IT" "NO"`, `1 "IT" "no"`, `2 "NO" "NO"`, `2 "NO" "no"`, `2 "no" "NO"`, `2 "no" "no"`, `3 null null`, `4 null null`},
			"query-6a: two hops to one table are told apart, and multiply"},
		{"a hop from a hop", []wire.JoinHop{hop("staff", "home", "places", "town", "town"),
			hop("places", "land", "lands", "code", "full")}, []relation.Relation{places(), lands()},
			[]string{`1 "Rome" "Italy"`, `2 "Oslo" "Norway"`, `2 "Oslo" null`, `3 null null`, `4 null null`},
			"query-6a: fromTable is an earlier hop; its key need not be among the fields; text keys are equal by bytes: no is not NO"},
		{"a hop without fields", []wire.JoinHop{hop("staff", "home", "places", "town")}, []relation.Relation{places()},
			[]string{`1`, `2`, `2`, `3`, `4`}, "a hop that adds no member still multiplies rows"},
		{"three rows of one key", []wire.JoinHop{hop("staff", "home", "places", "town", "land")},
			[]relation.Relation{{Columns: places().Columns, Rows: relation.RowsOf(row(text("Rome"), text("a")),
				row(text("Rome"), text("b")), row(text("Rome"), text("c")))}},
			[]string{`1 "a"`, `1 "b"`, `1 "c"`, `2 null`, `3 null`, `4 null`}, "each row of the key, in their order"},
		{"only needed columns are kept, in another order", []wire.JoinHop{hop("staff", "home", "places", "town", "town"),
			hop("places", "land", "lands", "code", "full", "code"), hop("places", "land", "lands", "code", "full again")},
			[]relation.Relation{{Columns: []wire.Column{{Name: "land"}, {Name: "mayor"}, {Name: "town"}},
				Rows: relation.RowsOf(row(text("IT"), text("NO"), text("Rome")))}, lands(), lands()},
			[]string{`1 "Rome" "Italy" "IT" "Italy"`, `2 null null null null`, `3 null null null null`, `4 null null null null`},
			"the keys of later hops are found there"},
		{"a hop without rows", []wire.JoinHop{hop("staff", "home", "places", "town", "land")},
			[]relation.Relation{{Columns: places().Columns, Rows: relation.RowsOf()}},
			[]string{`1 null`, `2 null`, `3 null`, `4 null`}, "LEFT: no row is lost"},
		{"a number and text", []wire.JoinHop{hop("staff", "boss", "lands", "code", "full")},
			[]relation.Relation{{Columns: lands().Columns,
				Rows: relation.RowsOf(row(text("1"), text("one")), row(text("1.0"), text("one point nought")))}},
			[]string{`1 null`, `2 "one point nought"`, `3 null`, `4 null`}, "measure-2b: keys compare as text unless both are numeric"},
		{"back to the base", []wire.JoinHop{hop("staff", "boss", "staff", "id", "name bossName"),
			hop("staff", "id", "staff", "boss", "name report")}, []relation.Relation{staff(), staff()},
			[]string{`1 null "Bo"`, `2 "Ada" "Cy"`, `3 "Bo" null`, `4 null null`}, "the base table stays the base after one hop reached it"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			joined, err := relation.Join(staff(), relation.JoinRequest{Table: "staff", Fields: []string{"id"}, Joins: c.joins}, c.hops, unlimited())
			require.NoError(t, err)
			got := []string{}
			for r, err := range joined.Rows {
				require.NoError(t, err)
				require.Len(t, r, len(joined.Columns))
				cells := [][]wire.Value{append(row(r[0]), r[5:]...)}
				got = append(got, spelled(t, cells)...)
			}
			assert.Equal(t, c.want, got, c.why)
		})
	}
}

func TestJoinColumns(t *testing.T) {
	joins := []wire.JoinHop{hop("staff", "home", "places", "town", "land homeLand", "town"), hop("staff", "work", "places", "town", "land")}
	joins[0].Fields[0].Type = wire.TypeJSON
	undeclared := places()
	undeclared.Columns[0].Type = ""
	joins[0].Fields[1].Type = wire.TypeReference
	req := relation.JoinRequest{Table: "staff", Joins: joins}
	joined, err := relation.Join(staff(), req, []relation.Relation{undeclared, places()}, unlimited())
	require.NoError(t, err)
	assert.Equal(t, append(staff().Columns,
		wire.Column{Name: "homeLand", Type: wire.TypeString, Hop: 1}, // [rule filter-10]: the source's own type
		wire.Column{Name: "town", Type: wire.TypeReference, Hop: 1},  // else the request's
		wire.Column{Name: "land", Type: wire.TypeString, Hop: 2},     // "as" absent: the field's own name
	), joined.Columns)
}

// TestJoinTypes: fieldTypes speak of the base table's fields where it declares
// nothing [rule filter-10], and of no other table's.
func TestJoinTypes(t *testing.T) {
	one := func(name string, typ wire.Type, v wire.Value) relation.Relation { return column(name, typ, v) }
	joins := []wire.JoinHop{hop("base", "k", "a", "k", "k a"), hop("a", "k", "b", "k", "k b")}
	joined, err := relation.Join(one("k", "", text("1.0")),
		relation.JoinRequest{Table: "base", Joins: joins, FieldTypes: map[string]wire.Type{"k": wire.TypeNumber}},
		[]relation.Relation{one("k", wire.TypeNumber, num(1)), one("k", wire.TypeNumber, dec("1.00"))}, unlimited())
	require.NoError(t, err)
	assert.Equal(t, []string{`"1.0" 1 "1.00"`}, collect(t, joined.Rows), "measure-2b: numbers on both sides")

	joined, err = relation.Join(one("k", wire.TypeNumber, num(1)),
		relation.JoinRequest{Table: "base", Joins: joins, FieldTypes: map[string]wire.Type{"k": wire.TypeNumber}},
		[]relation.Relation{one("k", "", text("1")), one("k", wire.TypeNumber, dec("1.00"))}, unlimited())
	require.NoError(t, err)
	assert.Equal(t, []string{`1 "1" null`}, collect(t, joined.Rows), "a hop's undeclared key is text, whatever a base field of its name is")
}

func TestJoinCanBeReadTwiceAndLeftEarly(t *testing.T) {
	joined, err := relation.Join(staff(),
		relation.JoinRequest{Table: "staff", Joins: []wire.JoinHop{hop("staff", "home", "places", "town", "land")}},
		[]relation.Relation{places()}, unlimited())
	require.NoError(t, err)
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
	two := []wire.JoinHop{hop("staff", "home", "places", "town"), hop("staff", "work", "places", "town")}
	cases := []struct {
		name     string
		joins    []wire.JoinHop
		code     wire.Code
		mentions string
		why      string
	}{
		{"from nowhere", []wire.JoinHop{hop("lands", "code", "places", "land")}, wire.CodeBadRequest, "joins[0].fromTable",
			"query-6a: the base table or an earlier hop"},
		{"from a later hop", []wire.JoinHop{hop("lands", "code", "places", "land"), hop("staff", "home", "lands", "code")},
			wire.CodeBadRequest, "joins[0].fromTable", "earlier, not later"},
		{"from a table reached twice", append(two, hop("places", "land", "lands", "code")), wire.CodeUnsupported,
			"joins[2].fromTable", "query-6a: ambiguous"},
		{"an unknown key", []wire.JoinHop{hop("staff", "colour", "places", "town")}, wire.CodeUnknownEntity,
			`table "staff" has no field "colour"`, "filter-11a: in a hop, 404"},
		{"an unknown target", []wire.JoinHop{hop("staff", "home", "places", "colour")}, wire.CodeUnknownEntity,
			`table "places" has no field "colour"`, "filter-11a"},
		{"an unknown field", []wire.JoinHop{hop("staff", "home", "places", "town", "colour")}, wire.CodeUnknownEntity,
			`table "places" has no field "colour"`, "filter-11a"},
		{"a name of the base", []wire.JoinHop{hop("staff", "home", "places", "town", "land name")}, wire.CodeBadRequest,
			`"name"`, "query-6b: a clash of names is 400"},
		{"a name of another hop", []wire.JoinHop{hop("staff", "home", "places", "town", "land"),
			hop("staff", "work", "places", "town", "land")}, wire.CodeBadRequest, `joins[1].fields: the name "land"`, "query-6b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tables := map[string]func() relation.Relation{"staff": staff, "places": places, "lands": lands}
			var hops []relation.Relation
			for _, j := range c.joins {
				hops = append(hops, tables[j.ToTable]())
			}
			_, err := relation.Join(staff(), relation.JoinRequest{Table: "staff", Fields: []string{"id", "name"}, Joins: c.joins}, hops, unlimited())
			require.Error(t, err, c.why)
			refused(t, err, c.code, c.mentions)
		})
	}
	_, err := relation.Join(staff(), relation.JoinRequest{Table: "staff", Joins: two}, []relation.Relation{places()}, unlimited())
	assert.ErrorContains(t, err, "2 hops", "a hop is refused rather than dropped")
}

func TestJoinPassesFailuresOn(t *testing.T) {
	req := relation.JoinRequest{Table: "staff", Joins: []wire.JoinHop{hop("staff", "home", "places", "town", "land")}}
	broken := places()
	broken.Rows = failing(nil, errUpstream)
	_, err := relation.Join(staff(), req, []relation.Relation{broken}, unlimited())
	require.ErrorIs(t, err, errUpstream, "a hop fails before the first row")

	base := staff()
	base.Rows = failing([][]wire.Value{row(num(1), text("Ada"))}, errUpstream)
	joined, err := relation.Join(base, req, []relation.Relation{places()}, unlimited())
	require.NoError(t, err)
	var last error
	n := 0
	for _, err := range joined.Rows {
		n, last = n+1, err
	}
	assert.ErrorIs(t, last, errUpstream, "the base fails among the rows")
	assert.Equal(t, 2, n)

	bad := relation.Relation{Columns: places().Columns, Rows: relation.RowsOf(row(wire.Decimal("x"), null))}
	_, err = relation.Join(staff(), req, []relation.Relation{bad}, unlimited())
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
	req := relation.JoinRequest{Table: "staff", Joins: []wire.JoinHop{hop("staff", "boss", "staff", "id", "name bossName", "home bossHome"),
		hop("staff", "home", "places", "town", "land")}}
	read, err := relation.Join(staff(), req, []relation.Relation{staff(), places()}, unlimited())
	require.NoError(t, err)
	joined, err := relation.Join(staff(), req, []relation.Relation{indexed(staff()), indexed(places())}, relation.NewBudget(0))
	require.NoError(t, err)
	assert.Equal(t, collect(t, read.Rows), collect(t, joined.Rows))
	mixed, err := relation.Join(staff(), req, []relation.Relation{staff(), indexed(places())}, unlimited())
	require.NoError(t, err)
	assert.Equal(t, collect(t, read.Rows), collect(t, mixed.Rows))

	boss := &wire.LinkHitRateRequest{FromTable: "staff", FromColumn: "boss", ToTable: "staff", ToColumn: "id"}
	rate, err := relation.LinkHitRate(staff(), indexed(staff()), boss, relation.NewBudget(0))
	require.NoError(t, err)
	assert.Equal(t, &wire.LinkHitRate{FromNonNull: 3, OrphanCount: 1, OrphanRate: 1. / 3, OrphanSamples: []string{"9"}}, rate)
}

// TestJoinPlan tells what the joins need of each table, and where each of their columns
// comes from.
func TestJoinPlan(t *testing.T) {
	plan, err := relation.PlanJoin(staff().Columns, [][]wire.Column{places().Columns, lands().Columns}, relation.JoinRequest{
		Table: "staff",
		Joins: []wire.JoinHop{
			hop("staff", "home", "places", "town", "town", "town again"),
			hop("places", "land", "lands", "code", "full"),
		}})
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1}, plan.Needed(0), "the key, which is a field too, and the key of the next hop")
	assert.Equal(t, []int{0, 1}, plan.Needed(1))
	var origins [][2]int
	for i := range plan.Columns {
		hop, at := plan.Origin(i)
		origins = append(origins, [2]int{hop, at})
	}
	assert.Equal(t, [][2]int{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {1, 0}, {2, 1}}, origins)
}
