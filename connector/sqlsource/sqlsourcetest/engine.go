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
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Engine is a database engine under test.
type Engine struct {
	Flavor sqlengine.Flavor
	// DB is an empty database, into which the test writes its tables.
	DB *sql.DB
	// Key is the SQL type of an integer primary key, such as BIGINT.
	Key string
	// Types are columns to test. Give one for every type of the engine that the
	// flavor reads differently.
	Types []Type
	// Insert returns statements that insert rows into a table, whose name is quoted. Each
	// row is a list of literals in parentheses. Nil: one INSERT with all rows behind
	// VALUES, which not every engine has.
	Insert func(table string, rows []string) []string
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
	engine  Engine
	without []string // parts that are left out
	server  *connectortest.Server
	known   oracle.Tables // as they must be read
	names   []string      // of the tables
}

// fields returns the names of a table's columns.
func fields(t *oracle.Table) []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// The tables of a fixture.
const (
	tableValues = "values" // every type, with a primary key; the name is a keyword
	tableTwin   = "twin"   // the same types and some of the values, to join with
	tableLoose  = "loose"  // without a key, with rows that are alike
)

// rowNumber is the first column of a table with a primary key: another number in each row.
const rowNumber = "id"

// fill creates and fills the tables. The same seed makes the same rows.
func fill(t testing.TB, e Engine, o Options) *fixture {
	t.Helper()
	f := &fixture{engine: e, without: o.Without, known: oracle.Tables{}}
	f.names = []string{tableValues, tableTwin, tableLoose}
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	f.create(t, rng, tableValues, 90, true)
	f.create(t, rng, tableTwin, 25, true)
	f.create(t, rng, tableLoose, 30, false)
	if f.has(partIndexes) {
		f.index(t, tableValues)
	}
	overrides := map[string]sqlsource.ColumnOptions{}
	for _, c := range e.Types {
		if c.Want != "" {
			overrides[c.Name] = sqlsource.ColumnOptions{Type: c.Want}
		}
	}
	options := &sqlsource.Options{Tables: map[string]sqlsource.TableOptions{}, Profile: -1, CatalogTTL: time.Hour}
	for _, name := range f.names {
		options.Tables[name] = sqlsource.TableOptions{Columns: overrides}
	}
	source, err := sqlsource.New(e.DB, e.Flavor, options)
	require.NoError(t, err)
	f.server = connectortest.Start(t, connector.Definition{Slug: "sqlsourcetest", KeysEnforced: true}, source, nil)
	return f
}

// create creates one table with all types, and fills it.
func (f *fixture) create(t testing.TB, rng *rand.Rand, name string, rows int, withKey bool) {
	t.Helper()
	e := f.engine
	own := &oracle.Table{Name: name}
	var definitions []string
	if withKey {
		own.Columns = append(own.Columns, wire.Column{Name: rowNumber, Type: wire.TypeNumber})
		definitions = append(definitions, e.Flavor.Quote(rowNumber)+" "+e.Key+" NOT NULL")
		if f.has(partKeys) {
			own.PrimaryKey = []string{rowNumber}
			definitions[0] += " PRIMARY KEY"
		}
	}
	for _, c := range e.Types {
		own.Columns = append(own.Columns, wire.Column{Name: c.Name, Type: c.Type})
		definitions = append(definitions, e.Flavor.Quote(c.Name)+" "+strings.ReplaceAll(c.SQL, "%s", e.Flavor.Quote(c.Name)))
	}
	execute(t, e.DB, "CREATE TABLE "+e.Flavor.Quote(name)+" ("+strings.Join(definitions, ", ")+")"+e.TableOptions)
	for i := range rows {
		var row []wire.Value
		var literals []string
		add := func(l Literal) { row, literals = append(row, l.Cell), append(literals, l.SQL) }
		if withKey {
			add(Literal{fmt.Sprint(i * 3), wire.Int(int64(i * 3))})
		}
		for _, c := range e.Types {
			choice := c.Literals
			if name == tableLoose { // few values make rows that are alike
				choice = choice[:min(2, len(choice))]
			}
			n := rng.IntN(len(choice) + 1 + len(choice)/8)
			if name == tableValues && i < len(choice) {
				n = i // each at least once
			}
			if n < len(choice) {
				add(choice[n])
			} else {
				add(Literal{"NULL", wire.Null()})
			}
		}
		own.Rows = append(own.Rows, row)
		execute(t, e.DB, "INSERT INTO "+e.Flavor.Quote(name)+" VALUES ("+strings.Join(literals, ", ")+")")
	}
	f.known[name] = own
}

// index indexes every column of a table that the engine can index: what a flavor
// asks of an index must be exact too. The other tables have none.
func (f *fixture) index(t testing.TB, table string) {
	t.Helper()
	quote, indexed := f.engine.Flavor.Quote, 0
	for _, c := range f.engine.Types {
		statement := "CREATE INDEX " + quote("index of "+c.Name) + " ON " + quote(table) + " (" + quote(c.Name) + ")"
		if _, err := f.engine.DB.ExecContext(context.Background(), statement); err == nil { // many engines index no long texts, and no JSON
			indexed++
		}
	}
	require.Positive(t, indexed, "no column can be indexed; if the engine has no CREATE INDEX, name %q in Options.Without", partIndexes)
}

// insert inserts rows, each a list of literals in parentheses.
func (e Engine) insert(t testing.TB, name string, rows []string) {
	t.Helper()
	statements := []string{"INSERT INTO " + e.Flavor.Quote(name) + " VALUES " + strings.Join(rows, ", ")}
	if e.Insert != nil {
		statements = e.Insert(e.Flavor.Quote(name), rows)
	}
	for _, statement := range statements {
		execute(t, e.DB, statement)
	}
}

func execute(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(context.Background(), statement)
	require.NoError(t, err, "%s", statement)
}
