package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// getter gets the page that parameters ask for.
type getter func(params url.Values) (page, error)

// position is the place of a page within a request.
type position struct {
	number  int // from 0
	folding bool
}

// rest is a connector that pushes filters, sorts and counts to a vendor's API.
type rest struct {
	source
	client http.Client
}

func newRest(set *Set, _ string, p planted) (h http.Handler, release func()) {
	src := &rest{source{set, p}, http.Client{Transport: vendor{set}}}
	return handler(src, connector.Omit{DateBucket: true}), func() {}
}

// split returns the filters that the vendor evaluates, and whether these are all.
func (c *rest) split(t *wire.Table, where wire.Where) (pushed wire.Where, all bool) {
	return filter.Split(where, func(f wire.Filter) bool {
		return len(where.Or) == 0 && c.pushes(t.Name, f, c.exact(t, f))
	})
}

// exact reports whether the vendor evaluates a filter as the platform does.
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
	params := url.Values{}
	for _, f := range apply(c.filters, t.Name == c.Table, filters) {
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
		if c.param != nil && c.is(t.Name, f.Field) {
			op, value = c.param(f, op, value)
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

// sorts reports whether the vendor sorts as the platform does: nulls and text that
// is not a number differ.
func (c *rest) sorts(t *wire.Table, keys []wire.SortKey) bool {
	for _, key := range keys {
		f := t.Field(key.Field)
		if f == nil {
			return false
		}
		can := !f.Nullable && f.Type != wire.TypeJSON && f.Type != wire.TypeArray || c.sortable && c.is(t.Name, key.Field)
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
	pushed, all := c.split(t, req.Where)
	params := c.params(t, pushed.And)
	keys := apply(c.sort, t.Name == c.Table, req.Sort)
	served := connector.Served{Filters: all || c.claimed && t.Name == c.Table, Sort: c.sorts(t, keys)}
	if served.Sort && len(keys) > 0 {
		params.Set("sort", sortParam(t, keys))
	}
	offset, limit, ok := out.Claim(served).TakeWindow()
	if !ok {
		offset, limit = 0, 0
	}
	offset, limit = c.windowed(t.Name, len(keys) > 0, offset, limit)
	return out.Begin(t.Columns()).All(window(c.rows(ctx, t, params, false), offset, limit))
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
func window(rows relation.Rows, offset, limit int64) relation.Rows {
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
func (c *rest) rows(ctx context.Context, t *wire.Table, params url.Values, folding bool) relation.Rows {
	number := 0
	return memsource.Pages(ctx, func(ctx context.Context, next string) ([][]wire.Value, string, error) {
		asked := maps.Clone(params)
		if name, value, ok := strings.Cut(next, "="); ok {
			asked.Set(name, value)
		}
		get := func(params url.Values) (page, error) { return c.get(ctx, t.Name, params) }
		fetch := func(_ position, params url.Values, get getter) (page, error) { return get(params) }
		if c.fetch != nil && t.Name == c.Table {
			fetch = c.fetch
		}
		p, err := fetch(position{number, folding}, asked, get)
		if err != nil {
			return nil, "", err
		}
		number++
		var rows [][]wire.Value
		for _, item := range p.Items {
			row := make([]wire.Value, len(t.Fields))
			for i, f := range t.Fields {
				row[i] = cell(f.Type, apply(c.decoded, c.is(t.Name, f.Name), item[f.SourceColumn]))
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
	return &wire.Size{Rows: c.counted(req.Table, false, p.Total), Exact: true}, err
}

func (c *rest) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return 0, err
	}
	pushed, all := c.split(t, req.Where)
	if !all {
		return 0, connector.ErrDecline
	}
	p, err := c.get(ctx, t.Name+"/count", c.params(t, pushed.And))
	return c.counted(t.Name, len(pushed.And) > 0, p.Total), err
}

func (c *rest) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	pushed, _ := c.split(t, req.Where)
	rows := c.rows(ctx, t, c.params(t, pushed.And), true)
	return measures.Aggregate(relation.Relation{Columns: t.Columns(), Rows: rows}, req, 0)
}
