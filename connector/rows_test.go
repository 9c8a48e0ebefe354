package connector_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
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
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type emit = func(out *connector.Rows) error

// query returns a body for the table items.
func query(more string) string { return `{"table":"items",` + more + `,` + tail }

const plain = `"and":[],"sort":[],"fields":["n"]`

// TestLies checks what a source must not do. Each case is the author's fault:
// 500 before the first line, an error line after it, and the log says what is
// wrong.
func TestLies(t *testing.T) {
	three := func(w *connector.RowWriter) error {
		for i := range 3 {
			if err := w.Row(wire.Int(int64(i))); err != nil {
				return err
			}
		}
		return nil
	}
	const sorted = `"and":[],"sort":[{"field":"n","dir":"asc"}],"fields":["n"],"limit":2`
	for _, c := range []struct {
		why, query string
		emit       emit
		cause      string
	}{
		{"a claim twice", plain, func(out *connector.Rows) error {
			out.Claim(connector.Applied{})
			out.Claim(connector.Applied{Filters: true})
			return three(out.Begin(number))
		}, "the source called Claim twice"},
		{"a claim after the rows began", plain, func(out *connector.Rows) error {
			w := out.Begin(number)
			out.Claim(connector.Applied{Filters: true})
			return three(w)
		}, "the source called Claim after Begin"},
		{"a window asked for after the rows began", plain + `,"limit":2`, func(out *connector.Rows) error {
			claim := out.Claim(connector.Applied{})
			w := out.Begin(number)
			if _, _, ok := claim.TakeWindow(); ok {
				return errors.New("the window was handed out too late to be served")
			}
			return three(w)
		}, "the source took the window after Begin"},
		{"more rows than the limit under a claimed window", plain + `,"limit":2`, func(out *connector.Rows) error {
			_, _, _ = out.Claim(connector.Applied{}).TakeWindow()
			return three(out.Begin(number))
		}, "the source claimed the window and offered more rows than the limit"},
		{"Begin never", plain, func(*connector.Rows) error { return nil },
			"the source returned without calling Begin"},
		{"Begin twice", plain, func(out *connector.Rows) error {
			_ = three(out.Begin(number))
			return three(out.Begin(number))
		}, "the source called Begin twice"},
		{"Begin twice, and nobody looks at an error", plain, func(out *connector.Rows) error {
			_ = three(out.Begin(number))
			_ = three(out.Begin(number))
			return nil
		}, "the source called Begin twice"},
		{"a cell too many", plain, func(out *connector.Rows) error {
			_ = out.Begin(number).Row(wire.Int(1), wire.Int(2))
			return nil
		}, "the source emitted a row of 2 cells for 1 columns"},
		{"two columns of one name", plain, func(out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: "n"}, {Name: "m"}, {Name: "n"}}).Row(wire.Int(1), wire.Int(2),
				wire.Int(3))
		}, `the source began with two columns named "n"`},
		{"a hop the request does not have", plain, func(out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: "n"}, {Name: "m", Hop: 1}}).Row(wire.Int(1), wire.Int(1))
		}, `the source began with column "m" of hop 1; the request has 0 hops`},
		{"a hop below zero", plain, func(out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: "n", Hop: -1}}).Row(wire.Int(1))
		}, `the source began with column "n" of hop -1; the request has 0 hops`},
		{"an unknown type", plain, func(out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: "n", Type: "text"}}).Row(wire.Int(1))
		}, `the source began with column "n" of the unknown type "text"`},
		{"cell-1: a NaN", plain, func(out *connector.Rows) error {
			return out.Begin(number).Row(wire.Float(math.NaN()))
		}, `the source emitted a row that cannot be sent: column "n": NaN and infinities cannot cross the wire; ` +
			`send null or fix the source`},
		{"cell-1: text that is not a decimal", plain, func(out *connector.Rows) error {
			return out.Begin(number).Row(wire.Decimal(canary))
		}, `the source emitted a row that cannot be sent: column "n": not plain decimal digits; *`},
		{"a cell that cannot cross has no place in an order", sorted, func(out *connector.Rows) error {
			return out.Begin(number).Row(wire.Float(math.Inf(1)))
		}, `the source emitted a row that cannot be sorted: NaN *`},
		{"cell-2c: a datetime without a zone", plain, func(out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: "n", Type: wire.TypeDatetime}}).Row(wire.Text("2024-05-01T10:00:00"))
		}, `the source emitted a row that cannot be sent: column "n" is no instant in UTC, with seconds and a Z at its end; pass wire.Datetime`},
		{"cell-2c: a datetime in another zone", plain, func(out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: "n", Type: wire.TypeDatetime}}).Row(wire.Text("2024-05-01T10:00:00+02:00"))
		}, `the source emitted a row that cannot be sent: column "n" is no instant *`},
		{"error-10: not even behind the rows that are kept", sorted, func(out *connector.Rows) error {
			w := out.Begin(number)
			return errors.Join(w.Row(wire.Int(1)), w.Row(wire.Int(2)), w.Row(wire.Int(3)), w.Row(wire.Float(math.NaN())))
		}, `the source emitted a row that cannot be sorted: NaN *`},
		{"error-10: a row is not dropped because a filter cannot judge it",
			`"and":[{"field":"n","op":"gt","value":5}],"sort":[],"fields":["n"]`, func(out *connector.Rows) error {
				return out.Begin(number).Row(wire.Float(math.NaN()))
			}, `the source emitted a row that cannot be filtered: column "n", which a filter compares: NaN *`},
		{"error-10: nor kept without the column that it was judged by",
			`"and":[],"or":[[{"field":"n","op":"nin","values":[5]}]],"sort":[],"fields":[]`, func(out *connector.Rows) error {
				return out.Begin(number).Row(wire.Invalid("no number"))
			}, `the source emitted a row that cannot be filtered: column "n", which a filter compares: no number`},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := serve(t, emits(c.emit), nil)
			a := s.post("/query", query(c.query))
			a.refuses(t, 500, wire.CodeInternal, "internal error")
			s.keepsSecrets(a)
			require.Len(t, s.log.all(), 1)
			want, open := strings.CutSuffix("ERROR internal error slug=shop route=/query table=items cause="+c.cause,
				"*")
			if open {
				assert.True(t, strings.HasPrefix(s.log.String(), want), s.log.String())
			} else {
				assert.Equal(t, want, s.log.String())
			}
			s.alive()
		})
	}
}

// TestDataThatCannotBeSent checks what is the fault of the data: whoever reads is
// told the table and the limit or the reason, and so is the log, and neither has
// anything of a cell.
func TestDataThatCannotBeSent(t *testing.T) {
	large, bytes := wire.Text(canary+strings.Repeat("x", 16<<20)), wire.Text(canary+"\xff")
	const (
		sorted   = `"and":[],"sort":[{"field":"n","dir":"asc"}],"fields":["n"],"limit":2`
		tooLarge = `a row of table "items" needs more than 16 MiB, which is all that a line of an answer has: ask for fewer fields`
		notUTF8  = `field "n" of table "items" has a text that is not valid UTF-8: correct it in the source, or leave the field out`
	)
	rows := func(emit emit) connector.Source {
		return struct {
			testkit.Source
			testkit.Speaker
		}{
			emits(emit),
			testkit.Speaker{Name: "sql", OnSQL: func(_ context.Context, _ *wire.SQLRequest, out *connector.Rows) error { return emit(out) }},
		}
	}
	row := func(v wire.Value) connector.Source {
		return rows(func(out *connector.Rows) error { return out.Begin(number).Row(v) })
	}
	swallowed := func(v wire.Value) connector.Source {
		return rows(func(out *connector.Rows) error {
			_ = out.Begin(number).Row(v)
			return nil
		})
	}
	group := func(v wire.Value) connector.Source {
		return testkit.Endpoints{Aggregator: groups([][]wire.Value{{v}}, nil)}
	}
	link := testkit.Endpoints{Linker: links(&wire.LinkHitRate{FromNonNull: 1, OrphanCount: 1, OrphanSamples: []string{canary + "\xff"}})}
	least := strings.Replace(good("/aggregate"), `{"fn":"count","as":"n"}`, `{"fn":"min","field":"id","as":"n"}`, 1)
	const answered = `the answer has a text of table "items" that is not valid UTF-8, in %s: correct it in the source, or leave the field out`
	for _, c := range []struct {
		why              string
		src              connector.Source
		path, body, told string
	}{
		{"stream-6a: a row over 16 MiB", row(large), "/query", query(plain), tooLarge},
		{"whatever the author makes of the error", swallowed(large), "/query", query(plain), tooLarge},
		{"kept by the heap until the end", row(large), "/query", query(sorted), tooLarge},
		{"cell-4: text that is not UTF-8", row(bytes), "/query", query(plain), notUTF8},
		{"whatever the author makes of that", swallowed(bytes), "/query", query(plain), notUTF8},
		{"kept by the heap too", row(bytes), "/query", query(sorted), notUTF8},
		{"SQL names no table", row(large), "/query", sqlBody, strings.Replace(tooLarge, ` of table "items"`, "", 1)},
		{"nor here", row(bytes), "/query", sqlBody, strings.Replace(notUTF8, ` of table "items"`, "", 1)},
		{"a least text", group(bytes), "/aggregate", least, fmt.Sprintf(answered, "rows[0]")},
		{"a sample", link, "/linkHitRate", good("/linkHitRate"), fmt.Sprintf(answered, "orphanSamples[0]")},
	} {
		t.Run(c.why, func(t *testing.T) {
			var seen []connector.RequestStats
			s := serve(t, c.src, &connector.Options{Observe: func(_ context.Context, o connector.RequestStats) { seen = append(seen, o) }})
			a := s.post(c.path, c.body)
			a.refuses(t, 422, wire.CodeUnsupported, c.told)
			s.keepsSecrets(a)
			assert.Contains(t, s.log.String(), "ERROR the source has data that cannot be sent slug=shop route="+c.path)
			assert.Contains(t, s.log.String(), "cause="+c.told)
			require.Len(t, seen, 1)
			assert.Equal(t, connector.FaultSource, seen[0].Fault)
			s.alive()
		})
	}
}

// TestWindow checks the only way in which an offset and a limit reach a source, with testdata/windows.tsv.
func TestWindow(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/windows.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			var window string
			src := testkit.Source{OnQuery: func(_ context.Context, req *connector.Query, out *connector.Rows) error {
				served := connector.Applied{Filters: strings.Contains(c[2], "filters"), Sort: strings.Contains(c[2], "sort")}
				offset, limit, ok := out.Claim(served).TakeWindow()
				window = fmt.Sprint(offset, limit, ok, req.MaxRows)
				return out.Begin(number).Flush()
			}}
			most := testkit.Must(strconv.ParseInt(c[3], 10, 64))(t)
			def := connector.Definition{Slug: "shop", Limits: wire.Limits{OffsetMax: most}}
			h := testkit.New(connectortest.Token, def, src, nil)
			assert.Equal(t, 200, direct(h, "/query", query(c[1]+`,"fields":["n"]`)).Code)
			assert.Equal(t, c[4], window)
		})
	}
}

// TestAll checks that an iterator's error is the source's, and that a full
// window ends it.
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
		{"all of them", nil, plain, all + "\n" +
			`{"rows":[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4},{"n":5},{"n":6},{"n":7},{"n":8},{"n":9}]}` + "\n" +
			end + "\n", 10},
		{"no more than are wanted", errors.New("never reached"), plain + `,"limit":2`,
			all + "\n" + `{"rows":[{"n":0},{"n":1}]}` + "\n" + end + "\n", 2},
		{"a failure", connector.Unsupported("no"), plain, `{"error":{"code":"unsupported","message":"no"}}`, 10},
		{"a failure that is not deliberate", errors.New("no"), plain,
			`{"error":{"code":"internal","message":"internal error"}}`, 10},
	} {
		taken = 0
		s := serve(t, emits(func(out *connector.Rows) error { return out.Begin(number).All(seq(c.fail)) }), nil)
		assert.Equal(t, c.want, s.post("/query", query(c.query)).body, c.why)
		assert.Equal(t, c.taken, taken, c.why)
	}
}

// TestBuffersMayBeReused checks that Row keeps nothing, neither in a batch nor
// in the heap of a sort, so that an author's cells may share a buffer that is
// filled again.
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

// TestRowErrorsStick checks that after the first refusal every call returns the
// same error.
func TestRowErrorsStick(t *testing.T) {
	var errs []error
	s := serve(t, emits(func(out *connector.Rows) error {
		w := out.Begin(number)
		errs = append(errs, w.Row(), w.Row(wire.Int(1)), rowmap.Offer(w, map[string]any{"n": 1}), w.Flush(),
			w.All(func(yield func([]wire.Value, error) bool) { yield([]wire.Value{wire.Int(1)}, nil) }))
		return nil // whoever swallows a refusal does not undo it
	}), nil)
	s.post("/query", query(plain)).refuses(t, 500, wire.CodeInternal, "internal error")
	for _, err := range errs {
		assert.EqualError(t, err, "the source emitted a row of 0 cells for 1 columns")
	}
}

// TestFail checks that code that makes rows for a source can fail the answer,
// whatever the source returns.
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
func TestCountByReading(t *testing.T) {
	for _, c := range []struct {
		why   string
		query func(context.Context, *connector.Query, *connector.Rows) error
		want  string
	}{
		{"rows", nil, `{"count":2}`},
		{"a refusal", func(context.Context, *connector.Query, *connector.Rows) error {
			return connector.Unsupported("no")
		}, `{"error":{"code":"unsupported","message":"no"}}`},
		{"a failure", func(context.Context, *connector.Query, *connector.Rows) error {
			return errors.New("no")
		}, `{"error":{"code":"internal","message":"internal error"}}`},
		{"a column that is not there", func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
			return out.Begin(number).Flush()
		}, `{"error":{"code":"unsupported","message":"table \"items\" has no field \"id\" to filter by"}}`},
		{"never begun", func(context.Context, *connector.Query, *connector.Rows) error { return nil },
			`{"error":{"code":"internal","message":"internal error"}}`},
		{"a lie", func(_ context.Context, req *connector.Query, out *connector.Rows) error {
			if len(req.Fields) != 0 || req.TimeoutMS != 60000 || req.Credentials.Get("apiKey") != secret {
				return fmt.Errorf("the request is not the count's")
			}
			return out.Begin(items().Columns()).Row(wire.Int(1))
		}, `{"error":{"code":"internal","message":"internal error"}}`},
		{"a lie that nobody looks at", func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
			w := out.Begin(items().Columns())
			_ = w.Row(testkit.Items().Rows[1]...)
			_ = w.Row(wire.Int(1))
			return nil
		}, `{"error":{"code":"internal","message":"internal error"}}`},
	} {
		src := testkit.Endpoints{Source: testkit.Source{OnQuery: c.query}, Counter: counts(-5, fmt.Errorf("cannot: %w", connector.ErrDecline))}
		a := serve(t, src, nil).post("/count",
			edit(t, "/count", `"and":[]`, `"and":[{"field":"id","op":"gte","value":2}]`))
		assert.Equal(t, c.want, a.body, c.why)
	}
}
