package oracle

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Difference describes how an answer differs from the right one, in texts that
// are short however large the answer is. A nil *Difference means that they
// agree. It is not an error, so that a nil one cannot become a non-nil error.
type Difference struct {
	Detail   string // one sentence
	Expected string // rows as JSON, or a number of rows
	Received string
}

// String returns all three texts.
func (d *Difference) String() string {
	return fmt.Sprintf("%s\n\texpected: %s\n\treceived: %s", d.Detail, d.Expected, d.Received)
}

const (
	shownRows  = 3
	shownBytes = 100 // of a cell or a name
	shownCells = 12
)

// showRows returns a few rows as JSON objects, one a line.
func showRows(rows [][]wire.Value, columns []wire.Column) string {
	var lines []string
	for _, row := range rows[:min(len(rows), shownRows)] {
		lines = append(lines, showRow(row, columns))
	}
	if more := len(rows) - shownRows; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func showRow(row []wire.Value, columns []wire.Column) string {
	var members []string
	for i, c := range columns[:min(len(columns), shownCells)] {
		members = append(members, showText(c.Name)+":"+showCell(cell(row, i)))
	}
	if more := len(columns) - shownCells; more > 0 {
		members = append(members, fmt.Sprintf("... %d more", more))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// showCell returns a cell as JSON and cuts long text.
func showCell(v wire.Value) string {
	if text := v.String(); len(text) > shownBytes {
		return showText(text)
	}
	json, err := v.AppendJSON(nil)
	if err != nil {
		return showText(v.String())
	}
	return string(json)
}

func showText(text string) string {
	if len(text) > shownBytes {
		end := shownBytes
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = fmt.Sprintf("%s... (%d bytes)", text[:end], len(text))
	}
	json, err := jsontext.AppendString(nil, strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		return "?"
	}
	return string(json)
}

// count returns a number with the noun in the singular or plural.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
