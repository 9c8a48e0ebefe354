package conformance

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// coverageLines returns the coverage as text. In the short form a table whose fields
// were all judged with all operators, or that has no rows, is one line, and there are few
// lines.
func coverageLines(c *coverage.Report, whole bool) (lines []string) {
	const maxLines, maxFields = 20, 6
	for i := range c.Tables {
		t := &c.Tables[i]
		if len(lines) >= maxLines && !whole {
			lines = append(lines, fmt.Sprintf("and %s more; a report in a file (-report) lists them all",
				plural(len(c.Tables)-i, "table", "tables")))
			break
		}
		lines = append(lines, tableLine(t, c.Operators))
		var fields []string
		if whole || t.Rows > 0 {
			fields = fieldLines(t, c.Operators, whole)
		}
		if more := len(fields) - maxFields; more > 1 && !whole {
			fields = append(fields[:maxFields], fmt.Sprintf("  and %d more fields", more))
		}
		lines = append(lines, fields...)
	}
	return lines
}

// tableLine returns one line about a table as a whole.
func tableLine(t *coverage.Table, operators []wire.Op) string {
	line := fmt.Sprintf("%s  %s", oneLine(t.Name), plural(t.Rows, "row", "rows"))
	if t.Partly != "" {
		line += ", not the whole table (" + oneLine(t.Partly) + ")"
	}
	if t.Unjudged != "" {
		line += "; not judged: " + t.Unjudged
	}
	var b coverage.Basis
	b.Add(t, operators)
	if b.Pairs > 0 {
		line += fmt.Sprintf("; judged %d of %d (%s x %s)", b.Judged, b.Pairs,
			plural(b.Pairs/len(operators), "field", "fields"), plural(len(operators), "operator", "operators"))
	}
	if b.Values > 0 {
		line += fmt.Sprintf(", %d of %s", b.Asked, plural(b.Values, "value", "values"))
	}
	return line
}

// fieldLines returns one line for each field: with the judged answers by operator or, in
// the short form, the operators that were not judged.
func fieldLines(t *coverage.Table, operators []wire.Op, whole bool) (lines []string) {
	for i := range t.Fields {
		f := &t.Fields[i]
		var missing, words []string
		for _, op := range operators {
			if f.Filterable && f.Judged[op] == 0 {
				missing = append(missing, string(op))
			}
		}
		switch {
		case whole && !f.Filterable:
			words = []string{"cannot be filtered"}
		case whole:
			for _, op := range operators {
				words = append(words, fmt.Sprintf("%s %d", op, f.Judged[op]))
			}
		case len(missing) == len(operators):
			if len(operators) == 0 {
				continue
			}
			words = []string{"no operator was judged"}
		case len(missing) > 0:
			words = []string{"not judged: " + strings.Join(missing, " ")}
		case f.Asked == f.Values:
			continue
		}
		if f.Filterable && f.Values > 0 && (whole || f.Asked < f.Values) {
			words = append(words, fmt.Sprintf("%d of %s", f.Asked, plural(f.Values, "value", "values")))
		}
		if f.Empty {
			words = append(words, "(it holds no value)")
		}
		lines = append(lines, fmt.Sprintf("  %s %s  %s", oneLine(f.Name), f.Type, strings.Join(words, "  ")))
	}
	return lines
}

// oneLine returns a text of the connector without line breaks.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }

// coverageText returns the judged answers of every field by operator, or "" if no table was
// found.
func (r *Report) coverageText() string {
	if len(r.coverage.Tables) == 0 {
		return ""
	}
	lines := append([]string{r.coverage.Basis.Text}, coverageLines(&r.coverage, true)...)
	lines = append(lines, unaskedLines(&r.coverage, true)...)
	return check.Legible(strings.Join(lines, "\n")) + "\n"
}

// unaskedLines returns a line for each kind of question of which some were not asked: which, or some of them.
func unaskedLines(c *coverage.Report, whole bool) (lines []string) {
	const few = 10
	for _, k := range c.Kinds {
		var names []string
		for _, q := range c.Unasked {
			if q.Kind == k.Kind && (k.Kind != coverage.Filters || !whole) { // each field has a line of its own
				names = append(names, oneLine(q.String()))
			}
		}
		if len(names) > 0 {
			most := few
			if whole {
				most = len(names)
			}
			lines = append(lines, fmt.Sprintf("%s  asked %d of %d, not: %s", k.Kind, k.Asked, k.All, phrase.Some(names, most)))
		}
	}
	return lines
}
