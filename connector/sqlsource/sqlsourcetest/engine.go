package sqlsourcetest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Engine is a database engine under test.
type Engine struct {
	Flavor sqlsource.Flavor
	// DB is an empty database, into which the test writes its tables.
	DB *sql.DB
	// Key is the SQL type of an integer primary key, such as BIGINT.
	Key string
	// Types are columns to test. Give one for every type of the engine that the
	// flavor reads differently.
	Types []Type
	// TableOptions stand behind the closing parenthesis of CREATE TABLE.
	TableOptions string
}

// Type is one column of the test's tables.
type Type struct {
	Name string    // of the column; choose one that says what is special about it
	SQL  string    // what follows the name in CREATE TABLE; %s in it is the name
	Type wire.Type // that discovery must give it
	// Want is the type asked for by an override; empty: none.
	Want wire.Type
	// Literals are values of the type, in SQL, with the cell that each must be
	// read as. Null is added.
	Literals []Literal
}

// Literal is a value in SQL and the cell it must be read as.
type Literal struct {
	SQL  string
	Cell wire.Value
}

// Texts returns literals of texts. quote returns a text in SQL.
func Texts(quote func(string) string, texts ...string) []Literal {
	var list []Literal
	for _, s := range texts {
		list = append(list, Literal{quote(s), wire.Text(s)})
	}
	return list
}

// fixture is an engine's database filled for a test, and what it holds.
type fixture struct {
	engine Engine
	server *connectortest.Server
	tables map[string]*table
	names  []string
}

// table is a table as it must be read.
type table struct {
	name    string
	key     []string
	columns []wire.Column
	rows    [][]wire.Value
}

// fields returns the names of the columns.
func (t *table) fields() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.Name
	}
	return names
}

// typeOf returns the type of a column.
func (t *table) typeOf(name string) wire.Type {
	return t.columns[slices.IndexFunc(t.columns, func(c wire.Column) bool { return c.Name == name })].Type
}

// relation returns the table for an evaluation in memory.
func (t *table) relation() memsource.Relation {
	return memsource.Relation{Columns: t.columns, Rows: memsource.RowsOf(t.rows...)}
}

// The tables of a fixture.
const (
	tableValues = "values" // every type, with a primary key; the name is a keyword
	tableTwin   = "twin"   // the same types and some of the values, to join with
	tableLoose  = "loose"  // without a key, with rows that are alike
)

// fill creates and fills the tables. The same seed makes the same rows.
func fill(t testing.TB, e Engine, seed uint64) *fixture {
	t.Helper()
	f := &fixture{engine: e, tables: map[string]*table{}}
	rng := rand.New(rand.NewPCG(seed, 1))
	options := &sqlsource.Options{Tables: map[string]sqlsource.TableOptions{}, Profile: -1, Remember: time.Hour}
	for _, spec := range []struct {
		name string
		rows int
		key  bool
	}{{tableValues, 90, true}, {tableTwin, 25, true}, {tableLoose, 30, false}} {
		own := &table{name: spec.name}
		overrides := map[string]sqlsource.ColumnOptions{}
		var definitions []string
		if spec.key {
			own.key = []string{"id"}
			own.columns = append(own.columns, wire.Column{Name: "id", Type: wire.TypeNumber})
			definitions = append(definitions, e.Flavor.Quote("id")+" "+e.Key+" NOT NULL PRIMARY KEY")
		}
		for _, c := range e.Types {
			own.columns = append(own.columns, wire.Column{Name: c.Name, Type: c.Type})
			definitions = append(definitions, e.Flavor.Quote(c.Name)+" "+strings.ReplaceAll(c.SQL, "%s", e.Flavor.Quote(c.Name)))
			if c.Want != "" {
				overrides[c.Name] = sqlsource.ColumnOptions{Type: c.Want}
			}
		}
		options.Tables[spec.name] = sqlsource.TableOptions{Columns: overrides}
		execute(t, e.DB, "CREATE TABLE "+e.Flavor.Quote(spec.name)+" ("+strings.Join(definitions, ", ")+")"+e.TableOptions)
		for i := range spec.rows {
			var row []wire.Value
			var literals []string
			if spec.key {
				row = append(row, wire.Int(int64(i*3)))
				literals = append(literals, fmt.Sprint(i*3))
			}
			for _, c := range e.Types {
				literalsUsed := c.Literals
				if spec.name == tableLoose { // few values make rows that are alike
					literalsUsed = c.Literals[:min(2, len(c.Literals))]
				}
				n := rng.IntN(len(literalsUsed) + 1 + len(literalsUsed)/8)
				if i < len(c.Literals) && spec.name == tableValues {
					n = i // each at least once
				}
				if n >= len(literalsUsed) {
					row, literals = append(row, wire.Null()), append(literals, "NULL")
				} else {
					row, literals = append(row, c.Literals[n].Cell), append(literals, c.Literals[n].SQL)
				}
			}
			own.rows = append(own.rows, row)
			execute(t, e.DB, "INSERT INTO "+e.Flavor.Quote(spec.name)+" VALUES ("+strings.Join(literals, ", ")+")")
		}
		f.tables[spec.name] = own
		f.names = append(f.names, spec.name)
	}
	source, err := sqlsource.New(e.DB, e.Flavor, options)
	require.NoError(t, err)
	f.server = connectortest.Start(t, connector.Definition{Slug: "sqlsourcetest", KeysEnforced: true}, source, nil)
	return f
}

func execute(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(context.Background(), statement)
	require.NoError(t, err, "%s", statement)
}
