package memsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
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
	return testkit.Must(src.Discover(context.Background(), &wire.DiscoveryRequest{}))(t).Tables
}

// TestSourceDescribes: what an author leaves empty is read off the rows.
func TestSourceDescribes(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/describes.tsv", 10) {
		t.Run(c[0], func(t *testing.T) {
			table := memsource.Table{Table: wire.Table{Name: "t", Fields: fields("f")}}
			given := cells.Row(t, strings.TrimPrefix(c[1], "-"))
			for _, v := range given {
				table.Rows = append(table.Rows, row(v))
			}
			stats := &wire.Stats{DistinctCount: testkit.Must(strconv.ParseInt(c[6], 10, 64))(t)}
			if percent, err := strconv.ParseFloat(c[5], 64); err == nil {
				stats.NullPercent = &percent
			}
			if c[7] != "-" {
				least, greatest := cells.One(t, c[7]), cells.One(t, c[8])
				stats.Min, stats.Max = &least, &greatest
			}
			got := discover(t, table)[0]
			assert.Equal(t, wire.Field{Name: "f", SourceColumn: "f", Type: wire.Type(c[2]), Nullable: c[3] == "?",
				Samples: append([]wire.Value{}, cells.Row(t, strings.TrimPrefix(c[4], "-"))...), Stats: stats}, got.Fields[0], c[9])
			assert.EqualValues(t, len(given), *got.RowCount)
			assert.True(t, got.StoresRows)
			assert.NotNil(t, got.PrimaryKey, "an empty list, not null")
			assert.NotNil(t, got.ForeignKeys)
		})
	}
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
	faults := func(t *testing.T, want []string, why string, tables ...memsource.Table) {
		_, err := memsource.New(tables, nil)
		if want == nil {
			require.NoError(t, err, why)
			return
		}
		require.Error(t, err, why)
		lines := strings.Split(err.Error(), "\n")
		require.Len(t, lines, len(want), "%v", err)
		for i, w := range want {
			assert.Contains(t, lines[i], w, why)
		}
	}
	for _, c := range testkit.Table(t, "testdata/faults.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			var given []struct {
				Name, Columns, Rows string
				Key, Unique         []string
				Link                []string // the field, and the table and the field that it refers to
			}
			require.NoError(t, json.Unmarshal([]byte(c[1]), &given))
			var tables []memsource.Table
			for _, g := range given {
				table := memsource.Table{Table: wire.Table{Name: g.Name, PrimaryKey: g.Key, Fields: fields(strings.Fields(g.Columns)...)},
					Rows: cells.Rows(t, g.Rows)}
				for _, name := range g.Unique {
					table.Field(name).Unique = true
				}
				if g.Link != nil {
					table.ForeignKeys = []wire.ForeignKey{{Field: g.Link[0], TargetTable: g.Link[1], TargetField: g.Link[2]}}
				}
				tables = append(tables, table)
			}
			var want []string
			if c[2] != "-" {
				want = strings.Split(c[2], " / ")
			}
			faults(t, want, c[3], tables...)
		})
	}
	faults(t, []string{"valid UTF-8", "fields[0]"}, "cell-4",
		memsource.Table{Table: wire.Table{Name: "a\xff", Fields: fields("b\xff")}})
	faults(t, []string{"fields[1]: its name is empty", `fields[2]: another field is named "a"`, `field "c": its type`, `field "d": a sample`},
		"all at once", memsource.Table{Table: wire.Table{Name: "t", Fields: append(fields("a", "", "a"),
			wire.Field{Name: "c", Type: "integer"}, wire.Field{Name: "d", Samples: row(wire.Decimal("x"))})}})

	many := memsource.Table{Table: wire.Table{Name: "t", Fields: fields("a")}, Rows: make([][]wire.Value, 500)}
	_, err := memsource.New([]memsource.Table{many}, nil)
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 11, "an endless list of faults helps nobody")
	assert.ErrorContains(t, err, "490 more rows")
}

// TestSourceIsACopy changes the tables given to New, and an answer: neither changes what the source serves.
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
	assert.Equal(t, []string{`"3"`}, cells.Spelled(t, groups...))
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
		t.Run(name, func(t *testing.T) {
			var refused *wire.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, wire.CodeUnknownEntity, refused.Code) // [rule measure-3]
			assert.Contains(t, refused.Message, `"z"`)
		})
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
			assert.Equal(t, []string{"5000"}, cells.Spelled(t, groups...), "500 rows, each with 10 of its kind")
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

func of(fn wire.AggFunc, field string) []wire.Measure {
	return []wire.Measure{{Fn: fn, Field: field, As: "m"}}
}

// shared returns a table of the tests of package relation, whose missing cells are null.
func shared(t testing.TB, name string) relation.Relation {
	t.Helper()
	for _, c := range testkit.Table(t, "../../internal/relation/testdata/tables.tsv", 2) {
		if c[0] != name {
			continue
		}
		columns, rows := cells.Table(t, c[1])
		for i := range rows {
			rows[i] = append(rows[i], make([]wire.Value, len(columns)-len(rows[i]))...)
		}
		return relation.Relation{Columns: columns, Rows: relation.RowsOf(rows...)}
	}
	t.Fatalf("there is no table %q", name)
	return relation.Relation{}
}

type purchase struct {
	_        struct{}        `description:"One order of one customer"`
	ID       int64           `connector:"id,pk"`
	Customer string          `connector:"customer,reference,fk=customers.id" description:"Who ordered"`
	Total    decimal.Decimal `connector:"total,scale=2"`
}

// TestTableOfFaults checks that a type that cannot be a table is refused at once, and that New reports the rows.
func TestTableOfFaults(t *testing.T) {
	type broken struct {
		At   time.Time
		Done chan int
	}
	_, err := memsource.TableOf("broken", []broken{})
	assert.EqualError(t, err, `memsource: TableOf "broken": `+
		`broken.At: a time.Time needs the type date or datetime in the tag, such as connector:"created,datetime"`+"\n"+
		`broken.Done: the type chan int is no value of a column; convert it, or give it a tag connector:"-"`)

	many := make([]purchase, 12)
	for i := range many {
		many[i].Total = decimal.RequireFromString("0.001")
	}
	_, err = memsource.New([]memsource.Table{testkit.Must(memsource.TableOf("many", many))(t)}, nil)
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 12, "the last one is the foreign key")
	assert.Equal(t, `table "many": rows[0]: field "total": a decimal is out of range, or has more digits than the scale of 2`, lines[0])
	assert.Equal(t, `table "many": 2 more rows have faults`, lines[10])

	twice := []*purchase{{ID: 1, Customer: "c1"}, {ID: 1, Customer: "c2"}}
	_, err = memsource.New([]memsource.Table{testkit.Must(memsource.TableOf("orders", twice))(t)}, nil)
	assert.ErrorContains(t, err, `table "orders": primaryKey: rows[1] repeats an earlier row's`)
	assert.ErrorContains(t, err, `there is no field "id" in a table "customers"`)
}

// A connector over Go structs.
func ExampleTableOf() {
	type Planet struct {
		Name    string    `connector:"name,pk"`
		Moons   int       `connector:"moons"`
		Visited time.Time `connector:"visited,date,omitzero"`
	}
	planets := []Planet{
		{Name: "Earth", Moons: 1},
		{Name: "Mars", Moons: 2, Visited: time.Date(1971, 11, 27, 0, 0, 0, 0, time.UTC)},
	}
	table, err := memsource.TableOf("planets", planets)
	if err != nil {
		panic(err)
	}
	src, err := memsource.New([]memsource.Table{table}, nil)
	if err != nil {
		panic(err)
	}
	described, err := src.Describe(context.Background(), wire.Credentials{}, "planets")
	if err != nil {
		panic(err)
	}
	for _, f := range described.Fields {
		fmt.Println(f.Name, f.Type, f.Nullable, f.Samples)
	}
	// Output:
	// name string false [Earth Mars]
	// moons number false [1 2]
	// visited date true [1971-11-27]
}

// TestCellsFitTheirColumns gives New cells that are no values of the type which the author
// stated. The fault names table, row and field, and never quotes the cell.
func TestCellsFitTheirColumns(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/fits.tsv", 4) {
		typ, cell := wire.Type(strings.TrimPrefix(c[0], "-")), cells.One(t, c[1])
		_, err := memsource.New([]memsource.Table{{
			Table: wire.Table{Name: "t", Fields: []wire.Field{{Name: "n"}, {Name: "f", Type: typ}}},
			Rows:  [][]wire.Value{row(num(1), null), row(num(2), cell)},
		}}, nil)
		if c[2] == "-" {
			require.NoError(t, err, "%s %v: %s", typ, cell, c[3])
			continue
		}
		require.ErrorContains(t, err, `table "t": rows[1]: field "f" of type `+c[0]+": the cell "+c[2], "%v: %s", cell, c[3])
		if text := cell.Text(); cell.Kind() == wire.KindText && text != "" {
			assert.NotContains(t, err.Error(), text)
		}
	}
}

// TestOpenChoices asks what the protocol leaves open of a request, and requires the answer that the rulebook gives.
func TestOpenChoices(t *testing.T) {
	source := testkit.Must(memsource.New([]memsource.Table{{
		Table: wire.Table{Name: "t", SourceDescription: "Rows.", Fields: []wire.Field{
			{Name: "a", Type: wire.TypeString}, {Name: "n", Type: wire.TypeNumber}}},
		Rows: [][]wire.Value{{wire.Text("x"), wire.Int(1)}, {wire.Text("y"), wire.Int(2)}},
	}}, nil))(t)
	srv := connectortest.Start(t, connector.Definition{Slug: "choices"}, source, nil)
	testkit.AskRoutes(t, "testdata/choices.json", map[string]string{}, srv.Post)
}
