package connector_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkRow measures the author's side: rows to bytes, into a stream that is
// discarded. One operation is 1,000 rows of the reference table.
func BenchmarkRow(b *testing.B) {
	for name, body := range map[string]string{
		"plain":    `{"table":"items","and":[],"sort":[],"fields":` + allTwelve + `,` + tail,
		"filtered": filteredQuery,
	} {
		b.Run(name, func(b *testing.B) {
			w := offering(b, 1000, body, func(_ *connector.RowWriter, offer func()) {
				b.ReportAllocs()
				for b.Loop() {
					offer()
				}
			})
			b.SetBytes(int64(w.bytes / max(b.N, 1)))
		})
	}
	b.Run("maps and encoding/json", func(b *testing.B) {
		sample := reference.Rows(1000)
		b.ReportAllocs()
		size := 0
		for b.Loop() {
			var line bytes.Buffer
			rows := make([]map[string]any, len(sample))
			for i, row := range sample {
				rows[i] = make(map[string]any, len(twelve))
				for j, c := range twelve {
					switch v := row[j]; v.Kind() {
					case wire.KindNull:
						rows[i][c.Name] = nil
					case wire.KindInt:
						rows[i][c.Name] = v.Int64()
					case wire.KindFloat:
						rows[i][c.Name] = v.Float64()
					case wire.KindBool:
						rows[i][c.Name] = v.IsTrue()
					default:
						rows[i][c.Name] = v.String()
					}
				}
			}
			_ = json.NewEncoder(&line).Encode(map[string]any{"rows": rows})
			size = line.Len()
		}
		b.SetBytes(int64(size))
	})
}

// BenchmarkTopN measures the first 100 rows of a sort that the source does not
// serve. One operation is 1,000 rows, of which few get into the heap.
func BenchmarkTopN(b *testing.B) {
	offering(b, 1000, `{"table":"items","and":[],"sort":[{"field":"amount","dir":"desc"},{"field":"price",`+
		`"dir":"asc"}],"limit":100,"fields":`+allTwelve+`,`+tail, func(_ *connector.RowWriter, offer func()) {
		b.ReportAllocs()
		for b.Loop() {
			offer()
		}
	})
}

const countBody = `{"table":"items","and":[{"field":"status","op":"eq","value":"paid"},{"field":"amount",` +
	`"op":"gte","value":100.5},{"field":"region","op":"in","values":["EU","US",null]}],` +
	`"or":[[{"field":"note","op":"includes","value":"rush"}],[{"field":"qty","op":"gt","value":10}]],` +
	`"fieldTypes":{"amount":"decimal","qty":"number"},` + tail

// BenchmarkCountOverhead measures what a request costs beside the source's own
// work, against a bare handler that decodes with encoding/json.
func BenchmarkCountOverhead(b *testing.B) {
	run := func(b *testing.B, h http.Handler) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := http.NewRequest("POST", "/count", strings.NewReader(countBody))
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+connectortest.Token)
			w := &discard{}
			h.ServeHTTP(w, r)
			if w.status != 200 {
				b.Fatal(w.status)
			}
		}
	}
	b.Run("connector", func(b *testing.B) {
		h := connectors.New(connectortest.Token, shop, connectors.Endpoints{}, nil)
		run(b, h)
	})
	b.Run("bare", func(b *testing.B) {
		type filter struct {
			Field, Op string
			Value     any
			Values    []any
		}
		run(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var req struct {
				Table       string
				And         []filter
				Or          [][]filter
				FieldTypes  map[string]string
				Credentials map[string]string
				TimeoutMs   int64
			}
			if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
				w.WriteHeader(400)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(200)
			_ = json.NewEncoder(w).Encode(map[string]int64{"count": 3})
		}))
	})
}

var (
	twelve    = reference.Columns
	allTwelve = `["` + strings.Join(reference.Names(), `","`) + `"]`
)

// filteredQuery keeps four rows in five, by a text, a decimal and a number.
var filteredQuery = `{"table":"items","and":[{"field":"status","op":"neq","value":"cancelled"},{"field":"amount",` +
	`"op":"gte","value":"10.5"}],` +
	`"or":[[{"field":"qty","op":"lt","value":1000}],[{"field":"region","op":"isnull"}]],"sort":[],"fields":` +
	allTwelve + `,"idleTimeoutMs":30000,` + tail

// offering asks for rows of the reference table without a network. The source is a function, which gets what offers so
// many rows to its writer.
func offering(t testing.TB, rows int, body string, source func(w *connector.RowWriter, offer func())) *discard {
	t.Helper()
	sample := reference.Rows(rows)
	h := newHandler(emits(func(out *connector.Rows) error {
		w := out.Begin(twelve)
		source(w, func() {
			if err := connectors.Rows(w, sample); err != nil {
				t.Error(err)
			}
		})
		return nil
	}), nil)
	w := &discard{}
	h.ServeHTTP(w, request(t.Context(), "/query", body))
	assert.Equal(t, 200, w.status)
	return w
}

// TestRowAllocatesNothing counts allocations from Row to the stream, with filters on.
func TestRowAllocatesNothing(t *testing.T) {
	answer := offering(t, 30, filteredQuery, func(w *connector.RowWriter, offer func()) {
		for range 300 { // the buffers grow to their size
			offer()
		}
		assert.Zero(t, testing.AllocsPerRun(300, offer), "allocations in 30 rows")

		assert.Zero(t, testing.AllocsPerRun(300, func() {
			if err := w.Row(wire.Int(1), wire.Text("a"), wire.Text("b"), wire.Text("c"), wire.Text("paid"),
				wire.Decimal("99.50"), wire.Int(2),
				wire.Float(1.5), wire.Bool(true), wire.Datetime(time.Unix(0, 0)), wire.Text("n"), wire.Null()); err != nil {
				t.Error(err)
			}
		}), "nor does a call that spells its cells out")

		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 2000 {
			offer()
		}
		runtime.ReadMemStats(&after)
		assert.Less(t, after.Mallocs-before.Mallocs, uint64(600),
			"in 60,000 rows, the batches and their writing included")
	})
	assert.Greater(t, answer.bytes, 12<<20)
}

// TestHeapAllocatesLittle counts allocations for rows that do not belong to the first n of a sort.
func TestHeapAllocatesLittle(t *testing.T) {
	offering(t, 3000, `{"table":"items","and":[],"sort":[{"field":"price","dir":"desc"},{"field":"id","dir":"asc"}],"limit":10,`+
		`"fields":["id"],`+tail, func(_ *connector.RowWriter, offer func()) {
		for range 20 { // until the heap holds the best rows only
			offer()
		}
		assert.Zero(t, testing.AllocsPerRun(5, offer))
	})
}
