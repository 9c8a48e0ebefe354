package querytest

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/generate"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// explain returns what is wrong with the final rows of a question: by the filter
// that a row does not pass, if there is one.
func explain(q *generate.Question, final *oracle.Table, d *oracle.Difference) string {
	at, ok := oracle.Unmatched(final, q.And, q.Or, q.FieldTypes)
	if !ok {
		return fmt.Sprintf("row %d of %s answered although %s", at, wire.QuoteName(q.Table.Name), brokenFilter(q, final, at))
	}
	return fmt.Sprintf("%s%s: %s", wire.QuoteName(q.Table.Name), describeWhere(q), d.Detail)
}

// brokenFilter names the condition that a row does not pass.
func brokenFilter(q *generate.Question, t *oracle.Table, at int) string {
	for _, f := range q.And {
		if column := t.Index(f.Field); column >= 0 && !oracle.Match(t.Rows[at][column], f, t.Columns[column].Type) {
			return describeFilter(q, f) + " does not hold"
		}
	}
	if len(q.Or) == 1 {
		single := generate.Question{Subject: q.Subject, Where: wire.Where{And: q.Or[0]}}
		return brokenFilter(&single, t, at)
	}
	return fmt.Sprintf("none of the %d groups of or holds", len(q.Or))
}

// describeWhere returns the conditions of a question, or how many there are.
func describeWhere(q *generate.Question) string {
	var parts []string
	for _, f := range q.And {
		parts = append(parts, describeFilter(q, f))
	}
	if len(q.Or) == 1 {
		for _, f := range q.Or[0] {
			parts = append(parts, describeFilter(q, f))
		}
	} else if len(q.Or) > 1 {
		parts = append(parts, fmt.Sprintf("one of %d groups", len(q.Or)))
	}
	switch {
	case len(parts) == 0:
		return ""
	case len(parts) > 3:
		return fmt.Sprintf(" where %d conditions hold", len(parts))
	case len(parts) == 1:
		return " where " + parts[0] + " holds"
	}
	return " where " + strings.Join(parts, " and ") + " hold"
}

func describeFilter(q *generate.Question, f wire.Filter) string {
	text := fmt.Sprintf("%s.%s %s", q.Table.Name, f.Field, f.Op)
	switch f.Op.Shape() {
	case wire.ShapeValue:
		text += " " + describeValue(f.Value)
	case wire.ShapeMember:
		var list []string
		for _, v := range f.Values[:min(len(f.Values), 5)] {
			list = append(list, describeValue(v))
		}
		if more := len(f.Values) - len(list); more > 0 {
			list = append(list, fmt.Sprintf("%d more", more))
		}
		text += " [" + strings.Join(list, ", ") + "]"
	}
	return text
}

func describeValue(v wire.Value) string {
	json, err := v.AppendJSON(nil)
	if err != nil {
		return "?"
	}
	return message.Excerpt(json, 60)
}
