package dry_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// column returns a column of the tables that the examples ask.
func column(name, dataType string, nullable bool) sqlengine.CatalogColumn {
	return sqlengine.CatalogColumn{Name: name, DataType: dataType, Nullable: nullable, Precision: 10, Scale: 2}
}

// tables returns two tables. Every flavor here has them in place of a catalog, because
// no server answers.
func tables() []*sqlengine.Table {
	key := sqlengine.Key{Kind: sqlengine.PrimaryKey, ID: "key", Columns: []string{"id"}}
	return []*sqlengine.Table{
		{Name: "orders", Keys: []sqlengine.Key{key}, Columns: []sqlengine.CatalogColumn{
			column("id", "integer", false), column("customer", "integer", true), column("amount", "decimal", true),
			column("note", "text", true), column("placed", "datetime", true), column("paid", "boolean", true),
		}},
		{Name: "customers", Keys: []sqlengine.Key{key}, Columns: []sqlengine.CatalogColumn{
			column("id", "integer", false), column("name", "text", true),
		}},
	}
}

// requests are what the examples ask, each with its route.
var requests = []struct{ why, path, body string }{
	{"some rows", wire.PathQuery, `"sort": [], "table": "orders", "fields": ["id", "note"], "and": [
		{"field": "amount", "op": "gte", "value": "10.5"}, {"field": "note", "op": "neq", "value": "x"}]`},
	{"a page of a sort", wire.PathQuery, `"and": [], "table": "orders", "fields": ["id"], "sort": [{"field": "note",
		"dir": "desc"}], "limit": 10, "offset": 20`},
	{"a page without a sort", wire.PathQuery, `"and": [], "sort": [], "table": "orders", "fields": ["id"], "limit": 10`},
	{"a list, and one of two", wire.PathQuery, `"sort": [], "table": "orders", "fields": ["id"], "and": [
		{"field": "customer", "op": "nin", "values": [1, 2]}], "or": [
		[{"field": "placed", "op": "lt", "value": "2024-01-01T00:00:00Z"}], [{"field": "placed", "op": "isnull"}]]`},
	{"a search", wire.PathQuery, `"sort": [], "table": "orders", "fields": ["id"], "and": [
		{"field": "note", "op": "includes", "value": "a"}, {"field": "note", "op": "startswith", "value": "b"}]`},
	{"a boolean", wire.PathCount, `"table": "orders", "and": [{"field": "paid", "op": "eq", "value": true}]`},
	{"a join", wire.PathQuery, `"and": [], "sort": [], "table": "orders", "fields": ["id"],
		"joins": [{"fromTable": "orders", "toTable": "customers",
		"fromField": "customer", "toField": "id", "fields": [{"field": "name", "as": "name"}]}]`},
	{"groups by month", wire.PathAggregate, `"and": [], "table": "orders", "groupBy": [{"field": "placed", "as": "m",
		"grain": "month"}], "measures": [
		{"fn": "count", "as": "n"}, {"fn": "sum", "field": "amount", "as": "total"}], "limit": 100`},
	{"measures of all rows", wire.PathAggregate, `"and": [], "table": "orders", "groupBy": [],
		"measures": [{"fn": "min", "field": "note", "as": "first"},
		{"fn": "count_distinct", "field": "customer", "as": "customers"}, {"fn": "sum", "field": "id", "as": "sum"}], "limit": 1`},
	{"a link", wire.PathLinkHitRate, `"fromTable": "orders", "fromColumn": "customer", "toTable": "customers",
		"toColumn": "id"`},
}

// print asks a connector over a flavor, and prints the statements.
func print(flavor sqlengine.Flavor) {
	log := &recorder{}
	source, err := sqlsource.New(sql.OpenDB(log), flavor, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	const secret = "no-secret-ever-stands-in-an-example"
	token, err := wire.NewToken(secret)
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := connector.New(connector.Definition{Slug: "dry", KeysEnforced: true}, source, token,
		&connector.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range requests {
		body := strings.NewReader(`{"credentials": {}, "timeoutMs": 10000, ` + r.body + "}")
		request := httptest.NewRequest(http.MethodPost, r.path, body)
		request.Header.Set("Authorization", "Bearer "+secret)
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		fmt.Println("--", r.why)
		for _, statement := range log.take() {
			fmt.Println(wrapped(statement))
		}
		if answer.Code != http.StatusOK {
			fmt.Println(answer.Code, answer.Body)
		}
	}
}

// wrapped returns a statement in lines of a hundred columns or a little more.
func wrapped(statement string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(statement) {
		if width+len(word) > 100 && width > 0 {
			b.WriteString("\n  ")
			width = 2
		} else if width > 0 {
			b.WriteString(" ")
		}
		b.WriteString(word)
		width += len(word) + 1
	}
	return b.String()
}

// recorder is a driver that records statements, each that prepares a session once. It
// answers counts by zero, and everything else by no rows.
type recorder struct{ statements, session []string }

func (r *recorder) take() []string {
	all := r.statements
	r.statements = nil
	return all
}

func (r *recorder) Connect(context.Context) (driver.Conn, error)                 { return r, nil }
func (r *recorder) Driver() driver.Driver                                        { return r }
func (r *recorder) Open(string) (driver.Conn, error)                             { return r, nil }
func (r *recorder) Prepare(string) (driver.Stmt, error)                          { return nil, driver.ErrSkip }
func (r *recorder) Close() error                                                 { return nil }
func (r *recorder) Begin() (driver.Tx, error)                                    { return r, nil }
func (r *recorder) Commit() error                                                { return nil }
func (r *recorder) Rollback() error                                              { return nil }
func (r *recorder) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return r, nil }

func (r *recorder) ExecContext(_ context.Context, statement string, _ []driver.NamedValue) (driver.Result, error) {
	if !slices.Contains(r.session, statement) {
		r.session, r.statements = append(r.session, statement), append(r.statements, statement)
	}
	return driver.ResultNoRows, nil
}

func (r *recorder) QueryContext(_ context.Context, statement string, args []driver.NamedValue) (driver.Rows, error) {
	line := statement
	if len(args) > 0 {
		values := make([]string, len(args))
		for i, a := range args {
			values[i] = fmt.Sprint(a.Value)
		}
		line += " <- " + strings.Join(values, ", ")
	}
	r.statements = append(r.statements, line)
	return &zeros{columns: topLevel(statement), left: strings.Contains(statement, "COUNT(") && !strings.Contains(statement, "GROUP BY")}, nil
}

// topLevel returns how many expressions a SELECT has.
func topLevel(statement string) int {
	n, depth := 1, 0
	for i, c := range statement {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			n++
		case depth == 0 && strings.HasPrefix(statement[i:], " FROM "):
			return n
		}
	}
	return n
}

// zeros are rows of zeros: one, if there is one left.
type zeros struct {
	columns int
	left    bool
}

func (z *zeros) Columns() []string { return make([]string, z.columns) }
func (z *zeros) Close() error      { return nil }

func (z *zeros) Next(values []driver.Value) error {
	if !z.left {
		return io.EOF
	}
	z.left = false
	for i := range values {
		values[i] = int64(0)
	}
	return nil
}
