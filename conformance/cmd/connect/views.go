package main

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// functions returns what the templates call.
func (p *page) functions() template.FuncMap {
	return template.FuncMap{
		"legible":  func(text any) string { return p.legible(fmt.Sprint(text)) },
		"markdown": func(text string) template.HTML { return markdown(p.legible(text)) },
		"cell":     p.cell, "numeric": numeric, "flags": flags, "stats": p.stats,
		"measure": func(kind string, table, index int) string {
			return encoded(measurement{Kind: kind, Table: table, Index: index})
		},
	}
}

// encoded returns a value as JSON, for an attribute that the page's script reads.
func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(text)
}

// maxCell is how many bytes of a cell the page shows.
const maxCell = 300

// cell returns a cell as HTML, so that null and the text null look different.
func (p *page) cell(v wire.Value) template.HTML {
	if v.IsNull() {
		return `<span class="null">null</span>`
	}
	text := short(p.clean(v.String()), maxCell)                          // in this order, for the end may lie within a secret
	return template.HTML(template.HTMLEscapeString(check.Legible(text))) // escaped
}

// short cuts a text between two characters and marks that it is cut.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

func numeric(v wire.Value) bool {
	return v.Kind() == wire.KindInt || v.Kind() == wire.KindFloat || v.Kind() == wire.KindDecimal
}

// flags returns what discovery says of a field in words.
func flags(f wire.Field) (list []string) {
	if f.Unique {
		list = append(list, "unique")
	}
	if f.Nullable {
		list = append(list, "nullable")
	}
	for _, may := range []struct {
		flag *bool
		not  string
	}{{f.Filterable, "not filterable"}, {f.Groupable, "not groupable"}, {f.Aggregatable, "not aggregatable"}} {
		if may.flag != nil && !*may.flag {
			list = append(list, may.not)
		}
	}
	return list
}

// stats returns the statistics of a field in words.
func (p *page) stats(s *wire.Stats) string {
	if s == nil {
		return ""
	}
	parts := []string{fmt.Sprintf("%s distinct", grouped(s.DistinctCount))}
	if s.NullPercent != nil {
		parts = append(parts, strconv.FormatFloat(*s.NullPercent, 'f', -1, 64)+" % null")
	}
	if s.Min != nil && s.Max != nil {
		parts = append(parts, check.Legible(short(p.clean(s.Min.String()), 40)+" to "+short(p.clean(s.Max.String()), 40)))
	}
	return strings.Join(parts, ", ")
}

// grouped returns a number with commas between its thousands.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// counted returns a number and a word for what it counts.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}
