package sqlsourcetest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
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
	// flavor reads in a way of its own.
	Types []Type
	// TableOptions stand behind the closing parenthesis of CREATE TABLE.
	TableOptions string
}

// Type is one column of the test's tables.
type Type struct {
	Name string    // of the column: one that says what is special about it
	SQL  string    // what stands behind the name in CREATE TABLE
	Type wire.Type // what discovery must call it
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

// Texts are literals of texts, which quote says in SQL.
func Texts(quote func(string) string, texts ...string) []Literal {
	var list []Literal
	for _, s := range texts {
		list = append(list, Literal{quote(s), wire.Text(s)})
	}
	return list
}

// fixture is an engine's database filled for a test, and what is in it.
type fixture struct {
	engine Engine
	source *sqlsource.Source
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

func (t *table) relation() memsource.Relation {
	return memsource.Relation{Columns: t.columns, Rows: memsource.RowsOf(t.rows...)}
}

// The tables of a fixture.
const (
	tableValues = "values" // every type, with a primary key; the name is a keyword
	tableTwin   = "twin"   // the same types and a part of the values, to join with
	tableLoose  = "loose"  // without a key, with rows that are alike
)

// fill makes and fills the tables. The same seed makes the same rows.
func fill(t testing.TB, e Engine, seed uint64) *fixture {
	t.Helper()
	f := &fixture{engine: e, tables: map[string]*table{}}
	rng := rand.New(rand.NewPCG(seed, 1))
	config := sqlsource.Config{DB: e.DB, Flavor: e.Flavor, Tables: map[string]sqlsource.TableConfig{}, Profile: -1, Remember: time.Hour}
	for _, spec := range []struct {
		name string
		rows int
		key  bool
	}{{tableValues, 90, true}, {tableTwin, 25, true}, {tableLoose, 30, false}} {
		own := &table{name: spec.name}
		overrides := map[string]sqlsource.ColumnConfig{}
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
				overrides[c.Name] = sqlsource.ColumnConfig{Type: c.Want}
			}
		}
		config.Tables[spec.name] = sqlsource.TableConfig{Columns: overrides}
		execute(t, e.DB, "CREATE TABLE "+e.Flavor.Quote(spec.name)+" ("+strings.Join(definitions, ", ")+")"+e.TableOptions)
		for i := range spec.rows {
			var row []wire.Value
			var literals []string
			if spec.key {
				row = append(row, wire.Int(int64(i*3)))
				literals = append(literals, fmt.Sprint(i*3))
			}
			for _, c := range e.Types {
				n := rng.IntN(len(c.Literals) + 1 + len(c.Literals)/8)
				if i < len(c.Literals) && spec.name == tableValues {
					n = i // each at least once
				}
				if spec.name == tableLoose {
					n = rng.IntN(min(2, len(c.Literals)) + 1)
					if n == min(2, len(c.Literals)) {
						n = len(c.Literals)
					}
				}
				if n >= len(c.Literals) {
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
	var err error
	f.source, err = sqlsource.New(config)
	require.NoError(t, err)
	f.server = connectortest.Start(t, connector.Definition{Slug: "sqlsourcetest", KeysEnforced: true}, f.source, nil)
	return f
}

func execute(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(context.Background(), statement)
	require.NoError(t, err, "%s", statement)
}
