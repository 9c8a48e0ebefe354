package faulttest

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// restFaults are those of an author who pushes to a vendor's API.
var restFaults = []fault{
	{
		name: "the operand is lower-cased", kind: "spelling", at: of(Label, Code),
		habit: habit{param: values(strings.ToLower)},
	},
	{
		name: "the prefix is sent with its blanks cut", kind: "spelling", at: of(Words),
		habit: habit{param: values(strings.TrimSpace)},
	},
	{
		name: "gte is sent as gt", kind: "off by one", at: of(Tally, Money, Moment, Day, Ratio),
		habit: habit{param: sentAs(wire.OpGte, "gt")},
	},
	{
		name: "lte is sent as lt", kind: "off by one", at: of(Tally, Money, Moment, Day, Big),
		habit: habit{param: sentAs(wire.OpLte, "lt")},
	},
	{
		name: "the last item of each page is lost", kind: "pagination", at: long,
		habit: pages(func(p *page, _ position, _ url.Values) {
			if len(p.Items) > 1 {
				p.Items = p.Items[:len(p.Items)-1]
			}
		}),
	},
	{
		name: "only the first page is read", kind: "pagination", at: long,
		habit: pages(func(p *page, _ position, _ url.Values) { p.Next = "" }),
	},
	{
		name: "only the first page is read with a filter", kind: "pagination", at: long,
		habit: pages(func(p *page, _ position, params url.Values) {
			if strings.Contains(params.Encode(), "filter") {
				p.Next = ""
			}
		}),
	},
	{
		name: "pages overlap by an item", kind: "pagination", at: long,
		make: func(Site) habit {
			var last map[string]any
			return pages(func(p *page, at position, _ url.Values) {
				if at.number > 0 && last != nil {
					p.Items = append([]map[string]any{last}, p.Items...)
				}
				if len(p.Items) > 0 {
					last = p.Items[len(p.Items)-1]
				}
			})
		},
	},
	{
		name: "a page that is not full is lost", kind: "pagination", at: long,
		habit: pages(func(p *page, at position, _ url.Values) {
			if at.number > 0 && len(p.Items) < pageMax {
				p.Items = nil
			}
		}),
	},
	{
		name: "an instant is sent an hour off", kind: "time zones", at: of(Moment),
		habit: habit{param: values(milliseconds(func(ms int64) int64 { return ms - 3600_000 }))},
	},
	{
		name: "an instant is sent in whole seconds", kind: "time zones", at: of(Moment),
		habit: habit{param: values(milliseconds(func(ms int64) int64 { return ms / 1000 * 1000 }))},
	},
	{
		name: "an instant is read without its zone", kind: "time zones", at: of(Moment),
		habit: habit{decoded: decodedText(func(text string) any { return text[:len(text)-6] + "Z" })},
	},
	{
		name: "in sends its first value", kind: "filters", at: of(Code, Label, Tally, Day, Money, Key),
		habit: habit{param: param(wire.OpIn, func(value string) string {
			before, _, _ := strings.Cut(value, ",")
			return before
		})},
	},
	{
		name: "a comma in a list is not escaped", kind: "encoding", at: of(Words),
		habit: habit{param: param(wire.OpIn, func(value string) string { return strings.ReplaceAll(value, `\,`, ",") })},
	},
	{
		name: "an empty text is sent, which the vendor ignores", kind: "filters", at: of(Words, Label),
		habit: habit{can: func(f wire.Filter) bool {
			return f.Op == wire.OpEq && f.Value.Kind() == wire.KindText && f.Value.Text() == ""
		}},
	},
	{
		name: "ne is sent although it keeps nulls", kind: "null handling", at: gaps,
		habit: habit{can: func(f wire.Filter) bool { return f.Op == wire.OpNeq && !f.Value.IsNull() }},
	},
	{
		name: "includes is sent as a prefix", kind: "filters", at: texts,
		habit: habit{
			can:   func(f wire.Filter) bool { return f.Op == wire.OpIncludes && f.Value.String() != "" },
			param: sentAs(wire.OpIncludes, "prefix"),
		},
	},
	{
		name: "a column with nulls is sorted by the vendor", kind: "null handling", at: gaps,
		habit: habit{sortable: true},
	},
	{name: "the direction of a sort is lost", kind: "sorting", at: of(Key, Moment, Money, Words), make: ascending},
	{
		name: "a count ignores its filters", kind: "measures", at: table,
		make: func(at Site) habit { return habit{count: func(bool, int64) int64 { return int64(at.Rows) }} },
	},
	{
		name: "a count is that of the first page", kind: "measures", at: long,
		habit: habit{count: func(_ bool, rows int64) int64 { return min(rows, pageMax) }},
	},
	{
		name: "an offset is rounded to whole pages", kind: "pagination", at: long,
		habit: habit{window: func(_ bool, offset, limit int64) (int64, int64) {
			if limit > 0 {
				offset = offset / limit * limit
			}
			return offset, limit
		}},
	},
	{
		name: "large integers pass through a float", kind: "rounding", at: of(Big),
		habit: habit{decoded: func(v any) any {
			f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
			if err != nil {
				return v
			}
			return wire.Int(int64(f))
		}},
	},
	{
		name: "a null number is read as 0", kind: "null handling", at: nulls(Tally, Money),
		habit: habit{decoded: func(v any) any {
			if v == nil {
				return wire.Int(0)
			}
			return v
		}},
	},
	{
		name: "pages are kept whatever the filter", kind: "stale cache", at: table,
		make: func(Site) habit {
			kept := map[string]page{}
			return habit{fetch: func(_ position, params url.Values, get getter) (page, error) {
				key := params.Get("sort") + params.Get("page") + params.Get("offset") + params.Get("cursor")
				if p, ok := kept[key]; ok {
					return p, nil
				}
				p, err := get(params)
				kept[key] = p
				return p, err
			}}
		},
	},
	{
		name: "of two filters on a field the last is sent", kind: "filters", at: of(Tally, Money, Moment, Day),
		make: func(at Site) habit {
			return habit{filters: func(list []wire.Filter) (kept []wire.Filter) {
				for i, f := range list {
					again := func(g wire.Filter) bool { return g.Field == f.Field }
					if f.Field != at.Column || !slices.ContainsFunc(list[i+1:], again) {
						kept = append(kept, f)
					}
				}
				return kept
			}}
		},
	},
	{
		name: "lists are cut after 10 values", kind: "thresholds", at: of(Code, Words, Big, Key),
		habit: habit{param: param(wire.OpIn, func(value string) string {
			return strings.Join(short(strings.Split(value, ","), 10), ",")
		})},
	},
	{
		name: "isnull and notnull are mixed up", kind: "null handling", at: nulls(),
		habit: habit{param: func(_ wire.Filter, op, value string) (string, string) {
			if op == "null" {
				value = strconv.FormatBool(value != "true")
			}
			return op, value
		}},
	},
	{
		name: "the filters are claimed although or was not sent", kind: "filters", at: table,
		habit: habit{claimed: true},
	},
	{
		name: "an aggregate reads the first page", kind: "aggregates", at: long,
		habit: pages(func(p *page, at position, _ url.Values) {
			if at.folding {
				p.Next = ""
			}
		}),
	},
	{
		name: "two columns are swapped", kind: "cells", at: func(s Site) bool { return s.Other != "" },
		make: func(at Site) habit {
			return pages(func(p *page, _ position, _ url.Values) {
				for _, item := range p.Items {
					item[at.Column], item[at.Other] = item[at.Other], item[at.Column]
				}
			})
		},
	},
	{
		name: "numbers are sent with two digits", kind: "rounding", at: of(Ratio, Reading),
		habit: habit{param: values(float(func(f float64) string {
			return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
		}))},
	},
	{
		name: "dates are sent a day late", kind: "time zones", at: of(Day),
		habit: habit{param: values(func(text string) string {
			d, err := time.Parse(time.DateOnly, text)
			if err != nil {
				return text
			}
			return d.AddDate(0, 0, 1).Format(time.DateOnly)
		})},
	},
}

// moreRestFaults are further ones.
var moreRestFaults = []fault{
	{
		name: "the vendor is asked with null=1", kind: "null handling", at: nulls(),
		habit: habit{param: param(wire.OpIsNull, func(string) string { return "1" })},
	},
	{
		name: "values are decoded twice", kind: "encoding", at: of(Words),
		habit: habit{param: values(func(text string) string {
			if again, err := url.QueryUnescape(text); err == nil {
				return again
			}
			return text
		})},
	},
	{
		name: "the filters are lost on the second page", kind: "pagination", at: long,
		habit: secondPageWithout("filter"),
	},
	{
		name: "the sort is lost on the second page", kind: "pagination", at: long,
		habit: secondPageWithout("sort"),
	},
	{
		name: "money is sent without its cents", kind: "rounding", at: of(Money),
		habit: habit{param: values(func(text string) string {
			whole, _, _ := strings.Cut(text, ".")
			return whole
		})},
	},
	{
		name: "a prefix is cut after 10 letters", kind: "thresholds", at: of(Words),
		habit: habit{param: param(wire.OpStartsWith, func(value string) string { return first(value, 10) })},
	},
	{
		name: "a count is kept whatever the filter", kind: "stale cache", at: table,
		make: func(Site) habit {
			kept := int64(-1)
			return habit{count: func(_ bool, rows int64) int64 {
				if kept < 0 {
					kept = rows
				}
				return kept
			}}
		},
	},
	{
		name: "an empty text is read as null", kind: "null handling", at: of(Words),
		habit: habit{decoded: func(v any) any {
			if v == "" {
				return nil
			}
			return v
		}},
	},
	{
		name: "instants are read in whole seconds", kind: "time zones", at: of(Moment),
		habit: habit{decoded: decodedText(func(text string) any { return text[:19] + text[23:] })},
	},
	{
		name: "a page that was asked twice is answered twice", kind: "pagination", at: long,
		habit: pages(func(p *page, at position, _ url.Values) {
			if at.number == 1 {
				p.Items = slices.Concat(p.Items, p.Items)
			}
		}),
	},
	{
		name: "large integers are sent as floats", kind: "numbers", at: of(Big),
		habit: habit{param: values(float(func(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }))},
	},
	{
		name: "decimals are read by way of a float of 32 bits", kind: "rounding", at: of(Money),
		habit: habit{decoded: decodedText(func(text string) any {
			f, err := strconv.ParseFloat(text, 32)
			if err != nil {
				return text
			}
			return strconv.FormatFloat(f, 'f', -1, 32)
		})},
	},
}

// values changes each value of a parameter but those of null.
func values(change func(string) string) func(f wire.Filter, op, value string) (string, string) {
	return func(_ wire.Filter, op, value string) (string, string) {
		switch op {
		case "null":
			return op, value
		case "in":
			parts := list(value)
			for i, part := range parts {
				parts[i] = escaped(change(part))
			}
			return op, strings.Join(parts, ",")
		}
		return op, change(value)
	}
}

// param changes the parameter of one operator.
func param(of wire.Op, change func(string) string) func(f wire.Filter, op, value string) (string, string) {
	return func(f wire.Filter, op, value string) (string, string) {
		if f.Op == of {
			value = change(value)
		}
		return op, value
	}
}

// sentAs sends one operator as another.
func sentAs(of wire.Op, other string) func(f wire.Filter, op, value string) (string, string) {
	return func(f wire.Filter, op, value string) (string, string) {
		if f.Op == of {
			op = other
		}
		return op, value
	}
}

// pages changes the pages of the table.
func pages(change func(p *page, at position, params url.Values)) habit {
	return habit{fetch: func(at position, params url.Values, get getter) (page, error) {
		p, err := get(params)
		change(&p, at, params)
		return p, err
	}}
}

// secondPageWithout omits some parameters of all pages but the first.
func secondPageWithout(prefix string) habit {
	return habit{fetch: func(at position, params url.Values, get getter) (page, error) {
		for name := range params {
			if at.number > 0 && strings.HasPrefix(name, prefix) {
				params.Del(name)
			}
		}
		return get(params)
	}}
}

// decodedText changes texts that the vendor answered.
func decodedText(change func(string) any) func(any) any {
	return func(v any) any {
		if text, ok := v.(string); ok {
			return change(text)
		}
		return v
	}
}

// milliseconds changes an instant as the vendor reads it.
func milliseconds(change func(int64) int64) func(string) string {
	return func(text string) string {
		ms, _ := strconv.ParseInt(text, 10, 64)
		return strconv.FormatInt(change(ms), 10)
	}
}

// float spells a number in another way.
func float(spell func(float64) string) func(string) string {
	return func(text string) string {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return text
		}
		return spell(f)
	}
}
