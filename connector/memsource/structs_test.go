package memsource_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type purchase struct {
	_        struct{}        `description:"One order of one customer"`
	ID       int64           `connector:"id,pk"`
	Customer string          `connector:"customer,reference,fk=customers.id" description:"Who ordered"`
	Total    decimal.Decimal `connector:"total,scale=2"`
}

// TestTableOfFaults checks that a type that cannot be a table is refused at once,
// and that New reports the rows.
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
