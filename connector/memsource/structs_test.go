package memsource_test

import (
	"context"
	"database/sql"
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
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type purchase struct {
	_        struct{}        `description:"One order of one customer"`
	ID       int64           `connector:"id,pk"`
	Customer string          `connector:"customer,reference,fk=customers.id" description:"Who ordered"`
	Total    decimal.Decimal `connector:"total,scale=2"`
	Placed   time.Time       `connector:"placed,datetime,width=3"`
	Shipped  *time.Time      `connector:"shipped,date"`
	Tags     []string        `connector:"tags"`
	Note     sql.NullString  `connector:"note"`
}

type customer struct {
	ID   string `connector:"id,pk,reference"`
	Name string `connector:"name"`
}

func purchases() []*purchase {
	at := time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)
	return []*purchase{
		{ID: 1, Customer: "c1", Total: decimal.RequireFromString("12.5"), Placed: at, Shipped: &at, Tags: []string{"gift"}},
		{ID: 2, Customer: "c2", Total: decimal.RequireFromString("7"), Placed: at.Add(time.Hour),
			Note: sql.NullString{String: "ring twice", Valid: true}},
	}
}

func tableOf[T any](t *testing.T, name string, rows []T) memsource.Table {
	t.Helper()
	table, err := memsource.TableOf(name, rows)
	require.NoError(t, err)
	return table
}

// TestTableOf checks a table of structs in the conformance program.
func TestTableOf(t *testing.T) {
	src, err := memsource.New([]memsource.Table{
		tableOf(t, "orders", purchases()),
		tableOf(t, "customers", []customer{{"c1", "Ada"}, {"c2", "Bob"}}),
	}, nil)
	require.NoError(t, err)
	d, err := src.Discover(context.Background(), &wire.DiscoveryRequest{})
	require.NoError(t, err)
	table := d.Tables[0]
	assert.Equal(t, "One order of one customer", table.SourceDescription)
	assert.Equal(t, int64(2), *table.RowCount)
	var fields []string
	for _, f := range table.Fields {
		fields = append(fields, fmt.Sprintf("%s %s nullable=%t %v", f.Name, f.Type, f.Nullable, f.Samples))
	}
	assert.Equal(t, []string{
		"id number nullable=false [1 2]",
		"customer reference nullable=false [c1 c2]",
		"total decimal nullable=false [12.50 7.00]",
		"placed datetime nullable=false [2024-05-01T10:00:00.000Z 2024-05-01T11:00:00.000Z]",
		"shipped date nullable=true [2024-05-01]",
		`tags array nullable=true [["gift"]]`,
		"note string nullable=true [ring twice]",
	}, fields)
	connectortest.Run(t, connector.Definition{Slug: "structs"}, src, nil)
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
	_, err = memsource.New([]memsource.Table{tableOf(t, "many", many)}, nil)
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 12, "the last one is the foreign key")
	assert.Equal(t, `table "many": rows[0]: field "total": a decimal is out of range, or has more digits than the scale of 2`, lines[0])
	assert.Equal(t, `table "many": 2 more rows have faults`, lines[10])

	twice := purchases()
	twice[1].ID = 1
	_, err = memsource.New([]memsource.Table{tableOf(t, "orders", twice)}, nil)
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
