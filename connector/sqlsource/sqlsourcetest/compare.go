package sqlsourcetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Each check returns what is wrong, or nothing.

// checkQuery compares a query's answer with the one in memory.
func (f *fixture) checkQuery(tenant *connectortest.Tenant, req *wire.QueryRequest) string {
	want, err := f.query(req)
	if err != nil {
		return "the reference cannot answer: " + err.Error()
	}
	got, err := tenant.Query(*req)
	if err != nil {
		return "the connector refused: " + err.Error()
	}
	if !got.Served.Filters {
		return "the filters were not served"
	}
	rows, reversed := want.rows, want.reversed
	if got.Served.Window {
		rows, reversed = window(rows, req.Offset, req.Limit), window(reversed, req.Offset, req.Limit)
	}
	have, expected := spellAll(got.Rows), spellAll(rows)
	switch {
	case want.ordered && got.Served.Sort:
		if i := differ(have, expected); i >= 0 && (reversed == nil || differ(have, spellAll(reversed)) >= 0) {
			return fmt.Sprintf("row %d differs: expected%s\ngot%s", i, some(expected[min(i, len(expected)):]), some(have[min(i, len(have)):]))
		}
	case got.Served.Window && (req.Limit > 0 || req.Offset > 0):
		if len(have) != len(expected) {
			return fmt.Sprintf("expected %d rows in the window, got %d", len(expected), len(have))
		}
		if extra := without(have, spellAll(want.rows)); len(extra) > 0 {
			return "rows that should not be there:" + some(extra)
		}
	default:
		if extra := without(have, expected); len(extra) > 0 {
			return "rows that should not be there:" + some(extra)
		}
		if missing := without(expected, have); len(missing) > 0 {
			return "rows are missing:" + some(missing)
		}
	}
	if got.Served.Sort && len(req.Sort) > 0 {
		return f.checkOrder(req, got)
	}
	return ""
}

// checkOrder checks the requested order alone, for answers whose ties may be
// broken in several ways.
func (f *fixture) checkOrder(req *wire.QueryRequest, got *connectortest.Answer) string {
	own := oracle.Table{Rows: got.Rows}
	for _, name := range got.Names {
		own.Columns = append(own.Columns, wire.Column{Name: name, Type: f.tables[req.Table].typeOf(name)})
	}
	for _, key := range req.Sort {
		if !slices.Contains(got.Names, key.Field) {
			return ""
		}
	}
	if i, ok := oracle.Sorted(&own, req.Sort, nil); !ok {
		return fmt.Sprintf("row %d is not in order: %s", i, spell(got.Rows[i]))
	}
	return ""
}

// differ returns the first index at which two lists differ, or -1.
func differ(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// checkCount compares a count with the one in memory.
func (f *fixture) checkCount(tenant *connectortest.Tenant, req *wire.QueryRequest) string {
	count := wire.CountRequest{Table: req.Table, Where: wire.Where{And: req.And, Or: req.Or}}
	want, err := oracle.Count(f.known, &count)
	if err != nil {
		return "the reference cannot count: " + err.Error()
	}
	got, err := tenant.Count(count)
	if err != nil {
		return "the connector refused to count: " + err.Error()
	}
	if got != want {
		return fmt.Sprintf("expected a count of %d, got %d", want, got)
	}
	return ""
}

// checkAggregate compares groups with those in memory. It accepts a decline.
func (f *fixture) checkAggregate(tenant *connectortest.Tenant, req *wire.AggregateRequest) (problem string, declined bool) {
	got, err := tenant.Aggregate(*req)
	switch {
	case errors.Is(err, connector.ErrDecline):
		return "", true
	case err != nil:
		return "the connector refused: " + err.Error(), false
	}
	return tell(oracle.VerifyGroups(f.known, req, got)), false
}

// tell returns a difference in words.
func tell(d *oracle.Difference) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// checkLink compares a link's measure with the one in memory.
func (f *fixture) checkLink(tenant *connectortest.Tenant, req wire.LinkHitRateRequest) string {
	got, err := tenant.LinkHitRate(req)
	if err != nil {
		return "the connector refused: " + err.Error()
	}
	return tell(oracle.VerifyLinkHitRate(f.known, &req, got))
}

// checkCardinality compares the counts of all columns. It accepts nil.
func (f *fixture) checkCardinality(tenant *connectortest.Tenant, t *table) string {
	got, err := tenant.Cardinality(t.name, t.fields()...)
	if err != nil {
		return "the connector refused: " + err.Error()
	}
	var problems []string
	for _, name := range t.fields() {
		want, err := oracle.Cardinality(f.known[t.name], name)
		if err != nil {
			return "the reference cannot answer: " + err.Error()
		}
		if c := got[name]; c != nil && *c != want {
			problems = append(problems, fmt.Sprintf("column %s: expected %+v, got %+v", name, want, *c))
		}
	}
	return strings.Join(problems, "\n")
}
