// Package casetest asks the cases of the corpus as the platform does, for the
// tests of connectors that serve the corpus.
package casetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tables returns the corpus for the oracle.
var tables = sync.OnceValue(func() oracle.Tables {
	tables := oracle.Tables{}
	for _, t := range corpus.Tables() {
		tables[t.Name] = &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: t.Rows}
	}
	return tables
})

// Ask asks a case of a connector that serves the corpus, and returns an error if
// the finished answer is another than the oracle's, which is the committed one.
func Ask(ctx context.Context, c *platform.Connection, test corpus.Case) error {
	return Compare(ctx, tables(), c, test.Request)
}

// Compare asks a connector that serves these tables, and returns an error if the
// finished answer is another than the oracle's.
func Compare(ctx context.Context, tables oracle.Tables, c *platform.Connection, request wire.Request) error {
	switch r := request.(type) {
	case *wire.QueryRequest:
		return query(ctx, tables, c, r)
	case *wire.CountRequest:
		want, fault := oracle.Count(tables, r)
		count, _, err := c.Count(ctx, r)
		return errors.Join(fault, err, equal(want, count))
	case *wire.AggregateRequest:
		return aggregate(ctx, tables, c, r)
	case *wire.SizeRequest:
		size, _, err := c.Size(ctx, r.Table)
		return errors.Join(err, equal(&wire.Size{Rows: int64(len(tables[r.Table].Rows)), Exact: true}, size))
	case *wire.CardinalityRequest:
		want := map[string]*wire.Cardinality{}
		for _, column := range r.Columns {
			counts, err := oracle.Cardinality(tables[r.Table], column)
			if err != nil {
				return err
			}
			want[column] = &counts
		}
		counts, _, err := c.Cardinality(ctx, r.Table, r.Columns...)
		return errors.Join(err, equal(want, counts))
	case *wire.LinkHitRateRequest:
		want, fault := oracle.LinkHitRate(tables, r)
		rate, _, err := c.LinkHitRate(ctx, r)
		return errors.Join(fault, err, equal(fmt.Sprint(want), fmt.Sprint(rate)))
	}
	return fmt.Errorf("a %T is no request of a case", request)
}

func query(ctx context.Context, tables oracle.Tables, c *platform.Connection, req *wire.QueryRequest) error {
	want, err := oracle.Query(tables, req)
	if err != nil {
		return err
	}
	rows, columns, err := Rows(ctx, c, req)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range want.Columns {
		names = append(names, c.Name)
	}
	if err := equal(fmt.Sprint(names, len(want.Rows)), fmt.Sprint(columns, len(rows))); err != nil {
		return err
	}
	// Rows that tie may stand in another order than in the oracle's answer, and
	// cells may have another legal spelling.
	if fmt.Sprint(want.Rows) != fmt.Sprint(rows) {
		if d := oracle.Verify(tables, req, rows); d != nil {
			return errors.New(d.String())
		}
	}
	return nil
}

func aggregate(ctx context.Context, tables oracle.Tables, c *platform.Connection, req *wire.AggregateRequest) error {
	want, err := oracle.Aggregate(tables, req)
	if err != nil {
		return err
	}
	groups, err := c.Aggregate(ctx, req)
	if int64(len(want.Rows)) >= req.Limit {
		var refusal *wire.Error
		if errors.Is(err, platform.ErrGroups) || errors.As(err, &refusal) && refusal.Code == wire.CodeUnsupported {
			return nil
		}
		return fmt.Errorf("%w instead of a refusal", err)
	}
	if err != nil {
		return err
	}
	var members []map[string]wire.Value
	for _, row := range groups.Rows {
		group := map[string]wire.Value{}
		for i, c := range groups.Columns {
			group[c.Name] = row[i]
		}
		members = append(members, group)
	}
	if d := oracle.VerifyGroups(tables, req, members); d != nil {
		return errors.New(d.String())
	}
	return equal(len(want.Rows), len(groups.Rows))
}

// Rows asks a query and keeps its rows. It also returns the names of their
// columns.
func Rows(ctx context.Context, c *platform.Connection, req *wire.QueryRequest) (rows [][]wire.Value, columns []string, err error) {
	answer, err := c.Query(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	for _, column := range answer.Columns {
		columns = append(columns, column.Name)
	}
	for row, err := range answer.All() {
		if err != nil {
			return rows, columns, err
		}
		rows = append(rows, slices.Clone(row))
	}
	return rows, columns, nil
}

func equal(want, got any) error {
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("expected %+v, received %+v", want, got)
	}
	return nil
}
