package filter_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func texts(list ...string) (values []wire.Value) {
	for _, s := range list {
		values = append(values, wire.Text(s))
	}
	return values
}

func TestOrderOfOneColumn(t *testing.T) {
	null := wire.Null()
	for _, c := range []struct {
		why  string
		typ  wire.Type
		asc  []wire.Value
		desc []wire.Value // nil: asc backwards
	}{
		{"query-1: text by bytes, nulls last both ways", wire.TypeString,
			append(texts("", "10", "9", "Z", "a", "ab", "ä", "～", "😀"), null),
			append(texts("😀", "～", "ä", "ab", "a", "Z", "9", "10", ""), null)},
		{"query-1: numbers by their digits, what is no number after them both ways, nulls last", wire.TypeNumber,
			[]wire.Value{wire.Text("-10"), wire.Int(-9), wire.Float(0.5), wire.Decimal("1.50"), wire.Text("9"),
				wire.Int(10), wire.Text(""), wire.Text("5."), wire.Text("n/a"), wire.Bool(true), null},
			[]wire.Value{wire.Int(10), wire.Text("9"), wire.Decimal("1.50"), wire.Float(0.5), wire.Int(-9),
				wire.Text("-10"), wire.Bool(true), wire.Text("n/a"), wire.Text("5."), wire.Text(""), null}},
		{"query-1: integers beyond 2^53 are told apart", wire.TypeDecimal,
			[]wire.Value{wire.Int(1 << 53), wire.Int(1<<53 + 1), wire.Text("9007199254740994"), wire.Float(9007199254740996)}, nil},
		{"query-1: dates as instants, what is no date after them both ways, nulls last", wire.TypeDatetime,
			append(texts("2024-05-01T13:00:00+02:00", "2024-05-01T12:00:00Z", "2024-05-01T12:00:00.0000000001Z",
				"2024-05-01T12:00:00.5Z", "2016", "soon"), null),
			append(texts("2024-05-01T12:00:00.5Z", "2024-05-01T12:00:00.0000000001Z", "2024-05-01T12:00:00Z",
				"2024-05-01T13:00:00+02:00", "soon", "2016"), null)},
		{"an undeclared column has its numbers first, then its other text", "",
			append(texts("9", "10", "10.5", "", "1a", "9a", "x"), null),
			append(texts("10.5", "10", "9", "x", "9a", "1a", ""), null)},
		{"booleans by their texts", wire.TypeBoolean, []wire.Value{wire.Bool(false), wire.Bool(true), null},
			[]wire.Value{wire.Bool(true), wire.Bool(false), null}},
		{"references by bytes", wire.TypeReference, append(texts("10", "9"), null), append(texts("9", "10"), null)},
	} {
		desc := c.desc
		if desc == nil {
			desc = slices.Clone(c.asc)
			slices.Reverse(desc)
		}
		for dir, want := range map[wire.Direction][]wire.Value{wire.Asc: c.asc, "": c.asc, wire.Desc: desc} {
			for _, collate := range []bool{false, true} {
				o, err := filter.CompileOrder([]wire.SortKey{{Field: "c", Dir: dir, Collate: collate}}, column(c.typ), nil, nil)
				require.NoError(t, err)
				for i, a := range want {
					for j, b := range want {
						got := o.Compare([]wire.Value{a}, []wire.Value{b})
						assert.Equal(t, sign(i-j), sign(got), "%s, %s: %s against %s", c.why, dir, a, b)
					}
				}
			}
		}
	}
}

func TestOrderOfSeveralColumns(t *testing.T) {
	columns := []wire.Column{{Name: "joined", Hop: 1}, {Name: "id", Type: wire.TypeNumber},
		{Name: "name", Type: wire.TypeString}, {Name: "rest", Type: wire.TypeString}}
	row := func(joined, id, name, rest string) []wire.Value { return texts(joined, id, name, rest) }
	for _, c := range []struct {
		why         string
		sort        []wire.SortKey
		tie         []string
		first, last []wire.Value
	}{
		{"the first key decides", []wire.SortKey{{Field: "name"}, {Field: "id"}}, nil, row("", "2", "a", ""), row("", "1", "b", "")},
		{"the second key decides where the first is equal", []wire.SortKey{{Field: "name"}, {Field: "id"}}, nil,
			row("", "9", "a", ""), row("", "10", "a", "")},
		{"each key has its direction", []wire.SortKey{{Field: "name", Dir: wire.Desc}, {Field: "id", Dir: wire.Asc}},
			nil, row("", "10", "b", ""), row("", "9", "a", "")},
		{"query-3: then the primary key, ascending although the sort descends",
			[]wire.SortKey{{Field: "name", Dir: wire.Desc}}, []string{"id"}, row("", "9", "a", "z"), row("", "10", "a", "a")},
		{"query-3: without a primary key the remaining columns in their order",
			[]wire.SortKey{{Field: "name", Dir: wire.Desc}}, nil, row("", "9", "a", "z"), row("", "10", "a", "a")},
		{"query-3: the last column decides when all else is equal", []wire.SortKey{{Field: "name"}}, []string{"id"},
			row("", "1", "a", "a"), row("", "1", "a", "b")},
		{"the columns of a join break ties too", []wire.SortKey{{Field: "name"}}, []string{"id"},
			row("a", "1", "a", "a"), row("b", "1", "a", "a")},
		{"no sort at all: the primary key", nil, []string{"id"}, row("z", "9", "z", "z"), row("a", "10", "a", "a")},
		{"a primary key that is not among the columns is passed over", nil, []string{"key", "id"},
			row("z", "9", "z", "z"), row("a", "10", "a", "a")},
		{"a field named twice counts once", []wire.SortKey{{Field: "name"}, {Field: "name", Dir: wire.Desc}},
			[]string{"name"}, row("", "1", "a", ""), row("", "1", "b", "")},
		{"equal numbers keep an order by their spelling", []wire.SortKey{{Field: "id"}}, []string{"id"},
			row("", "1.5", "a", ""), row("", "1.50", "a", "")},
		{"of equal text a number precedes a string", []wire.SortKey{{Field: "name"}}, []string{"id"},
			[]wire.Value{wire.Null(), wire.Int(1), wire.Int(5)}, []wire.Value{wire.Null(), wire.Int(1), wire.Text("5")}},
		{"a missing cell is null and comes last", []wire.SortKey{{Field: "rest"}}, []string{"id"},
			row("", "2", "a", "z"), row("", "1", "a", "")[:3]},
	} {
		o, err := filter.CompileOrder(c.sort, columns, nil, c.tie)
		require.NoError(t, err, c.why)
		assert.Negative(t, o.Compare(c.first, c.last), c.why)
		assert.Positive(t, o.Compare(c.last, c.first), c.why)
		assert.Zero(t, o.Compare(c.first, slices.Clone(c.first)), c.why)
	}
}

func TestOrderRefusals(t *testing.T) {
	columns := []wire.Column{{Name: "a"}, {Name: "joined", Hop: 1}}
	for _, c := range []struct {
		why  string
		sort wire.SortKey
		code wire.Code
	}{
		{"filter-11a: no such field", wire.SortKey{Field: "b"}, wire.CodeUnknownEntity},
		{"query-6c: a column of a join cannot be named", wire.SortKey{Field: "joined"}, wire.CodeUnknownEntity},
		{"a name from a request is shown bounded", wire.SortKey{Field: strings.Repeat("b", 9999)}, wire.CodeUnknownEntity},
		{"a direction that is none", wire.SortKey{Field: "a", Dir: "up"}, wire.CodeBadRequest},
	} {
		_, err := filter.CompileOrder([]wire.SortKey{{Field: "a"}, c.sort}, columns, nil, nil)
		var refusal *wire.Error
		require.ErrorAs(t, err, &refusal, c.why)
		assert.Equal(t, c.code, refusal.Code, c.why)
		assert.Contains(t, refusal.Message, c.sort.Field[:1], c.why)
		assert.Less(t, len(refusal.Message), 200, c.why)
	}
	for _, twice := range [][]wire.Column{{{Name: "a"}, {Name: "a"}}, {{Name: "a", Type: "varchar"}}} {
		_, err := filter.CompileOrder([]wire.SortKey{{Field: "a"}}, twice, nil, []string{"a"})
		var refusal *wire.Error
		require.Error(t, err)
		assert.NotErrorAs(t, err, &refusal, "the columns are the source's fault")
	}
}

func TestOrderTypesOfJoins(t *testing.T) {
	// fieldTypes describes the base table only, not a column of a join that has
	// the same name.
	columns := []wire.Column{{Name: "c"}, {Name: "c", Hop: 1}}
	o, err := filter.CompileOrder(nil, columns, map[string]wire.Type{"c": wire.TypeString}, nil)
	require.NoError(t, err)
	assert.Negative(t, o.Compare(texts("10", ""), texts("9", "")), "the base table's column is text")
	assert.Positive(t, o.Compare(texts("", "10"), texts("", "9")), "the join's column is undeclared")
}

// TestOrderIsTotal checks that the order is antisymmetric, transitive, and zero
// only for equal text, for the whole pool, every type and both directions.
func TestOrderIsTotal(t *testing.T) {
	values := pool()
	for _, typ := range []wire.Type{"", wire.TypeNumber, wire.TypeString, wire.TypeDate} {
		for _, dir := range []wire.Direction{wire.Asc, wire.Desc} {
			// A column before it, equal in all rows, decides nothing.
			o, err := filter.CompileOrder([]wire.SortKey{{Field: "same"}, {Field: "c", Dir: dir}},
				append([]wire.Column{{Name: "same"}}, column(typ)...), nil, nil)
			require.NoError(t, err)
			n := len(values)
			order := make([]int, n*n)
			for i, a := range values {
				for j, b := range values {
					order[i*n+j] = sign(o.Compare([]wire.Value{wire.Int(1), a}, []wire.Value{wire.Int(1), b}))
				}
			}
			for i, a := range values {
				for j, b := range values {
					require.Equal(t, order[i*n+j], -order[j*n+i], "%q %s: %s and %s", typ, dir, a, b)
					if order[i*n+j] == 0 && a.Kind() != wire.KindInvalid {
						require.Equal(t, a.String(), b.String(), "%q %s: equal though spelled differently", typ, dir)
					}
					if order[i*n+j] > 0 {
						continue
					}
					for k, c := range values {
						if order[j*n+k] <= 0 && order[i*n+k] > 0 {
							t.Fatalf("%q %s: %s, %s, %s run in a circle", typ, dir, a, b, c)
						}
					}
				}
			}
		}
	}
}

// A column that stands first decides in its turn of the primary key, too.
func TestOrderByTheFirstColumn(t *testing.T) {
	o, err := filter.CompileOrder(nil, []wire.Column{{Name: "a"}, {Name: "b"}}, nil, []string{"a", "b"})
	require.NoError(t, err)
	assert.Negative(t, o.Compare(texts("1", "2"), texts("2", "1")))
}
