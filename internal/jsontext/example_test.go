package jsontext_test

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

func ExampleAppendString() {
	text, err := jsontext.AppendString([]byte("name: "), "tab\tand \"quotes\"")
	fmt.Println(string(text), err)
	text, err = jsontext.AppendString([]byte("name: "), "caf\xe9")
	fmt.Printf("%q %v\n", text, err)
	// Output:
	// name: "tab\tand \"quotes\"" <nil>
	// "name: " text is not valid UTF-8
}
