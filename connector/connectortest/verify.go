package connectortest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxRows limits the rows of a table that a [Tenant] reads to verify an answer.
const maxRows = 200_000

// unverifiable is the reason why an answer cannot be verified.
type unverifiable string

func (u unverifiable) Error() string { return "not verified: " + string(u) }

// snapshot is what one set of credentials sees: the discovery, and the rows that
// plain queries answer. Answers are verified against it.
type snapshot struct {
	discovery *wire.Discovery
	tables    oracle.Tables
}

// look discovers the tables and reads those of these names. It leaves out names
// that discovery does not list.
func look(ctx context.Context, c *platform.Client, credentials wire.Credentials, names ...string) (*snapshot, error) {
	found, err := c.Discover(ctx, credentials)
	if err != nil {
		return nil, fmt.Errorf("discovering the tables: %w", err)
	}
	s := &snapshot{found, oracle.Tables{}}
	for _, name := range names {
		if table := s.table(name); table != nil && s.tables[name] == nil {
			if s.tables[name], err = readTable(ctx, c, credentials, table, maxRows); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// wholeOf returns a query of all rows and fields of a table.
func wholeOf(table *wire.Table) *wire.QueryRequest {
	req := &wire.QueryRequest{Table: table.Name}
	for _, f := range table.Fields {
		req.Fields = append(req.Fields, f.Name)
	}
	return req
}

// readTable reads all rows of a table of at most so many rows.
func readTable(
	ctx context.Context, c *platform.Client, credentials wire.Credentials, table *wire.Table, most int,
) (*oracle.Table, error) {
	req := wholeOf(table)
	read := &oracle.Table{Name: table.Name, Columns: table.Columns(), PrimaryKey: table.PrimaryKey}
	rows, err := c.Query(ctx, credentials, req, columns(req))
	if err != nil {
		return nil, fmt.Errorf("reading table %q whole: %w", table.Name, err)
	}
	defer rows.Close()
	for row, err := range rows.All() {
		if err != nil {
			return nil, fmt.Errorf("reading table %q whole: %w", table.Name, err)
		}
		if len(read.Rows) == most {
			return nil, unverifiable(fmt.Sprintf("table %q has more than %d rows", table.Name, most))
		}
		read.Rows = append(read.Rows, slices.Clone(row))
	}
	return read, nil
}

// table returns the description of a table, or nil.
func (s *snapshot) table(name string) *wire.Table {
	at := slices.IndexFunc(s.discovery.Tables, func(t wire.Table) bool { return t.Name == name })
	if at < 0 {
		return nil
	}
	return &s.discovery.Tables[at]
}

// query verifies the rows of a query as far as the served line claims them. What
// is not served is left to the platform: rows may then be in any order, and more
// than the window.
func (s *snapshot) query(req *wire.QueryRequest, a *Answer) error {
	if !a.Served.Filters {
		return unverifiable("the filters are not served")
	}
	served := *req
	if !a.Served.Sort {
		served.Sort = nil
	}
	if !a.Served.Window {
		served.Offset, served.Limit = 0, 0
	}
	if err := s.filterable(req.Table, req.Where); err != nil {
		return err
	}
	return differs(oracle.Verify(s.tables, &served, a.Rows))
}

func (s *snapshot) count(req *wire.CountRequest, got int64) error {
	if err := s.filterable(req.Table, req.Where); err != nil {
		return err
	}
	want, err := oracle.Count(s.tables, req)
	switch {
	case err != nil:
		return noAnswer(err)
	case got != want:
		return wrong("the count is not the number of rows", want, got)
	}
	return nil
}

func (s *snapshot) size(table string, got *wire.Size) error {
	want, err := oracle.Count(s.tables, &wire.CountRequest{Table: table})
	switch {
	case err != nil:
		return noAnswer(err)
	case got != nil && got.Exact && got.Rows != want:
		return wrong("the exact size is not the number of rows", want, got.Rows)
	}
	return nil
}

func (s *snapshot) cardinality(table string, got map[string]*wire.Cardinality) error {
	t := s.tables[table]
	if t == nil {
		return noAnswer(&oracle.UnknownTable{Table: table})
	}
	for _, column := range slices.Sorted(maps.Keys(got)) {
		want, err := oracle.Cardinality(t, column)
		if err != nil {
			return noAnswer(err)
		}
		if c := got[column]; c != nil && *c != want {
			return wrong(fmt.Sprintf("the values of column %q are miscounted", column), want, *c)
		}
	}
	return nil
}

func (s *snapshot) aggregate(req *wire.AggregateRequest, got []map[string]wire.Value) error {
	if err := s.filterable(req.Table, req.Where); err != nil {
		return err
	}
	var open *oracle.Undefined
	if _, err := oracle.Aggregate(s.tables, req); errors.As(err, &open) {
		return unverifiable(open.Detail)
	}
	if err := differs(oracle.VerifyGroups(s.tables, req, got)); err != nil {
		return err
	}
	return s.spelled(req, got)
}

// spelled verifies what the oracle does not: that a sum is a digit string, and that a
// minimum or maximum of a field of the table is spelled as in a row.
func (s *snapshot) spelled(req *wire.AggregateRequest, got []map[string]wire.Value) error {
	t := s.tables[req.Table]
	for _, m := range req.Measures {
		at := t.Index(m.Field)
		inRows := map[string]bool{}
		for _, row := range t.Rows {
			if at >= 0 {
				inRows[row[at].String()] = true
			}
		}
		for _, group := range got {
			switch v := group[m.As]; {
			case v.IsNull():
			case m.Fn == wire.AggSum && v.Kind() != wire.KindText:
				return wrong(fmt.Sprintf("%q is not a digit string", m.As), "a sum in a string", v)
			case (m.Fn == wire.AggMin || m.Fn == wire.AggMax) && at >= 0 && !inRows[v.String()]:
				return wrong(fmt.Sprintf("%q is not spelled as in a row", m.As), "the text of a cell", v)
			}
		}
	}
	return nil
}

func (s *snapshot) linkHitRate(req *wire.LinkHitRateRequest, got *wire.LinkHitRate) error {
	if samples := slices.Compact(slices.Sorted(slices.Values(got.OrphanSamples))); !slices.Equal(samples, got.OrphanSamples) {
		return wrong("orphanSamples are not distinct texts in byte order", samples, got.OrphanSamples)
	}
	return differs(oracle.VerifyLinkHitRate(s.tables, req, got))
}

// filterable returns an error for a filter on a field that discovery calls not
// filterable: such a request must be refused.
func (s *snapshot) filterable(name string, where wire.Where) error {
	table := s.table(name)
	for f := range where.Filters() {
		if table == nil {
			break // the oracle says so
		}
		if field := table.Field(f.Field); field != nil && !terms.Allowed(field.Filterable) {
			return wrong(fmt.Sprintf("discovery calls the field %q not filterable", f.Field), wire.CodeUnsupported, "an answer")
		}
	}
	return nil
}

// mistake is the error for a wrong answer.
type mistake oracle.Difference

func (m *mistake) Error() string {
	return m.Detail + labelled("expected:", m.Expected) + labelled("received:", m.Received)
}

func differs(d *oracle.Difference) error {
	if d == nil {
		return nil
	}
	return (*mistake)(d)
}

// wrong returns the error for an answer other than the right one.
func wrong(detail string, want, got any) error {
	return &mistake{detail, fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)}
}

// noAnswer returns the error for an answer to a request that must be refused.
func noAnswer(err error) error {
	return wrong("the request has no answer: "+err.Error(), "a refusal", "an answer")
}
