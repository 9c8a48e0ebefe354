package connectortest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// violation is the error for an answer that breaks a rule.
type violation struct {
	rule     string // rules of docs/protocol.md, such as "filter-3"
	problem  string
	expected string
	got      string
}

func (v *violation) Error() string {
	return fmt.Sprintf("%s: %s\n\texpected: %s\n\tgot:      %s", v.rule, v.problem, v.expected, v.got)
}

// unverifiable is the reason why an answer cannot be verified.
type unverifiable string

func (u unverifiable) Error() string { return "not verified: " + string(u) }

// maxShown limits the list on one side of a message.
const maxShown = 5

// listing returns the first few items and the number of the others.
func listing(items []string, what string) string {
	if len(items) == 0 {
		return "no " + what
	}
	text := strings.Join(items[:min(len(items), maxShown)], "\n\t          ")
	if more := len(items) - maxShown; more > 0 {
		text += fmt.Sprintf("\n\t          and %d more %s", more, what)
	}
	return text
}

// ruleOf returns the rule that decides a filter on a cell of a type.
func ruleOf(f wire.Filter, cell wire.Value, t wire.Type) string {
	switch f.Op {
	case wire.OpIsNull, wire.OpNotNull:
		return "filter-18"
	case wire.OpIn:
		return "filter-3"
	case wire.OpNin:
		return "filter-3a"
	}
	switch {
	case cell.IsNull() || f.Value.IsNull():
		return "filter-2"
	case f.Op == wire.OpContains:
		return "filter-4"
	case f.Op == wire.OpIncludes:
		return "filter-5"
	case f.Op == wire.OpStartsWith:
		return "filter-5a"
	case t.Numeric():
		return "filter-6"
	case t == wire.TypeDate || t == wire.TypeDatetime:
		return "filter-9"
	}
	return "filter-7"
}

// rulesOf returns the rules that decide filters on a row, or on any row if row
// is nil.
func (r *relation) rulesOf(where wire.Where, row []wire.Value) string {
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
	for _, f := range where.And {
		one(f)
	}
	if len(where.Or) > 0 {
		add("filter-1")
		for f := range (wire.Where{Or: where.Or}).Filters() {
			one(f)
		}
	}
	if len(rules) == 0 {
		return "query-16"
	}
	return strings.Join(rules, ", ")
}
