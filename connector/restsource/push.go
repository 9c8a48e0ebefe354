package restsource

import (
	"net/url"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// push is what a request leaves to the API.
type push struct {
	params  url.Values
	filters []*Param
	exact   bool // the API selects the very rows that the request wants
}

// narrowing lists, for each operator, the declared operators that keep every row
// that it wants. The first one is the operator itself.
var narrowing = map[wire.Op][]wire.Op{
	wire.OpEq:         {wire.OpEq, wire.OpIn},
	wire.OpIn:         {wire.OpIn},
	wire.OpGt:         {wire.OpGt, wire.OpGte},
	wire.OpGte:        {wire.OpGte},
	wire.OpLt:         {wire.OpLt, wire.OpLte},
	wire.OpLte:        {wire.OpLte},
	wire.OpIncludes:   {wire.OpIncludes},
	wire.OpStartsWith: {wire.OpStartsWith, wire.OpIncludes},
}

// push returns what of the filters the endpoint can apply. Each filter of And
// narrows by itself. Or is left to the library.
func (t *table) push(where wire.Where) push {
	p := push{params: url.Values{}, exact: len(where.Or) == 0}
	for _, c := range where.And {
		f := t.filter(c.Field, narrowing[c.Op]...)
		if c.Op == wire.OpIn && f == nil && len(c.Values) == 1 {
			f = t.filter(c.Field, wire.OpEq)
		}
		if f == nil || p.params.Has(f.Name) {
			p.exact = false
			continue
		}
		values, ok := f.spell(t.columns[t.place(c.Field)].Type, c)
		if !ok {
			p.exact = false
			continue
		}
		p.params[f.Name] = values
		p.filters = append(p.filters, f)
		same := f.Op == c.Op || (f.Op == wire.OpEq || f.Op == wire.OpIn) && (c.Op == wire.OpEq || c.Op == wire.OpIn)
		p.exact = p.exact && f.Exact && same
	}
	return p
}

// maxParam limits the bytes of one parameter, because servers refuse long URLs.
const maxParam = 2_000

// spell returns the values of the query parameter for a condition, and false if the
// API cannot take them.
func (f *Param) spell(t wire.Type, c wire.Filter) (params []string, ok bool) {
	values := []wire.Value{c.Value}
	if c.Op == wire.OpIn {
		values = slices.DeleteFunc(slices.Clone(c.Values), wire.Value.IsNull)
	}
	size := 0
	for _, v := range values {
		spelled, ok := f.spellOne(t, v)
		if !ok || f.Separator != "" && strings.Contains(spelled, f.Separator) {
			return nil, false
		}
		size += len(spelled)
		params = append(params, spelled)
	}
	if size > maxParam || len(params) == 0 || len(params) > 100 {
		return nil, false
	}
	if f.Separator != "" {
		params = []string{strings.Join(params, f.Separator)}
	}
	return params, true
}

func (f *Param) spellOne(t wire.Type, v wire.Value) (string, bool) {
	switch {
	case v.IsNull():
		return "", false
	case f.Spell != nil:
		return f.Spell(v)
	case t.Numeric():
		text := v.String()
		return text, wire.IsDecimal(text)
	case t == wire.TypeBoolean:
		text := v.String()
		return text, text == "true" || text == "false"
	case t != wire.TypeDate && t != wire.TypeDatetime:
		text := v.String()
		return text, text != "" // to most APIs an empty parameter is none
	}
	at, ok := filter.Instant(v)
	spelled := wire.Datetime(at)
	if t == wire.TypeDate {
		spelled = wire.Date(at)
	}
	// What a spelling cuts could leave rows out.
	order, _ := filter.Compare(v, spelled, t)
	return spelled.String(), ok && order == 0
}

// impossible returns conditions that no row fulfils, or that exclude each other. None
// if the filter cannot be pushed at all.
func impossible(f *Param, t wire.Type) []wire.Filter {
	const text = "no-row-has-this-value-5b1f"
	var values []wire.Value
	high := f.Op == wire.OpGt || f.Op == wire.OpGte
	switch _, known := narrowing[f.Op]; {
	case !known || t == wire.TypeJSON || t == wire.TypeArray:
	case f.ProbeValue != "":
		values = []wire.Value{wire.Text(f.ProbeValue)}
	case t == wire.TypeBoolean:
		values = []wire.Value{wire.Bool(true), wire.Bool(false)}
	case t.Numeric() && high:
		values = []wire.Value{wire.Int(wire.MaxSafeInteger)}
	case t.Numeric():
		values = []wire.Value{wire.Int(-wire.MaxSafeInteger)}
	case t == wire.TypeDate && high:
		values = []wire.Value{wire.Text("9999-12-31")}
	case t == wire.TypeDate:
		values = []wire.Value{wire.Text("0001-01-01")}
	case t == wire.TypeDatetime && high:
		values = []wire.Value{wire.Text("9999-12-31T00:00:00Z")}
	case t == wire.TypeDatetime:
		values = []wire.Value{wire.Text("0001-01-01T00:00:00Z")}
	case high:
		values = []wire.Value{wire.Text("\U0010FFFD")}
	case f.Op == wire.OpLt || f.Op == wire.OpLte:
		values = []wire.Value{wire.Text(" ")}
	default:
		values = []wire.Value{wire.Text(text)}
	}
	conditions := make([]wire.Filter, len(values))
	for i, v := range values {
		conditions[i] = wire.Filter{Field: f.Column, Op: f.Op, Value: v}
		if f.Op == wire.OpIn {
			conditions[i] = wire.Filter{Field: f.Column, Op: f.Op, Values: []wire.Value{v}}
		}
	}
	return conditions
}

// sort returns the parameters that push a request's sort, and false if the endpoint
// cannot sort so.
func (t *table) sort(keys []wire.SortKey) (url.Values, bool) {
	if len(keys) != 1 {
		return nil, false
	}
	for _, s := range t.Sorts {
		if s.Column != keys[0].Field {
			continue
		}
		query := s.Asc
		if keys[0].Dir == wire.Desc {
			query = s.Desc
		}
		params, err := url.ParseQuery(query)
		return params, err == nil && query != ""
	}
	return nil, false
}

// ofParent returns the filters that concern the parent's row alone, with the
// parent's names.
func (t *table) ofParent(where wire.Where) wire.Where {
	var own wire.Where
	for _, f := range where.And {
		at := t.place(f.Field)
		if at >= 0 && t.columns[at].fromParent >= 0 {
			f.Field = t.columns[at].OfParent
			own.And = append(own.And, f)
		}
	}
	return own
}

// paramsOf joins parameters.
func paramsOf(all ...url.Values) url.Values {
	joined := url.Values{}
	for _, params := range all {
		for name, values := range params {
			joined[name] = values
		}
	}
	return joined
}
