package connectortest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The tests here verify answers that other connectors may give, and that no
// source built on this library does.

// shopSnapshot returns the shop's tables as they are read from the wire.
func shopSnapshot(t *testing.T) *snapshot {
	p := &snapshot{
		doc: &wire.Document{Capabilities: wire.Capabilities{
			Operators: filter.Operators(), DateBucket: true, Join: true, Sort: wire.SortMulti, Offset: true,
		}},
		discovery: &wire.Discovery{},
		readings:  map[string]*reading{},
	}
	for _, table := range shopTables() {
		rows := make([][]wire.Value, len(table.Rows))
		for i, row := range table.Rows {
			data, err := json.Marshal(row)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(data, &rows[i]))
		}
		p.discovery.Tables = append(p.discovery.Tables, table.Table)
		own := table.Table
		p.readings[table.Name] = &reading{relation{own.Columns(), rows}, &own}
	}
	return p
}

// ids returns rows of one column.
func ids(list ...int64) *Answer {
	a := &Answer{Names: []string{"id"}}
	for _, id := range list {
		a.Rows = append(a.Rows, []wire.Value{wire.Int(id)})
	}
	return a
}

func serving(a *Answer, served wire.Served) *Answer {
	a.Served = served
	return a
}

// rule returns the rules that an error names, "" for no error.
func rule(t *testing.T, err error) string {
	if err == nil {
		return ""
	}
	var v *violation
	require.ErrorAs(t, err, &v)
	require.NotEmpty(t, v.expected)
	require.NotEmpty(t, v.got)
	return v.rule
}

func TestCheckQuery(t *testing.T) {
	var (
		nothing  = wire.Served{}
		filtered = wire.Served{Filters: true}
		sorted   = wire.Served{Sort: true}
		both     = wire.Served{Filters: true, Sort: true}
		all      = wire.Served{Filters: true, Sort: true, Window: true}
	)
	north := []wire.Filter{{Field: "region", Op: wire.OpEq, Value: wire.Text("North")}} // rows 1 and 11
	byDay := []wire.SortKey{{Field: "day", Dir: wire.Asc}}                              // 6; 1 and 7; 2 3 4 5 8 9 10 11
	byDayDesc := []wire.SortKey{{Field: "day", Dir: wire.Desc}}
	undeclared := func(p *snapshot, _ *wire.QueryRequest) { p.doc.Capabilities.Operators = []wire.Op{wire.OpGt} }
	hop := func(from, to string) wire.JoinHop {
		return wire.JoinHop{FromTable: from, ToTable: to, FromField: "id", ToField: "id"}
	}
	for _, c := range []struct {
		why    string
		req    wire.QueryRequest
		answer *Answer
		want   string
		change func(*snapshot, *wire.QueryRequest)
	}{
		{why: "exactly the rows, claimed", req: wire.QueryRequest{Where: wire.Where{And: north}}, answer: serving(ids(1, 11), filtered)},
		{why: "exactly the rows, in another order, nothing claimed",
			req: wire.QueryRequest{Where: wire.Where{And: north}}, answer: serving(ids(11, 1), nothing)},
		{why: "a superset of what an undeclared operator keeps is legal when nothing is claimed",
			req:    wire.QueryRequest{Where: wire.Where{And: north}},
			answer: serving(ids(1, 2, 3, 11), nothing), change: undeclared},
		{why: "a superset of what a declared operator keeps is not (rule 3)", req: wire.QueryRequest{Where: wire.Where{And: north}},
			answer: serving(ids(1, 2, 11), nothing), want: "filter-7"},
		{why: "declared and undeclared operators mixed: the declared ones hold", req: wire.QueryRequest{
			Where: wire.Where{And: append([]wire.Filter{{Field: "id", Op: wire.OpGt, Value: wire.Int(10)}}, north...)}},
			answer: serving(ids(10, 11), nothing), want: "filter-6", change: undeclared},
		{why: "no row may be missing though nothing is claimed",
			req: wire.QueryRequest{Where: wire.Where{And: north}}, answer: serving(ids(1), nothing), want: "filter-7"},
		{why: "a window that is not claimed is not cut (query-8)", req: wire.QueryRequest{Limit: 2},
			answer: serving(ids(1, 2), both), want: "query-16"},
		{why: "a window that is not claimed may be answered in full", req: wire.QueryRequest{Limit: 2},
			answer: serving(ids(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), both)},
		{why: "a window without a sort holds any rows", req: wire.QueryRequest{Limit: 2, Offset: 1}, answer: serving(ids(9, 4), all)},
		{why: "but as many as there are to be had", req: wire.QueryRequest{Limit: 5, Offset: 8},
			answer: serving(ids(9, 4), all), want: "stream-2"},
		{why: "a window beyond the rows is empty", req: wire.QueryRequest{Limit: 5, Offset: 80}, answer: serving(ids(), all)},
		{why: "a window claimed without filters", req: wire.QueryRequest{Where: wire.Where{And: north}, Limit: 1},
			answer: serving(ids(1), wire.Served{Sort: true, Window: true}), want: "stream-2"},
		{why: "a row twice", req: wire.QueryRequest{Where: wire.Where{And: north}},
			answer: serving(ids(1, 1, 11), filtered), want: "query-16"},
		{why: "a row that is not there", req: wire.QueryRequest{Where: wire.Where{And: north}},
			answer: serving(ids(1, 11, 12), filtered), want: "query-16"},
		{why: "another spelling of the same number is the same row", req: wire.QueryRequest{Where: wire.Where{And: north}},
			answer: &Answer{Names: []string{"id"}, Rows: [][]wire.Value{{wire.Text("1.0")}, {wire.Text("11")}}}},

		{why: "ties fall either way", req: wire.QueryRequest{Sort: byDay}, answer: serving(ids(6, 7, 1, 2, 3, 4, 5, 8, 9, 10, 11), both)},
		{why: "ties fall either way at the end of a window", req: wire.QueryRequest{Sort: byDay, Limit: 2}, answer: serving(ids(6, 7), all)},
		{why: "a window begins within ties", req: wire.QueryRequest{Sort: byDay, Limit: 2, Offset: 2}, answer: serving(ids(7, 2), all)},
		{why: "one of the ties is not both of them", req: wire.QueryRequest{Sort: byDay},
			answer: serving(ids(6, 7, 2, 1, 3, 4, 5, 8, 9, 10, 11), both), want: "query-1"},
		{why: "the wrong end of the order", req: wire.QueryRequest{Sort: byDayDesc, Limit: 1},
			answer: serving(ids(6), all), want: "query-1, stream-2"},
		{why: "an unclaimed order is any", req: wire.QueryRequest{Sort: byDay},
			answer: serving(ids(11, 7, 1, 2, 3, 4, 5, 8, 9, 10, 6), filtered)},
		{why: "an order claimed over a superset is judged by what can be seen",
			answer: serving(ids(1, 3, 2, 11), sorted), want: "query-1", change: undeclared,
			req: wire.QueryRequest{Where: wire.Where{And: north}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}}}},
		{why: "and is fine when it is one", answer: serving(ids(11, 3, 1), sorted), change: undeclared,
			req: wire.QueryRequest{Where: wire.Where{And: north}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Desc}}}},
		{why: "what cannot be seen is not judged", answer: serving(ids(11, 1, 3), sorted), change: undeclared,
			req: wire.QueryRequest{Where: wire.Where{And: north}, Sort: byDay}},

		{why: "an answer for a table that was not discovered", req: wire.QueryRequest{Table: "ghosts"}, answer: ids(), want: "measure-3"},
		{why: "an answer to an unknown filter",
			req: wire.QueryRequest{Where: wire.Where{And: []wire.Filter{{Field: "x", Op: wire.OpNotNull}}}}, answer: ids(), want: "filter-11"},
		{why: "an answer to an unknown filter in an or that is true anyway",
			req:    wire.QueryRequest{Where: wire.Where{Or: [][]wire.Filter{{}, {{Field: "x", Op: wire.OpNotNull}}}}},
			answer: ids(), want: "filter-11"},
		{why: "an answer to an unknown sort", req: wire.QueryRequest{Sort: []wire.SortKey{{Field: "x"}}}, answer: ids(), want: "filter-11a"},
		{why: "an answer to an unknown field", req: wire.QueryRequest{Fields: []string{"x"}}, answer: ids(), want: "filter-11a"},
		{why: "an answer to a value that the operator does not take",
			req: wire.QueryRequest{Where: wire.Where{
				And: []wire.Filter{{Field: "id", Op: wire.OpIsNull, Value: wire.Int(1)}}}}, answer: ids(), want: "filter-14"},
		{why: "an answer to a filter on what discovery calls not filterable",
			req: wire.QueryRequest{Where: wire.Where{And: north}}, answer: ids(1, 11), want: "aggregate-7a",
			change: func(p *snapshot, _ *wire.QueryRequest) {
				p.readings["orders"].table.Field("region").Filterable = new(bool)
			}},
		{why: "an answer to a join where none is declared",
			req: wire.QueryRequest{Joins: []wire.JoinHop{hop("orders", "customers")}}, answer: ids(), want: "query-7",
			change: func(p *snapshot, _ *wire.QueryRequest) { p.doc.Capabilities.Join = false }},
		{why: "a hop from a table that two hops reached", answer: ids(), want: "query-6a",
			req: wire.QueryRequest{Joins: []wire.JoinHop{hop("orders", "customers"), hop("orders", "customers"), hop("customers", "events")}}},
		{why: "a hop from a table that nothing reached", answer: ids(), want: "query-6a",
			req: wire.QueryRequest{Joins: []wire.JoinHop{hop("customers", "events")}}},
		{why: "a hop to a table that was not discovered", answer: ids(), want: "measure-3",
			req: wire.QueryRequest{Joins: []wire.JoinHop{hop("orders", "ghosts")}}},
		{why: "a hop over an unknown field", answer: ids(), want: "filter-11a", req: wire.QueryRequest{
			Joins: []wire.JoinHop{{FromTable: "orders", ToTable: "customers", FromField: "x", ToField: "id"}}}},
		{why: "an unknown field of a hop", answer: ids(), want: "filter-11a", req: wire.QueryRequest{
			Joins: []wire.JoinHop{{FromTable: "orders", ToTable: "customers", FromField: "id", ToField: "id",
				Fields: []wire.JoinField{{Field: "x"}}}}}},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := shopSnapshot(t)
			req := c.req
			if req.Table == "" {
				req.Table = "orders"
			}
			if req.Fields == nil {
				req.Fields = []string{"id"}
			}
			if c.change != nil {
				c.change(p, &req)
			}
			assert.Equal(t, c.want, rule(t, checkQuery(p, &req, c.answer)))
		})
	}
}

// A join by hand: a match each, several matches, none, a null key, and on to a
// third table.
func TestJoin(t *testing.T) {
	p := shopSnapshot(t)
	all, err := join(p, p.readings["countries"], []wire.JoinHop{
		{FromTable: "countries", ToTable: "customers", FromField: "code", ToField: "country",
			Fields: []wire.JoinField{{Field: "name", As: "customer"}}},
		{FromTable: "customers", ToTable: "customers", FromField: "boss", ToField: "id", Fields: []wire.JoinField{{Field: "name", As: "boss"}}},
	})
	require.NoError(t, err)
	assert.Equal(t, []wire.Column{
		{Name: "code", Type: wire.TypeString}, {Name: "name", Type: wire.TypeString},
		{Name: "customer", Type: wire.TypeString, Hop: 1}, {Name: "boss", Type: wire.TypeString, Hop: 2},
	}, all.columns)
	var got []string
	for _, row := range all.rows {
		got = append(got, spellRow([]string{"code", "name", "customer", "boss"}, row))
	}
	assert.Equal(t, []string{
		`{"code":"GB","name":"United Kingdom","customer":"Ada","boss":null}`,
		`{"code":"US","name":"United States","customer":"Grace","boss":"Ada"}`,
		`{"code":"US","name":"United States","customer":"Barbara","boss":"Grace"}`,
		`{"code":"NL","name":"Netherlands","customer":null,"boss":null}`,
	}, got)
}

// A hop from the base table starts at its rows, though a self-join led there
// too.
func TestJoinFromTheBase(t *testing.T) {
	p := shopSnapshot(t)
	boss := wire.JoinHop{FromTable: "customers", ToTable: "customers", FromField: "boss", ToField: "id",
		Fields: []wire.JoinField{{Field: "name", As: "boss"}}}
	land := wire.JoinHop{FromTable: "customers", ToTable: "countries", FromField: "country", ToField: "code",
		Fields: []wire.JoinField{{Field: "name", As: "land"}}}
	all, err := join(p, p.readings["customers"], []wire.JoinHop{boss, land})
	require.NoError(t, err)
	grace := all.rows[1]
	assert.Equal(t, []wire.Value{wire.Text("Ada"), wire.Text("United States")}, grace[len(grace)-2:], "her own country, not her boss's")
}

func TestLinkKey(t *testing.T) {
	key := func(v wire.Value, numeric bool) string {
		k, ok := linkKey(v, numeric)
		if !ok {
			return "none"
		}
		return k
	}
	assert.Equal(t, key(wire.Text("1.50"), true), key(wire.Float(1.5), true), "numbers by their digits")
	assert.NotEqual(t, key(wire.Text("1.50"), false), key(wire.Text("1.5"), false), "text by bytes")
	assert.Equal(t, key(wire.Int(7), false), key(wire.Text("7"), false), "a number as its text")
	assert.Equal(t, "none", key(wire.Null(), false), "a null key matches nothing")
	assert.Equal(t, "none", key(wire.Text("n/a"), true), "what is no number equals no number, itself included")
	assert.Equal(t, "none", key(wire.Bool(true), true), "nor is true a number")
}

func TestCheckMeasures(t *testing.T) {
	p := shopSnapshot(t)
	region := &wire.CardinalityRequest{Table: "orders", Columns: []string{"region"}}
	link := &wire.LinkHitRateRequest{FromTable: "orders", FromColumn: "customer", ToTable: "customers", ToColumn: "id"}
	right := wire.LinkHitRate{FromNonNull: 9, OrphanCount: 3, OrphanRate: 1.0 / 3, OrphanSamples: []string{"77", "88"}}
	rate := func(change func(*wire.LinkHitRate)) error {
		l := right
		change(&l)
		return checkLink(p, link, &l)
	}
	for _, c := range []struct {
		why, want string
		err       error
	}{
		{"an unknown size is legal", "", checkSize(p, "orders", nil)},
		{"an estimate is legal whatever it says", "", checkSize(p, "orders", &wire.Size{Rows: 1000})},
		{"an exact size is the number of rows", "measure-4", checkSize(p, "orders", &wire.Size{Rows: 1000, Exact: true})},
		{"a size of what was not discovered", "measure-3", checkSize(p, "ghosts", nil)},

		{"a column that cannot be counted is legal", "", checkCardinality(p, region, map[string]*wire.Cardinality{"region": nil})},
		{"a column that was asked for is in the answer", "measure-6", checkCardinality(p, region, map[string]*wire.Cardinality{})},
		{"and no other is", "measure-6", checkCardinality(p, region, map[string]*wire.Cardinality{"region": nil, "id": nil})},
		{"an unknown column is refused", "measure-3",
			checkCardinality(p, &wire.CardinalityRequest{Table: "orders", Columns: []string{"x"}}, map[string]*wire.Cardinality{"x": nil})},

		{"the right link", "", rate(func(*wire.LinkHitRate) {})},
		{"no samples are legal", "", rate(func(l *wire.LinkHitRate) { l.OrphanSamples = nil })},
		{"the rate is over the non-null values", "measure-2", rate(func(l *wire.LinkHitRate) { l.OrphanRate = 3.0 / 11 })},
		{"a null is no value", "measure-2", rate(func(l *wire.LinkHitRate) { l.FromNonNull = 11 })},
		{"orphans are rows, not values", "measure-2", rate(func(l *wire.LinkHitRate) { l.OrphanCount = 2 })},
		{"a sample twice", "measure-2a", rate(func(l *wire.LinkHitRate) { l.OrphanSamples = []string{"77", "77"} })},
		{"a link over an unknown column is refused", "measure-3",
			checkLink(p, &wire.LinkHitRateRequest{FromTable: "orders", FromColumn: "x", ToTable: "customers", ToColumn: "id"}, &right)},
		{"a link to what was not discovered", "measure-3",
			checkLink(p, &wire.LinkHitRateRequest{FromTable: "orders", FromColumn: "id", ToTable: "ghosts", ToColumn: "id"}, &right)},
		{"a link over nothing has the rate 0", "",
			checkLink(p, &wire.LinkHitRateRequest{FromTable: "events", FromColumn: "id", ToTable: "orders", ToColumn: "id"}, &wire.LinkHitRate{})},

		{"a count of what was not discovered", "measure-3", checkCount(p, &wire.CountRequest{Table: "ghosts"}, 0)},
		{"a count under an unknown filter is refused", "filter-11",
			checkCount(p, &wire.CountRequest{Table: "orders", Where: wire.Where{And: []wire.Filter{{Field: "x", Op: wire.OpIsNull}}}}, 11)},
	} {
		t.Run(c.why, func(t *testing.T) { assert.Equal(t, c.want, rule(t, c.err)) })
	}
}

func TestCheckAggregate(t *testing.T) {
	type row = map[string]wire.Value
	group := func(field string, grain wire.Grain) []wire.GroupKey {
		return []wire.GroupKey{{Field: field, As: "g", Grain: grain}}
	}
	measure := func(fn wire.Fn, field string) []wire.Measure {
		return []wire.Measure{{Fn: fn, Field: field, As: "m"}}
	}
	two := wire.JoinHop{FromTable: "customers", ToTable: "countries", FromField: "country", ToField: "code",
		Fields: []wire.JoinField{{Field: "name", As: "land"}}}
	for _, c := range []struct {
		why, want string
		req       wire.AggregateRequest
		rows      []row
		change    func(*snapshot)
	}{
		{why: "a sum is exact whatever its scale is",
			req: wire.AggregateRequest{Table: "orders", Measures: measure(wire.FnSum, "weight")}, rows: []row{{"m": wire.Text("23.10000010")}}},
		{why: "a sum is a digit string", want: "aggregate-1a",
			req: wire.AggregateRequest{Table: "orders", Measures: measure(wire.FnSum, "weight")}, rows: []row{{"m": wire.Float(23.1000001)}}},
		{why: "a maximum is spelled as in a row",
			req: wire.AggregateRequest{Table: "orders", Measures: measure(wire.FnMax, "weight")}, rows: []row{{"m": wire.Int(10)}}},
		{why: "a maximum spelled otherwise", want: "aggregate-1b",
			req: wire.AggregateRequest{Table: "orders", Measures: measure(wire.FnMax, "weight")}, rows: []row{{"m": wire.Text("10")}}},
		{why: "a maximum of booleans is left open",
			req: wire.AggregateRequest{Table: "orders", Measures: measure(wire.FnMax, "gift")}, rows: []row{{"m": wire.Bool(false)}}},
		{why: "a sum over text is left open",
			req: wire.AggregateRequest{Table: "orders", Measures: measure(wire.FnSum, "region")}, rows: []row{{"m": wire.Null()}}},
		{why: "a group is answered once", want: "aggregate-2", req: wire.AggregateRequest{Table: "countries", GroupBy: group("code", "")},
			rows: []row{{"g": wire.Text("GB")}, {"g": wire.Text("GB")}, {"g": wire.Text("US")}, {"g": wire.Text("NL")}}},
		{why: "groups come in any order", req: wire.AggregateRequest{Table: "countries", GroupBy: group("code", "")},
			rows: []row{{"g": wire.Text("US")}, {"g": wire.Text("NL")}, {"g": wire.Text("GB")}}},
		{why: "a group that no row has", want: "aggregate-2",
			req: wire.AggregateRequest{Table: "countries", GroupBy: group("code", "")}, rows: []row{{"g": wire.Text("FR")}}},
		{why: "a group's key is spelled as in a row", want: "aggregate-2",
			req: wire.AggregateRequest{Table: "customers", GroupBy: group("id", "")}, rows: []row{{"g": wire.Text("1.0")}}},
		{why: "a row has the members asked for", want: "aggregate-11",
			req:  wire.AggregateRequest{Table: "countries", GroupBy: group("code", "")},
			rows: []row{{"g": wire.Text("US"), "n": wire.Int(1)}}},
		{why: "no rows and no groupBy are one row", want: "aggregate-3",
			req: wire.AggregateRequest{Table: "events", Measures: measure(wire.FnCount, "")}},
		{why: "no rows and a groupBy are no row", req: wire.AggregateRequest{Table: "events", GroupBy: group("id", "")}},
		{why: "as many groups as the limit", want: "aggregate-6",
			req:  wire.AggregateRequest{Table: "countries", GroupBy: group("code", ""), Limit: 3},
			rows: []row{{"g": wire.Text("US")}, {"g": wire.Text("NL")}}},
		{why: "as many groups as the limit, all of them", want: "aggregate-6",
			req:  wire.AggregateRequest{Table: "countries", GroupBy: group("code", ""), Limit: 3},
			rows: []row{{"g": wire.Text("US")}, {"g": wire.Text("NL")}, {"g": wire.Text("GB")}}},
		{why: "a quarter", req: wire.AggregateRequest{Table: "orders", GroupBy: group("day", wire.GrainQuarter),
			Measures: measure(wire.FnCount, "")}, rows: []row{
			{"g": wire.Text("2023-10-01"), "m": wire.Int(1)}, {"g": wire.Text("2024-01-01"), "m": wire.Int(5)},
			{"g": wire.Text("2024-04-01"), "m": wire.Int(1)},
			{"g": wire.Text("2024-07-01"), "m": wire.Int(1)}, {"g": wire.Text("2024-10-01"), "m": wire.Int(3)}}},
		{why: "a grain where none is declared", want: "aggregate-4a",
			req:    wire.AggregateRequest{Table: "orders", GroupBy: group("day", wire.GrainYear)},
			change: func(p *snapshot) { p.doc.Capabilities.DateBucket = false }},
		{why: "a group by what is not groupable", want: "aggregate-7a", req: wire.AggregateRequest{Table: "orders", GroupBy: group("day", "")},
			change: func(p *snapshot) { p.readings["orders"].table.Field("day").Groupable = new(bool) }},
		{why: "a measure of what is not aggregatable", want: "aggregate-7a",
			req:    wire.AggregateRequest{Table: "orders", Measures: measure(wire.FnMax, "day")},
			change: func(p *snapshot) { p.readings["orders"].table.Field("day").Aggregatable = new(bool) }},
		{why: "a group by an unknown field", want: "filter-11a", req: wire.AggregateRequest{Table: "orders", GroupBy: group("x", "")}},
		{why: "a measure of an unknown field", want: "filter-11a",
			req: wire.AggregateRequest{Table: "orders", Measures: measure(wire.FnCount, "x")}},
		{why: "an unknown filter", want: "filter-11",
			req: wire.AggregateRequest{Table: "orders", Measures: measure(wire.FnCount, ""),
				Where: wire.Where{And: []wire.Filter{{Field: "x", Op: wire.OpIsNull}}}}},
		{why: "a table that was not discovered", want: "measure-3",
			req: wire.AggregateRequest{Table: "ghosts", Measures: measure(wire.FnCount, "")}},
		{why: "groups of a joined field", req: wire.AggregateRequest{Table: "customers", Joins: []wire.JoinHop{two},
			GroupBy: group("land", ""), Measures: measure(wire.FnCount, "")},
			rows: []row{{"g": wire.Text("United Kingdom"), "m": wire.Int(1)},
				{"g": wire.Text("United States"), "m": wire.Int(2)}, {"g": wire.Null(), "m": wire.Int(2)}}},
		{why: "joined rows without a match are a group", want: "aggregate-3",
			req: wire.AggregateRequest{Table: "customers", Joins: []wire.JoinHop{two}, GroupBy: group("land", ""),
				Measures: measure(wire.FnCount, "")},
			rows: []row{{"g": wire.Text("United Kingdom"), "m": wire.Int(1)}, {"g": wire.Text("United States"), "m": wire.Int(2)}}},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := shopSnapshot(t)
			if c.change != nil {
				c.change(p)
			}
			if c.req.Limit == 0 {
				c.req.Limit = wire.AggregateLimit
			}
			assert.Equal(t, c.want, rule(t, checkAggregate(p, &c.req, c.rows)))
		})
	}
	for _, c := range []struct {
		why string
		req wire.AggregateRequest
	}{
		{"a grain over what is no date", wire.AggregateRequest{Table: "orders", GroupBy: group("region", wire.GrainYear)}},
		{"a name that two columns have", wire.AggregateRequest{Table: "customers", Measures: measure(wire.FnCount, "name"), Joins: []wire.JoinHop{
			{FromTable: "customers", ToTable: "countries", FromField: "country", ToField: "code", Fields: []wire.JoinField{{Field: "name"}}}}}},
	} {
		t.Run(c.why, func(t *testing.T) {
			c.req.Limit = wire.AggregateLimit
			var open unverifiable
			assert.ErrorAs(t, checkAggregate(shopSnapshot(t), &c.req, nil), &open)
		})
	}
}

// Sums of very long numbers are not verified, because that would take too long.
func TestSumIsBounded(t *testing.T) {
	_, ok := sum([]wire.Value{wire.Text("1" + strings.Repeat("0", maxDigits))})
	assert.False(t, ok)
	total, ok := sum([]wire.Value{wire.Text("0.1"), wire.Text("+0.20"), wire.Int(-3), wire.Float(1e-7)})
	require.True(t, ok)
	assert.Equal(t, `the digit string "-2.6999999"`, spellSum(total))
	assert.True(t, isSum(wire.Text("-2.69999990"), total))
	assert.False(t, isSum(wire.Text("-2.7"), total))
	assert.False(t, isSum(wire.Null(), total))
}

func TestSpelling(t *testing.T) {
	for _, c := range []struct {
		t    wire.Type
		cell wire.Value
		want string
		why  string
	}{
		{wire.TypeNumber, wire.Int(1), "", "a number"},
		{wire.TypeNumber, wire.Text("9007199254740993"), "", "digits beyond 2^53"},
		{wire.TypeDecimal, wire.Text("1e3"), "cell-1", "no exponents in text"},
		{wire.TypeDecimal, wire.Bool(true), "cell-1", "true is no number"},
		{wire.TypeBoolean, wire.Bool(false), "", "a boolean"},
		{wire.TypeBoolean, wire.Int(0), "cell-5", "0 is not false"},
		{wire.TypeDate, wire.Text("2024-02-29"), "", "a day"},
		{wire.TypeDate, wire.Text("2023-02-29"), "cell-2a", "no day"},
		{wire.TypeDate, wire.Text("2024-02-29T00:00:00Z"), "cell-2a", "a datetime is no date"},
		{wire.TypeDatetime, wire.Text("2024-02-29T00:00:00.123456789Z"), "", "any fraction"},
		{wire.TypeDatetime, wire.Text("2024-02-29T00:00:00+00:00"), "cell-2", "Z is written out"},
		{wire.TypeDatetime, wire.Int(1709164800), "cell-2", "seconds are no datetime"},
		{wire.TypeJSON, wire.Text(`{"a":[1]}`), "", "compact JSON"},
		{wire.TypeJSON, wire.Text(`{"a": 1}`), "cell-3", "compact means without blanks"},
		{wire.TypeJSON, wire.Text(""), "cell-3", "nothing is not JSON"},
		{wire.TypeArray, wire.Text(`[]`), "", "an array"},
		{wire.TypeArray, wire.Text(`{}`), "cell-3", "an object is no array"},
		{wire.TypeString, wire.Int(1), "", "any scalar is text"},
	} {
		got, _ := spelling(c.cell, c.t)
		assert.Equal(t, c.want, got, "%s: %s", c.t, c.why)
	}
}
