package connectortest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// violation is an answer that breaks a rule.
type violation struct {
	rule     string // rulings such as "A3", or a place in the protocol
	problem  string
	expected string
	got      string
}

func (v *violation) Error() string {
	return fmt.Sprintf("%s: %s\n\texpected: %s\n\tgot:      %s", v.rule, v.problem, v.expected, v.got)
}

// unverifiable is why an answer cannot be verified.
type unverifiable string

func (u unverifiable) Error() string { return "not verified: " + string(u) }

// mostShown bounds what one side of a message lists.
const mostShown = 5

// listing is the first few of many.
func listing(items []string, what string) string {
	if len(items) == 0 {
		return "no " + what
	}
	text := strings.Join(items[:min(len(items), mostShown)], "\n\t          ")
	if more := len(items) - mostShown; more > 0 {
		text += fmt.Sprintf("\n\t          and %d more %s", more, what)
	}
	return text
}

// ruleOf is the ruling that decides a filter on a cell of a type.
func ruleOf(f wire.Filter, cell wire.Value, t wire.Type) string {
	switch f.Op {
	case wire.OpIsNull, wire.OpNotNull:
		return "protocol, Filter"
	case wire.OpIn, wire.OpNin:
		return "A3"
	}
	switch {
	case cell.IsNull() || f.Value.IsNull():
		return "A2"
	case f.Op == wire.OpContains:
		return "A4"
	case f.Op == wire.OpIncludes || f.Op == wire.OpStartsWith:
		return "A5"
	case t.Numeric():
		return "A6"
	case t == wire.TypeDate || t == wire.TypeDatetime:
		return "A9"
	}
	return "A7"
}

// rulesOf are the rulings that decide filters on a row, or on any row when row
// is nil.
func (r *relation) rulesOf(and []wire.Filter, or [][]wire.Filter, row []wire.Value) string {
	var rules []string
	add := func(rule string) {
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	one := func(f wire.Filter) {
		at := r.place(0, f.Field)
		cell := wire.Bool(true)
		if row != nil {
			cell = row[at]
		}
		add(ruleOf(f, cell, r.columns[at].Type))
	}
	for _, f := range and {
		one(f)
	}
	if len(or) > 0 {
		add("A1")
		for _, group := range or {
			for _, f := range group {
				one(f)
			}
		}
	}
	if len(rules) == 0 {
		return "protocol, /query"
	}
	return strings.Join(rules, ", ")
}
