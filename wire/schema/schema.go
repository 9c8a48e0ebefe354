package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// files contains the schemas, each in a file named after it, such as
// query-request.json.
//
//go:embed *.json
var files embed.FS

// base is what every schema's $id begins with. The identifiers are absolute so
// that no validator takes them for file names; nothing is fetched from there.
const base = "https://connectorsdk.github.io/schema/v1/"

// Names returns the names of the schemas in alphabetical order: aggregate-answer,
// aggregate-request and so on. The definitions are among them.
func Names() []string {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range names {
		names[i] = strings.TrimSuffix(f, ".json")
	}
	return names
}

// ID returns the $id of the schema of that name.
func ID(name string) string { return base + name + ".json" }

// Read returns the text of the schema of that name. It fails for a name that is not
// among [Names]. The caller may change the result.
func Read(name string) ([]byte, error) {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, fmt.Errorf("there is no schema %q; the schemas are %s", name, strings.Join(Names(), ", "))
	}
	return text, nil
}
