package sqlsourcetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
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
	t := f.tables[req.Table]
	var columns []wire.Column
	var at []int
	for _, key := range req.Sort {
		i := slices.Index(got.Names, key.Field)
		if i < 0 {
			return "" // not among the fields
		}
		c := t.columns[slices.IndexFunc(t.columns, func(c wire.Column) bool { return c.Name == key.Field })]
		if !slices.Contains(columns, c) {
			columns, at = append(columns, c), append(at, i)
		}
	}
	order, err := filter.CompileOrder(req.Sort, columns, nil, nil)
	if err != nil {
		return err.Error()
	}
	pick := func(row []wire.Value) []wire.Value {
		keys := make([]wire.Value, len(at))
		for i, n := range at {
			keys[i] = row[n]
		}
		return keys
	}
	for i := 1; i < len(got.Rows); i++ {
		a, b := pick(got.Rows[i-1]), pick(got.Rows[i])
		if order.Compare(a, b) > 0 && !equalUnder(columns, a, b) {
			return fmt.Sprintf("rows %d and %d are not in order: %s before %s", i-1, i, spell(got.Rows[i-1]), spell(got.Rows[i]))
		}
	}
	return ""
}

// equalUnder reports whether keys differ only in their spelling.
func equalUnder(columns []wire.Column, a, b []wire.Value) bool {
	for i, c := range columns {
		if string(filter.AppendKey(nil, a[i], c.Type)) != string(filter.AppendKey(nil, b[i], c.Type)) {
			return false
		}
	}
	return true
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
	t := f.tables[req.Table]
	count := wire.CountRequest{Table: req.Table, Where: wire.Where{And: req.And, Or: req.Or}}
	want, err := measures.Count(t.relation(), &count)
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
	t := f.tables[req.Table]
	want, err := measures.Aggregate(t.relation(), req, measures.Unlimited)
	got, gotErr := tenant.Aggregate(*req)
	switch {
	case errors.Is(gotErr, connector.ErrDecline):
		return "", true
	case gotErr != nil:
		return "the connector refused: " + gotErr.Error(), false
	case errors.Is(err, connector.ErrDecline):
		return "the connector answered what has no exact answer: " + err.Error(), false
	case err != nil:
		return "the reference cannot answer: " + err.Error(), false
	}
	groups := map[string][]wire.Value{}
	var key []byte
	for _, row := range want {
		key = key[:0]
		for i, g := range req.GroupBy {
			key = filter.AppendKey(key, row[i], t.groupType(g))
		}
		groups[string(key)] = row[len(req.GroupBy):]
	}
	for _, row := range got {
		key = key[:0]
		for _, g := range req.GroupBy {
			key = filter.AppendKey(key, row[g.As], t.groupType(g))
		}
		measures, known := groups[string(key)]
		if !known {
			return fmt.Sprintf("a group that should not be there, or twice: %v", row), false
		}
		delete(groups, string(key))
		for i, m := range req.Measures {
			typ := wire.TypeDecimal
			if m.Fn == wire.AggMin || m.Fn == wire.AggMax {
				typ = t.typeOf(m.Field)
			}
			a, b := row[m.As], measures[i]
			if order, ok := filter.Compare(a, b, typ); a.IsNull() != b.IsNull() || !a.IsNull() && (!ok || order != 0) {
				return fmt.Sprintf("%s of %s: expected %s, got %s, in group %v", m.Fn, m.Field, b, a, row), false
			}
		}
	}
	if len(groups) > 0 {
		return fmt.Sprintf("%d of %d groups are missing", len(groups), len(want)), false
	}
	return "", false
}

// groupType returns the type of a group key.
func (t *table) groupType(g wire.GroupKey) wire.Type {
	if g.Grain != "" {
		return wire.TypeDate
	}
	return t.typeOf(g.Field)
}

// checkLink compares a link's measure with the one in memory.
func (f *fixture) checkLink(tenant *connectortest.Tenant, req wire.LinkHitRateRequest) string {
	want, err := measures.LinkHitRate(f.tables[req.FromTable].relation(), f.tables[req.ToTable].relation(), &req, measures.Unlimited)
	if err != nil {
		return "the reference cannot answer: " + err.Error()
	}
	got, err := tenant.LinkHitRate(req)
	if err != nil {
		return "the connector refused: " + err.Error()
	}
	if got.FromNonNull != want.FromNonNull || got.OrphanCount != want.OrphanCount || !slices.Equal(got.OrphanSamples, want.OrphanSamples) {
		return fmt.Sprintf("expected %+v, got %+v", *want, *got)
	}
	return ""
}

// checkCardinality compares the counts of all columns. It accepts nil.
func (f *fixture) checkCardinality(tenant *connectortest.Tenant, t *table) string {
	req := wire.CardinalityRequest{Table: t.name, Columns: t.fields()}
	want, err := measures.Cardinality(t.relation(), &req, measures.Unlimited)
	if err != nil {
		return "the reference cannot answer: " + err.Error()
	}
	got, err := tenant.Cardinality(t.name, req.Columns...)
	if err != nil {
		return "the connector refused: " + err.Error()
	}
	var problems []string
	for _, name := range req.Columns {
		if c := got[name]; c != nil && *c != *want[name] {
			problems = append(problems, fmt.Sprintf("column %s: expected %+v, got %+v", name, *want[name], *c))
		}
	}
	return strings.Join(problems, "\n")
}
