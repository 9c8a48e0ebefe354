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

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxCell is how many characters of a cell a preview shows.
const maxCell = 40

// preview prints the first rows of each table, as the platform would read them, and
// judges nothing. A table that cannot be read says so; the others are shown.
func preview(ctx context.Context, c *config, out, errOut io.Writer) int {
	credentials := wire.NewCredentials(nil)
	if len(c.target.Credentials) > 0 {
		credentials = c.target.Credentials[0]
	}
	client, err := platform.NewClient(c.target.URL, c.target.Token, &platform.Options{Local: true})
	if err != nil {
		return refuse(errOut, err)
	}
	connection, err := platform.Connect(ctx, client, credentials, nil)
	if err != nil {
		return refuse(errOut, c.explained(err))
	}
	for _, warning := range connection.Warnings {
		fmt.Fprintln(out, "warning:", printable(warning))
	}
	code := conformance.ExitPass
	var listed []string
	for _, entity := range connection.Entities() {
		listed = append(listed, entity.Table.Name)
		if !c.shows(entity.Table.Name) {
			continue
		}
		if err := previewTable(ctx, entity, c.preview, out); err != nil {
			fmt.Fprintln(out, " ", c.explained(err))
			code = conformance.ExitNotRun
		}
	}
	if len(listed) == 0 {
		return refuse(errOut, errors.New("discovery lists no tables for these credentials"))
	}
	for _, name := range c.options.Tables {
		if !slices.Contains(listed, name) {
			return refuse(errOut, fmt.Errorf("discovery lists no table %q for these credentials; it lists %s", name, some(listed)))
		}
	}
	return code
}

// some returns the first names of a list, and how many more there are.
func some(names []string) string {
	const most = 10
	var texts []string
	for _, name := range names[:min(len(names), most)] {
		texts = append(texts, printable(name))
	}
	if more := len(names) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// shows reports whether a table is one of -tables, if that was given.
func (c *config) shows(table string) bool {
	return len(c.options.Tables) == 0 || slices.Contains(c.options.Tables, table)
}

func previewTable(ctx context.Context, entity *platform.Entity, rows int, out io.Writer) error {
	fmt.Fprintf(out, "\n%s\n", printable(entity.Table.Name))
	page, err := entity.Page(ctx, int64(rows))
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var names, types []string
	for _, column := range entity.Table.Columns() {
		names, types = append(names, printable(column.Name)), append(types, string(column.Type))
	}
	fmt.Fprintf(table, "  %s\n  %s\n", strings.Join(names, "\t"), strings.Join(types, "\t"))
	for _, row := range page {
		cells := make([]string, len(row))
		for i, v := range row {
			switch text := v.String(); {
			case v.IsNull():
				cells[i] = "null"
			case text == "":
				cells[i] = `""` // a blank would look like a missing column
			default:
				cells[i] = printable(text)
			}
		}
		fmt.Fprintf(table, "  %s\n", strings.Join(cells, "\t"))
	}
	if len(page) == 0 {
		fmt.Fprintln(table, "  no rows")
	}
	return table.Flush()
}

// printable returns the beginning of a text on one line, without anything that moves
// a terminal's cursor or changes its colours.
func printable(text string) string {
	letters := []rune(text)
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

// explained returns an error that says what to do about a refusal.
func (c *config) explained(err error) error {
	var refusal *wire.Error
	switch {
	case !errors.As(err, &refusal):
		return err
	case refusal.Code == wire.CodeUnauthorized:
		return fmt.Errorf("%s; check %s", platform.TokenRejected, conformance.EnvToken)
	case refusal.Code == wire.CodeCheckFailed && len(c.target.Credentials) == 0:
		return fmt.Errorf("%s (no -credentials were given)", refusal.Message)
	case refusal.Code == wire.CodeInternal:
		return fmt.Errorf("the connector answered %s: %s; its log tells the cause", refusal.Code, refusal.Message)
	}
	return fmt.Errorf("the connector answered %s: %s", refusal.Code, refusal.Message)
}
