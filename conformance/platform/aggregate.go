package platform

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Aggregate asks for groups. The columns are the members of each row, the keys and the
// measures by their names in the answer, with the declared types of what they are
// taken from; what a count, a sum and a grain look like is known without. A
// connector may decline, and then the rows have to be grouped here.
//
// An answer may have as many rows as the request's limit. It has then to be thrown
// away [rule aggregate-14].
func (c *Client) Aggregate(
	ctx context.Context, credentials wire.Credentials, req *wire.AggregateRequest, columns []wire.Column,
) (rows [][]wire.Value, declined bool, err error) {
	own := *req
	e, err := c.begin(ctx, wire.PathAggregate, credentials, clocks{envelope: &own.Envelope}, &own)
	if err != nil {
		return nil, false, err
	}
	if e.response.StatusCode == http.StatusNoContent {
		return nil, true, e.end(nil)
	}
	rows, err = e.aggregate(req, columns)
	return rows, false, e.end(err)
}

func (e *exchange) aggregate(req *wire.AggregateRequest, columns []wire.Column) ([][]wire.Value, error) {
	body, err := e.success()
	if err != nil {
		return nil, err
	}
	// Millions of groups would need a hundred times the memory of their text.
	if req.Limit > 0 && len(body) > 1<<20 && moreGroups(body, req.Limit) {
		return nil, e.tooMany(req.Limit)
	}
	var answer wire.AggregateAnswer
	if err := e.unmarshal(body, &answer); err != nil {
		return nil, err
	}
	return e.groups(&answer, req, columns)
}

func (e *exchange) tooMany(limit int64) error {
	return e.fault("rows", "aggregate-6", fmt.Sprintf("has more groups than the limit, %d", limit))
}

// moreGroups reports whether an answer has more rows than a limit, and reads no
// further.
func moreGroups(body []byte, limit int64) bool {
	s := scan.New(body)
	s.Expect('{')
	for first := true; s.Err() == nil && !s.Skip('}'); first = false {
		if !first {
			s.Expect(',')
		}
		name := s.String()
		s.Expect(':')
		if name != "rows" || s.Peek() != '[' {
			_ = message.Skim(s, 1)
			continue
		}
		s.Expect('[')
		for n := int64(0); s.Err() == nil && !s.Skip(']'); n++ {
			if n == limit {
				return true
			}
			if n > 0 {
				s.Expect(',')
			}
			_ = message.Skim(s, 2)
		}
	}
	return false
}

// groups checks the rows of an aggregate, and returns their cells in the order of the
// columns.
func (e *exchange) groups(answer *wire.AggregateAnswer, req *wire.AggregateRequest, columns []wire.Column) ([][]wire.Value, error) {
	if n := len(answer.Rows); len(req.GroupBy) == 0 && n != 1 {
		return nil, e.fault("rows", "aggregate-3a", fmt.Sprintf("has %d rows; without groupBy there is exactly one", n))
	}
	if n := int64(len(answer.Rows)); req.Limit > 0 && n > req.Limit {
		return nil, e.tooMany(req.Limit)
	}
	judges := make([]func(wire.Value) (problem, rule string), len(columns))
	for i, column := range columns {
		judges[i] = judgeOf(column, req)
	}
	cells := make([]wire.Value, len(answer.Rows)*len(columns))
	rows := make([][]wire.Value, len(answer.Rows))
	for i, row := range answer.Rows {
		rows[i] = cells[i*len(columns) : (i+1)*len(columns) : (i+1)*len(columns)]
		for j, column := range columns {
			v, ok := row[column.Name]
			if !ok {
				return nil, e.fault(fmt.Sprintf("rows[%d].%s", i, column.Name), "aggregate-9",
					"is missing; a row has a value for each key and each measure")
			}
			if problem, rule := judges[j](v); problem != "" {
				return nil, e.fault(fmt.Sprintf("rows[%d].%s", i, column.Name), rule, problem)
			}
			rows[i][j] = v
		}
	}
	return rows, nil
}

// judgeOf returns the judge of the cells of one column.
func judgeOf(column wire.Column, req *wire.AggregateRequest) func(wire.Value) (problem, rule string) {
	t := column.Type
	for _, key := range req.GroupBy {
		if key.As == column.Name && key.Grain != "" {
			return func(v wire.Value) (string, string) {
				rest, ok := digits(v.Text(), "0000-00-00")
				if !v.IsNull() && (v.Kind() != wire.KindText || !ok || rest != "") {
					return "is no first day of a period; want a string such as 2024-04-01", "aggregate-4"
				}
				return "", ""
			}
		}
	}
	for _, m := range req.Measures {
		if m.As != column.Name {
			continue
		}
		switch m.Fn {
		case wire.FnCount, wire.FnCountDistinct:
			return func(v wire.Value) (string, string) {
				if !isCount(v) {
					return "is no count; want an integer that is not negative", "aggregate-1"
				}
				return "", ""
			}
		case wire.FnSum:
			t = wire.TypeDecimal
		}
	}
	return func(v wire.Value) (string, string) { return misspelled(v, t) }
}

// isCount reports whether a cell is a number of things, which may be spelled in digits.
func isCount(v wire.Value) bool {
	switch v.Kind() {
	case wire.KindInt:
		return v.Int64() >= 0
	case wire.KindText:
		_, err := strconv.ParseUint(v.Text(), 10, 63)
		return err == nil
	}
	return false
}
