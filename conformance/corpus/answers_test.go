package corpus

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// answered is a case with its committed answer.
type answered struct {
	Case
	ByHand bool
	Answer Answer
}

// Answer is the answer of a case. Only the fields of its route are set. Cells
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

// Answers returns the committed answers by the names of their cases.
func Answers(t *testing.T) map[string]Answer {
	answers := map[string]Answer{}
	for _, c := range caseList(t) {
		answers[c.Name] = c.Answer
	}
	return answers
}

// caseList returns the cases on disk, which differ from the embedded ones right
// after an update.
func caseList(t *testing.T) []answered {
	names, err := filepath.Glob("cases/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	var cases []answered
	for _, name := range names {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		more, err := readAnswered(raw)
		require.NoError(t, err, name)
		cases = append(cases, more...)
	}
	answers := longAnswers()
	for _, c := range longOperands() {
		answer, known := answers[c.Name]
		require.True(t, known, c.Name)
		cases = append(cases, answered{Case: c, Answer: answer})
	}
	return cases
}

// longAnswers returns the answers of the cases with long operands, by their names.
func longAnswers() map[string]Answer {
	rows := func(ids ...int) (a Answer) {
		a.Columns = []string{"id"}
		for _, id := range ids {
			a.Rows = append(a.Rows, []wire.Value{wire.Int(int64(id))})
		}
		return a
	}
	answers := map[string]Answer{}
	for i, size := range lengths {
		// The texts begin with their lengths: 299, 1099, 4999 and 69999.
		own, greater := 3*i+2, [][]int{{3, 7, 8, 9, 10, 11, 12}, {1, 2, 3, 6, 7, 8, 9, 10, 11, 12}, {9, 10, 11, 12}, {12}}[i]
		for _, op := range []wire.Op{wire.OpEq, wire.OpIn, wire.OpStartsWith, wire.OpIncludes} {
			answers[fmt.Sprintf("%s-text-of-%d", op, size)] = rows(own)
		}
		answers[fmt.Sprintf("gt-text-of-%d", size)] = rows(greater...)
		answers[fmt.Sprintf("count-eq-text-of-%d", size)] = Answer{Count: 1}
	}
	return answers
}

// tooMany is the answer in a file if an aggregate has too many groups.
const tooMany = `"too many groups"`

// readAnswered reads a file with its answers.
func readAnswered(raw []byte) ([]answered, error) {
	files, err := readCases(raw)
	if err != nil {
		return nil, err
	}
	var cases []answered
	for _, f := range files {
		a, err := readAnswer(f.Case.Request, f.Answer)
		if err != nil {
			return nil, fmt.Errorf("%s: answer: %w", f.Name, err)
		}
		cases = append(cases, answered{f.Case, f.ByHand, a})
	}
	return cases, nil
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
