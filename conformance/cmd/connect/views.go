package main

import (
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"slices"
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
		"cell":     p.cell, "pickable": p.pickable, "flags": flags, "kind": kind, "stats": p.stats,
		"quantity": func(t *wire.Table, field string) bool { return t.Field(field).Type.Numeric() && !isKey(t, field) },
		"grouped":  func(n *int64) string { return grouped(*n) }, "shown": shownColumns,
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

// cell returns a cell, of a column of numbers or not, as HTML, so that null and the text null look different.
func (p *page) cell(v wire.Value, numeric bool) template.HTML {
	if v.IsNull() {
		return `<span class="null">null</span>`
	}
	text := v.String()
	if numeric {
		if cleaned := p.clean(text); cleaned == text {
			text = thousands(text)
		}
	}
	text = short(p.clean(text), maxCell)                                 // in this order, for the end may lie within a secret
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

// plain is a number without an exponent.
var plain = regexp.MustCompile(`^(-?)([0-9]+)(\.[0-9]+)?$`)

// thousands returns the digits of a number with commas between its thousands.
func thousands(digits string) string {
	m := plain.FindStringSubmatch(digits)
	if m == nil {
		return digits
	}
	whole := m[2]
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	return m[1] + whole + m[3]
}

// kind returns a type in words for who uses the page.
func kind(t wire.Type) string {
	switch t {
	case wire.TypeString:
		return "text"
	case wire.TypeDatetime:
		return "date and time"
	case wire.TypeBoolean:
		return "true or false"
	case wire.TypeArray:
		return "list"
	case wire.TypeJSON:
		return "JSON"
	}
	return string(t)
}

// flags returns what discovery says of a field in words.
func flags(f wire.Field) (list []string) {
	if f.Unique {
		list = append(list, "no value twice")
	}
	if f.Nullable {
		list = append(list, "may be empty")
	}
	for _, may := range []struct {
		flag *bool
		not  string
	}{{f.Filterable, "cannot be filtered"}, {f.Groupable, "cannot be grouped"}, {f.Aggregatable, "cannot be summed up"}} {
		if may.flag != nil && !*may.flag {
			list = append(list, may.not)
		}
	}
	return list
}

// isKey reports whether the values of a field name rows: of a key of the table, or of another table's.
func isKey(t *wire.Table, field string) bool {
	f := t.Field(field)
	return f != nil && (f.Unique || f.Type == wire.TypeReference || slices.Contains(t.PrimaryKey, field) ||
		slices.ContainsFunc(t.ForeignKeys, func(k wire.ForeignKey) bool { return k.Field == field }))
}

// stats returns the statistics of a field in words.
func (p *page) stats(s *wire.Stats, numeric bool) string {
	if s == nil {
		return ""
	}
	parts := []string{fmt.Sprintf("%s different", grouped(s.DistinctCount))}
	if s.NullPercent != nil {
		parts = append(parts, fmt.Sprintf("%.3g %% empty", *s.NullPercent))
	}
	if s.Min != nil && s.Max != nil {
		parts = append(parts, check.Legible("from "+p.bound(*s.Min, numeric)+" to "+p.bound(*s.Max, numeric)))
	}
	return strings.Join(parts, ", ")
}

// grouped returns a number with commas between its thousands.
func grouped(n int64) string { return thousands(strconv.FormatInt(n, 10)) }

// counted returns a number and a word for what it counts.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// columnsView says which columns of a list of fields have anything in them.
type columnsView struct{ Flags, Stats, Samples, Description bool }

func shownColumns(fields []wire.Field) (v columnsView) {
	for i := range fields {
		f := &fields[i]
		v.Flags = v.Flags || len(flags(*f)) > 0
		v.Stats = v.Stats || f.Stats != nil
		v.Samples = v.Samples || len(f.Samples) > 0
		v.Description = v.Description || f.SourceDescription != ""
	}
	return v
}

// bound returns the least or the largest value of a column.
func (p *page) bound(v wire.Value, numeric bool) string {
	text := short(p.clean(v.String()), 40)
	if numeric {
		text = thousands(text)
	}
	return text
}
