package connector_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// joined emits rows of the columns given, through QueryJoined.
func joined(served connector.Applied, columns []wire.Column, rows ...[]wire.Value) testkit.Endpoints {
	return testkit.Endpoints{
		Source: testkit.Source{OnQuery: func(context.Context, *connector.Query, *connector.Rows) error {
			return errors.New("Query was called for a request with joins")
		}},
		Joiner: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
			out.Claim(served)
			return testkit.Rows(out.Begin(columns), rows)
		},
	}
}

// TestJoins checks the library's part of joins: which column becomes which
// member, and that filters and sort see base fields only.
func TestJoins(t *testing.T) {
	text, null := wire.Text, wire.Null()
	const (
		toB = `{"fromTable":"items","toTable":"b","fromField":"id","toField":"id","fields":[{"field":"name",` +
			`"as":"b"}]}`
		toC = `{"fromTable":"b","toTable":"c","fromField":"id","toField":"id","fields":[{"field":"name","as":"c"},` +
			`{"field":"size"}]}`
		me = `{"fromTable":"items","toTable":"items","fromField":"boss","toField":"id","fields":[{"field":"name",` +
			`"as":"bossName"}]}`
	)
	base := func(names ...string) (list []wire.Column) {
		for _, n := range names {
			list = append(list, wire.Column{Name: n})
		}
		return list
	}
	hop := func(n int, name string) wire.Column { return wire.Column{Name: name, Hop: n} }
	for _, c := range []struct {
		why         string
		served      connector.Applied
		begin       []wire.Column
		rows        [][]wire.Value
		query, want string
	}{
		{
			"fields first, then the hops' in their order, wherever the source puts them", connector.Applied{},
			append([]wire.Column{hop(2, "size"), hop(1, "b")}, append(base("id"), hop(2, "c"))...),
			[][]wire.Value{{wire.Int(9), text("x"), wire.Int(1), text("y")}, {null, null, wire.Int(2), null}},
			`"and":[],"sort":[],"fields":["id"],"joins":[` + toB + `,` + toC + `]`,
			`{"rows":[{"id":1,"b":"x","c":"y","size":9},{"id":2,"b":null,"c":null,"size":null}]}`,
		},
		{
			"a base column that only a filter needs may be called like a hop's member", connector.Applied{},
			append(base("id", "b"), hop(1, "b")),
			[][]wire.Value{{wire.Int(1), text("keep"), text("drop")}, {wire.Int(2), text("drop"), text("keep")}},
			`"and":[{"field":"b","op":"eq","value":"keep"}],"sort":[],"fields":["id"],"joins":[` + toB + `]`,
			`{"rows":[{"id":1,"b":"drop"}]}`,
		},
		{
			"and one that only the sort needs", connector.Applied{},
			append([]wire.Column{hop(1, "b")}, base("id", "b")...),
			[][]wire.Value{{text("1"), wire.Int(1), text("z")}, {text("2"), wire.Int(2), text("a")},
				{text("3"), wire.Int(3), text("m")}},
			`"and":[],"sort":[{"field":"b","dir":"asc"}],"limit":2,"fields":["id"],"joins":[` + toB + `]`,
			`{"rows":[{"id":2,"b":"2"},{"id":3,"b":"3"}]}`,
		},
		{
			"a self-join's columns are distinguished by their hop", connector.Applied{},
			append(base("name", "boss"), hop(1, "bossName"), hop(1, "name")),
			[][]wire.Value{{text("ann"), wire.Int(2), text("bob"), text("bob")}},
			`"and":[{"field":"name","op":"eq","value":"ann"}],"sort":[],"fields":["name"],"joins":[` + me + `]`,
			`{"rows":[{"name":"ann","bossName":"bob"}]}`,
		},
		{
			"several matches are several rows, and the window counts them", connector.Applied{},
			append(base("id"), hop(1, "b")),
			[][]wire.Value{{wire.Int(1), text("x")}, {wire.Int(1), text("y")}, {wire.Int(1), text("z")},
				{wire.Int(2), null}},
			`"and":[],"sort":[{"field":"id","dir":"desc"}],"limit":2,"offset":1,"fields":["id"],"joins":[` + toB +
				`]`,
			`{"rows":[{"id":1,"b":"x"},{"id":1,"b":"y"}]}`,
		},
		{
			"no base fields at all", connector.Applied{}, []wire.Column{hop(1, "b")},
			[][]wire.Value{{text("x")}},
			`"and":[],"sort":[],"fields":[],"joins":[` + toB + `]`,
			`{"rows":[{"b":"x"}]}`,
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := serve(t, joined(c.served, c.begin, c.rows...), nil)
			a := s.post("/query", query(c.query))
			assert.Equal(t, all+"\n"+c.want+"\n"+end+"\n", a.body, s.log.String())
		})
	}
	for _, c := range []struct {
		why    string
		begin  []wire.Column
		query  string
		status int
		code   wire.Code
		says   string
	}{
		{"query-6: filters name base fields only", append(base("id"), hop(1, "b")),
			`"and":[{"field":"b","op":"notnull"}],"sort":[],"fields":["id"],"joins":[` + toB + `]`,
			422, wire.CodeUnsupported, `table "items" has no field "b" to filter by`},
		{"query-6: so does the sort", append(base("id"), hop(1, "b")),
			`"and":[],"sort":[{"field":"b","dir":"asc"}],"fields":["id"],"limit":1,"joins":[` + toB + `]`,
			404, wire.CodeUnknownEntity, `table "items" has no field "b"`},
		{"filter-11: a hop's column that is missing is named as its table calls it", base("id", "b", "name"),
			`"and":[],"sort":[],"fields":["id"],"joins":[` + toB + `]`,
			404, wire.CodeUnknownEntity, `table "b" has no field "name"`},
		{"a hop's column under another hop", append(base("id"), hop(1, "b"), hop(1, "c"), hop(1, "size")),
			`"and":[],"sort":[],"fields":["id"],"joins":[` + toB + `,` + toC + `]`,
			404, wire.CodeUnknownEntity, `table "c" has no field "name"`},
		{"two columns of one name in one hop", append(base("id"), hop(1, "b"), hop(1, "b")),
			`"and":[],"sort":[],"fields":["id"],"joins":[` + toB + `]`, 500, wire.CodeInternal, "internal error"},
		{"a hop that is not there", append(base("id"), hop(1, "b"), hop(2, "c")),
			`"and":[],"sort":[],"fields":["id"],"joins":[` + toB + `]`, 500, wire.CodeInternal, "internal error"},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := serve(t, joined(connector.Applied{}, c.begin), nil)
			s.post("/query", query(c.query)).refuses(t, c.status, c.code, c.says)
			s.alive()
		})
	}
}

// TestDialectMode checks that the rows of an SQL statement come in full, and
// that the native body is taken too.
func TestDialectMode(t *testing.T) {
	var seen wire.SQLRequest
	var emitted func(*connector.Rows) error
	s := serve(t, testkit.Full{Speaker: testkit.Speaker{Name: "ansi",
		OnSQL: func(_ context.Context, req *wire.SQLRequest, out *connector.Rows) error {
			seen = *req
			return emitted(out)
		}}}, nil)
	sql := func(more string) string { return `{"sql":"select 1","params":["a",1,1.5,true,null],` + more + tail }
	ok := func(out *connector.Rows) error {
		if offset, limit, ok := out.Claim(connector.Applied{}).TakeWindow(); offset != 0 || limit != 0 || !ok {
			return errors.New("SQL has no window")
		}
		w := out.Begin([]wire.Column{{Name: "b", Type: wire.TypeString}, {Name: "a"}})
		_ = w.Row(wire.Text("x"), wire.Int(1))
		return w.Row(wire.Null(), wire.Int(2))
	}

	emitted = ok
	a := s.post("/query", sql(`"idleTimeoutMs":50000,"maxTimeoutMs":50001,`))
	require.Equal(t, 200, a.status, a.body)
	assert.Equal(t, all+"\n"+`{"rows":[{"b":"x","a":1},{"b":null,"a":2}]}`+"\n"+end+"\n", a.body)
	assert.Equal(t, "select 1", seen.SQL)
	assert.Equal(t, []wire.Value{wire.Text("a"), wire.Int(1), wire.Float(1.5), wire.Bool(true), wire.Null()}, seen.Params)
	assert.Equal(t, secret, seen.Credentials.Get("apiKey"))
	assert.Equal(t, []int64{60000, 50000, 50001}, []int64{seen.TimeoutMS, seen.IdleTimeoutMS, seen.MaxTimeoutMS})

	assert.Equal(t, all+"\n"+`{"rows":[{"id":1},{"id":2},{"id":3}]}`+"\n"+end+"\n",
		s.post("/query", good("/query")).body, "the native body too")
	assert.Equal(t, 404, s.post("/query", edit(t, "/query", `"items"`, `"sql"`)).status,
		`a table that is called "sql" is no SQL`)

	for _, c := range []struct {
		why, body string
		emit      func(*connector.Rows) error
		status    int
		code      wire.Code
		says      string
	}{
		{"strict: an unknown member", sql(`"limit":1,`), ok, 400, wire.CodeBadRequest, "body: unknown member*"},
		{"a required credential", `{"sql":"x","params":[],"credentials":{},"timeoutMs":60000}`, ok, 400,
			wire.CodeBadRequest, "credentials.apiKey: *"},
		{"design 3: duplicate names are refused", sql(""), func(out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: "a"}, {Name: "a"}}).Row(wire.Int(1), wire.Int(2))
		}, 400, wire.CodeBadRequest, `sql: two columns of the result are named "a"; give one of them an alias`},
		{"SQL has no hops", sql(""), func(out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: "a", Hop: 1}}).Row(wire.Int(1))
		}, 500, wire.CodeInternal, "internal error"},
		{"never begun", sql(""), func(*connector.Rows) error { return nil }, 500, wire.CodeInternal, "internal error"},
		{"a name that is not UTF-8", sql(""), func(out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: canary + "\xff"}}).Row(wire.Int(1))
		}, 500, wire.CodeInternal, "internal error"},
		{"a refusal of its own", sql(""),
			func(*connector.Rows) error { return connector.BadRequest("syntax error near FROM") }, 400,
			wire.CodeBadRequest, "syntax error near FROM"},
	} {
		t.Run(c.why, func(t *testing.T) {
			emitted = c.emit
			a := s.post("/query", c.body)
			a.refuses(t, c.status, c.code, c.says)
			s.keepsSecrets(a)
		})
	}
	s.alive()

	emitted = func(out *connector.Rows) error { out.Begin(nil); return nil }
	assert.Equal(t, all+"\n"+end+"\n", s.post("/query", sql("")).body, "a statement without a result")
}

// TestAggregateAnswers checks what reaches the source, and how a decline and the
// keys of periods are answered.
func TestAggregateAnswers(t *testing.T) {
	grain := edit(t, "/aggregate", `"groupBy":[]`,
		`"groupBy":[{"field":"id","as":"x"},{"field":"id","as":"d","grain":"quarter"}]`)
	join := edit(t, "/aggregate", `"groupBy":[]`,
		`"groupBy":[{"field":"b","as":"b"}],"joins":[{"fromTable":"items","toTable":"items","fromField":"id",`+
			`"toField":"id","fields":[{"field":"name","as":"b"}]}]`)
	keyed := func(key wire.Value) [][]wire.Value { return [][]wire.Value{{wire.Int(7), key, wire.Int(3)}} }
	const wrong = "Aggregate answered a group key that is not the first day of a quarter as YYYY-MM-DD"
	for _, c := range []struct {
		why, body string
		rows      [][]wire.Value
		err       error
		status    int
		log       string
	}{
		{"no grain", good("/aggregate"), [][]wire.Value{{wire.Int(3)}}, nil, 200, ""},
		{"aggregate-3a: no groups", grain, [][]wire.Value{}, nil, 200, ""},
		{"aggregate-3: the null period", grain, keyed(wire.Null()), nil, 200, ""},
		{"aggregate-4: a period", grain, keyed(wire.Text("2024-04-01")), nil, 200, ""},
		{"aggregate-4: a period of time.Time", grain, keyed(wire.Date(time.Date(2024, 10, 1, 0, 0, 0, 0, time.UTC))), nil, 200, ""},
		{"aggregate-4: not the first day", grain, keyed(wire.Text("2024-04-02")), nil, 500, wrong},
		{"aggregate-4: of another grain", grain, keyed(wire.Text("2024-05-01")), nil, 500, wrong},
		{"aggregate-4: an instant", grain, keyed(wire.Datetime(time.Date(2024, 4, 1, 0, 0, 0, 0, time.UTC))), nil, 500, wrong},
		{"aggregate-4: not a date", grain, keyed(wire.Int(2024)), nil, 500, wrong},
		{"aggregate-6: joins, where it joins at all", join, [][]wire.Value{}, nil, 200, ""},
		{"aggregate-6: declined", good("/aggregate"), nil, connector.ErrDecline, 204, ""},
		{"aggregate-6: declined by date", grain, nil, errors.Join(errors.New("why"), connector.ErrDecline), 204, ""},
		{"aggregate-6: joins declined", join, nil, connector.ErrDecline, 204, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, describes := range []bool{false, true} {
				called := 0
				e := testkit.Endpoints{Aggregator: func(context.Context, *wire.AggregateRequest) ([][]wire.Value, error) {
					called++
					return c.rows, c.err
				}}
				var src connector.Source = e
				if describes {
					src = testkit.Described{Endpoints: e}
				}
				s := serve(t, src, nil)
				a := s.post("/aggregate", c.body)
				assert.Equal(t, c.status, a.status, a.body)
				assert.Equal(t, 1, called)
				if c.status == 204 {
					assert.Empty(t, a.body)
					assert.Empty(t, a.header.Get("Content-Type"))
				}
				if c.log == "" {
					assert.Empty(t, s.log.String(), "a decline is no failure")
				}
				assert.Contains(t, s.log.String(), c.log)
			}
		})
	}
}
