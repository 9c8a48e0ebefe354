package exam

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// small returns a table whose values a careless comparison mixes up.
func small(t testing.TB) *Subject {
	t.Helper()
	return tableOf(t, "small", `id:number status:string cost:decimal at:datetime
		| 1 "open" decimal:1.50 "2024-05-01T00:00:00.000Z" | 2 "Open" decimal:1.5 "2024-05-01T00:30:00.250Z"
		| 3 "a_b" decimal:-2.00 "2024-05-01T23:30:00.000Z" | 4 "axb" decimal:10.00 null
		| 5 "" null "2024-06-01T12:00:00.500Z" | 6 null decimal:9.25 "2024-06-01T12:00:00.000Z"`)
}

// tableOf returns a table as package cells reads it, and subject one of rows. Their key is the column id.
func tableOf(t testing.TB, name, text string) *Subject {
	t.Helper()
	columns, rows := cells.Table(t, text)
	return subject(name, columns, rows)
}

func subject(name string, columns []wire.Column, rows [][]wire.Value) *Subject {
	described := &wire.Table{Name: name}
	for _, c := range columns {
		described.Fields = append(described.Fields, wire.Field{Name: c.Name, Type: c.Type})
	}
	if columns[0].Name == "id" {
		described.PrimaryKey = []string{"id"}
	}
	return NewSubject(&oracle.Table{Name: name, Columns: columns, PrimaryKey: described.PrimaryKey, Rows: rows}, described)
}

// shows requires that the filters planned for a cell show each of the misreadings.
func shows(t *testing.T, g *Grid, s *Subject, field string, op wire.Op, why string, readings ...string) {
	t.Helper()
	c := g.Cell(s.Table.Name, wire.Filter{Field: field, Op: op})
	c.plan()
	for _, as := range readings {
		require.True(t, slices.ContainsFunc(c.filters, func(f *candidate) bool {
			return slices.ContainsFunc(f.shows, func(m *misreading) bool { return m.as == as })
		}), "%s: %s %s: as if %s", why, field, op, as)
	}
}

func gridOf(s *Subject, ops ...wire.Op) *Grid {
	return New(7, declaring(wire.Capabilities{Operators: ops, Sort: wire.SortMulti, Offset: true}), []*Subject{s}).Grid()
}

var query = []string{wire.PathQuery}

// askedOf returns all questions that a grid has for a route.
func askedOf(g *Grid, packing bool, routes ...string) (list []*Question) {
	for q := g.Next(packing, routes...); q != nil; q = g.Next(packing, routes...) {
		list = append(list, q)
	}
	return list
}

// TestGridAsksAboutEveryCell: none waits for all that others have to tell.
func TestGridAsksAboutEveryCell(t *testing.T) {
	g := gridOf(small(t), wire.OpEq, wire.OpGte, wire.OpIn, wire.OpIncludes, wire.OpIsNull)
	seen, answered := map[string]int{}, map[bool]int{}
	for range 3 * g.Cells() {
		q := g.Next(false, query...)
		if q == nil {
			break
		}
		require.Len(t, q.And, 1)
		answered[slices.Contains(q.Fields, q.And[0].Field)]++
		require.Contains(t, q.Fields, "id", "the key shows which rows are answered")
		seen[q.And[0].Field+" "+string(q.And[0].Op)]++
	}
	// A key without nulls cannot show what isnull does to them.
	require.GreaterOrEqual(t, len(seen), g.Cells()-1)
	require.Positive(t, answered[false], "some columns are filtered by and not asked for")
	require.Greater(t, answered[true], answered[false])
}

// TestNext requires that each table is asked about before any is asked about twice, that the questions come to an end,
// and that packing takes fewer for the same cells.
func TestNext(t *testing.T) {
	asked := map[bool]int{}
	for _, packing := range []bool{false, true} {
		a, b := stock(), small(t)
		g := New(7, declaring(wire.Capabilities{Operators: packedOps}), []*Subject{a, b}).Grid()
		require.Same(t, a, g.Next(packing, query...).Subject)
		require.Same(t, b, g.Next(packing, query...).Subject)
		cells := map[string]bool{}
		for q := g.Next(packing, query...); q != nil; q = g.Next(packing, query...) {
			for f := range q.Filters() {
				cells[q.Table.Name+f.Field+string(f.Op)] = true
			}
			if asked[packing]++; len(cells) >= g.Cells()*3/4 {
				break
			}
		}
		require.GreaterOrEqual(t, len(cells), g.Cells()*3/4)
		require.NotNil(t, g.Next(packing, query...))
		for range testrun.Rounds(10_000) {
			if g.Next(packing, query...) == nil {
				break
			}
		}
		require.Nil(t, g.Next(packing, query...))
	}
	require.Less(t, asked[true], asked[false])
}

func TestGridShowsMisreadings(t *testing.T) {
	tables := map[string]*Subject{"small": small(t), "lists": lists(t),
		"texts": tableOf(t, "t", `c:string | "Zoë" | "Gross" | "Zoe" | "Maß" | "e\u0301te"`)}
	for _, c := range testkit.Table(t, "testdata/misreadings.tsv", 5) {
		op := wire.Op(c[2])
		shows(t, gridOf(tables[c[0]], op), tables[c[0]], c[1], op, c[4], strings.Split(c[3], "; ")...)
	}
}

func TestMisreading(t *testing.T) {
	s := small(t)
	q := &Question{Subject: s, Where: wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("open")}}}}
	as := q.misreading(func(rows [][]wire.Value) bool { return len(rows) == 2 && rows[1][0] == wire.Int(2) })
	require.Equal(t, "texts were compared without case", as)
	require.Empty(t, q.misreading(func([][]wire.Value) bool { return false }))
}

// TestMisreadZones requires that an answer which operands in a local zone give is explained by the zone.
func TestMisreadZones(t *testing.T) {
	var rows [][]wire.Value
	instant := func(at time.Time) wire.Value { return wire.Text(at.Format(time.RFC3339)) } // as it crosses the wire
	noon := time.Date(2024, 3, 31, 12, 0, 0, 0, time.UTC)
	for quarter := range 4 * 48 {
		rows = append(rows, []wire.Value{instant(noon.Add(time.Duration(quarter-96) * 15 * time.Minute))})
	}
	q := &Question{Subject: subject("visits", []wire.Column{{Name: "at", Type: wire.TypeDatetime}}, rows), Path: wire.PathQuery}
	q.And = []wire.Filter{{Field: "at", Op: wire.OpGte, Value: instant(noon)}}
	for zone, offset := range map[string]time.Duration{
		"+02:00": 2 * time.Hour, "-01:00": -time.Hour, "+05:45": 345 * time.Minute, "-09:30": -570 * time.Minute, "+08:00": 8 * time.Hour,
	} {
		from := noon.Add(-offset) // what noon in the zone is in UTC
		as := q.misreading(func(rows [][]wire.Value) bool {
			return len(rows) > 0 && rows[0][0].String() == instant(from).String()
		})
		require.Equal(t, "operands were read in "+zone, as)
	}
}

// TestPacks requires that a question of several filters keeps a row, has conditions or groups of or, and hides no
// operator without operands of a column with nulls before that was asked by itself; and that packs ask about every cell.
func TestPacks(t *testing.T) {
	g := gridOf(small(t), wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpLte, wire.OpIn, wire.OpStartsWith, wire.OpNotNull, wire.OpIsNull)
	packed, alone := map[string]bool{}, map[wire.Op]bool{}
	for _, q := range askedOf(g, true, query...) {
		filters := slices.Collect(q.Filters())
		require.LessOrEqual(t, len(q.And), maxPackedAnd)
		require.LessOrEqual(t, len(q.Or), maxPackedOr)
		require.True(t, len(q.And) == 0 || len(q.Or) == 0, "%v", q.Where)
		if len(filters) == 1 {
			alone[filters[0].Op] = true
			continue
		}
		kept := testkit.Must(oracle.Filter(q.Table, q.And, q.Or, nil))(t)
		require.Less(t, len(kept.Rows), q.Rows()+len(q.And), "%v", q.Where)
		for _, f := range filters {
			packed[f.Field+" "+string(f.Op)] = true
			require.True(t, q.column(f.Field).nulls == 0 || withOperands(f.Op) || alone[f.Op], "%v", q.Where)
		}
	}
	require.GreaterOrEqual(t, len(packed), g.Cells()/2)
}

// TestCombinations requires that each filter of a combination matters.
func TestCombinations(t *testing.T) {
	g := ofCorpus(5)
	list := slices.Collect(g.Combinations(KeepAll, wire.PathQuery))
	require.Greater(t, len(list), 40)
	oneField, empty := 0, 0
	for _, q := range list {
		if slices.ContainsFunc(q.Or, func(group []wire.Filter) bool { return len(group) == 0 }) {
			empty++ // it is true for every row
			continue
		}
		whole := q.matching(q.And, q.Or)
		for i := range q.And {
			require.NotEqual(t, whole, q.matching(slices.Delete(slices.Clone(q.And), i, i+1), q.Or), "%v", q.Where)
		}
		if len(q.Or) > 1 {
			for i := range q.Or {
				require.NotEqual(t, whole, q.matching(q.And, slices.Delete(slices.Clone(q.Or), i, i+1)), "%v", q.Where)
			}
		}
		if len(q.And) == 2 && q.And[0].Field == q.And[1].Field {
			oneField++
		}
	}
	require.Positive(t, oneField)
	require.Positive(t, empty)
}

// TestWindowsOverEachOperator requires that the first windows that cut the rows of single filters are about all
// operators: a connector may leave any one of them for behind the window.
func TestWindowsOverEachOperator(t *testing.T) {
	for seed := range uint64(5) {
		g := ofCorpus(seed)
		asked := map[wire.Op]bool{}
		for _, q := range g.FilteredWindows(KeepAll)[:8*len(g.operators())] {
			filters := slices.Collect(q.Filters())
			if len(filters) == 1 && q.Limit > 0 && q.Limit+q.Offset < int64(q.Rows()) {
				asked[filters[0].Op] = true
			}
		}
		require.Len(t, asked, len(g.operators()), "seed %d", seed)
	}
}

// TestManyListsLeaveTurns requires that of a few questions that combine filters, sorts and windows most are about the one table
// that has much to combine, where thirty have the same few columns and rows.
func TestManyListsLeaveTurns(t *testing.T) {
	subjects := []*Subject{stock()}
	for i := range 30 {
		list := tableOf(t, fmt.Sprint("list", i), `id:number label:string | 1 "a" | 2 "b" | 3 "c d" | 4 null`)
		subjects = append(subjects, list)
	}
	g := New(1, declaring(wire.Capabilities{Operators: packedOps, Sort: wire.SortMulti, Offset: true}), subjects)
	const few = 30
	combinations := slices.Collect(g.Combinations(KeepAll, wire.PathQuery))[:few]
	require.True(t, slices.ContainsFunc(combinations, func(q *Question) bool { return len(q.And) > 0 && len(q.Or) > 1 }),
		"a filter beside groups, which show whether these have their brackets")
	for _, list := range [][]*Question{combinations, g.FilteredWindows(KeepAll)[:few]} {
		ofStock := 0
		for _, q := range list {
			if q.Subject == subjects[0] {
				ofStock++
			}
		}
		require.Greater(t, ofStock, few/2)
	}
}

// TestCollations requires operands that show each collation where the data allow it.
func TestCollations(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/collations.tsv", 3) {
		var rows [][]wire.Value
		for _, v := range cells.Row(t, c[0]) {
			rows = append(rows, []wire.Value{v})
		}
		s := subject("t", []wire.Column{{Name: "c", Type: wire.TypeString}}, rows)
		shows(t, gridOf(s, wire.OpEq), s, "c", wire.OpEq, c[2], c[1])
		shows(t, gridOf(s, wire.OpIn), s, "c", wire.OpIn, c[2], c[1], c[1]+" in a list with one member")
	}
}

// TestAsFloat reads texts as numbers as JavaScript and Python do, and leaves names alone.
func TestAsFloat(t *testing.T) {
	for text, want := range map[string]string{
		"1e3": "1000", "1E3": "1000", "1.0": "1", " 7": "7", "+7": "7", "007": "7", ".5": "0.5", "5.": "5", "-0": "-0", "1e-3": "0.001",
		"": "", "e": "e", "K7": "K7", "0x1f": "0x1f", "inf": "inf", "NaN": "NaN", "1_000": "1_000", "1,5": "1,5", "-": "-", "1e999": "1e999",
	} {
		require.Equal(t, want, asFloat(text), "%q", text)
	}
}

// lists returns a table of booleans, texts and lists.
func lists(t testing.TB) *Subject {
	t.Helper()
	return tableOf(t, "t", `vip:boolean name:string tags:array
		| true "Été " "[\"vip\",\"mail\"]" | false "ete" null | null "Groß" "[\"new\"]" | true null "[\"vip\"]"`)
}

// TestParticular requires the probes of what no misreading describes.
func TestParticular(t *testing.T) {
	s := lists(t)
	g := gridOf(s, wire.OpContains)
	operands := []string{}
	c := g.Cell("t", wire.Filter{Field: "tags", Op: wire.OpContains})
	for _, f := range chanceOf(1, "test").candidates(c.column(), g.edgeValuesOf(s, c.column()), wire.OpContains) {
		operands = append(operands, f.Value.String())
	}
	require.Subset(t, operands, []string{",", `"`, "[", `"vip"`})
}

// BenchmarkPlan chooses the filters of every cell of a table of forty texts and numbers.
func BenchmarkPlan(b *testing.B) {
	for b.Loop() {
		for _, s := range []*Subject{notes(), small(b)} {
			for _, t := range gridOf(s, terms.Operators[wire.Op]()...).tables {
				for _, c := range t.cells {
					c.plan()
				}
			}
		}
	}
}
