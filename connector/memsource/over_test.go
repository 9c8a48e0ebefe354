package memsource_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// reading are the company's tables, which are read row by row and no more than once. If they
// are unsized, they do not tell their row counts, but the counts of the column id.
type reading struct {
	*memsource.Source
	t              testing.TB
	unsized        bool
	opened, closed int
	read           []string
}

func (r *reading) Open(_ context.Context, _ wire.Credentials, name string) (*memsource.OpenTable, error) {
	n, ok := map[string]int64{"staff": 4, "places": 4, "lands": 2}[name]
	if !ok {
		return nil, connector.UnknownEntity("there is no table %s", name)
	}
	rel := shared(r.t, name)
	r.opened++
	table := &memsource.OpenTable{RowCount: &n, Close: func() { r.closed++ }}
	if r.unsized {
		table.RowCount = nil
		table.Counted = func(column string) (wire.Cardinality, bool) {
			return wire.Cardinality{NonNull: 1000, Distinct: 10}, column == "id"
		}
	}
	rows, again := rel.Rows, false
	rel.Rows = func(yield func([]wire.Value, error) bool) {
		if again {
			yield(nil, errors.New("the rows are read again"))
			return
		}
		again = true
		r.read = append(r.read, name)
		rows(yield)
	}
	table.Columns, table.Rows = rel.Columns, rel.Rows
	return table, nil
}

// TestOverKnowsWithoutReading: what a table tells when it is opened is not read for.
func TestOverKnowsWithoutReading(t *testing.T) {
	tables := &reading{Source: company(t), t: t}
	src := memsource.Over(tables, nil)
	assert.Equal(t, &wire.Size{Rows: 4, Exact: true}, testkit.Must(src.Size(t.Context(), &wire.SizeRequest{Table: "staff"}))(t))
	n := testkit.Must(src.Count(t.Context(), &wire.CountRequest{Table: "staff"}))(t)
	assert.EqualValues(t, 4, n)
	assert.Empty(t, tables.read)

	tables.unsized = true
	size, err := src.Size(t.Context(), &wire.SizeRequest{Table: "staff"})
	assert.ErrorIs(t, err, connector.ErrDecline, "not known")
	assert.Nil(t, size)
	n = testkit.Must(src.Count(t.Context(), &wire.CountRequest{Table: "staff"}))(t)
	assert.EqualValues(t, 4, n)
	assert.Equal(t, []string{"staff"}, tables.read)
	tables.read = nil
	known := &wire.Cardinality{NonNull: 1000, Distinct: 10}
	counts := testkit.Must(src.Cardinality(t.Context(), &wire.CardinalityRequest{Table: "staff", Columns: []string{"id"}}))(t)
	assert.Equal(t, map[string]*wire.Cardinality{"id": known}, counts)
	assert.Empty(t, tables.read)
	counts = testkit.Must(src.Cardinality(t.Context(), &wire.CardinalityRequest{Table: "staff", Columns: []string{"work", "id"}}))(t)
	assert.Equal(t, map[string]*wire.Cardinality{"id": known, "work": {NonNull: 2, Distinct: 1}}, counts)
	assert.Equal(t, tables.opened, tables.closed)
}

// TestOverBudget: a join that does not fit is refused, and what was opened is closed.
func TestOverBudget(t *testing.T) {
	tables := &reading{Source: company(t), t: t}
	srv := connectortest.Start(t, connector.Definition{Slug: "company"}, memsource.Over(tables, &memsource.Options{Budget: 100}), nil)
	joins := `"joins":[{"fromTable":"staff","toTable":"places","fromField":"home","toField":"town","fields":[]},` +
		`{"fromTable":"staff","toTable":"lands","fromField":"home","toField":"code","fields":[]}],"credentials":{},"timeoutMs":60000}`
	status, body := srv.Post(wire.PathQuery, `{"table":"staff","and":[],"sort":[],"fields":["id"],`+joins)
	assert.Equal(t, 422, status)
	assert.Contains(t, body, `table \"places\" is too large to hold`)
	status, _ = srv.Post(wire.PathAggregate, `{"table":"staff","and":[],"groupBy":[],"measures":[{"fn":"count","as":"n"}],"limit":9,`+joins)
	assert.Equal(t, 422, status)
	assert.Equal(t, 6, tables.opened)
	assert.Equal(t, 6, tables.closed)
}

// logbook is a table that grows while it is served: it is read anew for each request.
type logbook struct{ lines []string }

func (l *logbook) Check(context.Context, *wire.CheckRequest) error { return nil }

func (l *logbook) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	t, err := l.Describe(ctx, req.Credentials, "log")
	return &wire.Discovery{Tables: []wire.Table{*t}}, err
}

func (l *logbook) Describe(context.Context, wire.Credentials, string) (*wire.Table, error) {
	return &wire.Table{Name: "log", Fields: []wire.Field{{Name: "line", Type: wire.TypeNumber}, {Name: "text", Type: wire.TypeString}}}, nil
}

func (l *logbook) Open(ctx context.Context, _ wire.Credentials, _ string) (*memsource.OpenTable, error) {
	columns := []wire.Column{{Name: "line"}, {Name: "text"}} // Describe knows their types
	lines := l.lines                                         // as they are now
	rows := func(yield func([]wire.Value, error) bool) {
		for i, text := range lines {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !yield([]wire.Value{wire.Int(int64(i + 1)), wire.Text(text)}, nil) {
				return
			}
		}
	}
	return &memsource.OpenTable{Columns: columns, Rows: rows}, nil
}

// TestOverTypes: texts that look like numbers are compared as the texts that Describe says they are.
func TestOverTypes(t *testing.T) {
	src := memsource.Over(&logbook{[]string{"007", "7", "7.0"}}, nil)
	is7 := []wire.Filter{{Field: "text", Op: wire.OpEq, Value: wire.Text("7")}}
	assert.EqualValues(t, 1, testkit.Must(src.Count(t.Context(), &wire.CountRequest{Table: "log", Where: wire.Where{And: is7}}))(t))
	counts := testkit.Must(src.Cardinality(t.Context(), &wire.CardinalityRequest{Table: "log", Columns: []string{"text"}}))(t)
	assert.EqualValues(t, 3, counts["text"].Distinct)
}

// A source of rows that are read for each request.
func ExampleOver() {
	source := memsource.Over(&logbook{[]string{"started", "ready", "started"}}, nil)
	counts, err := source.Cardinality(context.Background(), &wire.CardinalityRequest{Table: "log", Columns: []string{"text"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(*counts["text"])
	// Output: {3 2}
}
