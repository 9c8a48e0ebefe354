package faulttest

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// restFaults returns those of an author who pushes to a vendor's API.
func restFaults() []Fault {
	return []Fault{
		{
			Name: "the operand is lower-cased", Kind: "spelling", At: of(Label, Code),
			Rest: func(at Site) Rest { return Rest{Param: at.value(strings.ToLower)} },
		},
		{
			Name: "the prefix is sent with its blanks cut", Kind: "spelling", At: of(Words),
			Rest: func(at Site) Rest { return Rest{Param: at.value(strings.TrimSpace)} },
		},
		{
			Name: "gte is sent as gt", Kind: "off by one", At: of(Tally, Money, Moment, Day, Ratio),
			Rest: func(at Site) Rest { return Rest{Param: at.op(wire.OpGte, "gt")} },
		},
		{
			Name: "lte is sent as lt", Kind: "off by one", At: of(Tally, Money, Moment, Day, Big),
			Rest: func(at Site) Rest { return Rest{Param: at.op(wire.OpLte, "lt")} },
		},
		{
			Name: "the last item of each page is lost", Kind: "pagination", At: long,
			Rest: func(at Site) Rest {
				return Rest{Fetch: at.pages(func(p *page, _ int, _ url.Values) {
					if len(p.Items) > 1 {
						p.Items = p.Items[:len(p.Items)-1]
					}
				})}
			},
		},
		{
			Name: "only the first page is read", Kind: "pagination", At: long,
			Rest: func(at Site) Rest { return Rest{Fetch: at.pages(func(p *page, _ int, _ url.Values) { p.Next = "" })} },
		},
		{
			Name: "only the first page is read with a filter", Kind: "pagination", At: long,
			Rest: func(at Site) Rest {
				return Rest{Fetch: at.pages(func(p *page, _ int, params url.Values) {
					if strings.Contains(params.Encode(), "filter") {
						p.Next = ""
					}
				})}
			},
		},
		{
			Name: "pages overlap by an item", Kind: "pagination", At: long,
			Rest: func(at Site) Rest {
				var last map[string]any
				return Rest{Fetch: at.pages(func(p *page, number int, _ url.Values) {
					if number > 0 && last != nil {
						p.Items = append([]map[string]any{last}, p.Items...)
					}
					if len(p.Items) > 0 {
						last = p.Items[len(p.Items)-1]
					}
				})}
			},
		},
		{
			Name: "a page that is not full is lost", Kind: "pagination", At: long,
			Rest: func(at Site) Rest {
				return Rest{Fetch: at.pages(func(p *page, number int, _ url.Values) {
					if number > 0 && len(p.Items) < pageMax {
						p.Items = nil
					}
				})}
			},
		},
		{
			Name: "an instant is sent an hour off", Kind: "time zones", At: of(Moment),
			Rest: func(at Site) Rest { return Rest{Param: at.value(milliseconds(-3600_000))} },
		},
		{
			Name: "an instant is sent in whole seconds", Kind: "time zones", At: of(Moment),
			Rest: func(at Site) Rest {
				return Rest{Param: at.value(func(text string) string {
					ms, _ := strconv.ParseInt(text, 10, 64)
					return strconv.FormatInt(ms/1000*1000, 10)
				})}
			},
		},
		{
			Name: "an instant is read without its zone", Kind: "time zones", At: of(Moment),
			Rest: func(at Site) Rest {
				return Rest{Cell: at.decoded(func(v any) any {
					if text, ok := v.(string); ok {
						return text[:len(text)-6] + "Z"
					}
					return v
				})}
			},
		},
		{
			Name: "in sends its first value", Kind: "filters", At: of(Code, Label, Tally, Day, Money, Key),
			Rest: func(at Site) Rest {
				return Rest{Param: at.param(wire.OpIn, func(value string) string {
					before, _, _ := strings.Cut(value, ",")
					return before
				})}
			},
		},
		{
			Name: "a comma in a list is not escaped", Kind: "encoding", At: of(Words),
			Rest: func(at Site) Rest {
				return Rest{Param: at.param(wire.OpIn, func(value string) string { return strings.ReplaceAll(value, `\,`, ",") })}
			},
		},
		{
			Name: "an empty text is sent, which the vendor ignores", Kind: "filters", At: of(Words, Label),
			Rest: func(at Site) Rest {
				return Rest{Can: at.claims(func(f wire.Filter) bool {
					return f.Op == wire.OpEq && f.Value.Kind() == wire.KindText && f.Value.Text() == ""
				})}
			},
		},
		{
			Name: "ne is sent although it keeps nulls", Kind: "null handling", At: gaps,
			Rest: func(at Site) Rest {
				return Rest{Can: at.claims(func(f wire.Filter) bool { return f.Op == wire.OpNeq && !f.Value.IsNull() })}
			},
		},
		{
			Name: "includes is sent as a prefix", Kind: "filters", At: texts,
			Rest: func(at Site) Rest {
				return Rest{
					Can:   at.claims(func(f wire.Filter) bool { return f.Op == wire.OpIncludes && f.Value.String() != "" }),
					Param: at.op(wire.OpIncludes, "prefix"),
				}
			},
		},
		{
			Name: "a column with nulls is sorted by the vendor", Kind: "null handling", At: gaps,
			Rest: func(at Site) Rest {
				return Rest{Sortable: func(t *wire.Table, field string, can bool) bool {
					return can || t.Name == at.Table && field == at.Column
				}}
			},
		},
		{
			Name: "the direction of a sort is lost", Kind: "sorting", At: of(Key, Moment, Money, Words),
			Rest: func(at Site) Rest {
				return Rest{Sort: func(table string, keys []wire.SortKey) []wire.SortKey {
					keys = slices.Clone(keys)
					for i, key := range keys {
						if table == at.Table && key.Field == at.Column {
							keys[i].Dir = wire.Asc
						}
					}
					return keys
				}}
			},
		},
		{
			Name: "a count ignores its filters", Kind: "measures", At: table,
			Rest: func(at Site) Rest {
				return Rest{Count: func(table string, filtered bool, right int64) int64 {
					if table == at.Table && filtered {
						right = int64(at.Rows)
					}
					return right
				}}
			},
		},
		{
			Name: "a count is that of the first page", Kind: "measures", At: long,
			Rest: func(at Site) Rest {
				return Rest{Count: func(table string, _ bool, right int64) int64 {
					if table == at.Table {
						right = min(right, pageMax)
					}
					return right
				}}
			},
		},
		{
			Name: "an offset is rounded to whole pages", Kind: "pagination", At: long,
			Rest: func(at Site) Rest {
				return Rest{Window: func(table string, offset, limit int64) (int64, int64) {
					if table == at.Table && limit > 0 {
						offset = offset / limit * limit
					}
					return offset, limit
				}}
			},
		},
		{
			Name: "large integers pass through a float", Kind: "rounding", At: of(Big),
			Rest: func(at Site) Rest {
				return Rest{Cell: at.decoded(func(v any) any {
					f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
					if err != nil {
						return v
					}
					return wire.Int(int64(f))
				})}
			},
		},
		{
			Name: "a null number is read as 0", Kind: "null handling", At: nulls(Tally, Money),
			Rest: func(at Site) Rest {
				return Rest{Cell: at.decoded(func(v any) any {
					if v == nil {
						return wire.Int(0)
					}
					return v
				})}
			},
		},
		{
			Name: "pages are kept whatever the filter", Kind: "stale cache", At: table,
			Rest: func(at Site) Rest {
				kept := map[string]page{}
				return Rest{Fetch: func(table string, params url.Values, number int, get getter) (page, error) {
					key := params.Get("sort") + params.Get("page") + params.Get("offset") + params.Get("cursor")
					if p, ok := kept[key]; ok && table == at.Table {
						return p, nil
					}
					p, err := get(params)
					if table == at.Table {
						kept[key] = p
					}
					return p, err
				}}
			},
		},
		{
			Name: "of two filters on a field the last is sent", Kind: "filters", At: of(Tally, Money, Moment, Day),
			Rest: func(at Site) Rest {
				return Rest{Filters: func(table string, list []wire.Filter) []wire.Filter {
					last := map[string]int{}
					for i, f := range list {
						last[f.Field] = i
					}
					return filtered(list, func(i int, f wire.Filter) bool { return !at.has(table, f) || last[f.Field] == i })
				}}
			},
		},
		{
			Name: "lists are cut after 10 values", Kind: "thresholds", At: of(Code, Words, Big, Key),
			Rest: func(at Site) Rest {
				return Rest{Param: at.param(wire.OpIn, func(value string) string {
					return strings.Join(short(strings.Split(value, ","), 10), ",")
				})}
			},
		},
		{
			Name: "isnull and notnull are mixed up", Kind: "null handling", At: nulls(),
			Rest: func(at Site) Rest {
				return Rest{Param: func(table string, f wire.Filter, op, value string) (string, string) {
					if at.has(table, f, wire.OpIsNull, wire.OpNotNull) {
						value = strconv.FormatBool(value != "true")
					}
					return op, value
				}}
			},
		},
		{
			Name: "the filters are claimed although or was not sent", Kind: "filters", At: table,
			Rest: func(at Site) Rest {
				return Rest{Claim: func(table string, s connector.Served) connector.Served {
					s.Filters = s.Filters || table == at.Table
					return s
				}}
			},
		},
		{
			Name: "an aggregate reads the first page", Kind: "aggregates", At: long,
			Rest: func(at Site) Rest {
				folding := false
				return Rest{
					Fold: func(req *wire.AggregateRequest) { folding = req.Table == at.Table },
					Fetch: at.pages(func(p *page, _ int, _ url.Values) {
						if folding {
							p.Next, folding = "", false
						}
					}),
				}
			},
		},
		{
			Name: "two columns are swapped", Kind: "cells", At: func(s Site) bool { return s.Other != "" },
			Rest: func(at Site) Rest {
				return Rest{Fetch: at.pages(func(p *page, _ int, _ url.Values) {
					for _, item := range p.Items {
						item[at.Column], item[at.Other] = item[at.Other], item[at.Column]
					}
				})}
			},
		},
		{
			Name: "numbers are sent with two digits", Kind: "rounding", At: of(Ratio, Reading),
			Rest: func(at Site) Rest {
				return Rest{Param: at.value(func(text string) string {
					f, err := strconv.ParseFloat(text, 64)
					if err != nil {
						return text
					}
					return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
				})}
			},
		},
		{
			Name: "dates are sent a day late", Kind: "time zones", At: of(Day),
			Rest: func(at Site) Rest {
				return Rest{Param: at.value(func(text string) string {
					d, err := time.Parse(time.DateOnly, text)
					if err != nil {
						return text
					}
					return d.AddDate(0, 0, 1).Format(time.DateOnly)
				})}
			},
		},
	}
}

// value changes each parameter of the site but those of null.
func (s Site) value(change func(string) string) param {
	return func(table string, f wire.Filter, op, value string) (string, string) {
		if s.has(table, f) && op != "null" {
			parts := list(value)
			if op != "in" {
				parts = []string{value}
			}
			for i, part := range parts {
				parts[i] = change(part)
				if op == "in" {
					parts[i] = escaped(parts[i])
				}
			}
			value = strings.Join(parts, ",")
		}
		return op, value
	}
}

// param changes the parameter of one operator of the site.
func (s Site) param(of wire.Op, change func(string) string) param {
	return func(table string, f wire.Filter, op, value string) (string, string) {
		if s.has(table, f, of) {
			value = change(value)
		}
		return op, value
	}
}

// op sends one operator of the site as another.
func (s Site) op(of wire.Op, other string) param {
	return func(table string, f wire.Filter, op, value string) (string, string) {
		if s.has(table, f, of) {
			op, value = other, f.Value.String()
			if s.Trait == Moment {
				value = spelled(s.Type, f.Value)
			}
		}
		return op, value
	}
}

// pages changes the pages of the table of the site.
func (s Site) pages(change func(p *page, number int, params url.Values)) fetch {
	return func(table string, params url.Values, number int, get getter) (page, error) {
		p, err := get(params)
		if table == s.Table {
			change(&p, number, params)
		}
		return p, err
	}
}

// decoded changes what the vendor answered for the site.
func (s Site) decoded(change func(any) any) func(table, column string, v any) any {
	return func(table, column string, v any) any {
		if table == s.Table && column == s.Column {
			return change(v)
		}
		return v
	}
}

// claims lets the vendor evaluate more filters of the site than it can.
func (s Site) claims(more func(f wire.Filter) bool) func(t *wire.Table, f wire.Filter, can bool) bool {
	return func(t *wire.Table, f wire.Filter, can bool) bool {
		return can || s.has(t.Name, f) && more(f)
	}
}

// milliseconds adds to an instant as the vendor reads it.
func milliseconds(more int64) func(string) string {
	return func(text string) string {
		ms, _ := strconv.ParseInt(text, 10, 64)
		return strconv.FormatInt(ms+more, 10)
	}
}

// filtered keeps some filters of a list.
func filtered(list []wire.Filter, keep func(i int, f wire.Filter) bool) (kept []wire.Filter) {
	for i, f := range list {
		if keep(i, f) {
			kept = append(kept, f)
		}
	}
	return kept
}
