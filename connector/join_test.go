package connector_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// joined emits rows of the columns given, through QueryJoined.
func joined(columns []wire.Column, rows [][]wire.Value) testkit.Endpoints {
	return testkit.Endpoints{
		Source: testkit.Source{OnQuery: func(context.Context, *connector.Query, *connector.Rows) error {
			return errors.New("Query was called for a request with joins")
		}},
		Joiner: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
			return testkit.Rows(out.Begin(columns), rows)
		},
	}
}

// TestJoins checks the library's part of joins, with the cases of testdata/joins.tsv: which column becomes
// which member, and that filters and sort see base fields only.
func TestJoins(t *testing.T) {
	hops := strings.NewReplacer(
		"TO_B", `{"fromTable":"items","toTable":"b","fromField":"id","toField":"id","fields":[{"field":"name","as":"b"}]}`,
		"TO_C", `{"fromTable":"b","toTable":"c","fromField":"id","toField":"id",`+
			`"fields":[{"field":"name","as":"c"},{"field":"size"}]}`,
		"TO_SELF", `{"fromTable":"items","toTable":"items","fromField":"boss","toField":"id",`+
			`"fields":[{"field":"name","as":"bossName"}]}`)
	for _, c := range testkit.Table(t, "testdata/joins.tsv", 5) {
		why, asked, want := c[0], query(hops.Replace(c[1])), c[4]
		t.Run(why, func(t *testing.T) {
			var columns []wire.Column
			for name := range strings.FieldsSeq(c[2]) {
				name, hop, _ := strings.Cut(name, "@")
				n, _ := strconv.Atoi(hop)
				columns = append(columns, wire.Column{Name: name, Hop: n})
			}
			var cells [][]any
			require.NoError(t, json.Unmarshal([]byte(c[3]), &cells))
			var rows [][]wire.Value
			for _, row := range cells {
				values := make([]wire.Value, len(row)) // a null is one already
				for i, cell := range row {
					switch cell := cell.(type) {
					case float64:
						values[i] = wire.Int(int64(cell))
					case string:
						values[i] = wire.Text(cell)
					}
				}
				rows = append(rows, values)
			}
			s := serve(t, joined(columns, rows), nil)
			a := s.post("/query", asked)
			if status, message, refused := strings.Cut(want, ": "); refused {
				code, name, _ := strings.Cut(status, " ")
				a.refuses(t, testkit.Must(strconv.Atoi(code))(t), wire.Code(name), message)
				s.alive()
			} else {
				assert.Equal(t, all+"\n"+want+"\n"+end+"\n", a.body, s.log.String())
			}
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
