package conformance

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// explain says what is wrong with the final rows of a question, in terms of its
// filters where they tell it.
func explain(q *question, final *oracle.Table, d *oracle.Difference) string {
	at, ok := oracle.Unmatched(final, q.and, q.or, q.types)
	if !ok {
		return fmt.Sprintf("row %d of %s answered although %s", at, wire.QuoteName(q.table.Name), broken(q, final, at))
	}
	return fmt.Sprintf("%s%s: %s", wire.QuoteName(q.table.Name), where(q), d.Detail)
}

// broken names the condition that a row does not meet.
func broken(q *question, t *oracle.Table, at int) string {
	for _, f := range q.and {
		if column := t.Index(f.Field); column >= 0 && !oracle.Match(t.Rows[at][column], f, t.Columns[column].Type) {
			return show(q, f) + " does not hold"
		}
	}
	if len(q.or) == 1 {
		single := question{subject: q.subject, and: q.or[0]}
		return broken(&single, t, at)
	}
	return fmt.Sprintf("none of the %d groups of or holds", len(q.or))
}

// where is the conditions of a question, when there are few.
func where(q *question) string {
	var parts []string
	for _, f := range q.and {
		parts = append(parts, show(q, f))
	}
	if len(q.or) == 1 {
		for _, f := range q.or[0] {
			parts = append(parts, show(q, f))
		}
	} else if len(q.or) > 1 {
		parts = append(parts, fmt.Sprintf("one of %d groups", len(q.or)))
	}
	if len(parts) == 0 {
		return ""
	}
	if len(parts) > 3 {
		return fmt.Sprintf(" where %d conditions hold", len(parts))
	}
	return " where " + strings.Join(parts, " and ") + map[bool]string{true: " holds", false: " hold"}[len(parts) == 1]
}

// show spells a filter for a person.
func show(q *question, f wire.Filter) string {
	text := fmt.Sprintf("%s.%s %s", q.table.Name, f.Field, f.Op)
	switch f.Op.Shape() {
	case wire.ShapeValue:
		text += " " + showValue(f.Value)
	case wire.ShapeMember:
		var list []string
		for _, v := range f.Values[:min(len(f.Values), 5)] {
			list = append(list, showValue(v))
		}
		if more := len(f.Values) - len(list); more > 0 {
			list = append(list, fmt.Sprintf("%d more", more))
		}
		text += " [" + strings.Join(list, ", ") + "]"
	}
	return text
}

func showValue(v wire.Value) string {
	json, err := v.AppendJSON(nil)
	if err != nil {
		return "?"
	}
	return excerpt(json, 60)
}
