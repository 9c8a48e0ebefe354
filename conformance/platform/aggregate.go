package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
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
// further. It may be wrong about an answer that is malformed.
func moreGroups(body []byte, limit int64) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	next := func() json.Token { t, _ := d.Token(); return t }
	var skipped json.RawMessage
	if next() != json.Delim('{') {
		return false
	}
	for d.More() {
		if next() != "rows" {
			if d.Decode(&skipped) != nil {
				return false
			}
			continue
		}
		if next() != json.Delim('[') {
			return false
		}
		for n := int64(0); d.More(); n++ {
			if n == limit {
				return true
			}
			if d.Decode(&skipped) != nil {
				return false
			}
		}
		return false
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
	if i, as, problem, rule := contradictedGroups(rows, req, columns); problem != "" {
		place := fmt.Sprintf("rows[%d]", i)
		if as != "" {
			place += "." + as
		}
		return nil, e.fault(place, rule, problem)
	}
	return rows, nil
}

// contradictedGroups returns the first group that contradicts another one, itself or the
// filters: its index, the column if one is to blame, the problem and the rule. Without a
// contradiction the problem is "".
func contradictedGroups(rows [][]wire.Value, req *wire.AggregateRequest, columns []wire.Column) (i int, as, problem, rule string) {
	names := make([]string, 0, len(columns))
	for _, k := range req.GroupBy {
		names = append(names, k.As)
	}
	for _, m := range req.Measures {
		names = append(names, m.As)
	}
	order := make([]int, len(names)) // of the columns
	own := make([]wire.Column, len(names))
	for j, name := range names {
		if order[j] = slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == name }); order[j] < 0 {
			return 0, "", "", "" // who wants a part of the answer has no groups to compare
		}
		own[j] = columns[order[j]]
	}
	keys := len(req.GroupBy)
	filtered := make([]*claims, len(own))
	for j := range own {
		filtered[j] = groupClaims(j, req, own)
	}
	row := make([]wire.Value, len(own))
	seen := make(map[string]bool, len(rows))
	var key []byte
	for i, cells := range rows {
		for j, at := range order {
			row[j] = cells[at]
		}
		key = key[:0]
		for _, v := range row[:keys] {
			key = filter.AppendKey(key, v, wire.TypeString) // as text: equal spellings are one group in any case
		}
		if keys > 0 && seen[string(key)] {
			return i, "", "is a group that stands here twice", "aggregate-17"
		}
		seen[string(key)] = true
		for j, c := range filtered {
			if c == nil || j >= keys && row[j].IsNull() {
				continue
			}
			if _, problem, _ := c.contradicted(row[j : j+1]); problem != "" {
				return i, own[j].Name, "contradicts the filters of the request", "aggregate-13"
			}
		}
		if as, problem, rule := contradictedMeasures(row[keys:], req, own[keys:]); problem != "" {
			return i, as, problem, rule
		}
	}
	return 0, "", "", ""
}

// groupClaims returns the filters that every cell of a column has to pass: a group key, or
// a minimum or maximum, is a value of rows that did. It returns nil without such filters, or
// if the aggregate may spell the value in another way than the row.
func groupClaims(j int, req *wire.AggregateRequest, columns []wire.Column) *claims {
	field := ""
	if keys := len(req.GroupBy); j < keys && req.GroupBy[j].Grain == "" {
		field = req.GroupBy[j].Field
	} else if j >= keys && (req.Measures[j-keys].Fn == wire.AggMin || req.Measures[j-keys].Fn == wire.AggMax) {
		field = req.Measures[j-keys].Field
	}
	if field == "" || len(req.Joins) > 0 {
		return nil
	}
	t := columns[j].Type
	var where wire.Where
	for _, f := range req.And {
		bySpelling := f.Op == wire.OpIncludes || f.Op == wire.OpStartsWith || f.Op == wire.OpContains
		if f.Field == field && (!bySpelling || t == wire.TypeString || t == wire.TypeReference) {
			where.And = append(where.And, f)
		}
	}
	return newClaims(&wire.QueryRequest{Where: where}, []wire.Column{{Name: field, Type: t}}, wire.Served{Filters: true}, nil)
}

// contradictedMeasures returns the measure that contradicts another one of its group.
func contradictedMeasures(row []wire.Value, req *wire.AggregateRequest, columns []wire.Column) (as, problem, rule string) {
	for i, m := range req.Measures {
		if m.Fn == wire.AggCount && m.Field == "" && len(req.GroupBy) > 0 && countOf(row[i]) == 0 {
			return m.As, "counts no row, and there is no group over no rows", "aggregate-3a"
		}
		for j, other := range req.Measures {
			switch {
			case counts(m) > 0 && counts(m) < counts(other) && (m.Field == other.Field || other.Field == "") && countOf(row[i]) > countOf(row[j]):
				return m.As, "is larger than " + terms.QuoteName(other.As) + ", which counts the same or more", "aggregate-1"
			case counts(m) > 0 && counts(other) == 0 && m.Field == other.Field && (countOf(row[i]) == 0) != row[j].IsNull():
				return other.As, "is null over values, or a value over none, as " + terms.QuoteName(m.As) + " counts them", "aggregate-1b"
			case m.Fn == wire.AggMin && other.Fn == wire.AggMax && m.Field == other.Field && beyond(row[i], row[j], columns[i].Type):
				return m.As, "is larger than " + terms.QuoteName(other.As), "aggregate-1b"
			}
		}
	}
	return "", "", ""
}

// counts returns how much a measure counts: 1 distinct values, 2 values, 3 rows, and 0 if it
// counts nothing.
func counts(m wire.Measure) int {
	switch {
	case m.Fn == wire.AggCountDistinct:
		return 1
	case m.Fn == wire.AggCount && m.Field != "":
		return 2
	case m.Fn == wire.AggCount:
		return 3
	}
	return 0
}

// beyond reports whether a is larger than b, however dates are read.
func beyond(a, b wire.Value, t wire.Type) bool {
	order, ok := filter.Compare(a, b, t)
	if ok && order > 0 && (t == wire.TypeDate || t == wire.TypeDatetime) {
		order, ok = filter.Compare(a, b, wire.TypeString)
	}
	return ok && order > 0 && t != ""
}

// judgeOf returns the judge of the cells of one column.
func judgeOf(column wire.Column, req *wire.AggregateRequest) func(wire.Value) (problem, rule string) {
	t := column.Type
	for _, key := range req.GroupBy {
		if key.As == column.Name && key.Grain != "" {
			return func(v wire.Value) (string, string) {
				if !v.IsNull() && !isFirstDay(v, key.Grain) {
					return "is not the first day of a " + string(key.Grain) + "; want a string such as 2024-04-01", "aggregate-4"
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
		case wire.AggCount, wire.AggCountDistinct:
			return func(v wire.Value) (string, string) {
				if !isCount(v) {
					return "is no count; want an integer that is not negative", "aggregate-1"
				}
				return "", ""
			}
		case wire.AggSum:
			t = wire.TypeDecimal
		}
	}
	return func(v wire.Value) (string, string) { return misspelled(v, t) }
}

// isFirstDay reports whether a cell is a day that exists, and that a period of this grain begins with.
func isFirstDay(v wire.Value, grain wire.Grain) bool {
	day, err := time.Parse(time.DateOnly, v.Text())
	if v.Kind() != wire.KindText || err != nil {
		return false
	}
	switch grain {
	case wire.GrainYear:
		return day.YearDay() == 1
	case wire.GrainQuarter:
		return day.Day() == 1 && day.Month()%3 == 1
	case wire.GrainMonth:
		return day.Day() == 1
	case wire.GrainDay:
		return true
	}
	return false
}

// countOf returns a count that isCount has seen.
func countOf(v wire.Value) int64 {
	if v.Kind() == wire.KindInt {
		return v.Int64()
	}
	n, _ := strconv.ParseInt(v.Text(), 10, 64)
	return n
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
