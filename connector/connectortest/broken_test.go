package connectortest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// honest is the shop, whose methods a test may replace.
func honest(t testing.TB) connectors.Described { return connectors.Bend(shop(t)) }

// after returns a method that changes what a call answers.
func after[R, A any](call func(context.Context, R) (A, error), change func(R, A) A) func(context.Context, R) (A, error) {
	return func(ctx context.Context, req R) (A, error) {
		answer, err := call(ctx, req)
		if err == nil {
			answer = change(req, answer)
		}
		return answer, err
	}
}

// misread is the shop, which answers another query than the one that it is asked.
func misread(t testing.TB, change func(*connector.Query)) connectors.Described {
	src := honest(t)
	query := src.OnQuery
	src.OnQuery = func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
		own := *req
		change(&own)
		return query(ctx, &own, out)
	}
	return src
}

// withoutNulls does with null what SQL does with nin.
func withoutNulls(q *connector.Query) {
	for _, f := range q.And {
		if f.Op == wire.OpNin {
			q.And = append(slices.Clip(q.And), wire.Filter{Field: f.Field, Op: wire.OpNotNull})
		}
	}
}

// A fault is a source that breaks one rule.
type fault struct {
	name, why string
	check     string // the one that must find it, by failing or with advice
	source    func(t testing.TB) connector.Source
}

var unfiltered = fault{"claims filters and does not filter", "a claim is believed: the platform would take every row for an answer", "L2",
	func(t testing.TB) connector.Source {
		return misread(t, func(q *connector.Query) { q.And, q.Or = nil, nil })
	}}

// TestRunFindsFaults checks that Run grades a source with the checks of the conformance
// program. What each check finds is for the tests of package conformance.
func TestRunFindsFaults(t *testing.T) {
	for _, f := range []fault{
		unfiltered,
		{"claims sort unsorted", "a claim is believed", "L7", func(t testing.TB) connector.Source {
			return misread(t, func(q *connector.Query) { q.Sort = nil })
		}},
		{"a window forgets the filters", "a window is cut from the rows that match", "L6", func(t testing.TB) connector.Source {
			return misread(t, func(q *connector.Query) {
				if q.MaxRows > 0 {
					q.And, q.Or = nil, nil
				}
			})
		}},
		{"a string calls itself a date", "a date is YYYY-MM-DD; this is advice", "A.7", func(t testing.TB) connector.Source {
			src := honest(t) // memsource itself refuses such a table
			src.OnDiscover = after(src.OnDiscover, func(_ *wire.DiscoveryRequest, d *wire.Discovery) *wire.Discovery {
				d.Tables[0].Field("region").Type = wire.TypeDate
				return d
			})
			describe := src.Describer
			src.Describer = func(ctx context.Context, creds wire.Credentials, name string) (*wire.Table, error) {
				table, err := describe(ctx, creds, name)
				if err == nil && table.Field("region") != nil {
					table.Field("region").Type = wire.TypeDate
				}
				return table, err
			}
			return src
		}},
		{"groups are refused", "what cannot be computed is declined", "L8", func(t testing.TB) connector.Source {
			src := honest(t)
			src.Aggregator = after(src.Aggregator, func(_ *wire.AggregateRequest, g [][]wire.Value) [][]wire.Value {
				return slices.Repeat(g[:min(1, len(g))], 2000) // refused for its length
			})
			return src
		}},
	} {
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

// shopTables returns the data that faults need to show: nulls in every nullable column, equal numbers of different
// scale, both sides of 2^53, texts that differ by case or a blank, wildcards, arrays, an empty string, orphans, a
// self-reference, and a table without rows.
func shopTables() []memsource.Table { return tablesIn("testdata/shop.json") }

// tablesIn returns the tables of a file. A field is its name and type, with a question mark if it is nullable;
// a link is a field, and the table and field it leads to.
func tablesIn(file string) (tables []memsource.Table) {
	var shop []struct {
		Name               string
		Key, Fields, Links []string
		Rows               [][]json.RawMessage
	}
	text, err := os.ReadFile(file)
	if err = errors.Join(err, json.Unmarshal(text, &shop)); err != nil {
		panic(err)
	}
	for _, s := range shop {
		table := memsource.Table{Table: wire.Table{Name: s.Name, PrimaryKey: s.Key}}
		for _, link := range s.Links {
			at := strings.Fields(link)
			table.ForeignKeys = append(table.ForeignKeys, wire.ForeignKey{Field: at[0], TargetTable: at[1], TargetField: at[2]})
		}
		for _, field := range s.Fields {
			name, typ, _ := strings.Cut(strings.TrimSuffix(field, " unique"), " ")
			table.Fields = append(table.Fields, wire.Field{Name: name, Type: wire.Type(strings.TrimSuffix(typ, "?")),
				Nullable: strings.HasSuffix(typ, "?"), Unique: strings.HasSuffix(field, " unique")})
		}
		for _, cells := range s.Rows {
			row := make([]wire.Value, len(cells))
			for i, cell := range cells {
				r := textvalue.Reader{MaxDepth: terms.MaxDepth}
				r.Reset(string(cell))
				if row[i], err = textvalue.APIs.Value(r.Value(1), table.Fields[i].Type, 3); err != nil {
					panic(err)
				}
			}
			table.Rows = append(table.Rows, row)
		}
		tables = append(tables, table)
	}
	return tables
}

func shop(t testing.TB, tables ...memsource.Table) *memsource.Source {
	t.Helper()
	if tables == nil {
		tables = shopTables()
	}
	return testkit.Must(memsource.New(tables, nil))(t)
}

var shopDefinition = connector.Definition{Slug: "shop"}
