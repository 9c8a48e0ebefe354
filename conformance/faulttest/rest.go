package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Rest are the places where the author of a connector over a REST API errs. A nil hook
// is right.
type Rest struct {
	Describe func(t *wire.Table)
	// Can decides anew whether the vendor evaluates a filter exactly.
	Can func(t *wire.Table, f wire.Filter, can bool) bool
	// Filters changes which filters are sent.
	Filters func(table string, list []wire.Filter) []wire.Filter
	// Param changes how a filter is sent.
	Param param
	// Sort changes the keys that are sent.
	Sort func(table string, keys []wire.SortKey) []wire.SortKey
	// Sortable decides anew whether the vendor sorts by a field as the platform does.
	Sortable func(t *wire.Table, field string, can bool) bool
	Window   func(table string, offset, limit int64) (newOffset, newLimit int64)
	// Fetch gets a page.
	Fetch fetch
	// Cell changes a decoded cell.
	Cell  func(table, column string, v any) any
	Claim func(table string, s connector.Served) connector.Served
	Count func(table string, filtered bool, right int64) int64
	Fold  func(req *wire.AggregateRequest)
}

// param returns how a filter is sent, given how that is right.
type param func(table string, f wire.Filter, op, value string) (newOp, newValue string)

// fetch gets a page. number is that of the page within a request, from 0.
type fetch func(table string, params url.Values, number int, get getter) (page, error)

// getter gets the page that parameters ask for.
type getter func(params url.Values) (page, error)

// rest is a connector that pushes filters, sorts and counts to a vendor's API.
type rest struct {
	set    *Set
	client http.Client
	defect Rest
}

// NewRest returns the connector over the vendor's API.
func NewRest(set *Set, defect Rest) http.Handler {
	return handler(&rest{set, http.Client{Transport: vendor{set}}, defect}, connector.Omit{DateBucket: true})
}

func (c *rest) Check(context.Context, *wire.CheckRequest) error { return nil }

func (c *rest) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: described(c.set, c.defect.Describe)}, nil
}

func (c *rest) Describe(_ context.Context, _ wire.Credentials, table string) (*wire.Table, error) {
	return describe(c.set, c.defect.Describe, table)
}

// can reports whether the vendor evaluates a filter as the platform does.
func (c *rest) can(t *wire.Table, f wire.Filter) bool {
	can := c.exact(t, f)
	if c.defect.Can != nil {
		can = c.defect.Can(t, f, can)
	}
	return can
}

func (c *rest) exact(t *wire.Table, f wire.Filter) bool {
	field := t.Field(f.Field)
	if field == nil {
		return false
	}
	switch f.Op {
	case wire.OpIsNull, wire.OpNotNull:
		return true
	case wire.OpContains, wire.OpIncludes, wire.OpNin:
		return false // the vendor has no such filter
	case wire.OpNeq:
		if field.Nullable {
			return false // the vendor's ne keeps rows without a value
		}
	case wire.OpStartsWith:
		return field.Type == wire.TypeString && f.Value.Kind() == wire.KindText && f.Value.Text() != ""
	case wire.OpIn:
		return len(f.Values) > 0 && len(f.Values) <= 50 &&
			!slices.ContainsFunc(f.Values, func(v wire.Value) bool { return !spellable(field.Type, v) })
	}
	return spellable(field.Type, f.Value)
}

// spellable reports whether an operand can be a parameter of the vendor's.
func spellable(t wire.Type, v wire.Value) bool {
	switch t {
	case wire.TypeString:
		return !v.IsNull() && v.String() != ""
	case wire.TypeNumber, wire.TypeDecimal:
		return wire.IsDecimal(v.String())
	case wire.TypeDate:
		at, ok := filter.Instant(v)
		return ok && at.Equal(at.Truncate(24*time.Hour)) && len(v.String()) == len(time.DateOnly)
	case wire.TypeDatetime:
		at, ok := filter.Instant(v)
		return ok && at.Equal(at.Truncate(time.Millisecond))
	}
	return false
}

// params returns the parameters that send filters to the vendor.
func (c *rest) params(t *wire.Table, filters []wire.Filter) url.Values {
	if c.defect.Filters != nil {
		filters = c.defect.Filters(t.Name, filters)
	}
	params := url.Values{}
	for _, f := range filters {
		op, value := string(f.Op), ""
		switch f.Op {
		case wire.OpIsNull, wire.OpNotNull:
			op, value = "null", strconv.FormatBool(f.Op == wire.OpIsNull)
		case wire.OpIn:
			var members []string
			for _, v := range f.Values {
				members = append(members, escaped(spelled(t.Field(f.Field).Type, v)))
			}
			value = strings.Join(members, ",")
		case wire.OpNeq:
			op, value = "ne", spelled(t.Field(f.Field).Type, f.Value)
		case wire.OpStartsWith:
			op, value = "prefix", f.Value.String()
		default:
			value = spelled(t.Field(f.Field).Type, f.Value)
		}
		if c.defect.Param != nil {
			op, value = c.defect.Param(t.Name, f, op, value)
		}
		if op != "" {
			params.Add(fmt.Sprintf("filter[%s][%s]", f.Field, op), value)
		}
	}
	return params
}

// escaped spells a member of a list.
func escaped(member string) string { return strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(member) }

func spelled(t wire.Type, v wire.Value) string {
	if at, ok := filter.Instant(v); ok && t == wire.TypeDatetime {
		return strconv.FormatInt(at.UnixMilli(), 10)
	}
	return v.String()
}

// sortable reports whether the vendor sorts as the platform does: nulls and text that
// is not a number differ.
func (c *rest) sortable(t *wire.Table, keys []wire.SortKey) bool {
	for _, key := range keys {
		f := t.Field(key.Field)
		if f == nil {
			return false
		}
		can := !f.Nullable && f.Type != wire.TypeJSON && f.Type != wire.TypeArray
		if c.defect.Sortable != nil {
			can = c.defect.Sortable(t, key.Field, can)
		}
		if !can {
			return false
		}
	}
	return true
}

func (c *rest) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	pushed, all := filter.Split(req.Where, func(f wire.Filter) bool { return len(req.Or) == 0 && c.can(t, f) })
	params := c.params(t, pushed.And)
	keys := req.Sort
	if c.defect.Sort != nil {
		keys = c.defect.Sort(t.Name, keys)
	}
	served := connector.Served{Filters: all, Sort: c.sortable(t, keys)}
	if served.Sort && len(keys) > 0 {
		params.Set("sort", sortParam(t, keys))
	}
	if c.defect.Claim != nil {
		served = c.defect.Claim(t.Name, served)
	}
	offset, limit, ok := out.Claim(served).TakeWindow()
	if !ok {
		offset, limit = 0, 0
	}
	if c.defect.Window != nil {
		offset, limit = c.defect.Window(t.Name, offset, limit)
	}
	return out.Begin(t.Columns()).All(window(c.rows(ctx, t, params), offset, limit))
}

// sortParam spells a sort; the key of the table comes last, so that pages compose.
func sortParam(t *wire.Table, keys []wire.SortKey) string {
	var names []string
	for _, key := range keys {
		sign := ""
		if key.Dir == wire.Desc {
			sign = "-"
		}
		names = append(names, sign+key.Field)
	}
	return strings.Join(append(names, t.PrimaryKey...), ",")
}

// window skips rows and stops after a limit. A limit of 0 is none.
func window(rows memsource.RowSeq, offset, limit int64) memsource.RowSeq {
	return func(yield func([]wire.Value, error) bool) {
		at := int64(0)
		for row, err := range rows {
			if err != nil || at >= offset {
				if !yield(row, err) {
					return
				}
			}
			if at++; limit > 0 && at >= offset+limit {
				return
			}
		}
	}
}

// rows reads the vendor's pages one after the other.
func (c *rest) rows(ctx context.Context, t *wire.Table, params url.Values) memsource.RowSeq {
	number := 0
	return memsource.Pages(ctx, func(ctx context.Context, next string) ([][]wire.Value, string, error) {
		asked := url.Values{}
		for name, values := range params {
			asked[name] = values
		}
		if name, value, ok := strings.Cut(next, "="); ok {
			asked.Set(name, value)
		}
		get := func(params url.Values) (page, error) { return c.get(ctx, t.Name, params) }
		fetch := func(_ string, params url.Values, _ int, get getter) (page, error) { return get(params) }
		if c.defect.Fetch != nil {
			fetch = c.defect.Fetch
		}
		p, err := fetch(t.Name, asked, number, get)
		if err != nil {
			return nil, "", err
		}
		number++
		var rows [][]wire.Value
		for _, item := range p.Items {
			row := make([]wire.Value, len(t.Fields))
			for i, f := range t.Fields {
				v := item[f.SourceColumn]
				if c.defect.Cell != nil {
					v = c.defect.Cell(t.Name, f.Name, v)
				}
				row[i] = cell(f.Type, v)
			}
			rows = append(rows, row)
		}
		return rows, p.Next, nil
	})
}

func (c *rest) get(ctx context.Context, path string, params url.Values) (p page, err error) {
	address := url.URL{Scheme: "https", Host: "api.example.com", Path: "/v1/" + path, RawQuery: params.Encode()}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return p, err
	}
	response, err := c.client.Do(r)
	if err != nil {
		return p, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return p, fmt.Errorf("the vendor answers %s", response.Status)
	}
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber()
	return p, decoder.Decode(&p)
}

// cell returns a cell of a column from the vendor's JSON.
func cell(t wire.Type, v any) wire.Value {
	switch v := v.(type) {
	case nil:
		return wire.Null()
	case wire.Value:
		return v
	case bool:
		return wire.Bool(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return wire.Int(n)
		}
		f, _ := v.Float64()
		return wire.Float(f)
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil && t == wire.TypeDatetime {
			return wire.DatetimeWidth(at, 3)
		}
		if t == wire.TypeDecimal && wire.IsDecimal(v) {
			return wire.Decimal(v)
		}
		return wire.Text(v)
	}
	raw, _ := json.Marshal(v)
	return wire.JSON(string(raw))
}

func (c *rest) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	p, err := c.get(ctx, req.Table+"/count", nil)
	if c.defect.Count != nil {
		p.Total = c.defect.Count(req.Table, false, p.Total)
	}
	return &wire.Size{Rows: p.Total, Exact: true}, err
}

func (c *rest) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return 0, err
	}
	pushed, all := filter.Split(req.Where, func(f wire.Filter) bool { return len(req.Or) == 0 && c.can(t, f) })
	if !all {
		return 0, connector.ErrDecline
	}
	p, err := c.get(ctx, t.Name+"/count", c.params(t, pushed.And))
	if c.defect.Count != nil {
		p.Total = c.defect.Count(t.Name, len(pushed.And) > 0, p.Total)
	}
	return p.Total, err
}

func (c *rest) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	folded := *req
	folded.GroupBy, folded.Measures = slices.Clone(req.GroupBy), slices.Clone(req.Measures)
	if c.defect.Fold != nil {
		c.defect.Fold(&folded)
	}
	pushed, _ := filter.Split(folded.Where, func(f wire.Filter) bool { return len(req.Or) == 0 && c.can(t, f) })
	rows := c.rows(ctx, t, c.params(t, pushed.And))
	return memsource.Aggregate(memsource.Relation{Columns: t.Columns(), Rows: rows}, &folded, 0)
}
