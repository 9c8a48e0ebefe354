package corpus

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

//go:embed cases/*.json
var caseFiles embed.FS

// A Case is one request over the corpus and its right answer.
type Case struct {
	Name  string // unique, such as eq-string-trailing-blank
	Check string // the check of the conformance program it belongs to, such as P2.3a
	Rule  string // the rule of docs/protocol.md that it tests, such as filter-3
	Why   string // what the case shows
	// ByHand is true if a person wrote the answer before the oracle agreed.
	ByHand bool
	// Path is the route, such as wire.PathQuery.
	Path string
	// Request is a pointer to the request of that route. Its credentials and
	// timeouts are empty; the sender sets them.
	Request wire.Request
	// Answer is what a connector must answer.
	Answer Answer
}

// Answer is the answer of a [Case]. Only the fields of its route are set. Cells
// are as read from the wire: decimals, days and instants are texts.
type Answer struct {
	// Columns are the members of the rows of a query or an aggregate, in the
	// order of the request.
	Columns []string
	// Rows are the rows of a query in the requested order, rows that tie in the
	// order of the table, or the groups of an aggregate in any order.
	Rows [][]wire.Value
	// TooMany is true if an aggregate has as many groups as its limit or more,
	// so that it must be refused or declined. Rows is then empty.
	TooMany     bool
	Count       int64
	Size        *wire.Size
	Cardinality map[string]*wire.Cardinality
	LinkHitRate *wire.LinkHitRate
}

// Cases returns a new list of all cases: those of the files in their order, then those
// of many sizes, which follow from formulas.
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
		more, err := readCases(raw)
		if err != nil {
			panic(fmt.Errorf("corpus: %s: %w", name, err))
		}
		cases = append(cases, more...)
	}
	return append(cases, sizedCases()...)
}

// caseFile is the form of a case in a file.
type caseFile struct {
	Name    string          `json:"name"`
	Check   string          `json:"check"`
	Rule    string          `json:"rule"`
	Why     string          `json:"why"`
	ByHand  bool            `json:"byHand"`
	Path    string          `json:"path"`
	Request json.RawMessage `json:"request"`
	Answer  json.RawMessage `json:"answer"`
}

// tooMany is the answer in a file if an aggregate has too many groups.
const tooMany = `"too many groups"`

func readCases(raw []byte) ([]Case, error) {
	var files []caseFile
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&files); err != nil {
		return nil, err
	}
	cases := make([]Case, 0, len(files))
	for _, f := range files {
		c := Case{Name: f.Name, Check: f.Check, Rule: f.Rule, Why: f.Why, ByHand: f.ByHand, Path: f.Path}
		var err error
		if c.Request, err = readRequest(f.Path, f.Request); err != nil {
			return nil, fmt.Errorf("%s: request: %w", f.Name, err)
		}
		if c.Answer, err = readAnswer(c.Request, f.Answer); err != nil {
			return nil, fmt.Errorf("%s: answer: %w", f.Name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// requests makes the request of each route that a case can use, and returns its envelope too.
var requests = map[string]func() (wire.Request, *wire.Envelope){
	wire.PathQuery:       func() (wire.Request, *wire.Envelope) { r := &wire.QueryRequest{}; return r, &r.Envelope },
	wire.PathCount:       func() (wire.Request, *wire.Envelope) { r := &wire.CountRequest{}; return r, &r.Envelope },
	wire.PathAggregate:   func() (wire.Request, *wire.Envelope) { r := &wire.AggregateRequest{}; return r, &r.Envelope },
	wire.PathSize:        func() (wire.Request, *wire.Envelope) { r := &wire.SizeRequest{}; return r, &r.Envelope },
	wire.PathCardinality: func() (wire.Request, *wire.Envelope) { r := &wire.CardinalityRequest{}; return r, &r.Envelope },
	wire.PathLinkHitRate: func() (wire.Request, *wire.Envelope) { r := &wire.LinkHitRateRequest{}; return r, &r.Envelope },
}

// readRequest decodes a request strictly, as a connector would. It adds the
// members that every body must have, and clears them in the result.
func readRequest(path string, raw json.RawMessage) (wire.Request, error) {
	empty := requests[path]
	if empty == nil {
		return nil, fmt.Errorf("a case cannot use the route %q", path)
	}
	request, envelope := empty()
	body := strings.Replace(string(raw), "{", `{"credentials":{},"timeoutMs":1,`, 1)
	err := wire.Decode([]byte(body), request)
	envelope.TimeoutMS = 0
	return request, err
}

// readAnswer decodes an answer: for a query its columns and rows, for a count
// its number, for every other route the body of the protocol.
func readAnswer(request wire.Request, raw json.RawMessage) (Answer, error) {
	var a Answer
	switch r := request.(type) {
	case *wire.QueryRequest:
		var rows struct {
			Columns []string       `json:"columns"`
			Rows    [][]wire.Value `json:"rows"`
		}
		err := json.Unmarshal(raw, &rows)
		a.Columns, a.Rows = rows.Columns, rows.Rows
		for i, row := range a.Rows {
			if len(row) != len(a.Columns) {
				return a, fmt.Errorf("rows[%d] has %d cells for %d columns", i, len(row), len(a.Columns))
			}
		}
		return a, err
	case *wire.CountRequest:
		return a, json.Unmarshal(raw, &a.Count)
	case *wire.AggregateRequest:
		for _, g := range r.GroupBy {
			a.Columns = append(a.Columns, g.As)
		}
		for _, m := range r.Measures {
			a.Columns = append(a.Columns, m.As)
		}
		if a.TooMany = string(raw) == tooMany; a.TooMany {
			return a, nil
		}
		var groups wire.AggregateAnswer
		if err := wire.Decode(raw, &groups); err != nil {
			return a, err
		}
		for i, group := range groups.Rows {
			row := make([]wire.Value, len(a.Columns))
			for n, name := range a.Columns {
				v, ok := group[name]
				if !ok || len(group) != len(row) {
					return a, fmt.Errorf("rows[%d] has other members than %q", i, a.Columns)
				}
				row[n] = v
			}
			a.Rows = append(a.Rows, row)
		}
		return a, nil
	case *wire.SizeRequest:
		var size wire.SizeAnswer
		err := wire.Decode(raw, &size)
		a.Size = size.Size
		return a, err
	case *wire.CardinalityRequest:
		var counts wire.CardinalityAnswer
		err := wire.Decode(raw, &counts)
		a.Cardinality = counts.Columns
		return a, err
	case *wire.LinkHitRateRequest:
		a.LinkHitRate = &wire.LinkHitRate{}
		return a, wire.Decode(raw, a.LinkHitRate)
	}
	return a, fmt.Errorf("a %T has no answer here", request)
}
