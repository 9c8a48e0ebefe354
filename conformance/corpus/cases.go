package corpus

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

//go:embed cases/*.json
var caseFiles embed.FS

// A Case is one request over the corpus. The files in cases hold the right answers too, for
// authors in other languages: a connector may answer in another order, and spell cells in other
// legal ways, so the conformance program compares with package oracle instead.
type Case struct {
	Name  string // unique, such as eq-string-trailing-blank
	Check string // the check of the conformance program it belongs to, such as P2.3
	Facet string // the part of the check, such as eq
	Rule  string // the rule of docs/protocol.md that it tests, such as filter-3
	Why   string // what the case shows
	// Path is the route, such as wire.PathQuery.
	Path string
	// Request is a pointer to the request of that route. Its credentials and timeouts are empty; the sender sets them.
	Request wire.Request
}

// Cases returns a new list of all cases: those of the files in their order, then those
// with long operands, which follow from formulas.
func Cases() []Case {
	names, err := fs.Glob(caseFiles, "cases/*.json")
	if err != nil {
		panic(err)
	}
	var cases []Case
	for _, name := range names {
		raw, err := caseFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		read, err := readCases(raw)
		if err != nil {
			panic(fmt.Errorf("corpus: %s: %w", name, err))
		}
		for _, c := range read {
			cases = append(cases, c.Case)
		}
	}
	return append(cases, longOperands()...)
}

type caseFile struct {
	Case
	ByHand  bool // a person wrote the answer before the oracle agreed
	Request json.RawMessage
	Answer  json.RawMessage
}

// readCases reads a file. It reads no answer.
func readCases(raw []byte) (cases []caseFile, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&cases); err != nil {
		return nil, err
	}
	for i := range cases {
		c := &cases[i]
		if c.Case.Request, err = readRequest(c.Path, c.Request); err != nil {
			return nil, fmt.Errorf("%s: request: %w", c.Name, err)
		}
	}
	return cases, nil
}

// readRequest decodes a request strictly, as a connector would. It adds the
// members that every body must have, and clears them in the result.
func readRequest(path string, raw json.RawMessage) (wire.Request, error) {
	route := routes.At(path)
	if route == nil || route.Legal == nil {
		return nil, fmt.Errorf("a case cannot use the route %q", path)
	}
	request, envelope := route.Request()
	body := strings.Replace(string(raw), "{", `{"credentials":{},"timeoutMs":1,`, 1)
	err := wire.Decode([]byte(body), request)
	envelope.TimeoutMS = 0
	return request, err
}
