package faulttest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// moreRestFaults returns further ones of an author who pushes to a vendor's API.
func moreRestFaults() []Fault {
	return []Fault{
		{
			Name: "the vendor is asked with null=1", Kind: "null handling", At: nulls(),
			Rest: func(at Site) Rest {
				return Rest{Param: func(table string, f wire.Filter, op, value string) (string, string) {
					if at.has(table, f, wire.OpIsNull) {
						value = "1"
					}
					return op, value
				}}
			},
		},
		{
			Name: "values are decoded twice", Kind: "encoding", At: of(Words),
			Rest: func(at Site) Rest {
				return Rest{Param: at.value(func(text string) string {
					if again, err := url.QueryUnescape(text); err == nil {
						return again
					}
					return text
				})}
			},
		},
		{
			Name: "the filters are lost on the second page", Kind: "pagination", At: long,
			Rest: func(at Site) Rest {
				return Rest{Fetch: func(table string, params url.Values, number int, get getter) (page, error) {
					if table == at.Table && number > 0 {
						for name := range params {
							if strings.HasPrefix(name, "filter") {
								params.Del(name)
							}
						}
					}
					return get(params)
				}}
			},
		},
		{
			Name: "the sort is lost on the second page", Kind: "pagination", At: long,
			Rest: func(at Site) Rest {
				return Rest{Fetch: func(table string, params url.Values, number int, get getter) (page, error) {
					if table == at.Table && number > 0 {
						params.Del("sort")
					}
					return get(params)
				}}
			},
		},
		{
			Name: "money is sent without its cents", Kind: "rounding", At: of(Money),
			Rest: func(at Site) Rest {
				return Rest{Param: at.value(func(text string) string {
					whole, _, _ := strings.Cut(text, ".")
					return whole
				})}
			},
		},
		{
			Name: "a prefix is cut after 10 letters", Kind: "thresholds", At: of(Words),
			Rest: func(at Site) Rest {
				return Rest{Param: at.param(wire.OpStartsWith, func(value string) string { return first(value, 10) })}
			},
		},
		{
			Name: "a count is kept whatever the filter", Kind: "stale cache", At: table,
			Rest: func(at Site) Rest {
				kept := map[string]int64{}
				return Rest{Count: func(table string, _ bool, right int64) int64 {
					if table != at.Table {
						return right
					}
					if _, ok := kept[table]; !ok {
						kept[table] = right
					}
					return kept[table]
				}}
			},
		},
		{
			Name: "an empty text is read as null", Kind: "null handling", At: of(Words),
			Rest: func(at Site) Rest {
				return Rest{Cell: at.decoded(func(v any) any {
					if v == "" {
						return nil
					}
					return v
				})}
			},
		},
		{
			Name: "instants are read in whole seconds", Kind: "time zones", At: of(Moment),
			Rest: func(at Site) Rest {
				return Rest{Cell: at.decoded(func(v any) any {
					if text, ok := v.(string); ok {
						return text[:19] + text[23:]
					}
					return v
				})}
			},
		},
		{
			Name: "a page that was asked twice is answered twice", Kind: "pagination", At: long,
			Rest: func(at Site) Rest {
				return Rest{Fetch: at.pages(func(p *page, number int, _ url.Values) {
					if number == 1 {
						p.Items = slices.Concat(p.Items, p.Items)
					}
				})}
			},
		},
		{
			Name: "large integers are sent as floats", Kind: "numbers", At: of(Big),
			Rest: func(at Site) Rest {
				return Rest{Param: at.value(func(text string) string {
					f, err := strconv.ParseFloat(text, 64)
					if err != nil {
						return text
					}
					return strconv.FormatFloat(f, 'f', 0, 64)
				})}
			},
		},
		{
			Name: "decimals are read by way of a float of 32 bits", Kind: "rounding", At: of(Money),
			Rest: func(at Site) Rest {
				return Rest{Cell: at.decoded(func(v any) any {
					text, ok := v.(string)
					f, err := strconv.ParseFloat(text, 32)
					if !ok || err != nil {
						return v
					}
					return strconv.FormatFloat(f, 'f', -1, 32)
				})}
			},
		},
	}
}
