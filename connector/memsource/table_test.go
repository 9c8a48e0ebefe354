package memsource_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func fields(names ...string) (list []wire.Field) {
	for _, n := range names {
		list = append(list, wire.Field{Name: n})
	}
	return list
}

func discover(t *testing.T, tables ...memsource.Table) []wire.Table {
	t.Helper()
	src := testkit.Must(memsource.New(tables, nil))(t)
	d := testkit.Must(src.Discover(context.Background(), &wire.DiscoveryRequest{}))(t)
	return d.Tables
}

// TestSourceDescribes: what an author leaves empty is read off the rows.
func TestSourceDescribes(t *testing.T) {
	at := time.Date(2024, 5, 17, 10, 0, 0, 0, time.UTC)
	cases := []struct {
		name  string
		cells []wire.Value
		want  wire.Field
		why   string
	}{
		{"integers", []wire.Value{num(3), num(1), num(3)},
			wire.Field{Type: wire.TypeNumber, Samples: row(num(3), num(1)), Stats: stats(0, 2, num(1), num(3))},
			"samples are distinct, in the order of rows"},
		{"floats", []wire.Value{num(3), wire.Float(0.5)},
			wire.Field{Type: wire.TypeNumber, Samples: row(num(3), wire.Float(0.5)),
				Stats: stats(0, 2, wire.Float(0.5), num(3))}, "integers and floats are numbers"},
		{"decimals", []wire.Value{dec("9"), dec("10.0"), null, num(10)},
			wire.Field{Type: wire.TypeDecimal, Nullable: true, Samples: row(dec("9"), dec("10.0")),
				Stats: stats(25, 2, dec("9"), dec("10.0"))}, "one decimal makes them decimals; extremes are numeric, values distinct by filter-6"},
		{"booleans", []wire.Value{wire.Bool(true), wire.Bool(false)},
			wire.Field{Type: wire.TypeBoolean, Samples: row(wire.Bool(true), wire.Bool(false)), Stats: stats(0, 2, null, null)},
			"booleans have no extremes (aggregate-1)"},
		{"dates", []wire.Value{wire.Date(at)},
			wire.Field{Type: wire.TypeDate, Samples: row(wire.Date(at)), Stats: stats(0, 1, wire.Date(at), wire.Date(at))}, ""},
		{"datetimes", []wire.Value{wire.Datetime(at)},
			wire.Field{Type: wire.TypeDatetime, Samples: row(wire.Datetime(at)), Stats: stats(0, 1, wire.Datetime(at), wire.Datetime(at))}, ""},
		{"text", []wire.Value{text("10"), text("9"), text("")},
			wire.Field{Type: wire.TypeString, Samples: row(text("10"), text("9"), text("")),
				Stats: stats(0, 3, text(""), text("9"))}, "text is never guessed at, and orders by bytes"},
		{"a mixture", []wire.Value{text("x"), num(1)},
			wire.Field{Type: wire.TypeString, Samples: row(text("x"), num(1)), Stats: stats(0, 2, num(1), text("x"))}, "what mixes kinds is text"},
		{"a mixture of others", []wire.Value{wire.Bool(true), wire.Date(at)},
			wire.Field{Type: wire.TypeString, Samples: row(wire.Bool(true), wire.Date(at)), Stats: stats(0, 2, wire.Date(at), wire.Bool(true))}, ""},
		{"nulls", []wire.Value{null, null},
			wire.Field{Type: wire.TypeString, Nullable: true, Samples: []wire.Value{}, Stats: stats(100, 0, null, null)},
			"measure-1: no values at all"},
		{"nothing", nil, wire.Field{Type: wire.TypeString, Samples: []wire.Value{}, Stats: &wire.Stats{}}, "no share of no rows"},
		{"many", []wire.Value{num(1), num(2), num(3), num(4), num(5), num(6)},
			wire.Field{Type: wire.TypeNumber, Samples: row(num(1), num(2), num(3), num(4), num(5)),
				Stats: stats(0, 6, num(1), num(6))}, "five samples at most"},
		{"long text", []wire.Value{text(strings.Repeat("x", 101)), text("y")},
			wire.Field{Type: wire.TypeString, Samples: row(text("y")), Stats: stats(0, 2, null, null)}, "a sample is no novel"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			table := memsource.Table{Table: wire.Table{Name: "t", Fields: fields("f")}}
			for _, v := range c.cells {
				table.Rows = append(table.Rows, row(v))
			}
			got := discover(t, table)[0]
			c.want.Name, c.want.SourceColumn = "f", "f"
			assert.Equal(t, c.want, got.Fields[0], c.why)
			assert.EqualValues(t, len(c.cells), *got.RowCount)
			assert.True(t, got.StoresRows)
			assert.NotNil(t, got.PrimaryKey, "an empty list, not null")
			assert.NotNil(t, got.ForeignKeys)
		})
	}
}

// stats returns the statistics of a field; null extremes are absent.
func stats(nullPercent float64, distinct int64, least, greatest wire.Value) *wire.Stats {
	s := &wire.Stats{NullPercent: &nullPercent, DistinctCount: distinct}
	if !least.IsNull() {
		s.Min, s.Max = &least, &greatest
	}
	return s
}

// TestSourceKeepsWhatIsStated: what an author states is left as it is.
func TestSourceKeepsWhatIsStated(t *testing.T) {
	count, no := int64(7), false
	stated := wire.Table{
		Name: "t", SourceDescription: "a table", RowCount: &count, StoresRows: true,
		PrimaryKey:  []string{"id"},
		ForeignKeys: []wire.ForeignKey{{Field: "parent", TargetTable: "t", TargetField: "id"}},
		Fields: []wire.Field{
			{Name: "id", SourceColumn: "ID", Type: wire.TypeReference, Unique: true, Nullable: true, Samples: []wire.Value{},
				SourceDescription: "its key", Stats: &wire.Stats{DistinctCount: 9}, Filterable: &no},
			{Name: "parent", SourceColumn: "parent", Type: wire.TypeReference, Samples: row(text("z")), Stats: &wire.Stats{}},
		},
	}
	got := discover(t, memsource.Table{Table: stated, Rows: [][]wire.Value{row(text("a"), text("orphan"))}})
	assert.Equal(t, []wire.Table{stated}, got, "an orphan is no fault: link rates are there to be measured")
}

func TestNewFindsEveryFault(t *testing.T) {
	key := func(cells ...wire.Value) memsource.Table {
		table := memsource.Table{Table: wire.Table{Name: "k", PrimaryKey: []string{"a"}, Fields: fields("a", "b")}}
		for _, c := range cells {
			table.Rows = append(table.Rows, row(c, null))
		}
		return table
	}
	unique := key(num(1), null, null)
	unique.PrimaryKey, unique.Fields[0].Unique = nil, true
	twice := key(dec("1.0"), num(1))
	twice.PrimaryKey, twice.Fields[0].Unique = nil, true
	pair := memsource.Table{Table: wire.Table{Name: "k", PrimaryKey: []string{"a", "b"}, Fields: fields("a", "b")},
		Rows: [][]wire.Value{row(num(1), num(2)), row(num(1), num(3)), row(num(12), num(3))}}
	foreign := func(field, table, target string) memsource.Table {
		k := key()
		k.ForeignKeys = []wire.ForeignKey{{Field: field, TargetTable: table, TargetField: target}}
		return k
	}
	cases := []struct {
		name   string
		tables []memsource.Table
		want   []string // one for each fault; none: legal
		why    string
	}{
		{"no tables", nil, nil, "a source without tables is legal"},
		{"no fields", []memsource.Table{{Table: wire.Table{Name: "t"}, Rows: [][]wire.Value{{}, {}}}}, nil, "so is a table of empty rows"},
		{"no name", []memsource.Table{{}}, []string{`table "": its name is empty`}, ""},
		{"two of a name", []memsource.Table{key(), key()}, []string{`table "k": there are two`}, ""},
		{"names that are no UTF-8", []memsource.Table{{Table: wire.Table{Name: "a\xff", Fields: fields("b\xff")}}},
			[]string{"valid UTF-8", "fields[0]"}, "cell-4"},
		{"fields", []memsource.Table{{Table: wire.Table{Name: "t",
			Fields: append(fields("a", "", "a"), wire.Field{Name: "c", Type: "integer"}, wire.Field{Name: "d", Samples: row(wire.Decimal("x"))})}}},
			[]string{"fields[1]: its name is empty", `fields[2]: another field is named "a"`, `field "c": its type`,
				`field "d": a sample`}, "all at once"},
		{"rows", []memsource.Table{{Table: wire.Table{Name: "t", Fields: fields("a", "b")},
			Rows: [][]wire.Value{row(num(1)), row(num(1), text("\xff")), row(num(1), num(2), num(3)), row(wire.Decimal("1e5"), null)}}},
			[]string{"rows[0]: has 1 cells for 2 fields", `rows[1]: field "b": text is not valid UTF-8`, "rows[2]: has 3 cells",
				`rows[3]: field "a": not plain decimal`}, "every row at fault"},
		{"a repeated key", []memsource.Table{key(num(1), num(2), dec("1.0"))}, []string{"primaryKey: rows[2] repeats"},
			"filter-6: 1.0 is 1; a key that is not unique breaks joins"},
		{"a null key", []memsource.Table{key(num(1), null)}, []string{"primaryKey: rows[1] has a null"}, ""},
		{"a key of two", []memsource.Table{pair}, nil, "only the combination must be unique, and 1|2 is not 12"},
		{"a key of nothing", []memsource.Table{{Table: wire.Table{Name: "t", PrimaryKey: []string{"z", "a", "a"},
			Fields: fields("a")}}}, []string{`primaryKey names field "a" twice`}, ""},
		{"a key of an unknown field",
			[]memsource.Table{{Table: wire.Table{Name: "t", PrimaryKey: []string{"z"}, Fields: fields("a")}}},
			[]string{`there is no field "z"`}, ""},
		{"unique nulls", []memsource.Table{unique}, nil, "several nulls are no duplicates, as in a database"},
		{"a repeated unique", []memsource.Table{twice}, []string{`unique field "a": rows[1] repeats`}, ""},
		{"foreign keys", []memsource.Table{foreign("z", "nowhere", "a")},
			[]string{`foreignKeys[0]: there is no field "z"`, `in a table "nowhere"`}, ""},
		{"a foreign key to nothing", []memsource.Table{foreign("a", "k", "z")}, []string{`no field "z" in a table "k"`}, ""},
		{"a good foreign key", []memsource.Table{foreign("a", "k", "b")}, nil, ""},
		{"faults of two tables", []memsource.Table{{}, key(null)}, []string{`table ""`, `table "k"`}, "every fault at once"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := memsource.New(c.tables, nil)
			if c.want == nil {
				require.NoError(t, err, c.why)
				return
			}
			require.Error(t, err, c.why)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(c.want), "%v", err)
			for i, w := range c.want {
				assert.Contains(t, lines[i], w, c.why)
			}
		})
	}

	var many [][]wire.Value
	for range 500 {
		many = append(many, row())
	}
	_, err := memsource.New([]memsource.Table{{Table: wire.Table{Name: "t", Fields: fields("a")}, Rows: many}}, nil)
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 11, "an endless list of faults helps nobody")
	assert.ErrorContains(t, err, "490 more rows")
}

// TestSourceIsACopy changes the tables given to New, and an answer: neither
// changes what the source serves.
func TestSourceIsACopy(t *testing.T) {
	ctx := context.Background()
	mine := memsource.Table{Table: wire.Table{Name: "t", PrimaryKey: []string{"a"}, Fields: fields("a")},
		Rows: [][]wire.Value{row(num(1)), row(num(2))}}
	src := testkit.Must(memsource.New([]memsource.Table{mine}, nil))(t)
	mine.Rows[0][0], mine.Fields[0].Name, mine.PrimaryKey[0] = text("changed"), "changed", "changed"

	for range 2 {
		d := testkit.Must(src.Discover(ctx, &wire.DiscoveryRequest{}))(t)
		require.Equal(t, "a", d.Tables[0].Fields[0].Name)
		require.Equal(t, []string{"a"}, d.Tables[0].PrimaryKey)
		d.Tables[0].Fields[0].Name, d.Tables[0].PrimaryKey[0] = "changed", "changed"

		table := testkit.Must(src.Describe(ctx, wire.Credentials{}, "t"))(t)
		require.Equal(t, "a", table.Fields[0].Name)
		table.Fields[0].Name = "changed"
	}
	groups := testkit.Must(src.Aggregate(ctx, &wire.AggregateRequest{Table: "t", Measures: of("sum", "a")}))(t)
	assert.Equal(t, []string{`"3"`}, spelled(t, groups))
}

func TestSourceRefusesUnknownNames(t *testing.T) {
	ctx := context.Background()
	src := testkit.Must(memsource.New([]memsource.Table{{Table: wire.Table{Name: "t", Fields: fields("a")}}}, nil))(t)
	link := func(fromTable, fromColumn, toTable, toColumn string) error {
		_, err := src.LinkHitRate(ctx,
			&wire.LinkHitRateRequest{FromTable: fromTable, FromColumn: fromColumn, ToTable: toTable, ToColumn: toColumn})
		return err
	}
	_, describe := src.Describe(ctx, wire.Credentials{}, "z")
	_, size := src.Size(ctx, &wire.SizeRequest{Table: "z"})
	_, count := src.Count(ctx, &wire.CountRequest{Table: "z"})
	_, aggregate := src.Aggregate(ctx, &wire.AggregateRequest{Table: "z"})
	_, cardinality := src.Cardinality(ctx, &wire.CardinalityRequest{Table: "z"})
	_, hop := src.Aggregate(ctx, &wire.AggregateRequest{Table: "t", Joins: []wire.JoinHop{{FromTable: "t", ToTable: "z"}}})
	_, grouped := src.Aggregate(ctx, &wire.AggregateRequest{Table: "t", GroupBy: []wire.GroupKey{{Field: "z", As: "z"}},
		Joins: []wire.JoinHop{{FromTable: "t", ToTable: "t", FromField: "a", ToField: "a"}}})
	for name, err := range map[string]error{
		"describe": describe, "size": size, "count": count, "aggregate": aggregate, "cardinality": cardinality, "hop": hop,
		"grouped join": grouped,
		"query":        src.Query(ctx, &connector.Query{Table: "z"}, nil), "from": link("z", "a", "t", "a"), "to": link("t", "a", "z", "a"),
		"fromColumn": link("t", "z", "t", "a"), "toColumn": link("t", "a", "t", "z"),
	} {
		t.Run(name, func(t *testing.T) { refused(t, err, wire.CodeUnknownEntity, `"z"`) }) // [rule measure-3]
	}
	_, err := src.Size(ctx, &wire.SizeRequest{Table: strings.Repeat("z", 1000)})
	assert.Less(t, len(err.Error()), 150, "no body comes back whole")
}

// TestSourceStopsWithItsContext on every route that reads rows [rule stream-5] [rule stream-8].
func TestSourceStopsWithItsContext(t *testing.T) {
	table := memsource.Table{Table: wire.Table{Name: "t", Fields: fields("a")}}
	for i := range 5000 {
		table.Rows = append(table.Rows, row(num(int64(i))))
	}
	src := testkit.Must(memsource.New([]memsource.Table{table}, nil))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, count := src.Count(ctx, &wire.CountRequest{Table: "t",
		Where: wire.Where{And: []wire.Filter{{Field: "a", Op: wire.OpNotNull}}}})
	_, aggregate := src.Aggregate(ctx, &wire.AggregateRequest{Table: "t", Measures: of("count", "")})
	_, cardinality := src.Cardinality(ctx, &wire.CardinalityRequest{Table: "t", Columns: []string{"a"}})
	_, link := src.LinkHitRate(ctx, &wire.LinkHitRateRequest{FromTable: "t", FromColumn: "a", ToTable: "t", ToColumn: "a"})
	for _, err := range []error{count, aggregate, cardinality, link} {
		assert.ErrorIs(t, err, context.Canceled)
	}
}

// TestSourceIsConcurrent exercises the race detector: indexes are built on demand.
func TestSourceIsConcurrent(t *testing.T) {
	table := memsource.Table{Table: wire.Table{Name: "t", Fields: fields("a", "b")}}
	for i := range 500 {
		table.Rows = append(table.Rows, row(num(int64(i%50)), text(fmt.Sprint(i))))
	}
	src := testkit.Must(memsource.New([]memsource.Table{table}, nil))(t)
	ctx := context.Background()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			rate, err := src.LinkHitRate(ctx, &wire.LinkHitRateRequest{FromTable: "t", FromColumn: "b", ToTable: "t", ToColumn: "a"})
			assert.NoError(t, err)
			assert.EqualValues(t, 450, rate.OrphanCount)
			groups, err := src.Aggregate(ctx, &wire.AggregateRequest{
				Table: "t", Measures: of("count", ""), Joins: []wire.JoinHop{{FromTable: "t", ToTable: "t", FromField: "a", ToField: "a"}},
			})
			assert.NoError(t, err)
			assert.Equal(t, []string{"5000"}, spelled(t, groups), "500 rows, each with 10 of its kind")
		})
	}
	wait.Wait()
}

// Short spellings for tables of cases.
var (
	null = wire.Null()
	num  = wire.Int
	dec  = wire.Decimal
	text = wire.Text
)

func row(cells ...wire.Value) []wire.Value { return cells }

var errUpstream = errors.New("the upstream hung up")

// spelled returns rows as JSON cells, for comparing.
func spelled(t *testing.T, rows [][]wire.Value) []string {
	t.Helper()
	list := []string{}
	for _, r := range rows {
		line := ""
		for i, v := range r {
			if i > 0 {
				line += " "
			}
			cell := testkit.Must(v.MarshalJSON())(t)
			line += string(cell)
		}
		list = append(list, line)
	}
	return list
}

// refused asserts a deliberate error.
func refused(t *testing.T, err error, code wire.Code, mentions string) {
	t.Helper()
	var e *wire.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, code, e.Code)
	assert.Contains(t, e.Message, mentions)
}

func of(fn wire.AggFunc, field string) []wire.Measure {
	return []wire.Measure{{Fn: fn, Field: field, As: "m"}}
}

// staff returns a table that refers to itself and to places.
func staff() relation.Relation {
	return relation.Relation{
		Columns: []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString},
			{Name: "boss", Type: wire.TypeNumber}, {Name: "home", Type: wire.TypeString}, {Name: "work", Type: wire.TypeString}},
		Rows: relation.RowsOf(
			row(num(1), text("Ada"), null, text("Rome"), text("Oslo")),
			row(num(2), text("Bo"), dec("1.0"), text("Oslo"), text("Oslo")),
			row(num(3), text("Cy"), num(2), text("Atlantis"), null),
			row(num(4), text("Di"), num(9), null, null),
		),
	}
}

// places returns a table with two rows for Oslo, and one without a name.
func places() relation.Relation {
	return relation.Relation{
		Columns: []wire.Column{{Name: "town", Type: wire.TypeString}, {Name: "land", Type: wire.TypeString}},
		Rows: relation.RowsOf(row(text("Oslo"), text("NO")), row(text("Rome"), text("IT")), row(null, text("?")),
			row(text("Oslo"), text("no"))),
	}
}

func lands() relation.Relation {
	return relation.Relation{
		Columns: []wire.Column{{Name: "code", Type: wire.TypeString}, {Name: "full", Type: wire.TypeString}},
		Rows:    relation.RowsOf(row(text("NO"), text("Norway")), row(text("IT"), text("Italy"))),
	}
}
