package exam

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// small returns a table whose values a careless comparison mixes up.
func small() *Subject {
	rows := [][]wire.Value{
		{wire.Int(1), wire.Text("open"), wire.Decimal("1.50"), wire.Text("2024-05-01T00:00:00.000Z")},
		{wire.Int(2), wire.Text("Open"), wire.Decimal("1.5"), wire.Text("2024-05-01T00:30:00.250Z")},
		{wire.Int(3), wire.Text("a_b"), wire.Decimal("-2.00"), wire.Text("2024-05-01T23:30:00.000Z")},
		{wire.Int(4), wire.Text("axb"), wire.Decimal("10.00"), wire.Null()},
		{wire.Int(5), wire.Text(""), wire.Null(), wire.Text("2024-06-01T12:00:00.500Z")},
		{wire.Int(6), wire.Null(), wire.Decimal("9.25"), wire.Text("2024-06-01T12:00:00.000Z")},
	}
	return tableOf("small", rows,
		wire.Field{Name: "id", Type: wire.TypeNumber}, wire.Field{Name: "status", Type: wire.TypeString},
		wire.Field{Name: "cost", Type: wire.TypeDecimal}, wire.Field{Name: "at", Type: wire.TypeDatetime})
}

// tableOf returns a table, of which a column id is the key.
func tableOf(name string, rows [][]wire.Value, fields ...wire.Field) *Subject {
	described := &wire.Table{Name: name, Fields: fields}
	if fields[0].Name == "id" {
		described.PrimaryKey = []string{"id"}
	}
	return NewSubject(&oracle.Table{
		Name: name, Columns: described.Columns(), PrimaryKey: described.PrimaryKey, Rows: rows,
	}, described)
}

// textsOf returns a table of one column of texts.
func textsOf(cells ...string) *Subject {
	var rows [][]wire.Value
	for _, cell := range cells {
		rows = append(rows, []wire.Value{wire.Text(cell)})
	}
	return tableOf("t", rows, wire.Field{Name: "c", Type: wire.TypeString})
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
	g := gridOf(small(), wire.OpEq, wire.OpGte, wire.OpIn, wire.OpIncludes, wire.OpIsNull)
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
		a, b := stock(), small()
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
	tests := []struct {
		field string
		op    wire.Op
		as    []string
	}{
		{"status", wire.OpEq, []string{"texts were compared without case", "the operand were written in lower case", "eq were startswith"}},
		{"status", wire.OpNin, []string{"neq and nin kept or dropped nulls the other way round", "only the first member of the list counted",
			"the operand were written in lower case"}},
		{"at", wire.OpIn, []string{"operands were read in -01:00", "the operand had no fraction of a second"}},
		{"status", wire.OpStartsWith, []string{"_ were a wildcard", "texts were compared without case", "startswith were includes"}},
		{"status", wire.OpIsNull, []string{"the empty text were null"}},
		{"cost", wire.OpGt, []string{"gt were gte", "numbers were compared as texts"}},
		{"cost", wire.OpEq, []string{"numbers were compared as texts", "the operand were rounded down to an integer"}},
		{"at", wire.OpGte, []string{"operands were read in -01:00", "gte were gt", "instants were cut to the day"}},
		{"at", wire.OpLte, []string{"the operand were cut to the day", "lte were lt", "nulls were in the range"}},
	}
	for _, test := range tests {
		s := small()
		shows(t, gridOf(s, test.op), s, test.field, test.op, "", test.as...)
	}
}

func TestMisreading(t *testing.T) {
	s := small()
	q := &Question{Subject: s, Where: wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("open")}}}}
	as := q.misreading(func(rows [][]wire.Value) bool { return len(rows) == 2 && rows[1][0] == wire.Int(2) })
	require.Equal(t, "texts were compared without case", as)
	require.Empty(t, q.misreading(func([][]wire.Value) bool { return false }))
}

// TestPacks requires that a question of several filters keeps a row, has conditions or groups of or, and hides no
// operator without operands of a column with nulls before that was asked by itself; and that packs ask about every cell.
func TestPacks(t *testing.T) {
	g := gridOf(small(), wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpLte, wire.OpIn, wire.OpStartsWith, wire.OpNotNull, wire.OpIsNull)
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
		kept, err := oracle.Filter(q.Table, q.And, q.Or, nil)
		require.NoError(t, err)
		require.Less(t, len(kept.Rows), q.Rows()+len(q.And), "%v", q.Where)
		for _, f := range filters {
			packed[f.Field+" "+string(f.Op)] = true
			require.True(t, q.column(f.Field).nulls == 0 || withOperands(f) || alone[f.Op], "%v", q.Where)
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

// TestWindowsOverEachOperator requires that the first windows over single filters are about all operators.
func TestWindowsOverEachOperator(t *testing.T) {
	g := ofCorpus(5)
	asked := map[wire.Op]bool{}
	for _, q := range g.FilteredWindows(KeepAll)[:8*len(g.operators())] {
		if filters := slices.Collect(q.Filters()); len(filters) == 1 {
			asked[filters[0].Op] = true
		}
	}
	require.Len(t, asked, len(g.operators()))
}

// TestCollations requires operands that show each collation where the data allow it: whether
// a row or the operand has the accent, the capital, the ß or the zero.
func TestCollations(t *testing.T) {
	tests := []struct {
		why   string
		cells []string
		as    string
	}{
		{"a row has the accent", []string{"Zoë", "x"}, "accents did not count"},
		{"no row has an accent", []string{"Zoe", "x"}, "accents did not count"},
		{"a row has capitals", []string{"OPEN", "7"}, "texts were compared without case"},
		{"no row has capitals", []string{"open", "7"}, "texts were compared without case"},
		{"a row has ß", []string{"Groß", "x"}, "ß were ss"},
		{"a row has ss", []string{"Gross", "x"}, "ß were ss"},
		{"a row has a combining accent", []string{"e\u0301te", "x"}, "a letter and a combining accent were one character"},
		{"a row has it composed", []string{"été", "x"}, "a letter and a combining accent were one character"},
		{"a row has a blank", []string{"Chair ", "x"}, "blanks around a text did not count"},
		{"no row has a blank", []string{"Chair", "x"}, "blanks around a text did not count"},
		{"a row has leading zeros", []string{"007", "x"}, "texts that look like numbers were numbers"},
		{"a row could have leading zeros", []string{"7", "x"}, "texts that look like numbers were numbers"},
		{"a row has zeros behind the dot", []string{"1.0", "x"}, "texts that look like numbers were numbers"},
		{"a number could have an exponent", []string{"1000", "x"}, "texts that look like numbers were floats"},
		{"a row has an exponent", []string{"1e3", "1000"}, "texts that look like numbers were floats"},
	}
	for _, test := range tests {
		s := textsOf(test.cells...)
		shows(t, gridOf(s, wire.OpEq), s, "c", wire.OpEq, test.why, test.as)
		shows(t, gridOf(s, wire.OpIn), s, "c", wire.OpIn, test.why, test.as, test.as+" in a list with one member")
	}
}

// TestPartsOfCollations requires that parts both lose and gain what collations ignore.
func TestPartsOfCollations(t *testing.T) {
	s := textsOf("Zoë", "Gross", "Zoe", "Maß", "e\u0301te")
	for _, op := range []wire.Op{wire.OpIncludes, wire.OpStartsWith} {
		shows(t, gridOf(s, op), s, "c", op, "a part",
			"accents did not count", "ß were ss", "texts were compared without case",
			"a letter and a combining accent were one character")
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

// TestParticular requires the probes of what no misreading describes.
func TestParticular(t *testing.T) {
	rows := [][]wire.Value{
		{wire.Bool(true), wire.Text("Été "), wire.Text(`["vip","mail"]`)}, {wire.Bool(false), wire.Text("ete"), wire.Null()},
		{wire.Null(), wire.Text("Groß"), wire.Text(`["new"]`)}, {wire.Bool(true), wire.Null(), wire.Text(`["vip"]`)},
	}
	s := tableOf("t", rows,
		wire.Field{Name: "vip", Type: wire.TypeBoolean}, wire.Field{Name: "name", Type: wire.TypeString},
		wire.Field{Name: "tags", Type: wire.TypeArray})
	g := gridOf(s, wire.OpEq, wire.OpNeq, wire.OpIn, wire.OpContains, wire.OpNotNull)
	tests := []struct {
		field string
		op    wire.Op
		shows string
	}{
		{"vip", wire.OpNeq, "null were another boolean"},
		{"vip", wire.OpNotNull, "null and not null were not told apart"},
		{"name", wire.OpEq, "accents did not count"},
		{"name", wire.OpIn, "accents did not count"},
		{"name", wire.OpEq, "ß were ss"},
		{"name", wire.OpEq, "blanks around a text did not count"},
		{"tags", wire.OpContains, "contains were includes"},
	}
	for _, test := range tests {
		shows(t, g, s, test.field, test.op, "", test.shows)
	}
	operands := []string{}
	c := g.Cell("t", wire.Filter{Field: "tags", Op: wire.OpContains})
	for _, f := range chanceOf(1, "test").candidates(c.column(), g.edgeValuesOf(s, c.column()), wire.OpContains) {
		operands = append(operands, f.Value.String())
	}
	require.Subset(t, operands, []string{",", `"`, "[", `"vip"`})
}
