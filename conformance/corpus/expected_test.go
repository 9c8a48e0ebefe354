package corpus

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func oracleTables() oracle.Tables {
	tables := oracle.Tables{}
	for _, t := range Tables() {
		tables[t.Name] = &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: t.Rows}
	}
	return tables
}

// expected returns the oracle's answer to the request of a case.
func expected(tables oracle.Tables, request wire.Request) (a Answer, err error) {
	switch r := request.(type) {
	case *wire.QueryRequest:
		t, err := oracle.Query(tables, r)
		if err != nil {
			return a, err
		}
		for _, c := range t.Columns {
			a.Columns = append(a.Columns, c.Name)
		}
		a.Rows = t.Rows
	case *wire.CountRequest:
		a.Count, err = oracle.Count(tables, r)
	case *wire.AggregateRequest:
		t, err := oracle.Aggregate(tables, r)
		if err != nil {
			return a, err
		}
		for _, c := range t.Columns {
			a.Columns = append(a.Columns, c.Name)
		}
		if a.TooMany = int64(len(t.Rows)) >= r.Limit; !a.TooMany {
			a.Rows = t.Rows
		}
	case *wire.SizeRequest:
		t := tables[r.Table]
		if t == nil {
			return a, &oracle.UnknownTable{Table: r.Table}
		}
		a.Size = &wire.Size{Rows: int64(len(t.Rows)), Exact: true}
	case *wire.CardinalityRequest:
		t := tables[r.Table]
		if t == nil {
			return a, &oracle.UnknownTable{Table: r.Table}
		}
		a.Cardinality = map[string]*wire.Cardinality{}
		for _, column := range r.Columns {
			c, err := oracle.Cardinality(t, column)
			if err != nil {
				return a, err
			}
			a.Cardinality[column] = &c
		}
	case *wire.LinkHitRateRequest:
		a.LinkHitRate, err = oracle.LinkHitRate(tables, r)
	default:
		err = fmt.Errorf("a %T has no answer", request)
	}
	return a, err
}

// members returns the groups of an answer in their form on the wire.
func (a Answer) members() []map[string]wire.Value {
	groups := []map[string]wire.Value{}
	for _, row := range a.Rows {
		group := map[string]wire.Value{}
		for i, name := range a.Columns {
			group[name] = row[i]
		}
		groups = append(groups, group)
	}
	return groups
}

// differs returns an error if got, the committed answer of a case, differs from
// the oracle's answer.
func differs(tables oracle.Tables, request wire.Request, got Answer) error {
	want, err := expected(tables, request)
	if err != nil {
		return err
	}
	switch r := request.(type) {
	case *wire.QueryRequest:
		if d := oracle.Verify(tables, r, got.Rows); d != nil {
			return errors.New(d.String())
		}
		if fmt.Sprint(want.Columns) != fmt.Sprint(got.Columns) || len(want.Rows) != len(got.Rows) {
			return fmt.Errorf("%d rows of %v, committed are %d of %v", len(want.Rows), want.Columns, len(got.Rows), got.Columns)
		}
		t, _ := oracle.Query(tables, r)
		for i := range want.Rows {
			for n, c := range t.Columns {
				if !oracle.Same(want.Rows[i][n], got.Rows[i][n], c.Type) {
					return fmt.Errorf("rows[%d], %s: %v, committed is %v", i, c.Name, want.Rows[i][n], got.Rows[i][n])
				}
			}
		}
	case *wire.AggregateRequest:
		if want.TooMany != got.TooMany {
			return fmt.Errorf("too many groups: %v, committed is %v", want.TooMany, got.TooMany)
		}
		if !got.TooMany {
			if d := oracle.VerifyGroups(tables, r, got.members()); d != nil {
				return errors.New(d.String())
			}
		}
	default:
		if w, g := answerBody(request, want), answerBody(request, got); w != g {
			return errors.New(w + ", committed is " + g)
		}
	}
	return nil
}

// TestCasesAgainstTheOracle checks that every committed answer is the oracle's.
func TestCasesAgainstTheOracle(t *testing.T) {
	if *update {
		updateCases(t)
	}
	tables := oracleTables()
	for _, c := range caseList(t) {
		if err := differs(tables, c.Request, c.Answer); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// verify compares the answer of a case with the tables under one reading of the
// protocol. Sizes and cardinalities have no readings.
func verify(reading oracle.Reading, tables oracle.Tables, c *answered) *oracle.Difference {
	switch r := c.Request.(type) {
	case *wire.QueryRequest:
		return reading.Verify(tables, r, c.Answer.Rows)
	case *wire.CountRequest: // as many rows without members
		q := &wire.QueryRequest{Table: r.Table, Where: r.Where}
		return reading.Verify(tables, q, make([][]wire.Value, c.Answer.Count))
	case *wire.AggregateRequest:
		if !c.Answer.TooMany {
			return reading.VerifyGroups(tables, r, c.Answer.members())
		}
	}
	return nil
}

// TestCasesAreSettled checks that no case fails a connector for a choice that
// the protocol leaves open: under every reading the answer is the same, and if
// not, the case is advice.
func TestCasesAreSettled(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	tables := oracleTables()
	for _, c := range caseList(t) {
		open := 0
		for _, reading := range oracle.Readings() {
			if verify(reading, tables, &c) != nil {
				open++
			}
		}
		if r, ok := c.Request.(*wire.CardinalityRequest); ok {
			for _, column := range r.Columns {
				least, most, err := oracle.DistinctRange(tables[r.Table], column)
				require.NoError(t, err, c.Name)
				if least != most {
					open++
				}
			}
		}
		advice := c.Check[0] == 'A'
		if advice && open == 0 {
			t.Errorf("%s is advice, but all readings agree on it", c.Name)
		}
		if !advice && open > 0 {
			t.Errorf("%s fails a connector, but %d readings do not agree with it", c.Name, open)
		}
	}
}
