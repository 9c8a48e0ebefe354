package connector_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// query returns a body for the table items.
func query(more string) string { return `{"table":"items",` + more + `,` + tail }

const plain = `"and":[],"sort":[],"fields":["n"]`

// TestLies checks what a source must not do: 500 before the first line, and the log says what is wrong.
func TestLies(t *testing.T) { answers(t, "lies.tsv") }

// TestDataThatCannotBeSent checks what is the fault of the data: whoever reads is told the table and the limit or the
// reason, and so is the log, and neither has anything of a cell.
func TestDataThatCannotBeSent(t *testing.T) { answers(t, "unsendable.tsv") }

// TestWindow checks the only way in which an offset and a limit reach a source, with testdata/windows.tsv.
func TestWindow(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/windows.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			var window string
			src := connectors.Source{OnQuery: func(_ context.Context, req *connector.Query, out *connector.Rows) error {
				served := connector.Applied{Filters: strings.Contains(c[2], "filters"), Sort: strings.Contains(c[2], "sort")}
				offset, limit, ok := out.Claim(served).TakeWindow()
				window = fmt.Sprint(offset, limit, ok, req.MaxRows)
				return out.Begin(number).Flush()
			}}
			most := testkit.Must(strconv.ParseInt(c[3], 10, 64))(t)
			def := connector.Definition{Slug: "shop", Limits: wire.Limits{OffsetMax: most}}
			h := connectors.New(connectortest.Token, def, src, nil)
			assert.Equal(t, 200, direct(h, "/query", query(c[1]+`,"fields":["n"]`)).Code)
			assert.Equal(t, c[4], window)
		})
	}
}

// TestAll checks that an iterator's error is the source's, and that a full window ends it.
func TestAll(t *testing.T) {
	taken := 0
	seq := func(fail error) iter.Seq2[[]wire.Value, error] {
		return func(yield func([]wire.Value, error) bool) {
			for i := range 10 {
				if taken++; !yield([]wire.Value{wire.Int(int64(i))}, nil) {
					return
				}
			}
			if fail != nil {
				yield(nil, fail)
			}
		}
	}
	for _, c := range []struct {
		why         string
		fail        error
		query, want string
		taken       int
	}{
		{"no more than are wanted", errors.New("never reached"), plain + `,"limit":2`,
			all + "\n" + `{"rows":[{"n":0},{"n":1}]}` + "\n" + end + "\n", 2},
		{"a failure", connector.Unsupported("no"), plain, `{"error":{"code":"unsupported","message":"no"}}`, 10},
	} {
		taken = 0
		s := serve(t, emits(func(out *connector.Rows) error { return out.Begin(number).All(seq(c.fail)) }), nil)
		assert.Equal(t, c.want, s.post("/query", query(c.query)).body, c.why)
		assert.Equal(t, c.taken, taken, c.why)
	}
}

// TestBuffersMayBeReused checks that Row keeps nothing, neither in a batch nor in the heap of a sort, so that an
// author's cells may share a buffer that is filled again.
func TestBuffersMayBeReused(t *testing.T) {
	for sort, want := range map[string]string{
		`[]`:                          `{"rows":[{"n":"row 3"},{"n":"row 1"},{"n":"row 4"}]}`,
		`[{"field":"n","dir":"asc"}]`: `{"rows":[{"n":"row 1"},{"n":"row 2"},{"n":"row 3"}]}`,
	} {
		s := serve(t, emits(func(out *connector.Rows) error {
			w := out.Begin(number)
			buffer := make([]byte, 5)
			for _, digit := range "314592" {
				copy(buffer, "row ")
				buffer[4] = byte(digit)
				if err := w.Row(wire.Text(unsafe.String(&buffer[0], 5))); err != nil {
					return nil
				}
				clear(buffer)
			}
			return nil
		}), nil)
		a := s.post("/query", query(`"and":[],"sort":`+sort+`,"limit":3,"fields":["n"]`))
		assert.Equal(t, all+"\n"+want+"\n"+end+"\n", a.body)
	}
}

// TestRowErrorsStick checks that after the first refusal every call returns the same error.
func TestRowErrorsStick(t *testing.T) {
	errs := make(chan []error, 1) // the answer ends while the source is still at work
	s := serve(t, emits(func(out *connector.Rows) error {
		w := out.Begin(number)
		errs <- []error{w.Row(), w.Row(wire.Int(1)), rowmap.Offer(w, map[string]any{"n": 1}), w.Flush(),
			w.All(func(yield func([]wire.Value, error) bool) { yield([]wire.Value{wire.Int(1)}, nil) })}
		return nil // whoever swallows a refusal does not undo it
	}), nil)
	s.post("/query", query(plain)).refuses(t, 500, wire.CodeInternal, "internal error")
	for _, err := range <-errs {
		assert.EqualError(t, err, "the source emitted a row of 0 cells for 1 columns")
	}
}

// TestFail checks that code that makes rows for a source can fail the answer, whatever the source returns.
func TestFail(t *testing.T) {
	for _, c := range []struct {
		why  string
		err  error
		want string
	}{
		{"an error of the upstream's", errors.New("no cell"), `{"error":{"code":"internal","message":"internal error"}}`},
		{"a deliberate one", connector.Unsupported("no cell"), `{"error":{"code":"unsupported","message":"no cell"}}`},
		{"none", nil, all + "\n" + `{"rows":[{"n":1}]}` + "\n" + end + "\n"},
	} {
		s := serve(t, emits(func(out *connector.Rows) error {
			w := out.Begin(number)
			if c.err == nil {
				assert.NoError(t, w.Fail(nil))
				return w.Row(wire.Int(1))
			}
			first, second, row := w.Fail(c.err), w.Fail(errors.New("another")), w.Row(wire.Int(1))
			assert.EqualError(t, first, c.err.Error(), c.why)
			assert.Equal(t, first, second, c.why)
			assert.Equal(t, first, row, c.why)
			return nil
		}), nil)
		assert.Equal(t, c.want, s.post("/query", query(plain)).body, c.why)
	}
}

// TestCountByReading checks that a count that the source declines is read from
// the finished query. What the query refuses, the count refuses.
func TestCountByReading(t *testing.T) { answers(t, "counted.tsv") }

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
			var rows [][]wire.Value
			require.NoError(t, json.Unmarshal([]byte(c[3]), &rows))
			var src connectors.Full // whose Query is not to be called for a request with joins
			act(&src, "Query", script("fail"))
			columns, _ := cells.Table(t, c[2])
			act(&src, "QueryJoined", func(a *actor) error { return connectors.Rows(a.out.Begin(columns), rows) })
			s := serve(t, src.Endpoints, nil)
			s.post("/query", asked).is(t, want)
			s.alive()
		})
	}
}

// TestDialectMode checks that the rows of an SQL statement come in full, and that the native body is taken too.
func TestDialectMode(t *testing.T) {
	var seen wire.SQLRequest
	s := serve(t, connectors.Full{Speaker: connectors.Speaker{Name: "ansi",
		OnSQL: func(_ context.Context, req *wire.SQLRequest, out *connector.Rows) error {
			seen = *req
			return script(`claim; window 0 0 true; begin b:string a; row "x" 1; row null 2`)(&actor{out: out})
		}}}, nil)
	sql := func(more string) string { return `{"sql":"select 1","params":["a",1,1.5,true,null],` + more + tail }
	a := s.post("/query", sql(`"idleTimeoutMs":50000,"maxTimeoutMs":50001,`))
	require.Equal(t, 200, a.status, a.body)
	assert.Equal(t, all+"\n"+`{"rows":[{"b":"x","a":1},{"b":null,"a":2}]}`+"\n"+end+"\n", a.body)
	assert.Equal(t, "select 1", seen.SQL)
	assert.Equal(t, []wire.Value{wire.Text("a"), wire.Int(1), wire.Float(1.5), wire.Bool(true), wire.Null()}, seen.Params)
	assert.Equal(t, secret, seen.Credentials.Get("apiKey"))
	assert.Equal(t, []int64{60000, 50000, 50001}, []int64{seen.TimeoutMS, seen.IdleTimeoutMS, seen.MaxTimeoutMS})

	assert.Equal(t, all+"\n"+`{"rows":[{"id":1},{"id":2},{"id":3}]}`+"\n"+end+"\n",
		s.post(asked("/query")).body, "the native body too")
	assert.Equal(t, 404, s.post(asked(`/query "items" => "sql"`)).status, `a table that is called "sql" is no SQL`)

	answers(t, "sql.tsv")
}

// TestAggregateAnswers checks how groups, the keys of periods and a decline are answered, by a source that is called once.
func TestAggregateAnswers(t *testing.T) { answers(t, "aggregates.tsv") }
