package killtest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// vendor is the API of a business system that has the orders of the shop: it filters by
// parameters such as "amount.gte", sorts by "sort", and answers from "offset" on.
type vendor struct {
	data *oracle.Table
	// keep decides on rows that pass the filters: false leaves them out.
	keep func(f wire.Filter, cell wire.Value) bool
}

func newVendor() *vendor {
	orders := shop()[1]
	return &vendor{data: &oracle.Table{Name: orders.Name, Columns: orders.Columns(), Rows: orders.Rows}}
}

func (v *vendor) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	asked := wire.QueryRequest{Table: v.data.Name}
	for _, c := range v.data.Columns {
		asked.Fields = append(asked.Fields, c.Name)
		for _, op := range []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpIncludes, wire.OpStartsWith} {
			for _, value := range query[c.Name+"."+string(op)] {
				asked.And = append(asked.And, wire.Filter{Field: c.Name, Op: op, Value: wire.Text(value)})
			}
		}
		if values := query[c.Name+".in"]; len(values) > 0 {
			in := wire.Filter{Field: c.Name, Op: wire.OpIn}
			for _, value := range strings.Split(values[0], ",") {
				in.Values = append(in.Values, wire.Text(value))
			}
			asked.And = append(asked.And, in)
		}
	}
	if name := query.Get("sort"); name != "" {
		key := wire.SortKey{Field: strings.TrimPrefix(name, "-"), Dir: wire.Asc}
		if strings.HasPrefix(name, "-") {
			key.Dir = wire.Desc
		}
		asked.Sort = []wire.SortKey{key}
	}
	found, err := oracle.Query(oracle.Tables{v.data.Name: v.data}, &asked)
	if err != nil {
		return nil, err
	}
	rows := found.Rows
	if v.keep != nil {
		rows = slices.DeleteFunc(slices.Clone(rows), func(row []wire.Value) bool {
			return slices.ContainsFunc(asked.And, func(f wire.Filter) bool { return !v.keep(f, row[v.data.Index(f.Field)]) })
		})
	}
	offset, _ := strconv.Atoi(query.Get("offset"))
	limit, _ := strconv.Atoi(query.Get("limit"))
	page := rows[min(offset, len(rows)):min(offset+limit, len(rows))]
	data := []map[string]any{}
	for _, row := range page {
		item := map[string]any{}
		for i, c := range v.data.Columns {
			item[c.Name] = row[i]
		}
		data = append(data, item)
	}
	rec := httptest.NewRecorder()
	sends(rec, http.StatusOK, "application/json", string(marshalled(map[string]any{"total": len(rows), "data": data})))
	return rec.Result(), nil
}

// declared serves the vendor's orders by restsource, as an author declares them.
func declared(mistake func(*vendor, *restsource.Table)) func() http.Handler {
	return func() http.Handler {
		v := newVendor()
		t := restsource.Table{
			Name: "orders", Description: "What was bought.", Path: "/orders", Rows: "data", Key: []string{"id"}, Total: "total",
			Pages: restsource.Pages{By: restsource.PagingOffset, Param: "offset", SizeParam: "limit", Size: 25},
			Sorts: []restsource.Sort{{Column: "ordered", Asc: "sort=ordered", Desc: "sort=-ordered"}},
		}
		for _, c := range v.data.Columns {
			t.Columns = append(t.Columns, restsource.Column{Name: c.Name, Type: c.Type})
		}
		for _, f := range []struct {
			column string
			ops    []wire.Op
		}{
			{"status", []wire.Op{wire.OpEq, wire.OpIn, wire.OpStartsWith}}, {"note", []wire.Op{wire.OpIncludes}},
			{"amount", []wire.Op{wire.OpGte, wire.OpLte, wire.OpGt}}, {"ordered", []wire.Op{wire.OpGte, wire.OpLt}},
		} {
			for _, op := range f.ops {
				t.Filters = append(t.Filters, restsource.Param{
					Column: f.column, Op: op, Name: f.column + "." + string(op), Separator: map[wire.Op]string{wire.OpIn: ","}[op]})
			}
		}
		mistake(v, &t)
		return serve(connector.Definition{}, must(restsource.New(restsource.API{Base: "https://vendor.example", Check: "/orders?limit=1"},
			[]restsource.Table{t}, &restsource.Options{Transport: v, Attempts: 1})), nil)
	}
}

// parameter is a mistake in how one parameter is sent.
func parameter(column string, op wire.Op, change func(p *restsource.Param)) func(*vendor, *restsource.Table) {
	return func(_ *vendor, t *restsource.Table) {
		change(&t.Filters[slices.IndexFunc(t.Filters, func(p restsource.Param) bool { return p.Column == column && p.Op == op })])
	}
}

func spelt(change func(string) string) func(p *restsource.Param) {
	return func(p *restsource.Param) {
		p.Spell = func(v wire.Value) (string, bool) { return change(v.String()), true }
	}
}

// vendorFaults are mistakes of authors who declare the endpoints of an API: what a
// parameter leaves out, no library can add.
var vendorFaults = overLiveData([]fault{
	broken("a parameter is sent in lower case", "eq compares bytes", "L2",
		declared(parameter("status", wire.OpEq, spelt(strings.ToLower)))),
	broken("gte is declared as the API's later than", "gte has its bound", "L2",
		declared(parameter("ordered", wire.OpGte, func(p *restsource.Param) { p.Name = "ordered.gt" }))),
	broken("a date is sent a day late", "a date is that of its row", "L2",
		declared(parameter("ordered", wire.OpGte, spelt(func(s string) string {
			day, err := time.Parse(time.DateOnly, s)
			if err != nil {
				return s
			}
			return day.AddDate(0, 0, 1).Format(time.DateOnly)
		})))),
	broken("money is sent without its cents", "decimals keep their digits", "L2",
		declared(parameter("amount", wire.OpLte, spelt(func(s string) string {
			whole, _, _ := strings.Cut(s, ".")
			return whole
		})))),
	broken("the values of a list are joined by another separator", "in has every value", "L2",
		declared(parameter("status", wire.OpIn, func(p *restsource.Param) { p.Separator, p.Name = "&", "status.in" }))),
	broken("includes is declared as a prefix", "includes looks at all of a text", "L2",
		declared(parameter("note", wire.OpIncludes, func(p *restsource.Param) { p.Name = "note.startswith" }))),
	broken("the vendor answers no row of a value that is 0", "0 is a number", "L2", declared(func(v *vendor, _ *restsource.Table) {
		v.keep = func(f wire.Filter, cell wire.Value) bool {
			return f.Field != "amount" || !strings.HasPrefix(strings.TrimPrefix(cell.String(), "-"), "0")
		}
	})),
})
