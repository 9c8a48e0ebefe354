package connector_test

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// twelve are the columns of the reference table, and reference its rows: about
// 306 bytes each as JSON.
var twelve = []wire.Column{
	{Name: "id", Type: wire.TypeNumber}, {Name: "uuid", Type: wire.TypeString}, {Name: "name", Type: wire.TypeString},
	{Name: "email", Type: wire.TypeString},
	{Name: "status", Type: wire.TypeString}, {Name: "amount", Type: wire.TypeDecimal},
	{Name: "qty", Type: wire.TypeNumber}, {Name: "price", Type: wire.TypeNumber},
	{Name: "active", Type: wire.TypeBoolean}, {Name: "created_at", Type: wire.TypeDatetime},
	{Name: "note", Type: wire.TypeString}, {Name: "region", Type: wire.TypeString},
}

func reference(n int) [][]wire.Value {
	rows := make([][]wire.Value, n)
	for i := range rows {
		region := wire.Text([]string{"EU", "US", "APAC"}[i%3])
		if i%5 == 0 {
			region = wire.Null()
		}
		rows[i] = []wire.Value{
			wire.Int(int64(i)), wire.Text("018f2f6e-7b1a-7c3d-9e4f-0123456789ab"), wire.Text("Ada Lovelace"),
			wire.Text("ada.lovelace@example.com"),
			wire.Text([]string{"open", "paid", "void"}[i%3]),
			wire.Decimal([]string{"1999.50", "12.00", "100.25"}[i%3]), wire.Int(int64(i % 100)),
			wire.Float(float64(i%1000) / 8),
			wire.Bool(i%2 == 0), wire.Datetime(epoch), wire.Text(`forty characters of "quoted" text, äöü....`),
			region,
		}
	}
	return rows
}

var epoch = time.Date(2024, 2, 29, 12, 30, 15, 0, time.UTC)

const allTwelve = `["id","uuid","name","email","status","amount","qty","price","active","created_at","note","region"]`

// filteredQuery keeps two rows in three, by a text, a decimal and a number.
const filteredQuery = `{"table":"items","and":[{"field":"status","op":"neq","value":"void"},{"field":"amount",` +
	`"op":"gte","value":"10.5"}],` +
	`"or":[[{"field":"qty","op":"lt","value":1000}],[{"field":"region","op":"isnull"}]],"sort":[],"fields":` +
	allTwelve + `,"idleTimeoutMs":30000,` + tail

// unwired calls a connector without a network.
func unwired(t testing.TB, src connector.Source, path, body string) *discard {
	t.Helper()
	h, err := connector.New(shop, src, newToken(t), &connector.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	w := &discard{}
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+connectortest.Token)
	h.ServeHTTP(w, r)
	return w
}

// TestRowAllocatesNothing counts allocations from Row to the stream, with filters
// on.
func TestRowAllocatesNothing(t *testing.T) {
	sample := reference(30)
	src := core{query: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
		w := out.Begin(twelve)
		offer := func() {
			for _, row := range sample {
				if err := w.Row(row...); err != nil {
					t.Error(err)
				}
			}
		}
		for range 300 { // the buffers grow to their size
			offer()
		}
		assert.Zero(t, testing.AllocsPerRun(300, offer), "allocations in 30 rows")

		assert.Zero(t, testing.AllocsPerRun(300, func() {
			if err := w.Row(wire.Int(1), wire.Text("a"), wire.Text("b"), wire.Text("c"), wire.Text("paid"),
				wire.Decimal("99.50"), wire.Int(2),
				wire.Float(1.5), wire.Bool(true), wire.Datetime(epoch), wire.Text("n"), wire.Null()); err != nil {
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
		return nil
	}}
	w := unwired(t, src, "/query", filteredQuery)
	assert.Equal(t, 200, w.status)
	assert.Greater(t, w.bytes, 12<<20)
}

// TestHeapAllocatesLittle counts allocations for rows that do not belong to the
// first n of a sort.
func TestHeapAllocatesLittle(t *testing.T) {
	sample := reference(3000)
	src := core{query: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
		w := out.Begin(twelve)
		offer := func() {
			for _, row := range sample {
				if err := w.Row(row...); err != nil {
					t.Error(err)
				}
			}
		}
		for range 20 { // until the heap holds the best rows only
			offer()
		}
		assert.Zero(t, testing.AllocsPerRun(5, offer))
		return nil
	}}
	w := unwired(t, src, "/query",
		`{"table":"items","and":[],"sort":[{"field":"price","dir":"desc"},{"field":"id","dir":"asc"}],"limit":10,`+
			`"fields":["id"],`+tail)
	assert.Equal(t, 200, w.status)
}
