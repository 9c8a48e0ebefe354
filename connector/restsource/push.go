package restsource

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// push is what a request leaves to the API.
type push struct {
	params   url.Values
	filters  []*Param
	searched bool     // by Search
	exact    bool     // the API selects the very rows that the request wants
	sorted   bool     // params has the request's sort
	names    []string // of the columns that are needed; nil: all
	part     *part    // of a table in parts; nil: any
}

// pushdown returns the table's declarations as package connector takes them.
func (t *table) pushdown() connector.Pushdown {
	d := connector.Pushdown{Columns: t.cells}
	for i := range t.Filters {
		p := &t.Filters[i]
		d.Filters = append(d.Filters, connector.PushFilter{Field: p.Column, Op: p.Op, Param: p.Name, Exact: p.Exact, Spell: p.spell})
	}
	for _, s := range t.Sorts {
		for dir, query := range map[wire.Direction]string{wire.Asc: s.Asc, wire.Desc: s.Desc} {
			if query != "" {
				d.Sorts = append(d.Sorts, wire.SortKey{Field: s.Column, Dir: dir})
			}
		}
	}
	return d
}

// push returns what of the filters and the sort the endpoint can apply. Each filter of
// And narrows by itself. Or is left to the library.
func (t *table) push(where wire.Where, sort []wire.SortKey) push {
	expression := ""
	if t.Search != nil && len(where.And) > 0 {
		var took []bool
		if expression, took = t.Search(slices.Clone(where.And)); len(expression) > maxParam || len(took) != len(where.And) {
			expression = ""
		}
		var rest []wire.Filter
		for i, f := range where.And {
			if expression == "" || !took[i] {
				rest = append(rest, f)
			}
		}
		where.And = rest
	}
	pushed := t.pushable.Push(where, sort)
	p := push{params: pushed.Params, exact: pushed.Served.Filters && expression == "", sorted: pushed.Sort != nil}
	if expression != "" {
		p.searched = true
		p.params.Set(t.SearchParam, expression)
	}
	for _, i := range pushed.Declared {
		p.filters = append(p.filters, &t.Filters[i])
	}
	if p.sorted {
		p.params = paramsOf(p.params, t.order(*pushed.Sort))
	}
	return p
}

// searched returns Search as a filter on the first column whose filters it takes, or nil.
func (t *table) searched() *Param {
	for _, c := range t.cells {
		f := &Param{Name: t.SearchParam, Column: c.Name, Op: wire.OpEq, Spell: func(v wire.Value) (string, bool) {
			text, took := t.Search([]wire.Filter{{Field: c.Name, Op: wire.OpEq, Value: v}})
			return text, text != "" && len(took) == 1 && took[0]
		}}
		for _, condition := range impossible(f, c.Type) {
			if _, ok := f.spell(condition); ok && t.Search != nil {
				return f
			}
		}
	}
	return nil
}

// order returns the parameters of a declared sort.
func (t *table) order(key wire.SortKey) url.Values {
	for _, s := range t.Sorts {
		query := s.Asc
		if key.Dir == wire.Desc {
			query = s.Desc
		}
		if s.Column == key.Field && query != "" {
			params, _ := url.ParseQuery(query) // it was checked
			return params
		}
	}
	return nil
}

// maxParam limits the bytes of one parameter, because servers refuse long URLs.
const maxParam = 2_000

// spell returns the values of the query parameter for a condition, and false if the
// API cannot take them.
func (p *Param) spell(f wire.Filter) (params []string, ok bool) {
	values := f.Values
	if f.Op != wire.OpIn {
		values = []wire.Value{f.Value}
	}
	size := 0
	for _, v := range values {
		if p.Round > 0 {
			if v, ok = p.widened(v); !ok {
				return nil, false
			}
		}
		text := v.String()
		ok := text != "" // most APIs take an empty parameter for a missing one
		if p.Spell != nil {
			text, ok = p.Spell(v)
		}
		if !ok || p.Separator != "" && strings.Contains(text, p.Separator) {
			return nil, false
		}
		size += len(text)
		params = append(params, text)
	}
	if size > maxParam || len(params) == 0 || len(params) > 100 {
		return nil, false
	}
	if p.Separator != "" {
		params = []string{strings.Join(params, p.Separator)}
	}
	return params, true
}

// rounds reports whether the parameter can have a Round on a column of a type.
func (p *Param) rounds(t wire.Type) bool {
	ordered := p.Op == wire.OpGt || p.Op == wire.OpGte || p.Op == wire.OpLt || p.Op == wire.OpLte
	return p.Round > 0 && ordered && (t == wire.TypeDatetime || t == wire.TypeDate) && !p.Exact
}

// widened returns a bound that lets every row through which v does, if the API rounds
// both by less than Round: down for a lower bound, up for an upper one. A strict bound
// is one Round wider, because rows may be rounded onto it.
func (p *Param) widened(v wire.Value) (wire.Value, bool) {
	at, ok := filter.Instant(v)
	if !ok {
		return v, false
	}
	at = at.UTC()
	own := at.Truncate(p.Round) // counted from the year 1, whose first day begins at midnight
	switch p.Op {
	case wire.OpGt:
		own = own.Add(-p.Round)
	case wire.OpLt, wire.OpLte:
		if own.Before(at) {
			own = own.Add(p.Round)
		}
		if p.Op == wire.OpLt {
			own = own.Add(p.Round)
		}
	}
	if year := own.Year(); year < 1 || year > 9999 {
		return v, false
	}
	if len(v.String()) == len(time.DateOnly) && own.Equal(own.Truncate(24*time.Hour)) {
		return wire.Date(own), true
	}
	return wire.Datetime(own), true
}

// SpellTime returns a Param.Spell that writes datetimes and dates by a layout of package
// time, such as time.DateOnly, in UTC. What the layout leaves out must be less than the
// parameter's Round.
func SpellTime(layout string) func(v wire.Value) (string, bool) {
	return func(v wire.Value) (string, bool) {
		at, ok := filter.Instant(v)
		return at.UTC().Format(layout), ok
	}
}

// SpellUnix returns a Param.Spell that writes datetimes as a number of units since 1970:
// of time.Second, time.Millisecond, or a smaller unit. With time.Second, set the
// parameter's Round to time.Second too.
func SpellUnix(unit time.Duration) func(v wire.Value) (string, bool) {
	return func(v wire.Value) (string, bool) {
		at, ok := filter.Instant(v)
		if unit >= time.Second {
			return strconv.FormatInt(at.Unix()/int64(unit/time.Second), 10), ok
		}
		perSecond := int64(time.Second / unit)
		return strconv.FormatInt(at.Unix()*perSecond+int64(at.Nanosecond())/int64(unit), 10), ok
	}
}

// pushable are the operators that a parameter can have.
var pushable = []wire.Op{wire.OpEq, wire.OpIn, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpIncludes, wire.OpStartsWith}

// impossible returns conditions that no row fulfils, or that exclude each other. None
// if the filter cannot be pushed at all.
func impossible(f *Param, t wire.Type) []wire.Filter {
	const text = "no-row-has-this-value-5b1f"
	var values []wire.Value
	high := f.Op == wire.OpGt || f.Op == wire.OpGte
	switch {
	case !slices.Contains(pushable, f.Op) || t == wire.TypeJSON || t == wire.TypeArray:
	case f.ProbeValue != "":
		values = []wire.Value{wire.Text(f.ProbeValue)}
	case t == wire.TypeBoolean:
		values = []wire.Value{wire.Bool(true), wire.Bool(false)}
	case t.Numeric() && high:
		values = []wire.Value{wire.Int(terms.MaxSafeInteger)}
	case t.Numeric():
		values = []wire.Value{wire.Int(-terms.MaxSafeInteger)}
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

// ofParent returns the filters that concern the parent's row alone, with the
// parent's names.
func (t *table) ofParent(where wire.Where) wire.Where {
	var own wire.Where
	for _, f := range where.And {
		at := t.place(f.Field)
		if at >= 0 && t.columns[at].OfParent != "" {
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
