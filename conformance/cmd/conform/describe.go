package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/redact"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// description is a connector as -describe writes it and -diff reads it: the document, and
// the discovery of one tenant without samples and statistics, which are the tenant's data.
type description struct {
	Document  json.RawMessage `json:"document"`
	Discovery json.RawMessage `json:"discovery"`
}

// exitChanged is the exit code of a -diff that found changes, as that of a failed check.
const exitChanged = check.ExitFail

// connected connects as the platform does, and returns how what the connector says is shown.
func connected(ctx context.Context, c *config) (*platform.Connection, screen, error) {
	credentials := wire.NewCredentials(nil)
	if len(c.target.Credentials) > 0 {
		credentials = c.target.Credentials[0]
	}
	show := screen{redact.New(c.target.Token.Reveal(), c.target.Credentials)}
	client, err := platform.NewClient(c.target.URL, c.target.Token, &platform.Options{Local: true})
	if err != nil {
		return nil, show, err
	}
	connection, err := platform.Connect(ctx, client, credentials, &platform.ConnectionOptions{DiscoverOnly: true})
	if err != nil {
		return nil, show, errors.New(show.line(c.explained(err).Error()))
	}
	return connection, show, nil
}

// describe writes the files of -describe, and prints what is different from that of -diff.
func describe(ctx context.Context, c *config, out, errOut io.Writer) int {
	var before *platform.Connection
	if c.diff != "" {
		var err error
		if before, err = readDescription(c.diff); err != nil {
			return refuse(errOut, err)
		}
	}
	connection, show, err := connected(ctx, c)
	if err != nil {
		return refuse(errOut, err)
	}
	show.description(connection)
	for _, name := range c.describe {
		body, err := descriptionForms[extension(name)](connection)
		if err == nil {
			err = os.WriteFile(name, body, 0o644)
		}
		if err != nil {
			return refuse(errOut, fmt.Errorf("-describe: %w", err))
		}
	}
	if before == nil {
		return check.ExitPass
	}
	changes := connection.Changes(before)
	for _, change := range changes {
		fmt.Fprintln(out, show.line(change.String()))
	}
	if len(changes) > 0 {
		return exitChanged
	}
	fmt.Fprintln(out, "nothing changed")
	return check.ExitPass
}

// description removes secrets and the tenant's data from the document and the tables of a
// connection, so that they may be written into a file.
func (s screen) description(c *platform.Connection) {
	clean := func(text *string) { *text = check.Legible(s.Clean(*text)) }
	clean(&c.Document.Dialect)
	for i := range c.Document.CredentialSchema {
		f := &c.Document.CredentialSchema[i]
		clean(&f.Key)
		clean(&f.Label)
		clean(&f.Placeholder)
		clean(&f.Help)
	}
	for i := range c.Tables {
		t := &c.Tables[i]
		t.RowCount = nil
		clean(&t.Name)
		clean(&t.SourceDescription)
		for k := range t.PrimaryKey {
			clean(&t.PrimaryKey[k])
		}
		for k := range t.ForeignKeys {
			clean(&t.ForeignKeys[k].Field)
			clean(&t.ForeignKeys[k].TargetTable)
			clean(&t.ForeignKeys[k].TargetField)
		}
		for k := range t.Fields {
			f := &t.Fields[k]
			f.Samples, f.Stats = nil, nil
			clean(&f.Name)
			clean(&f.SourceColumn)
			clean(&f.SourceDescription)
		}
	}
}

// descriptionForms are what -describe can write, by the extension of the file.
var descriptionForms = map[string]func(*platform.Connection) ([]byte, error){".md": markdown, ".json": asJSON}

// asJSON returns what -diff reads.
func asJSON(c *platform.Connection) ([]byte, error) {
	var d description
	var err error
	if d.Document, err = wire.EncodeAnswer(c.Document); err != nil {
		return nil, err
	}
	if d.Discovery, err = wire.EncodeAnswer(&wire.Discovery{Tables: c.Tables}); err != nil {
		return nil, err
	}
	body, err := json.MarshalIndent(d, "", "  ")
	return append(body, '\n'), err
}

// readDescription reads a file that -describe wrote.
func readDescription(name string) (*platform.Connection, error) {
	fault := func(err error) error {
		return fmt.Errorf("-diff %s: not a file that -describe wrote as JSON: %w", name, err)
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("-diff: %w", err)
	}
	var d description
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, fault(err)
	}
	before, tables := &platform.Connection{Document: &wire.Document{}}, wire.Discovery{}
	if err := wire.Decode(d.Document, before.Document); err != nil {
		return nil, fault(fmt.Errorf("document: %w", err))
	}
	if err := wire.Decode(d.Discovery, &tables); err != nil {
		return nil, fault(fmt.Errorf("discovery: %w", err))
	}
	before.Tables = tables.Tables
	return before, nil
}

// markdown returns a heading and a table of fields for each table.
func markdown(c *platform.Connection) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", plain(c.Document.Slug))
	for i := range c.Tables {
		t := &c.Tables[i]
		fmt.Fprintf(&b, "\n## %s\n\n", plain(t.Name))
		if t.SourceDescription != "" {
			fmt.Fprintf(&b, "%s\n\n", plain(t.SourceDescription))
		}
		var key []string
		for _, name := range t.PrimaryKey {
			key = append(key, plain(name))
		}
		if len(key) > 0 {
			fmt.Fprintf(&b, "Primary key: %s.\n\n", strings.Join(key, ", "))
		}
		for _, k := range t.ForeignKeys {
			fmt.Fprintf(&b, "- %s refers to %s of %s\n", plain(k.Field), plain(k.TargetField), plain(k.TargetTable))
		}
		if len(t.ForeignKeys) > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("| Field | Type | Null | Unique | Left to the platform | Description |\n|---|---|---|---|---|---|\n")
		for k := range t.Fields {
			f := &t.Fields[k]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", plain(f.Name), f.Type, yes(f.Nullable), yes(f.Unique), left(f),
				plain(f.SourceDescription))
		}
	}
	return b.Bytes(), nil
}

// left returns what the platform has to do itself with a field.
func left(f *wire.Field) string {
	var list []string
	for _, one := range []struct {
		allowed *bool
		word    string
	}{{f.Filterable, "filter"}, {f.Groupable, "group"}, {f.Aggregatable, "aggregate"}} {
		if one.allowed != nil && !*one.allowed {
			list = append(list, one.word)
		}
	}
	return strings.Join(list, ", ")
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// plain returns a text on one line in which no character is Markdown.
func plain(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_{}[]<>()#+-!|~&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
