package ask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// causeOf returns the check of live data that a question belongs to.
func causeOf(q *exam.Question) string {
	filters := 0
	for range q.Filters() {
		filters++
	}
	sorted, windowed := len(q.Sort) > 0, q.Limit+q.Offset > 0
	several := filters > 1 || len(q.Or) > 0
	switch {
	case q.Path == wire.PathCount && filters == 0:
		return "L3"
	case q.Path == wire.PathAggregate && filters == 0 && slices.ContainsFunc(q.Groups, func(g wire.GroupKey) bool { return g.Grain != "" }):
		return "M24"
	case q.Path == wire.PathAggregate && filters == 0:
		return "L8"
	case q.Path != wire.PathQuery && !several:
		return "M10"
	case filters > 0 && (sorted || windowed):
		return "M12"
	case several:
		return "M11"
	case filters == 1:
		return "L2"
	case sorted && windowed:
		return "L6"
	case sorted:
		return "L7"
	case windowed:
		return "M20"
	}
	return "M7" // some columns, and nothing else
}

// lostRow returns the index of a row of an answer that satisfies the filters, and whose key
// no row of the whole read has, or -1. The whole read has then lost it, not the filter.
func lostRow(q *exam.Question, answer *oracle.Table) int {
	key := q.Table.PrimaryKey
	known, answered := compare.Project(q.Table, key), compare.Project(answer, key)
	if len(key) == 0 || known == nil || answered == nil {
		return -1
	}
	var columns []wire.Column
	for _, name := range key {
		columns = append(columns, q.Table.Columns[q.Table.Index(name)])
	}
	return compare.Missing(columns, answered, known, len(answered))
}

// explain returns what is wrong with the final rows of a question: by the filter
// that a row does not pass, if there is one.
func explain(q *exam.Question, final *oracle.Table, d *oracle.Difference) string {
	at, ok := oracle.Unmatched(final, q.And, q.Or, q.FieldTypes)
	if !ok {
		return fmt.Sprintf("row %d of %s answered although %s", at, terms.QuoteName(q.Table.Name), brokenFilter(q, final, at))
	}
	return fmt.Sprintf("%s%s: %s", terms.QuoteName(q.Table.Name), describeWhere(q), d.Detail)
}

// byClaim returns the end of a sentence about a row that does not pass the filters: what the
// connector says of them. It is empty if all rows pass.
func byClaim(q *exam.Question, rows *oracle.Table, served wire.Served) string {
	if _, ok := oracle.Unmatched(rows, q.And, q.Or, q.FieldTypes); ok {
		return ""
	}
	if served.Filters {
		return "; served.filters is true, so the platform does not filter again"
	}
	return "; served.filters is false, but the document declares the operator: " +
		"push the filter, or leave its operator out of capabilities.operators"
}

func brokenFilter(q *exam.Question, t *oracle.Table, at int) string {
	for _, f := range q.And {
		if column := t.Index(f.Field); column >= 0 && !oracle.Match(t.Rows[at][column], f, t.Columns[column].Type) {
			return describeFilter(q, f) + " does not hold"
		}
	}
	if len(q.Or) == 1 {
		return "the only group of or does not hold"
	}
	return fmt.Sprintf("none of the %d groups of or holds", len(q.Or))
}

// describeWhere returns the conditions of a question, or how many there are. An or of one group is named: what is
// left of a question has one only if the same filters are answered rightly as conjuncts.
func describeWhere(q *exam.Question) string {
	described := func(filters []wire.Filter) (parts []string) {
		for _, f := range filters {
			parts = append(parts, describeFilter(q, f))
		}
		return parts
	}
	parts := described(q.And)
	switch len(q.Or) {
	case 0:
	case 1:
		parts = append(parts, "the only group of or ("+strings.Join(described(q.Or[0][:min(len(q.Or[0]), maxConditions)]), " and ")+")")
	default:
		parts = append(parts, fmt.Sprintf("one of %d groups of or", len(q.Or)))
	}
	switch {
	case len(parts) == 0:
		return ""
	case len(parts) > maxConditions:
		return fmt.Sprintf(" where %d conditions hold", len(parts))
	case len(parts) == 1:
		return " where " + parts[0] + " holds"
	}
	return " where " + strings.Join(parts, " and ") + " hold"
}

// maxConditions is how many conditions a finding names.
const maxConditions = 3

// maxShown is how many bytes of an operand a finding shows.
const maxShown = 60

func describeFilter(q *exam.Question, f wire.Filter) string {
	text := fmt.Sprintf("%s.%s %s", q.Table.Name, f.Field, f.Op)
	switch terms.ShapeOf(f.Op) {
	case terms.ShapeValue:
		text += " " + message.Cell(f.Value, maxShown)
	case terms.ShapeMember:
		var list []string
		for _, v := range f.Values[:min(len(f.Values), 5)] {
			list = append(list, message.Cell(v, maxShown))
		}
		if more := len(f.Values) - len(list); more > 0 {
			list = append(list, fmt.Sprintf("%d more", more))
		}
		text += " [" + strings.Join(list, ", ") + "]"
	}
	return text
}
