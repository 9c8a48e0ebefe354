package connectortest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type queryFunc = func(context.Context, *connector.Query, *connector.Rows) error

// patched is an honest source with some methods replaced.
type patched struct {
	*memsource.Source
	query       queryFunc
	count       func(int64) int64
	size        func(*wire.Size)
	cardinality func(map[string]*wire.Cardinality)
	link        func(*wire.LinkHitRate)
	aggregate   func(*wire.AggregateRequest, [][]wire.Value) [][]wire.Value
}

func (p patched) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if p.query != nil {
		return p.query(ctx, req, out)
	}
	return p.Source.Query(ctx, req, out)
}

func (p patched) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	n, err := p.Source.Count(ctx, req)
	if p.count != nil {
		n = p.count(n)
	}
	return n, err
}

func (p patched) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	s, err := p.Source.Size(ctx, req)
	if p.size != nil {
		p.size(s)
	}
	return s, err
}

func (p patched) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	c, err := p.Source.Cardinality(ctx, req)
	if p.cardinality != nil && err == nil {
		p.cardinality(c)
	}
	return c, err
}

func (p patched) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	l, err := p.Source.LinkHitRate(ctx, req)
	if p.link != nil && err == nil {
		p.link(l)
	}
	return l, err
}

func (p patched) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	if p.aggregate == nil {
		return p.Source.Aggregate(ctx, req)
	}
	// The fault may be in a row that the limit would cut off.
	whole := *req
	whole.Limit = 0
	g, err := p.Source.Aggregate(ctx, &whole)
	if err == nil {
		g = p.aggregate(req, g)
	}
	return g, err
}

// find returns a table of the shop, which must exist.
func find(name string) memsource.Table {
	tables := shopTables()
	return tables[slices.IndexFunc(tables, func(t memsource.Table) bool { return t.Name == name })]
}

// passes reports whether a row of a test's table passes the filters. Its cells all have
// a value, so no row fails.
func passes(filters *filter.Matcher, row []wire.Value) bool {
	ok, err := filters.Match(row)
	return ok && err == nil
}

// filtering claims to have filtered, and decides each filter on each row with
// judge, which gets the right verdict.
func filtering(t *testing.T, judge func(f wire.Filter, cell wire.Value, right bool) bool) queryFunc {
	return func(_ context.Context, req *connector.Query, out *connector.Rows) error {
		table := find(req.Table)
		columns := table.Columns()
		one := func(f wire.Filter, row []wire.Value) bool {
			p, err := filter.Compile(wire.Where{And: []wire.Filter{f}}, columns)
			assert.NoError(t, err)
			at := slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == f.Field })
			return judge(f, row[at], passes(p, row))
		}
		every := func(group []wire.Filter, row []wire.Value) bool {
			return !slices.ContainsFunc(group, func(f wire.Filter) bool { return !one(f, row) })
		}
		out.Claim(connector.Applied{Filters: true})
		w := out.Begin(columns)
		for _, row := range table.Rows {
			if !every(req.And, row) || len(req.Or) > 0 && !slices.ContainsFunc(req.Or, func(g []wire.Filter) bool { return every(g, row) }) {
				continue
			}
			if err := w.Row(row...); err != nil {
				return err
			}
		}
		return nil
	}
}

// emitting claims served, and emits what pick returns for the matching rows,
// which are in the requested order.
func emitting(served wire.Served,
	pick func(req *connector.Query, claim connector.Claim, rows [][]wire.Value) [][]wire.Value) queryFunc {
	return func(_ context.Context, req *connector.Query, out *connector.Rows) error {
		table := find(req.Table)
		columns := table.Columns()
		p, err := filter.Compile(req.Where, columns)
		if err != nil {
			return err
		}
		order, err := filter.CompileOrder(req.Sort, columns, nil, nil)
		if err != nil {
			return err
		}
		rows := slices.DeleteFunc(slices.Clone(table.Rows), func(row []wire.Value) bool { return !passes(p, row) })
		slices.SortFunc(rows, order.Compare)
		claim := out.Claim(connector.Applied{Filters: served.Filters, Sort: served.Sort})
		if served.Window {
			claim.TakeWindow()
		}
		rows = pick(req, claim, rows)
		return testkit.Rows(out.Begin(columns), rows)
	}
}

// textOf returns a cell as a source without types sees it.
func textOf(v wire.Value) string { return v.String() }

// fault is a source that breaks one rule.
type fault struct {
	name, why string
	check     string // the one that must find it, by failing or with advice
	source    func(t *testing.T) connector.Source
}

func query(f func(t *testing.T) queryFunc) func(*testing.T) connector.Source {
	return func(t *testing.T) connector.Source { return patched{Source: shop(t), query: f(t)} }
}

var faults = []fault{
	{"claims filters and does not filter", "a claim is believed: the platform would take every row for an answer", "L2",
		query(func(t *testing.T) queryFunc {
			return filtering(t, func(wire.Filter, wire.Value, bool) bool { return true })
		})},
	{"claims sort unsorted", "a claim is believed", "L7",
		query(func(t *testing.T) queryFunc {
			return emitting(wire.Served{Filters: true, Sort: true},
				func(_ *connector.Query, _ connector.Claim, rows [][]wire.Value) [][]wire.Value {
					slices.SortFunc(rows, func(a, b []wire.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
					return rows
				})
		})},
	{"window before filters", "a window cut before the filters loses rows", "L6",
		query(func(t *testing.T) queryFunc {
			return func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
				served := wire.Served{Filters: true, Sort: true, Window: true}
				unfiltered := *req
				unfiltered.And, unfiltered.Or = nil, nil
				return emitting(served, func(_ *connector.Query, claim connector.Claim, rows [][]wire.Value) [][]wire.Value {
					table := find(req.Table)
					p, err := filter.Compile(req.Where, table.Columns())
					assert.NoError(t, err)
					return slices.DeleteFunc(cut(claim, rows), func(row []wire.Value) bool { return !passes(p, row) })
				})(ctx, &unfiltered, out)
			}
		})},
	{"a string calls itself a date", "a date is YYYY-MM-DD; this is advice", "A.7", func(t *testing.T) connector.Source {
		return misdescribed{patched{Source: shop(t)}} // memsource itself refuses such a table
	}},
	{"groups are refused", "what cannot be computed is declined", "L8", func(t *testing.T) connector.Source {
		return patched{Source: shop(t), aggregate: func(_ *wire.AggregateRequest, g [][]wire.Value) [][]wire.Value {
			return slices.Repeat(g[:min(1, len(g))], 2000) // refused for its length
		}}
	}},
}

// misdescribed discovers a string as a date.
type misdescribed struct{ patched }

func (m misdescribed) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	d, err := m.Source.Discover(ctx, req)
	if err == nil {
		d.Tables[0].Field("region").Type = wire.TypeDate
	}
	return d, err
}

func (m misdescribed) Describe(ctx context.Context, creds wire.Credentials, name string) (*wire.Table, error) {
	t, err := m.Source.Describe(ctx, creds, name)
	if err == nil && t.Field("region") != nil {
		t.Field("region").Type = wire.TypeDate
	}
	return t, err
}

// cut applies the window of the request, as a source does.
func cut(claim connector.Claim, rows [][]wire.Value) [][]wire.Value {
	offset, limit, _ := claim.TakeWindow()
	rows = rows[min(offset, int64(len(rows))):]
	if limit > 0 {
		rows = rows[:min(limit, int64(len(rows)))]
	}
	return rows
}

// TestRunFindsFaults checks that Run grades a source with the checks of the conformance
// program. What each check finds is for the tests of package conformance.
func TestRunFindsFaults(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			report := grade(t, f.source(t), &conformance.Options{Match: "^" + regexp.QuoteMeta(f.check) + "$"})
			for _, o := range report.Outcomes {
				if o.ID == f.check && (o.Verdict == conformance.Fail || o.Verdict == conformance.Advise) {
					return
				}
			}
			t.Errorf("%s, but %s", f.why, report.Text(false, false))
		})
	}
}

// grade runs what Run runs.
func grade(t testing.TB, src connector.Source, opts *conformance.Options) *conformance.Report {
	if opts == nil {
		opts = &conformance.Options{Requests: testrun.Budget(250)}
	}
	return testkit.Must(Start(t, shopDefinition, src, nil).grade(t.Context(), opts, nil))(t)
}
