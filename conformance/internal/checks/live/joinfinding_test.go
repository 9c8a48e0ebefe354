package live

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// joinedOrders returns a join of orders with their customers, and its right answer.
func joinedOrders() (*wire.Table, *wire.QueryRequest, *oracle.Table) {
	base := &wire.Table{Name: "orders", PrimaryKey: []string{"id"}}
	req := &wire.QueryRequest{Table: "orders", Fields: []string{"state", "id", "amount"}, Joins: []wire.JoinHop{{
		FromTable: "orders", ToTable: "customers", FromField: "customer", ToField: "id",
		Fields: []wire.JoinField{{Field: "name", As: "h1_0"}, {Field: "id", As: "h1_1"}},
	}}}
	right := &oracle.Table{Columns: []wire.Column{
		{Name: "state", Type: wire.TypeString}, {Name: "id", Type: wire.TypeNumber}, {Name: "amount", Type: wire.TypeDecimal},
		{Name: "h1_0", Type: wire.TypeString, Hop: 1}, {Name: "h1_1", Type: wire.TypeNumber, Hop: 1},
	}, Rows: [][]wire.Value{
		{wire.Text("open"), wire.Int(1), wire.Decimal("1.50"), wire.Text("Ada"), wire.Int(7)},
		{wire.Text("open"), wire.Int(2), wire.Decimal("2.50"), wire.Null(), wire.Null()},
	}}
	return base, req, right
}

// TestDifferingColumns requires that the columns that differ are named, row by row of the
// key, in whatever order the rows came.
func TestDifferingColumns(t *testing.T) {
	tests := []struct {
		why    string
		change func(rows [][]wire.Value)
		want   []int
	}{
		{"no difference", func([][]wire.Value) {}, nil},
		{"rows in another order", func(rows [][]wire.Value) { rows[0], rows[1] = rows[1], rows[0] }, nil},
		{"a column of the base table", func(rows [][]wire.Value) { rows[1][2] = wire.Decimal("3") }, []int{2}},
		{"the match of another row", func(rows [][]wire.Value) { rows[1][3], rows[1][4] = wire.Text("Ada"), wire.Int(7) }, []int{3, 4}},
		{"a column of the hop has the name of the key, and is none", func(rows [][]wire.Value) { rows[0][4] = wire.Int(8) }, []int{4}},
		{"two rows with each other's values", func(rows [][]wire.Value) { rows[0][3], rows[1][3] = rows[1][3], rows[0][3] }, []int{3}},
	}
	for _, test := range tests {
		base, _, right := joinedOrders()
		_, _, got := joinedOrders()
		test.change(got.Rows)
		require.Equal(t, test.want, differingColumns(base, right, got), test.why)
	}
	_, _, right := joinedOrders()
	_, _, got := joinedOrders()
	got.Rows[1][4] = wire.Int(7)
	require.Equal(t, []int{4}, differingColumns(&wire.Table{Name: "orders"}, right, got),
		"without a key, all columns of the base tell rows apart")
}

// TestNarrowed requires that a join is asked for again with the key, what its filters and
// sort keys name, and the columns that differ.
func TestNarrowed(t *testing.T) {
	base, req, right := joinedOrders()
	small := narrowed(req, base, right, []int{3})
	require.Equal(t, []string{"id"}, small.Fields)
	require.Equal(t, []wire.JoinField{{Field: "name", As: "h1_0"}}, small.Joins[0].Fields)
	require.Len(t, req.Fields, 3, "the request itself stays")
	require.Len(t, req.Joins[0].Fields, 2)

	require.Equal(t, []string{"id", "amount"}, narrowed(req, base, right, []int{2}).Fields)
	require.Empty(t, narrowed(req, base, right, []int{2}).Joins[0].Fields)

	req.And = []wire.Filter{{Field: "state", Op: wire.OpIsNull}}
	require.Equal(t, []string{"state", "id"}, narrowed(req, base, right, []int{4}).Fields, "the platform may have to filter")
	req.Sort = []wire.SortKey{{Field: "amount", Dir: wire.Desc}}
	require.Equal(t, []string{"state", "id", "amount"}, narrowed(req, base, right, []int{4}).Fields, "and to sort")

	require.Nil(t, narrowed(req, base, right, nil), "nothing is known to differ")
	require.Nil(t, narrowed(req, base, right, []int{3, 4}), "it is no less")
	req.Or = [][]wire.Filter{{{Field: "amount", Op: wire.OpIsNull}}}
	require.Nil(t, narrowed(req, base, right, []int{4}), "groups of or stay as they are")
}

// TestColumnOf requires that a column of a hop is named as its table's.
func TestColumnOf(t *testing.T) {
	_, req, _ := joinedOrders()
	require.Equal(t, `"customers"."name"`, columnOf(req, "h1_0"))
	require.Equal(t, `"state"`, columnOf(req, "state"))
}

// joinAnswer answers each request with the same joined rows, cut to the fields that it asks
// for, and keeps what was asked.
type joinAnswer struct {
	rows  []map[string]any // or none: a refusal
	asked []*wire.QueryRequest
}

func (a *joinAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	req := &wire.QueryRequest{}
	if err := wire.Decode(body, req); err != nil {
		return nil, err
	}
	a.asked = append(a.asked, req)
	answer := &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{}}
	text := `{"error":{"code":"internal","message":"internal error"}}`
	if a.rows == nil {
		answer.StatusCode = http.StatusInternalServerError
		answer.Header.Set("Content-Type", "application/json")
	} else {
		answer.Header.Set("Content-Type", "application/x-ndjson")
		text = `{"served":{"filters":true,"sort":true,"window":true}}` + "\n"
		for _, row := range a.rows {
			some := map[string]any{}
			for _, name := range session.Members(req) {
				some[name] = row[name]
			}
			line, err := json.Marshal(map[string]any{"rows": []any{some}})
			if err != nil {
				return nil, err
			}
			text += string(line) + "\n"
		}
		text += `{"end":1}` + "\n"
	}
	answer.Body = io.NopCloser(strings.NewReader(text))
	return answer, nil
}

// TestShorterJoin requires that a join that is answered wrongly is asked for again with less,
// and that the finding is about the smaller answer only if that is wrong too.
func TestShorterJoin(t *testing.T) {
	row := func(id int, state, amount string, name, customer any) map[string]any {
		return map[string]any{"id": id, "state": state, "amount": amount, "h1_0": name, "h1_1": customer}
	}
	right := []map[string]any{row(1, "open", "1.50", "Ada", 7), row(2, "open", "2.50", nil, nil)}
	tests := []struct {
		why     string
		first   []map[string]any // the answer to the whole join
		again   []map[string]any // to the shorter one; nil: it is refused
		fields  []string         // that the shorter one asks for; nil: there is none
		joined  []string
		whole   bool // the finding quotes the request for the whole join
		details []string
	}{
		{"the smaller answer is as wrong", []map[string]any{right[0], row(2, "open", "2.50", "Ada", nil)},
			[]map[string]any{right[0], row(2, "open", "2.50", "Ada", nil)}, []string{"id"}, []string{"h1_0"}, false,
			[]string{`"orders"."customer" joined to "customers"."id"`, `(columns that differ: "customers"."name")`}},
		{"the smaller answer is right", []map[string]any{right[0], row(2, "open", "2.50", "Ada", nil)}, right,
			[]string{"id"}, []string{"h1_0"}, true, []string{`(columns that differ: "customers"."name")`}},
		{"the smaller join is refused", []map[string]any{right[0], row(2, "open", "2.50", "Ada", nil)}, nil,
			[]string{"id"}, []string{"h1_0"}, true, []string{`(columns that differ: "customers"."name")`}},
		{"a row is missing, which any column shows", right[:1], right[:1], []string{"id"}, []string{"h1_1"}, false, nil},
		{"a column of the base table differs", []map[string]any{right[0], row(2, "paid", "2.50", nil, nil)},
			[]map[string]any{right[0], row(2, "paid", "2.50", nil, nil)}, []string{"state", "id"}, nil, false,
			[]string{`(columns that differ: "state")`}},
		{"all columns differ, so that nothing less shows it", []map[string]any{right[0], row(2, "paid", "9", "Ada", 7)}, right,
			nil, nil, true, []string{`(columns that differ: "state", "amount", "customers"."name", "customers"."id")`}},
	}
	for _, test := range tests {
		connector := &joinAnswer{rows: test.again}
		s, err := session.New(session.Config{
			Base: "http://connector.test", Token: strings.Repeat("t", 40), HTTP: &http.Client{Transport: connector}, InProcess: true, Rows: 100,
		})
		require.NoError(t, err)
		s.Document = &session.Document{}
		_, req, _ := joinedOrders()
		base := &wire.Table{Name: "orders", PrimaryKey: []string{"id"}, Fields: []wire.Field{
			{Name: "id", Type: wire.TypeNumber}, {Name: "state", Type: wire.TypeString}, {Name: "amount", Type: wire.TypeDecimal},
			{Name: "customer", Type: wire.TypeNumber},
		}}
		customers := &wire.Table{Name: "customers", PrimaryKey: []string{"id"}, Fields: []wire.Field{
			{Name: "id", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString},
		}}
		req.Joins[0].Fields[0].Type, req.Joins[0].Fields[1].Type = wire.TypeString, wire.TypeNumber
		tables := oracle.Tables{
			"orders": {Name: "orders", Columns: base.Columns(), PrimaryKey: base.PrimaryKey, Rows: [][]wire.Value{
				{wire.Int(1), wire.Text("open"), wire.Decimal("1.50"), wire.Int(7)},
				{wire.Int(2), wire.Text("open"), wire.Decimal("2.50"), wire.Int(9)},
			}},
			"customers": {Name: "customers", Columns: customers.Columns(), PrimaryKey: customers.PrimaryKey,
				Rows: [][]wire.Value{{wire.Int(7), wire.Text("Ada")}}},
		}
		want, err := oracle.Query(tables, req)
		require.NoError(t, err)
		var f *check.Finding
		s.Judge(t.Context(), &session.Check{ID: "M5", Open: true, Judge: func(run *session.Run) *check.Finding {
			p := &liveRun{Run: run}
			connector.rows = test.first
			st, got, refused := p.ask(base, req)
			require.Nil(t, refused)
			connector.rows = test.again
			d := oracle.Verify(tables, req, got.Rows)
			require.NotNil(t, d, test.why)
			require.NotNil(t, st)
			named := join{hops: req.Joins, tables: []*wire.Table{base, customers}, plain: true}.String()
			f = p.shorterJoin(req, named, base, tables, want, got, d)
			return nil
		}})
		require.True(t, f.Failure(), test.why)
		for _, detail := range test.details {
			require.Contains(t, f.Detail, detail, test.why)
		}
		if test.details == nil {
			require.NotContains(t, f.Detail, "columns that differ", test.why)
		}
		shorter := connector.asked[1:]
		if test.fields == nil {
			require.Empty(t, shorter, test.why)
		} else {
			require.Len(t, shorter, 1, test.why)
			require.Equal(t, test.fields, shorter[0].Fields, test.why)
			var joined []string
			for _, field := range shorter[0].Joins[0].Fields {
				joined = append(joined, field.As)
			}
			require.Equal(t, test.joined, joined, test.why)
		}
		require.Equal(t, test.whole, strings.Contains(f.Request.Body, `"amount"`), test.why)
	}
}
