package render

import (
	"fmt"
	"slices"
	"strings"
)

// Coverage is what a run has asked for.
type Coverage struct {
	Requests  int            `json:"requests"`
	Streams   int            `json:"streams"`
	Rows      int64          `json:"rows"`
	Bytes     int64          `json:"bytes"`
	Cases     int            `json:"cases"`
	Generated int            `json:"generated"`
	Filters   map[string]int `json:"filters"`
	Operators []string       `json:"operators"` // that the document declares
	Tables    []Table        `json:"tables"`
	Basis     Basis          `json:"basis"`
}

// Basis counts what a run has judged, and says so in words.
type Basis struct {
	Rows   int    `json:"rows"`
	Tables int    `json:"tables"`
	Pairs  int    `json:"pairs"`
	Judged int    `json:"judged"`
	Empty  int    `json:"empty"`
	Text   string `json:"text"`
}

// Table is what was judged of a table.
type Table struct {
	Name   string  `json:"name"`
	Rows   int     `json:"rows"`
	Partly string  `json:"partly,omitempty"` // why it was not read whole
	Fields []Field `json:"fields"`
}

// Field is what was judged of a field.
type Field struct {
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Filterable bool           `json:"filterable"`
	Empty      bool           `json:"empty"`
	Judged     map[string]int `json:"judged"`
}

// gaps returns the declared operators that no judged answer has exercised on the field.
func (f *Field) gaps(operators []string) (missing []string) {
	if !f.Filterable {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(operators), func(op string) bool { return f.Judged[op] > 0 })
}

// coverageLines returns the coverage as text. In the short form a table whose fields
// were all judged with all operators, or that has no rows, is one line, and there are few
// lines.
func (c *Coverage) coverageLines(whole bool) (lines []string) {
	const maxLines, maxFields = 20, 6
	for i := range c.Tables {
		t := &c.Tables[i]
		if len(lines) >= maxLines && !whole {
			lines = append(lines, fmt.Sprintf("and %s more; a report in a file (-report) lists them all",
				plural(len(c.Tables)-i, "table", "tables")))
			break
		}
		lines = append(lines, t.line(c.Operators))
		var fields []string
		if whole || t.Rows > 0 {
			fields = t.fieldLines(c.Operators, whole)
		}
		if more := len(fields) - maxFields; more > 1 && !whole {
			fields = append(fields[:maxFields], fmt.Sprintf("  and %d more fields", more))
		}
		lines = append(lines, fields...)
	}
	return lines
}

// line returns one line about the table as a whole.
func (t *Table) line(operators []string) string {
	line := fmt.Sprintf("%s  %s", oneLine(t.Name), plural(t.Rows, "row", "rows"))
	if t.Partly != "" {
		line += ", not the whole table (" + oneLine(t.Partly) + ")"
	}
	fields, judged, pairs := 0, 0, 0
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Filterable {
			fields++
			pairs += len(operators)
			judged += len(operators) - len(f.gaps(operators))
		}
	}
	if pairs > 0 {
		line += fmt.Sprintf("; judged %d of %d (%s x %s)", judged, pairs,
			plural(fields, "field", "fields"), plural(len(operators), "operator", "operators"))
	}
	return line
}

// fieldLines returns one line for each field: with the judged answers by operator or, in
// the short form, the operators that were not judged.
func (t *Table) fieldLines(operators []string, whole bool) (lines []string) {
	for i := range t.Fields {
		f := &t.Fields[i]
		gaps := f.gaps(operators)
		var words []string
		switch {
		case whole && !f.Filterable:
			words = []string{"cannot be filtered"}
		case whole:
			for _, op := range operators {
				words = append(words, fmt.Sprintf("%s %d", op, f.Judged[op]))
			}
		case len(gaps) == 0:
			continue
		case len(gaps) == len(operators):
			words = []string{"no operator was judged"}
		default:
			words = []string{"not judged: " + strings.Join(gaps, " ")}
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

// CoverageText returns the whole coverage as text, or "" if no table was found.
func (r *Report) CoverageText() string {
	if len(r.Coverage.Tables) == 0 {
		return ""
	}
	lines := append([]string{r.Coverage.Basis.Text}, r.Coverage.coverageLines(true)...)
	return Legible(strings.Join(lines, "\n")) + "\n"
}
