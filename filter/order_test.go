package filter_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func texts(list ...string) (values []wire.Value) {
	for _, s := range list {
		values = append(values, wire.Text(s))
	}
	return values
}

func TestOrderOfOneColumn(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/order.tsv", 4) {
		asc := cells.Row(t, c[1])
		desc := slices.Clone(asc)
		slices.Reverse(desc)
		if c[2] != "-" {
			desc = cells.Row(t, c[2])
		}
		for dir, want := range map[wire.Direction][]wire.Value{wire.Asc: asc, "": asc, wire.Desc: desc} {
			for _, collate := range []bool{false, true} {
				o := testkit.Must(filter.CompileOrder([]wire.SortKey{{Field: "c", Dir: dir, Collate: collate}},
					column(wire.Type(strings.TrimPrefix(c[0], "-"))), nil, nil))(t)
				for i, a := range want {
					for j, b := range want {
						got := o.Compare([]wire.Value{a}, []wire.Value{b})
						assert.Equal(t, sign(i-j), sign(got), "%s, %s: %s against %s", c[3], dir, a, b)
					}
				}
			}
		}
	}
}

func TestOrderOfSeveralColumns(t *testing.T) {
	columns := []wire.Column{{Name: "joined", Hop: 1}, {Name: "id", Type: wire.TypeNumber},
		{Name: "name", Type: wire.TypeString}, {Name: "rest", Type: wire.TypeString}}
	for _, c := range testkit.Table(t, "testdata/orders.tsv", 5) {
		var sort []wire.SortKey
		for key := range strings.SplitSeq(c[0], ", ") {
			if field, dir, _ := strings.Cut(key, " "); field != "-" {
				sort = append(sort, wire.SortKey{Field: field, Dir: wire.Direction(dir)})
			}
		}
		o := testkit.Must(filter.CompileOrder(sort, columns, nil, strings.Split(strings.TrimPrefix(c[1], "-"), ", ")))(t, c[4])
		first, last := cells.Row(t, c[2]), cells.Row(t, c[3])
		assert.Negative(t, o.Compare(first, last), c[4])
		assert.Positive(t, o.Compare(last, first), c[4])
		assert.Zero(t, o.Compare(first, slices.Clone(first)), c[4])
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
	o := testkit.Must(filter.CompileOrder(nil, columns, map[string]wire.Type{"c": wire.TypeString}, nil))(t)
	assert.Negative(t, o.Compare(texts("10", ""), texts("9", "")), "the base table's column is text")
	assert.Positive(t, o.Compare(texts("", "10"), texts("", "9")), "the join's column is undeclared")
}

// TestOrderIsTotal checks that the order is antisymmetric, transitive, and zero
// only for equal text, for the whole pool, every type and both directions.
func TestOrderIsTotal(t *testing.T) {
	values := pool(t)
	for _, typ := range []wire.Type{"", wire.TypeNumber, wire.TypeString, wire.TypeDate} {
		for _, dir := range []wire.Direction{wire.Asc, wire.Desc} {
			// A column before it, equal in all rows, decides nothing.
			o := testkit.Must(filter.CompileOrder([]wire.SortKey{{Field: "same"}, {Field: "c", Dir: dir}},
				append([]wire.Column{{Name: "same"}}, column(typ)...), nil, nil))(t)
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
	o := testkit.Must(filter.CompileOrder(nil, []wire.Column{{Name: "a"}, {Name: "b"}}, nil, []string{"a", "b"}))(t)
	assert.Negative(t, o.Compare(texts("1", "2"), texts("2", "1")))
}
