package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/connectorsdk/connector-sdk-go/wire/schema"
)

func Example() {
	compiler := jsonschema.NewCompiler()
	for _, name := range schema.Names() {
		text, err := schema.Read(name)
		if err != nil {
			log.Fatal(err)
		}
		if err := compiler.AddResource(schema.ID(name), bytes.NewReader(text)); err != nil {
			log.Fatal(err)
		}
	}
	count, err := compiler.Compile(schema.ID("count-answer"))
	if err != nil {
		log.Fatal(err)
	}
	for _, body := range []string{`{"count": 3}`, `{"count": 1.5}`, `[3]`} {
		var v any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			log.Fatal(err)
		}
		fmt.Println(body, count.Validate(v) == nil)
	}
	// Output:
	// {"count": 3} true
	// {"count": 1.5} false
	// [3] false
}

func ExampleRead() {
	text, err := schema.Read("line-ping")
	if err != nil {
		log.Fatal(err)
	}
	var s struct {
		ID    string `json:"$id"`
		Title string `json:"title"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Title)
	fmt.Println(s.ID == schema.ID("line-ping"))
	// Output:
	// Stream line ping
	// true
}

func ExampleNames() {
	for _, name := range schema.Names() {
		if len(name) > 4 && name[:4] == "line" {
			fmt.Println(name)
		}
	}
	// Output:
	// line-end
	// line-error
	// line-ping
	// line-rows
	// line-served
}
