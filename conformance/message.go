package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
	"github.com/connectorsdk/connector-sdk-go/wire/schema"
)

// schemas compiles the protocol's schemas once; they are immutable.
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errors.New("nothing is fetched") }
	for _, name := range schema.Names() {
		text, err := schema.Read(name)
		if err != nil {
			return nil, err
		}
		if err := c.AddResource(schema.ID(name), bytes.NewReader(text)); err != nil {
			return nil, err
		}
	}
	all := map[string]*jsonschema.Schema{}
	for _, name := range schema.Names() {
		s, err := c.Compile(schema.ID(name))
		if err != nil {
			return nil, err
		}
		all[name] = s
	}
	return all, nil
})

// checkMessage reads one JSON message of a connector: by the schema, which
// says what is wrong in its terms, then by the strict decoder, which sees what
// no schema can, such as a member that stands twice.
//
// Members that the protocol does not name are passed over, for it does not
// forbid them in answers; only the document's reader refuses them below the top
// level (H3). A.20 advises against them: see [unknownMember].
func checkMessage(data []byte, name string, m wire.Message) *finding {
	if len(bytes.TrimSpace(data)) == 0 {
		return &finding{detail: "the body is empty; want a JSON object"}
	}
	tree, err := parse(data)
	if err != nil {
		return &finding{detail: "the body is not JSON", received: excerpt(data, 200)}
	}
	text := data
	if name != "document" && prune(name, tree) != "" {
		// The decoder sees what is left, and so no doubles.
		if problem := strict(data); problem != "" {
			return &finding{detail: problem, received: excerpt(data, 300)}
		}
		if text, err = json.Marshal(tree); err != nil {
			panic(err) // it was made of JSON
		}
	}
	if problem := validate(name, tree); problem != "" {
		return &finding{detail: problem, received: excerpt(data, 300)}
	}
	if err := wire.Decode(text, m); err != nil {
		return &finding{detail: err.Error(), received: excerpt(data, 300)}
	}
	return nil
}

// parse is what a JSON library makes of a message; numbers stay as written.
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

// strict says what is wrong with a JSON text as such, doubles included; ""
// when it is sound.
func strict(data []byte) string {
	sc := scan.New(data)
	twice := skim(sc, 0)
	sc.End()
	switch {
	case sc.Err() != nil:
		return syntax(sc)
	case twice != "":
		return fmt.Sprintf("member %s stands twice", wire.QuoteName(twice))
	}
	return ""
}

// skim reads one JSON value of any kind, and tells a member that stands twice
// in an object of it.
func skim(sc *scan.Scanner, depth int) (twice string) {
	open := sc.Peek()
	if depth > wire.MaxDepth || open != '{' && open != '[' {
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
		if inner := skim(sc, depth+1); twice == "" {
			twice = inner
		}
	}
	return twice
}

func syntax(sc *scan.Scanner) string {
	var e *scan.SyntaxError
	if errors.As(sc.Err(), &e) {
		return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Problem)
	}
	return "invalid JSON"
}

// validate holds a message against the schema of that name; "" when it obeys.
func validate(name string, tree any) string {
	all, err := schemas()
	if err != nil {
		panic(err) // the schemas are embedded and tested
	}
	var invalid *jsonschema.ValidationError
	if err := all[name].Validate(tree); errors.As(err, &invalid) {
		at, problem := leaf(invalid)
		return fmt.Sprintf("%s: %s", at, problem)
	} else if err != nil {
		return err.Error()
	}
	return ""
}

// leaf is the first fault at the bottom of a validation's tree, which is the one
// that says something.
func leaf(e *jsonschema.ValidationError) (at, problem string) {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	at = strings.ReplaceAll(strings.TrimPrefix(e.InstanceLocation, "/"), "/", ".")
	if at == "" {
		at = "the body"
	}
	return at, e.Message
}
