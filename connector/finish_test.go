package connector_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// question is a random query and everything around it. The oracle answers it, which shares no code with package filter.
type question struct {
	req               wire.QueryRequest
	table             *oracle.Table // in the source's own order
	claims            wire.Served   // what the source does itself
	described         bool
	sorts             wire.SortSupport
	offsets           bool
	offsetMax, budget int64
}

var everyColumn = []string{"id", "a", "s"}

// finishOps are the operators that may filter a number and a text.
var finishOps = []wire.Op{wire.OpIsNull, wire.OpNotNull, wire.OpIn, wire.OpNin, wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt,
	wire.OpLte}

func random(r *rand.Rand) *question {
	cell := func(name string, id int) wire.Value {
		switch null := r.IntN(4) == 0; {
		case name == "id":
			return wire.Int(int64(id))
		case null:
			return wire.Null()
		case name == "a":
			return wire.Int(int64(r.IntN(5) - 2))
		}
		return wire.Text(one(r, "", "a", "b", "B", "ab", "ä", "1"))
	}
	filters := func(n int) []wire.Filter {
		list := []wire.Filter{}
		for range n {
			field := one(r, everyColumn...)
			list = append(list, randomFilter(r, field, finishOps, func() wire.Value { return cell(field, r.IntN(10)) }))
		}
		return list
	}
	shuffled := func() []string {
		list := slices.Clone(everyColumn)
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list
	}
	q := &question{
		table: &oracle.Table{Name: "t", PrimaryKey: []string{"id"}},
		req: wire.QueryRequest{
			Table: "t", Where: wire.Where{And: filters(r.IntN(3))}, Fields: shuffled()[:r.IntN(4)],
			Limit: one[int64](r, 0, 1, 2, 3, 4, 5, 1000), Offset: one[int64](r, 0, 0, 0, 1, 4, 30),
			Envelope: wire.Envelope{Credentials: wire.NewCredentials(map[string]string{"apiKey": secret}), TimeoutMS: 60000},
		},
		claims:    wire.Served{Filters: r.IntN(2) == 0, Sort: r.IntN(2) == 0, Window: r.IntN(2) == 0},
		described: r.IntN(2) == 0, sorts: one(r, "", "", "", wire.SortSingle, wire.SortNone),
		offsets: r.IntN(4) > 0, offsetMax: one[int64](r, 0, 0, 3), budget: one[int64](r, 50_000, 4),
	}
	for range r.IntN(3) {
		q.req.Or = append(q.req.Or, filters(r.IntN(3)))
	}
	for _, field := range shuffled()[:r.IntN(4)] {
		q.req.Sort = append(q.req.Sort, wire.SortKey{Field: field, Dir: one(r, wire.Asc, wire.Desc)})
	}
	types := map[string]wire.Type{"id": wire.TypeNumber, "a": wire.TypeNumber, "s": wire.TypeString}
	for _, name := range shuffled() {
		q.table.Columns = append(q.table.Columns, wire.Column{Name: name, Type: types[name]})
	}
	for _, id := range r.Perm(r.IntN(40)) {
		var cells []wire.Value
		for _, c := range q.table.Columns {
			cells = append(cells, cell(c.Name, id))
		}
		q.table.Rows = append(q.table.Rows, cells)
	}
	return q
}

// one picks a value.
func one[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// randomFilter returns a filter with one of the operators, whose operands are cells.
func randomFilter(r *rand.Rand, field string, ops []wire.Op, cell func() wire.Value) wire.Filter {
	f := wire.Filter{Field: field, Op: one(r, ops...)}
	switch terms.ShapeOf(f.Op) {
	case terms.ShapeValue:
		f.Value = cell()
	case terms.ShapeMember:
		f.Values = []wire.Value{}
		for range r.IntN(4) {
			f.Values = append(f.Values, cell())
		}
	}
	return f
}

// total returns the order of a sort: its keys, the primary key if that is known, and
// then those of the columns that are kept, in their order.
func (q *question) total(kept []string) []wire.SortKey {
	keys := slices.Clone(q.req.Sort)
	if q.described {
		keys = append(keys, wire.SortKey{Field: "id"})
	}
	for _, c := range q.table.Columns {
		if slices.Contains(kept, c.Name) {
			keys = append(keys, wire.SortKey{Field: c.Name})
		}
	}
	return keys
}

// rows returns the rows that a request selects.
func (q *question) rows(t *testing.T, req *wire.QueryRequest) [][]wire.Value {
	t.Helper()
	return testkit.Must(oracle.Query(oracle.Tables{"t": q.table}, req))(t).Rows
}

// want returns the expected claim and rows.
func (q *question) want(t *testing.T) (wire.Served, [][]wire.Value) {
	served := wire.Served{Filters: true, Sort: true}
	mostKeys := map[wire.SortSupport]int{"": 99, wire.SortSingle: 1, wire.SortNone: 0}[q.sorts]
	within := q.req.Offset == 0 || q.offsets && (q.offsetMax == 0 || q.req.Offset <= q.offsetMax)
	own := q.req
	switch {
	case len(q.req.Sort) == 0:
	case q.claims.Sort:
		own.Sort = q.total(everyColumn)
	case q.req.Limit > 0 && len(q.req.Sort) <= mostKeys && within && q.req.Offset+q.req.Limit <= q.budget:
		// The library keeps no column that the answer does not show [rule query-3a].
		own.Sort = q.total(q.req.Fields)
	default:
		own.Sort, served.Sort = nil, false
	}
	served.Window = served.Sort && within
	if !served.Window {
		own.Offset, own.Limit = 0, 0
	}
	return served, q.rows(t, &own)
}

func (q *question) source(t *testing.T) connector.Source {
	answer := func(_ context.Context, req *connector.Query, out *connector.Rows) error {
		own := wire.QueryRequest{Table: "t"}
		for _, c := range q.table.Columns {
			own.Fields = append(own.Fields, c.Name)
		}
		if q.claims.Filters {
			own.Where = req.Where
		}
		if q.claims.Sort && len(req.Sort) > 0 {
			own.Sort = q.total(everyColumn)
		}
		claim := out.Claim(connector.Applied{Filters: q.claims.Filters, Sort: q.claims.Sort})
		if q.claims.Window {
			own.Offset, own.Limit, _ = claim.TakeWindow()
		}
		w := out.Begin(q.table.Columns)
		buffer := make([]wire.Value, 3)
		for _, row := range q.rows(t, &own) {
			copy(buffer, row)
			if err := w.Row(buffer...); err != nil {
				return err
			}
			clear(buffer) // Row keeps nothing
		}
		return nil
	}
	src := connectors.Endpoints{
		Source:  connectors.Source{OnQuery: answer},
		Counter: counts(0, fmt.Errorf("no: %w", connector.ErrDecline)),
	}
	if !q.described {
		return src
	}
	return connectors.Described{Endpoints: src, Describer: func(context.Context, wire.Credentials, string) (*wire.Table, error) {
		table := &wire.Table{Name: "t", PrimaryKey: q.table.PrimaryKey}
		for _, c := range q.table.Columns {
			table.Fields = append(table.Fields, wire.Field{Name: c.Name, Type: c.Type})
		}
		return table, nil
	}}
}

// stream returns an answer, to the byte.
func (q *question) stream(t *testing.T, served wire.Served, rows [][]wire.Value) string {
	out := `{"served":` + string(testkit.Must(json.Marshal(served))(t)) + "}\n"
	var objects []string
	for _, row := range rows {
		var members []string
		for i, name := range q.req.Fields {
			members = append(members, fmt.Sprintf(`%q:%s`, name, testkit.Must(row[i].MarshalJSON())(t)))
		}
		objects = append(objects, "{"+strings.Join(members, ",")+"}")
	}
	if len(objects) > 0 {
		out += `{"rows":[` + strings.Join(objects, ",") + "]}\n"
	}
	return out + end + "\n"
}

// TestFinish checks that whatever the source does itself and the host declares,
// the claim is the sum of both, and the rows are exact.
func TestFinish(t *testing.T) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	r := rand.New(rand.NewPCG(seed, 1))
	var whole, empty, unserved int
	for range 1500 {
		q := random(r)
		def := connector.Definition{Slug: "shop", Credentials: shop.Credentials, Limits: wire.Limits{OffsetMax: q.offsetMax}}
		h := connectors.New(connectortest.Token, def, q.source(t),
			&connector.Options{SortBudget: q.budget, Omit: connector.Omit{Sort: q.sorts, Offset: !q.offsets}})
		body := testkit.Must(wire.EncodeRequest(&q.req))(t)
		served, rows := q.want(t)
		require.Equal(t, q.stream(t, served, rows), direct(h, "/query", string(body)).Body.String(), "%+v\n%s", q, body)

		count := &wire.CountRequest{Table: "t", Where: q.req.Where, Envelope: q.req.Envelope}
		body = testkit.Must(wire.EncodeRequest(count))(t)
		n := testkit.Must(oracle.Count(oracle.Tables{"t": q.table}, count))(t)
		require.Equal(t, fmt.Sprintf(`{"count":%d}`, n), direct(h, "/count", string(body)).Body.String(), "%+v", q)
		switch {
		case !served.Window:
			unserved++
		case len(rows) == 0:
			empty++
		case len(rows) == len(q.table.Rows):
			whole++
		}
	}
	require.Less(t, unserved+empty+whole, 1200, "most answers say something")
	require.Positive(t, unserved)
	t.Logf("of 1500: %d unserved, %d empty, %d everything", unserved, empty, whole)
}
