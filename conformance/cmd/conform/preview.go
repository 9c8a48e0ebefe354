package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/redact"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxCell is how many characters of a cell a preview shows.
const maxCell = 40

// preview prints the first rows of each table, as the platform would read them, and
// judges nothing. A table that cannot be read says so; the others are shown.
func preview(ctx context.Context, c *config, out, errOut io.Writer) int {
	connection, show, err := connected(ctx, c)
	if err != nil {
		return refuse(errOut, err)
	}
	for _, warning := range slices.Concat(connection.Warnings, connection.Notes) {
		fmt.Fprintln(out, "warning:", show.line(warning))
	}
	code := check.ExitPass
	var listed []string
	for i := range connection.Tables {
		t := &connection.Tables[i]
		listed = append(listed, t.Name)
		if !c.shows(t.Name) {
			continue
		}
		if err := show.table(ctx, connection, t, c.preview, out); err != nil {
			fmt.Fprintln(out, " ", show.line(c.explained(err).Error()))
			code = check.ExitNotRun
		}
	}
	if len(listed) == 0 {
		return refuse(errOut, errors.New("discovery lists no tables for these credentials"))
	}
	for _, name := range c.options.Tables {
		if !slices.Contains(listed, name) {
			return refuse(errOut, fmt.Errorf("discovery lists no table %q for these credentials; it lists %s", name, show.some(listed)))
		}
	}
	return code
}

// screen shows what a connector says as a report does: without the token, without
// credentials, and without anything that moves a terminal's cursor, changes its colours or
// turns the text around.
type screen struct{ *redact.Cleaner }

// line returns a text on one line.
func (s screen) line(text string) string {
	return strings.ReplaceAll(check.Legible(s.Clean(text)), "\n", `\n`)
}

// cell returns the beginning of a text for a column of a table, with blanks in the place of what
// is not shown.
func (s screen) cell(text string) string {
	letters := []rune(s.Clean(text)) // before it is cut, perhaps within a secret
	if len(letters) > maxCell {
		letters = append(letters[:maxCell-1:maxCell-1], '…')
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, string(letters))
}

// some returns the first names of a list, and how many more there are.
func (s screen) some(names []string) string {
	const most = 10
	texts := slices.Clone(names)
	for i := range texts[:min(len(texts), most)] {
		texts[i] = s.cell(texts[i])
	}
	return phrase.Some(texts, most)
}

// shows reports whether a table is one of -tables, if that was given.
func (c *config) shows(table string) bool {
	return len(c.options.Tables) == 0 || slices.Contains(c.options.Tables, table)
}

// table prints the first rows of a table.
func (s screen) table(ctx context.Context, c *platform.Connection, t *wire.Table, rows int, out io.Writer) error {
	fmt.Fprintf(out, "\n%s\n", s.cell(t.Name))
	var fields, names, types []string
	for _, column := range t.Columns() {
		fields, names, types = append(fields, column.Name), append(names, s.cell(column.Name)), append(types, string(column.Type))
	}
	answer, err := c.Query(ctx, &wire.QueryRequest{Table: t.Name, Fields: fields, Limit: int64(rows)})
	if err != nil {
		return err
	}
	var page strings.Builder // no part of a page is shown
	table := tabwriter.NewWriter(&page, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  %s\n  %s\n", strings.Join(names, "\t"), strings.Join(types, "\t"))
	empty := true
	for row, err := range answer.All() {
		if err != nil {
			return err
		}
		empty = false
		cells := make([]string, len(row))
		for i, v := range row {
			switch text := v.String(); {
			case v.IsNull():
				cells[i] = "null"
			case text == "":
				cells[i] = `""` // a blank would look like a missing column
			default:
				cells[i] = s.cell(text)
			}
		}
		fmt.Fprintf(table, "  %s\n", strings.Join(cells, "\t"))
	}
	if empty {
		fmt.Fprintln(table, "  no rows")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = io.WriteString(out, page.String())
	return err
}

// explained returns an error that says what to do about a refusal.
func (c *config) explained(err error) error {
	var refusal *wire.Error
	switch {
	case !errors.As(err, &refusal):
		return err
	case refusal.Code == wire.CodeUnauthorized:
		return fmt.Errorf("%s; check %s", check.TokenRejected, check.EnvToken)
	case refusal.Code == wire.CodeCheckFailed && len(c.target.Credentials) == 0:
		return fmt.Errorf("%s (no -credentials were given)", refusal.Message)
	case refusal.Code == wire.CodeInternal:
		return fmt.Errorf("the connector answered %s: %s; its log tells the cause", refusal.Code, refusal.Message)
	}
	return fmt.Errorf("the connector answered %s: %s", refusal.Code, refusal.Message)
}
