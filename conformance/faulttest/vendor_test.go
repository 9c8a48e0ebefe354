package faulttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the vendor's own zone

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// vendor is the REST API of a business system. It has the habits of such APIs:
//
//   - GET /v1/TABLE?filter[FIELD][OP]=VALUE, with eq, ne, gt, gte, lt, lte, in, prefix and
//     null; in takes a list with commas, which a backslash escapes.
//   - An empty value is no filter. ne keeps rows without a value.
//   - sort=-FIELD,FIELD puts rows without a value first, also ahead of the empty text.
//   - Instants are answered in the vendor's time zone, and asked in milliseconds since 1970.
//   - A page has at most 100 items. By table, the next one is a page number, an offset or
//     a cursor.
//   - GET /v1/TABLE/count answers the number of items.
type vendor struct{ set *Set }

const pageMax = 100

var berlin = func() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
}()

// page is one page of a table.
type page struct {
	Items []map[string]any `json:"items"`
	Next  string           `json:"next"` // the parameter that gets the next page, such as page=2
	Total int64            `json:"total"`
}

// RoundTrip answers a request without a network.
func (v vendor) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	v.ServeHTTP(w, r)
	return w.Result(), nil
}

func (v vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, counting := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1/"), "/count")
	t := v.set.Table(name)
	if t == nil {
		http.Error(w, "no such table", http.StatusNotFound)
		return
	}
	params := r.URL.Query()
	rows := v.find(t, params)
	answer := page{Total: int64(len(rows))}
	if !counting {
		v.sort(t, rows, params.Get("sort"))
		from, size := located(params)
		style := slices.IndexFunc(v.set.Tables, func(other memsource.Table) bool { return other.Name == name }) % 3
		end := min(from+size, len(rows))
		for _, row := range rows[min(from, len(rows)):end] {
			answer.Items = append(answer.Items, item(t, row))
		}
		if end < len(rows) {
			answer.Next = []string{
				"page=" + strconv.Itoa(from/size+2), "offset=" + strconv.Itoa(end), "cursor=" + strconv.Itoa(end*7919),
			}[style]
		}
	}
	json.NewEncoder(w).Encode(answer)
}

// located returns where a page starts, and its size.
func located(params url.Values) (from, size int) {
	number := func(name string) int { n, _ := strconv.Atoi(params.Get(name)); return n }
	size = pageMax
	if n := number("per_page"); n > 0 {
		size = min(n, pageMax)
	}
	return number("offset") + max(number("page")-1, 0)*size + number("cursor")/7919, size
}

var vendorOps = map[string]wire.Op{
	"eq": wire.OpEq, "ne": wire.OpNeq, "gt": wire.OpGt, "gte": wire.OpGte, "lt": wire.OpLt, "lte": wire.OpLte,
	"in": wire.OpIn, "prefix": wire.OpStartsWith,
}

// find returns the rows that pass the filters of a request.
func (v vendor) find(t *memsource.Table, params url.Values) [][]wire.Value {
	columns := t.Columns()
	var conditions []func(row []wire.Value) bool
	for name, values := range params {
		field, op, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(name, "filter["), "]"), "][")
		at := slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == field })
		if !ok || at < 0 {
			continue
		}
		for _, value := range values {
			if value == "" {
				continue
			}
			match := condition(columns[at], op, value)
			conditions = append(conditions, func(row []wire.Value) bool { return match(row[at]) })
		}
	}
	var found [][]wire.Value
	for _, row := range t.Rows {
		if !slices.ContainsFunc(conditions, func(match func([]wire.Value) bool) bool { return !match(row) }) {
			found = append(found, row)
		}
	}
	return found
}

func condition(c wire.Column, op, value string) func(cell wire.Value) bool {
	if op == "null" {
		return func(cell wire.Value) bool { return cell.IsNull() == (value == "true") }
	}
	f := wire.Filter{Field: c.Name, Op: vendorOps[op]}
	if op == "in" {
		for _, text := range list(value) {
			f.Values = append(f.Values, operand(c, text))
		}
	} else {
		f.Value = operand(c, value)
	}
	program, err := filter.Compile(wire.Where{And: []wire.Filter{f}}, []wire.Column{c})
	if err != nil {
		return func(wire.Value) bool { return true }
	}
	return func(cell wire.Value) bool {
		ok, _ := program.Match([]wire.Value{cell})
		return ok || cell.IsNull() && op == "ne"
	}
}

func operand(c wire.Column, text string) wire.Value {
	if c.Type == wire.TypeDatetime {
		ms, _ := strconv.ParseInt(text, 10, 64)
		return wire.Datetime(time.UnixMilli(ms))
	}
	return wire.Text(text)
}

// list splits at commas that no backslash escapes.
func list(text string) (parts []string) {
	var part strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			part.WriteByte(text[i])
		case text[i] == ',':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(text[i])
		}
	}
	return append(parts, part.String())
}

// sort sorts rows, those without a value first.
func (v vendor) sort(t *memsource.Table, rows [][]wire.Value, keys string) {
	columns := t.Columns()
	slices.SortStableFunc(rows, func(a, b []wire.Value) int {
		for key := range strings.SplitSeq(keys, ",") {
			name, descending := strings.CutPrefix(key, "-")
			at := slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == name })
			if at < 0 {
				continue
			}
			order, ok := filter.Compare(a[at], b[at], columns[at].Type)
			if !ok {
				order = btoi(b[at].IsNull()) - btoi(a[at].IsNull())
			}
			if descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// item spells a row as the vendor does.
func item(t *memsource.Table, row []wire.Value) map[string]any {
	members := map[string]any{}
	for i, f := range t.Fields {
		cell := row[i]
		switch {
		case cell.IsNull():
			members[f.Name] = nil
		case f.Type == wire.TypeDatetime:
			members[f.Name] = cell.Time().In(berlin).Format("2006-01-02T15:04:05.000-07:00")
		case f.Type == wire.TypeNumber:
			members[f.Name] = json.Number(cell.String())
		case f.Type == wire.TypeBoolean:
			members[f.Name] = cell.IsTrue()
		case f.Type == wire.TypeJSON || f.Type == wire.TypeArray:
			members[f.Name] = json.RawMessage(cell.String())
		default:
			members[f.Name] = cell.String()
		}
	}
	return members
}
