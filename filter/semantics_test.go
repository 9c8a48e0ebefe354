package filter_test

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/semantics"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const vectors = "testdata/semantics"

// request is what Compile and Match take.
type request struct {
	wire.Where
	columns []wire.Column
	row     []wire.Value
}

func (r request) match() (bool, error) {
	p, err := filter.Compile(r.Where, r.columns)
	if err != nil {
		return false, err
	}
	return p.Match(r.row)
}

func TestSemantics(t *testing.T) {
	total := 0
	for name, cases := range semantics.Read(t, vectors) {
		total += len(cases)
		t.Run(name, func(t *testing.T) {
			for i, c := range cases {
				where := fmt.Sprintf("%s case %d, %s: %s", name, i+1, c.Row, c.Why)
				require.NotEmpty(t, c.Why, where)
				require.NotEqual(t, c.Match == nil, c.Error == "", "%s: match or error, not both", where)
				req, err := c.Request()
				if err != nil { // TestRefusalsNameTheField has these for Compile
					assert.Equal(t, wire.CodeBadRequest, c.Error, where)
					continue
				}
				r := request{Where: req.Where}
				r.columns, r.row = c.Table()
				got, err := r.match()
				if c.Error != "" {
					var refusal *wire.Error
					if assert.ErrorAs(t, err, &refusal, where) {
						assert.Equal(t, c.Error, refusal.Code, where)
					}
					continue
				}
				if assert.NoError(t, err, where) {
					assert.Equal(t, *c.Match, got, where)
					variants(t, where, r, got)
				}
			}
		})
	}
	assert.GreaterOrEqual(t, total, 300)
}

// variants checks that the verdict does not depend on the kind of a cell with
// the same wire text, the length of a list, cells beyond the columns, columns
// before it, or whether a filter is in and or in or.
func variants(t *testing.T, where string, r request, want bool) {
	t.Helper()
	same := func(r request, how string) {
		t.Helper()
		got, err := r.match()
		assert.NoError(t, err, where)
		assert.Equal(t, want, got, "%s, %s", where, how)
	}
	for i, v := range r.row {
		for _, twin := range twins(v) {
			other := r
			other.row = slices.Clone(r.row)
			other.row[i] = twin
			same(other, "the cell as a "+kindName(twin.Kind()))
		}
	}

	long := r
	long.And = slices.Clone(r.And)
	for i, f := range long.And {
		if terms.ShapeOf(f.Op) == terms.ShapeMember && len(f.Values) > 0 {
			values := slices.Clone(f.Values)
			for n := range 40 {
				values = append(values, wire.Text(fmt.Sprintf("filler %d", n)), wire.Int(int64(770000+n)),
					wire.Text(fmt.Sprintf("1800-01-%02dT01:02:03Z", n%28+1)))
			}
			long.And[i].Values = values
		}
	}
	same(long, "among many members")

	wide := r
	wide.columns = append([]wire.Column{{Name: "before", Type: wire.TypeNumber},
		{Name: r.columns[0].Name, Hop: 1, Type: wire.TypeBoolean}}, r.columns...)
	wide.row = append([]wire.Value{wire.Int(1), wire.Bool(true)}, r.row...)
	same(wide, "with columns before it and one of its name in a join")

	if len(r.Or) == 0 {
		moved := r
		moved.And, moved.Or = nil, [][]wire.Filter{r.And}
		same(moved, "as a group of or")
	}
}

// twins returns other values with the same text on the wire.
func twins(v wire.Value) []wire.Value {
	if v.Kind() == wire.KindInt {
		return []wire.Value{wire.Float(float64(v.Int64()))}
	}
	if v.Kind() != wire.KindText {
		return nil
	}
	s, out := v.Text(), []wire.Value{v.Clone()}
	if terms.IsDecimal(s) {
		out = append(out, wire.Decimal(s))
	}
	if d, err := time.Parse("2006-01-02", s); err == nil {
		out = append(out, wire.Date(d))
	}
	if d, err := time.Parse(time.RFC3339Nano, s); err == nil {
		for _, width := range []int{0, 3, 6, 9} {
			if twin := wire.DatetimeWidth(d, width); twin.String() == s {
				out = append(out, twin)
			}
		}
	}
	return slices.DeleteFunc(out, func(twin wire.Value) bool { return twin.String() != s })
}

func kindName(k wire.Kind) string {
	return [...]string{"null", "bool", "int", "float", "text", "decimal", "date", "datetime", "invalid"}[k]
}

// tableRow is one row of the table in doc.go.
type tableRow struct {
	name, rule, verdict string
	ops                 []string
}

func readTable(t *testing.T) []tableRow {
	t.Helper()
	file := testkit.Must(parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments))(t)
	var rows []tableRow
	comparators := []string{"eq", "neq", "gt", "gte", "lt", "lte"}
	column := 0
	for line := range strings.Lines(file.Doc.Text()) {
		words := strings.Fields(line)
		if strings.HasPrefix(line, "\tROW") {
			column = strings.Index(line, "CONDITION")
		}
		if column == 0 || len(words) < 4 || !strings.HasPrefix(words[1], "filter-") {
			continue
		}
		row := tableRow{name: words[0], rule: words[1], verdict: words[len(words)-1]}
		for _, w := range strings.Fields(line[:column])[2:] {
			switch {
			case w == "comparator":
				row.ops = append(row.ops, comparators...)
			case w == "value":
				row.ops = append(append(row.ops, comparators...), "contains", "includes", "startswith")
			default:
				require.True(t, w == "any" || terms.ShapeOf(wire.Op(w)) != terms.ShapeUnknown, line)
				row.ops = append(row.ops, w)
			}
		}
		require.NotEmpty(t, row.ops, line)
		rows = append(rows, row)
	}
	return rows
}

// TestTable checks that the table in doc.go and the cases in testdata/semantics
// agree with each other and that both are complete.
func TestTable(t *testing.T) {
	table := map[string]tableRow{}
	for _, row := range readTable(t) {
		require.NotContains(t, table, row.name, "a duplicate row")
		require.Contains(t, []string{"always", "never", "compared", "refused"}, row.verdict, row.name)
		table[row.name] = row
	}
	require.GreaterOrEqual(t, len(table), 30, "the table was not found")

	type combination struct {
		op wire.Op
		t  wire.Type
	}
	type verdict struct {
		about any // the name of a row, or a combination
		match bool
	}
	proved, seen := map[string]bool{}, map[verdict]bool{}
	for name, cases := range semantics.Read(t, vectors) {
		for i, c := range cases {
			where := fmt.Sprintf("%s case %d: %s", name, i+1, c.Why)
			row, ok := table[c.Row]
			if !assert.True(t, ok, "%s: no row %s in doc.go", where, c.Row) {
				continue
			}
			assert.Equal(t, row.rule, c.Rule, "%s: the row is of another rule", where)
			proved[c.Row] = true
			switch {
			case c.Error != "":
				assert.Equal(t, "refused", row.verdict, where)
				continue
			case *c.Match:
				assert.Contains(t, []string{"always", "compared"}, row.verdict, where)
			default:
				assert.Contains(t, []string{"never", "compared"}, row.verdict, where)
			}
			seen[verdict{c.Row, *c.Match}] = true
			req := testkit.Must(c.Request())(t, where)
			if len(req.And) != 1 || req.Or != nil {
				assert.Equal(t, []string{"any"}, row.ops, "%s: a row for one operator needs a case of one filter", where)
				continue
			}
			f := req.And[0]
			if row.ops[0] != "any" {
				assert.Contains(t, row.ops, string(f.Op), where)
			}
			seen[verdict{combination{f.Op, c.Columns[f.Field]}, *c.Match}] = true
		}
	}
	covered := map[string]bool{}
	for name, row := range table {
		_, known := rules.Lookup(row.rule)
		assert.True(t, known, "row %s: docs/protocol.md has no rule %q", name, row.rule)
		covered[strings.TrimRight(row.rule, "abcd")] = true
		assert.True(t, proved[name], "no case proves row %s", name)
		if row.verdict == "compared" {
			assert.True(t, seen[verdict{name, true}], "row %s has no case that matches", name)
			assert.True(t, seen[verdict{name, false}], "row %s has no case that does not match", name)
		}
	}
	for n := 1; n <= 14; n++ {
		assert.True(t, covered[fmt.Sprintf("filter-%d", n)], "rule filter-%d has no row", n)
	}
	for _, op := range filter.Operators() {
		for _, typ := range allTypes {
			assert.True(t, seen[verdict{combination{op, typ}, true}], "%s on %q has no case that matches", op, typ)
			assert.True(t, seen[verdict{combination{op, typ}, false}], "%s on %q has no case that does not match", op, typ)
		}
	}
}

var allTypes = []wire.Type{
	"", wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean, wire.TypeDate,
	wire.TypeDatetime, wire.TypeJSON, wire.TypeArray, wire.TypeReference,
}

func TestRefusalsNameTheField(t *testing.T) {
	columns := []wire.Column{{Name: "a", Type: wire.TypeString}, {Name: "joined", Hop: 1}, {Name: "twice"},
		{Name: "twice"}, {Name: "odd", Type: "varchar"}}
	for _, c := range testkit.Table(t, "testdata/refusals.tsv", 7) {
		refused := wire.Filter{Field: strings.Replace(c[0], "${long}", strings.Repeat("x", 10_000), 1),
			Op: wire.Op(strings.TrimPrefix(c[1], "-")), Value: cells.One(t, c[2]), Values: cells.Row(t, strings.TrimPrefix(c[3], "-"))}
		for _, where := range []wire.Where{{And: []wire.Filter{refused}}, {Or: [][]wire.Filter{{}, {refused}}}} {
			_, err := filter.Compile(where, columns)
			require.ErrorContains(t, err, c[5], c[6])
			assert.NotContains(t, err.Error(), "s3cret", "%s: a value is never quoted", c[6])
			assert.Less(t, len(err.Error()), 300, c[6])
			var refusal *wire.Error
			if c[4] == "-" {
				assert.False(t, errors.As(err, &refusal), c[6])
			} else if assert.ErrorAs(t, err, &refusal, c[6]) {
				assert.Equal(t, wire.Code(c[4]), refusal.Code, c[6])
			}
		}
	}
	for _, c := range []wire.Type{"integer", "String"} {
		_, err := filter.Compile(wire.Where{And: []wire.Filter{{Field: "a", Op: wire.OpIsNull}},
			FieldTypes: map[string]wire.Type{"a": c}}, []wire.Column{{Name: "a"}})
		var refusal *wire.Error
		require.ErrorAs(t, err, &refusal, "filter-19: fieldTypes with a type that is none")
		assert.Equal(t, wire.CodeBadRequest, refusal.Code)
	}
}
