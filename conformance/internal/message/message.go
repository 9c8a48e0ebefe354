// Package message reads the JSON messages of a connector strictly: by the protocol's schemas, which say what is wrong
// in the protocol's terms, and by the decoder of package wire, which sees what no schema can.
package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
	"github.com/connectorsdk/connector-sdk-go/wire/schema"
)

// schemas returns the protocol's schemas, compiled once.
var schemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errors.New("nothing is fetched") }
	for _, name := range schema.Names() {
		text, err := schema.Read(name)
		if err == nil {
			err = c.AddResource(schema.ID(name), bytes.NewReader(text))
		}
		if err != nil {
			panic(err) // the schemas are embedded and tested
		}
	}
	all := map[string]*jsonschema.Schema{}
	for _, name := range schema.Names() {
		all[name] = c.MustCompile(schema.ID(name))
	}
	return all
})

// Check reads one JSON message into m, and returns what is wrong with it: by the
// schema of that name first, then by the strict decoder.
//
// Check ignores members that the protocol does not define, because it does not
// forbid them in answers. [Unknown] finds them.
func Check(data []byte, name string, m wire.Answer) *check.Finding {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return check.Fail("the body is empty; want a JSON object")
	case !json.Valid(data):
		return &check.Finding{Detail: "the body is not JSON", Received: Excerpt(data, 200)}
	}
	_, _, problem := Read(data, name)
	if problem == "" {
		err := wire.DecodeAnswer(data, m)
		if err == nil {
			return nil
		}
		problem = err.Error()
	}
	return &check.Finding{Detail: problem, Received: Excerpt(data, 300)}
}

// Read reads a JSON object, and returns it without the members that the protocol does not define, the place of the
// first of those, and what is wrong with it, or "": a duplicate member, or what breaks the schema of that name.
func Read(data []byte, name string) (members map[string]any, unknown, problem string) {
	sc := scan.New(data)
	twice := Skim(sc, 1)
	if sc.End(); sc.Err() != nil {
		return nil, "", sc.Err().Error()
	}
	if twice != "" {
		return nil, "", "duplicate member " + terms.QuoteName(twice)
	}
	tree, err := parse(data)
	if err != nil {
		return nil, "", err.Error()
	}
	unknown = prune(name, tree)
	members, _ = tree.(map[string]any)
	return members, unknown, validate(name, tree)
}

// parse parses a JSON text as any library does, but keeps numbers as written.
func parse(data []byte) (tree any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON value")
	}
	return tree, nil
}

// Skim reads one JSON value of any kind, of which an object or array is depth deep; a whole text is 1 deep, as for
// package wire. It returns a member that an object in it has twice, or "".
func Skim(sc *scan.Scanner, depth int) (twice string) {
	open := sc.Peek()
	if depth > terms.MaxDepth || open != '{' && open != '[' {
		_ = sc.Scalar() // which fails on what is too deep
		return ""
	}
	sc.Expect(open)
	var names map[string]bool
	for first := true; sc.Err() == nil && !sc.Skip(open+2); first = false { // { and }, [ and ] are two apart
		if !first {
			sc.Expect(',')
		}
		if open == '{' {
			name := sc.String()
			sc.Expect(':')
			if names[name] && twice == "" {
				twice = name
			}
			if names == nil {
				names = map[string]bool{}
			}
			names[name] = true
		}
		if inner := Skim(sc, depth+1); twice == "" {
			twice = inner
		}
	}
	return twice
}

// validate returns what is wrong with a message by the schema of that name, or "".
func validate(name string, tree any) string {
	var fault *jsonschema.ValidationError
	if err := schemas()[name].Validate(tree); !errors.As(err, &fault) {
		return ""
	}
	for len(fault.Causes) > 0 { // those above the first at the bottom only say that there is one
		fault = fault.Causes[0]
	}
	at := strings.ReplaceAll(strings.TrimPrefix(fault.InstanceLocation, "/"), "/", ".")
	return fmt.Sprintf("%s: %s", cmp.Or(at, "the body"), fault.Message)
}

// Excerpt returns the beginning of a body, on one line.
func Excerpt(body []byte, most int) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), most)]), "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if len(body) > most {
		text += fmt.Sprintf("... (%d bytes)", len(body))
	}
	return text
}

// Cell returns the beginning of a cell as it crosses the wire.
func Cell(v wire.Value, most int) string {
	cell, err := v.AppendJSON(nil)
	if err != nil {
		cell = []byte(v.String())
	}
	return Excerpt(cell, most)
}

// Row returns a row as a short JSON object.
func Row(columns []wire.Column, row []wire.Value) string {
	var b []byte
	for i, c := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, terms.QuoteName(c.Name)...), ':')
		cell := row[i]
		if text := cell.Text(); len(text) > 60 {
			runes := []rune(text[:min(len(text), 240)])
			cell = wire.Text(string(runes[:min(len(runes), 60)]) + "...")
		}
		if b2, err := cell.AppendJSON(b); err == nil {
			b = b2
		}
	}
	return "{" + Excerpt(b, 300) + "}"
}
