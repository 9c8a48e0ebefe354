// Package schema contains the protocol's messages as JSON Schemas (2020-12), for
// programs in other languages, for documentation, and for the tests that compare
// them with the decoder of package wire.
//
// There is one schema for every request, every answer, the capability
// document, the error envelope and every line of a stream; "line" is any one
// line. "definitions" holds what several of them share, and every $ref
// resolves within the folder. Register all of them with a validator before
// compiling one:
//
//	compiler := jsonschema.NewCompiler() // github.com/santhosh-tekuri/jsonschema/v5
//	for _, name := range schema.Names() {
//		text, err := schema.Read(name)
//		if err != nil {
//			return err
//		}
//		if err := compiler.AddResource(schema.ID(name), bytes.NewReader(text)); err != nil {
//			return err
//		}
//	}
//	count, err := compiler.Compile(schema.ID("count-request"))
//
// A schema sees what a JSON parser leaves of a message. Only wire.Decode finds
// duplicate members, invalid UTF-8, text after the body, nesting beyond 32,
// names that differ in case where unknown ones are ignored, and rules between
// distant members, such as distinct names of columns.
package schema
