package connectortest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Correct sources pass, whatever they leave to the library and whatever they omit
// from the document.
func TestRun(t *testing.T) {
	small, flagged := shopTables()[1:], shopTables()[1:]
	no := false
	flagged[0].Field("name").Filterable = &no
	flagged[0].Field("country").Groupable = &no
	flagged[0].Field("boss").Aggregatable = &no
	for _, c := range []struct {
		name   string
		source connector.Source
		opts   *Options
	}{
		{"everything", shop(t), &Options{}},
		{"three methods", naive{shopTables()}, &Options{}},
		{"flags", shop(t, flagged...), &Options{}},
		{"little declared", shop(t, small...), &Options{Connector: &connector.Options{Omit: connector.Omit{
			Operators: []wire.Op{wire.OpContains, wire.OpNin, wire.OpEq}, Sort: wire.SortNone, Offset: true, Join: true, DateBucket: true,
			Endpoints: []wire.Endpoint{wire.EndpointCount, wire.EndpointCardinality},
		}}}},
		{"one sort key", naive{small}, &Options{Connector: &connector.Options{SortBudget: 5, Omit: connector.Omit{Sort: wire.SortSingle}}}},
		{"filters divided by Split", splitting{naive{shopTables()}}, &Options{}},
		{"no tables", naive{}, &Options{}},
		{"a tenant", newHosted(t), &Options{Credentials: tenantA}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			def := shopDefinition
			if c.opts.Credentials != nil {
				def = hostedDefinition
			}
			Run(t, def, c.source, c.opts)
		})
	}
}

// splitting follows the documentation of filter.Split literally: it applies what
// is pushed, and claims the filters if Split reports all.
type splitting struct{ naive }

func (s splitting) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	i := slices.IndexFunc(s.tables, func(t memsource.Table) bool { return t.Name == req.Table })
	if i < 0 {
		return s.naive.Query(ctx, req, out)
	}
	t := s.tables[i]
	pushed, all := filter.Split(req.Where, func(f wire.Filter) bool {
		return t.Field(f.Field) != nil && f.Op != wire.OpIncludes && f.Op != wire.OpStartsWith
	})
	p, err := filter.Compile(pushed, t.Columns())
	if err != nil {
		return err
	}
	if all {
		out.Claim(connector.Served{Filters: true})
	}
	w := out.Begin(t.Columns())
	for _, row := range t.Rows {
		if p.Match(row) {
			if err := w.Row(row...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Run logs what it does not test, and skips nothing else.
func TestRunSkips(t *testing.T) {
	skips := func(src connector.Source, opts *Options) (list []string) {
		r := record(t, "", func(tb testing.TB) { run(tb, shopDefinition, src, opts) })
		require.Empty(t, r.failures())
		r.walk(func(r *recorder) {
			if r.skipped {
				list = append(list, r.name+": "+r.logs[len(r.logs)-1])
			}
		})
		return list
	}
	assert.Equal(t, []string{
		"events/join: connectortest: no foreign key leads from or to the table, to join along\n",
	}, skips(shop(t), &Options{Seed: 1}))

	one := naive{[]memsource.Table{shopTables()[2]}}
	assert.Equal(t, []string{
		"countries/count: connectortest: not declared: the source has no method for /count",
		"countries/size: connectortest: not declared: the source has no method for /size",
		"countries/cardinality: connectortest: not declared: the source has no method for /cardinality",
		"countries/aggregate: connectortest: not declared: the source has no method for /aggregate",
		"countries/link: connectortest: not declared: the source has no method for /linkHitRate",
	}, skips(one, &Options{Seed: 1}))

	assert.Equal(t, []string{
		`countries: connectortest: table "countries" has more than 2 rows: raise Options.Rows to exercise it`,
		"at_once: connectortest: there is no table of at most 5000 rows",
	}, skips(one, &Options{Seed: 1, RowBudget: 2}))
}

// Run logs legal answers that prove little, so that nobody takes them for tested.
func TestRunLogs(t *testing.T) {
	count := int64(99)
	source := patched{
		Source:      shop(t),
		discover:    func(d *wire.Discovery) { d.Tables[0].RowCount = &count },
		size:        func(s *wire.Size) { *s = wire.Size{Rows: 1000} },
		cardinality: func(c map[string]*wire.Cardinality) { c["tags"] = nil },
	}
	logged := func(only string, opts *connector.Options) string {
		r := record(t, only, func(tb testing.TB) { run(tb, shopDefinition, source, &Options{Seed: 1, Connector: opts}) })
		require.Empty(t, r.failures())
		return strings.Join(r.logged(), "\n")
	}
	assert.Contains(t, logged("orders/rows", nil), "discovery states a rowCount of 99, and 11 rows were read")
	assert.Contains(t, logged("orders/size", nil), "the size is an estimate or unknown")
	assert.Contains(t, logged("orders/cardinality", nil), `column "tags" is not counted`)
	assert.Contains(t, logged("orders/aggregate/min/tags", nil), `groups by [] of [min of "tags"] is declined (204)`)
	assert.Contains(t, logged("events", nil), `table "events" has no rows`)

	only := &connector.Options{Omit: connector.Omit{DateBucket: true, Offset: true}}
	assert.NotContains(t, logged("orders/aggregate/grain", only), "declined", "a grain is refused where none is declared")
	assert.Contains(t, logged("orders/page/id-desc", only), "the window of id-desc is left to the platform")

	r := record(t, "check", func(tb testing.TB) { run(tb, shopDefinition, naive{}, &Options{}) })
	assert.Contains(t, strings.Join(r.logged(), "\n"), "discovery lists no table")
	r = record(t, "check", func(tb testing.TB) { run(tb, shopDefinition, speaking{}, &Options{}) })
	assert.Contains(t, strings.Join(r.logged(), "\n"), `statements in the dialect "parrot"`)
}

// Refusing a legal request fails the run, because every source can answer it
// without claiming anything.
func TestRunRefusals(t *testing.T) {
	source := patched{Source: shop(t)}
	source.query = func(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
		if len(req.And) > 0 && req.And[0].Op == wire.OpStartsWith {
			return connector.Unsupported("no prefixes here")
		}
		return source.Source.Query(ctx, req, out)
	}
	r := record(t, "countries/filter", func(tb testing.TB) { run(tb, shopDefinition, source, &Options{Seed: 1}) })
	require.NotEmpty(t, r.failures())
	assert.Contains(t, r.failures()[0], "countries/filter/startswith/code: connectortest: POST /query: a legal "+
		"request is refused: unsupported: no prefixes here")
}

// A link between columns that are not a declared key may be refused with 422 only.
// A link along a key may not be refused.
func TestRunLinks(t *testing.T) {
	failures := func(refusal error) []string {
		source := unlinked{shop(t), refusal}
		r := record(t, "countries/link", func(tb testing.TB) { run(tb, shopDefinition, source, &Options{Seed: 1}) })
		return r.failures()
	}
	assert.Empty(t, failures(connector.Unsupported("not comparable")))
	require.NotEmpty(t, failures(connector.BadRequest("not comparable")))
	assert.Contains(t, failures(connector.BadRequest("not comparable"))[0], "measure-2: a legal request is refused")

	r := record(t, "orders/link", func(tb testing.TB) {
		run(tb, shopDefinition, unlinked{shop(t), connector.Unsupported("not comparable")}, &Options{Seed: 1})
	})
	require.Len(t, r.failures(), 2)
	assert.Contains(t, r.failures()[0], "orders/link/orders.customer_to_customers.id: connectortest: POST "+
		"/linkHitRate: a legal request is refused")
	assert.Contains(t, r.failures()[1], "orders/link/customers.id_to_orders.customer: ")
}

// unlinked refuses to measure any link.
type unlinked struct {
	*memsource.Source
	refusal error
}

func (u unlinked) LinkHitRate(_ context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	return nil, u.refusal
}

// alone fails if two calls overlap. In a bubble, calls that start together always
// overlap.
type alone struct {
	naive
	active *atomic.Int64
}

func (a alone) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	defer a.active.Add(-1)
	if a.active.Add(1) > 1 {
		return errors.New("busy")
	}
	time.Sleep(time.Millisecond)
	return a.naive.Query(ctx, req, out)
}

func TestRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record(t, "at_once", func(tb testing.TB) {
			run(tb, shopDefinition, alone{naive{shopTables()}, new(atomic.Int64)}, &Options{})
		})
		require.NotEmpty(t, r.failures())
		assert.Contains(t, r.failures()[0], "several at once: internal: internal error")
	})
}

// requests returns the requests of a run as text.
func requests(t *testing.T, only string, opts *Options) []string {
	source := newAsked()
	r := record(t, only, func(tb testing.TB) { run(tb, shopDefinition, source, opts) })
	require.Empty(t, r.failures())
	var list []string
	for _, req := range *source.queries {
		text, err := wire.EncodeRequest(&wire.QueryRequest{Table: req.Table, Where: req.Where, Sort: req.Sort,
			Fields: req.Fields, Joins: req.Joins,
			Envelope: wire.Envelope{TimeoutMS: req.TimeoutMS}})
		require.NoError(t, err)
		list = append(list, string(text))
	}
	return list
}

func TestRunSeed(t *testing.T) {
	first := requests(t, "orders/filter", &Options{Seed: 7})
	assert.Greater(t, len(first), 500)
	assert.Equal(t, first, requests(t, "orders/filter", &Options{Seed: 7}), "a seed repeats a run")
	assert.NotEqual(t, first, requests(t, "orders/filter", &Options{Seed: 8}), "another seed is another run")
	for _, req := range requests(t, "orders/filter/nin/amount", &Options{Seed: 7}) {
		assert.Contains(t, first, req, "what a selected subtest asks does not depend on the others")
	}

	r := record(t, "check", func(tb testing.TB) { run(tb, shopDefinition, naive{}, &Options{Seed: 7}) })
	assert.Contains(t, r.logged()[0], "Options{Seed: 7}", "the log tells the seed")
	r = record(t, "check", func(tb testing.TB) { run(tb, shopDefinition, naive{}, &Options{}) })
	assert.NotContains(t, r.logged()[0], "Options{Seed: 0}", "a run without one picks one")
}

// The work on a large table is limited, and the limit is logged.
func TestRunIsBounded(t *testing.T) {
	var rows [][]wire.Value
	for i := range 1000 {
		rows = append(rows, []wire.Value{wire.Int(int64(i)), wire.Text(fmt.Sprint("name ", i%17))})
	}
	table := memsource.Table{Table: wire.Table{Name: "many",
		Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString}}}, Rows: rows}
	source := newAsked()
	source.tables = []memsource.Table{table}
	r := record(t, "", func(tb testing.TB) { run(tb, shopDefinition, source, &Options{Seed: 1, work: 40_000}) })
	require.Empty(t, r.failures())
	// Pages and refusals add a few requests.
	assert.Less(t, len(*source.queries), 100, "40,000 visits of 1,000 rows are 40 requests, more or less")
	assert.Greater(t, len(*source.queries), 10)
	assert.Contains(t, strings.Join(r.logged(), "\n"), `table "many" has 1000 rows: about 10 % of the requests are made`)
	skipped := 0
	r.walk(func(r *recorder) {
		if r.skipped && strings.Contains(r.logs[len(r.logs)-1], "the work is bounded") {
			skipped++
		}
	})
	assert.Greater(t, skipped, 5, "subtests of which nothing was picked say so")
}

// A field that discovery calls not filterable must be refused, which a source
// without Describe does itself or not at all [rule aggregate-7a].
func TestRunNotFilterable(t *testing.T) {
	tables := shopTables()
	no := false
	tables[2].Field("name").Filterable = &no
	r := record(t, "countries/filter", func(tb testing.TB) { run(tb, shopDefinition, naive{tables}, &Options{Seed: 1}) })
	require.Len(t, r.failures(), 1)
	assert.Contains(t, r.failures()[0], `countries/filter/not_filterable: connectortest: POST /query: aggregate-7a: `)
}

// A run fails if no table can be read.
func TestRunNeedsToRead(t *testing.T) {
	r := record(t, "", func(tb testing.TB) { run(tb, hostedDefinition, newHosted(t), &Options{}) })
	require.Len(t, r.failures(), 1)
	assert.Contains(t, r.failures()[0], "discovering the tables: bad_request: credentials.account: required")

	source := refusing{naive: naive{shopTables()}, after: -1, query: connector.Timeout("the upstream sleeps")}
	r = record(t, "countries", func(tb testing.TB) { run(tb, shopDefinition, source, &Options{}) })
	require.Len(t, r.failures(), 1)
	assert.Contains(t, r.failures()[0], `reading table "countries" whole: timeout: the upstream sleeps`)
}

// The other tests use a recorder instead of a *testing.T. This one runs the tests
// of the package with go test and reads the output.
func TestRunUnderGoTest(t *testing.T) {
	const inner = "CONNECTORTEST_INNER"
	if os.Getenv(inner) != "" {
		source := patched{Source: shop(t), query: filtering(t, func(f wire.Filter, cell wire.Value, right bool) bool {
			return right && !(f.Op == wire.OpNin && cell.IsNull())
		})}
		Run(t, shopDefinition, source, &Options{Seed: 1})
		return
	}
	test := func(only string) (output string, failed bool) {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestRunUnderGoTest$/"+only)
		cmd.Env = append(os.Environ(), inner+"=1")
		out, err := cmd.CombinedOutput()
		return string(out), err != nil
	}
	output, failed := test("^orders$/^filter$/^nin$/^region$")
	assert.True(t, failed)
	assert.Contains(t, output, "--- FAIL: TestRunUnderGoTest/orders/filter/nin/region")
	assert.Contains(t, output, "POST /query: filter-3a: 2 of 11 rows that the filters keep are missing")
	assert.Contains(t, output, "Options{Seed: 1} repeats this run")
	assert.NotContains(t, output, "orders/filter/nin/amount", "-run selects")

	output, failed = test("^orders$/^filter$/^in$")
	assert.False(t, failed, output)
	assert.Contains(t, output, "--- PASS: TestRunUnderGoTest/orders/filter/in/region")
}

// Every kind of operand is generated.
func TestOperands(t *testing.T) {
	tables := shopTables()
	operands := func(field string, op wire.Op) []string {
		at := slices.IndexFunc(tables[0].Fields, func(f wire.Field) bool { return f.Name == field })
		var cells []wire.Value
		for _, row := range tables[0].Rows {
			var v wire.Value
			data, err := json.Marshal(row[at])
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(data, &v))
			cells = append(cells, v)
		}
		r := running{Options: Options{Seed: 1}}
		var list []string
		for _, f := range newColumn(tables[0].Fields[at], cells, r.random(field)).filters(op) {
			switch op.Shape() {
			case wire.ShapeValue:
				list = append(list, spell(f.Value))
			case wire.ShapeMember:
				text, err := json.Marshal(f.Values)
				require.NoError(t, err)
				list = append(list, string(text))
			case wire.ShapeNullary:
				list = append(list, string(f.Op))
			}
		}
		return list
	}
	for _, c := range []struct {
		field string
		op    wire.Op
		has   []string
		why   string
	}{
		{"amount", wire.OpEq, []string{"null", `""`, `"n/a"`, `"1e3"`, "true", `"-10.00"`, `"99999999999999999999.99"`, `"-010.000"`, "-10"},
			"a null, no numbers, both ends, and other spellings of them"},
		{"region", wire.OpNeq, []string{"null", `""`}, "a null and the empty text"},
		{"tags", wire.OpContains, []string{"null", `""`}, "a null and the empty text"},
		{"region", wire.OpStartsWith, []string{"null", `""`, `"%"`, `"_"`}, "wildcards are plain characters"},
		{"day", wire.OpGte, []string{`"1066-10-14"`, `"tomorrow"`, `"2023-12-31"`, `"2024-12-31"`,
			`"2023-12-31T00:00:00Z"`}, "both ends, no date, and a date as an instant"},
		{"paid_at", wire.OpLt, []string{`"2023-12-31T23:59:59.000Z"`, `"2024-01-01T01:59:59+02:00"`}, "an instant under another offset"},
		{"gift", wire.OpEq, []string{"true", "1", `"TRUE"`, `"true"`}, "true is the text true and is not 1"},
		{"serial", wire.OpIn, []string{"null", "[null]"}, "an empty list, and one of nulls"},
		{"serial", wire.OpNotNull, []string{"notnull"}, "nothing to vary"},
	} {
		got := operands(c.field, c.op)
		for _, want := range c.has {
			assert.Contains(t, got, want, "%s %s: %s", c.field, c.op, c.why)
		}
	}
	assert.Contains(t, elements(wire.Text(`["red",1.5,true,null,{}]`)), wire.Text("r"), "a piece of an element (filter-4)")
	assert.Contains(t, elements(wire.Text(`["red",1.5,true,null,{}]`)), wire.Float(1.5))
	assert.Empty(t, elements(wire.Text("no array")))
	assert.Contains(t, parts("North"), wire.Text("NOR"), "another case (filter-5)")
}
