package restsource_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ordersAPI answers pages of 1,000 orders that were made before.
type ordersAPI struct{ pages [][]byte }

func newOrdersAPI(pages int) *ordersAPI {
	a := &ordersAPI{}
	for p := range pages {
		var page strings.Builder
		page.WriteString(`{"data":[`)
		for i := range 1000 {
			if i > 0 {
				page.WriteByte(',')
			}
			id := p*1000 + i
			fmt.Fprintf(&page, `{"id":%d,"number":"A-%07d","status":"%s","total":%d.%02d,"currency":"EUR",`+
				`"customer":{"id":"c%05d","name":"Zoë %d"},"note":"left at the \"door\", %d","paid":%t,"created_at":"2024-%02d-%02dT10:%02d:00+02:00"}`,
				id, id, []string{"open", "paid", "sent"}[i%3], i, i%100, i%5000, i%700, i, i%2 == 0, 1+i%12, 1+i%28, i%60)
		}
		next := `null`
		if p+1 < pages {
			next = fmt.Sprintf(`"%d"`, p+1)
		}
		fmt.Fprintf(&page, `],"next":%s}`, next)
		a.pages = append(a.pages, []byte(page.String()))
	}
	return a
}

func (a *ordersAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	p := 0
	if cursor := r.URL.Query().Get("cursor"); cursor != "" {
		if _, err := fmt.Sscan(cursor, &p); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(a.pages[p])), Request: r,
	}, nil
}

// byHand answers a query as a program without this library may: a page is decoded into
// structs, and these are encoded as a line.
func byHand(api http.RoundTripper) http.Handler {
	type order struct {
		ID       int64       `json:"id"`
		Number   string      `json:"number"`
		Status   string      `json:"status"`
		Total    json.Number `json:"total"`
		Currency string      `json:"currency"`
		Customer struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"customer"`
		Note    string    `json:"note"`
		Paid    bool      `json:"paid"`
		Created time.Time `json:"created_at"`
	}
	type row struct {
		ID       int64  `json:"id"`
		Number   string `json:"number"`
		Status   string `json:"status"`
		Total    string `json:"total"`
		Currency string `json:"currency"`
		Customer string `json:"customer"`
		Name     string `json:"name"`
		Note     string `json:"note"`
		Paid     bool   `json:"paid"`
		Created  string `json:"created_at"`
	}
	client := &http.Client{Transport: api}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lines := json.NewEncoder(w)
		_ = lines.Encode(map[string]any{"type": "served", "filters": true, "sort": true, "window": true})
		for cursor, n := "", 0; ; {
			res, err := client.Get("https://api.example.com/orders?limit=1000&cursor=" + cursor)
			if err != nil {
				panic(err)
			}
			var page struct {
				Data []order `json:"data"`
				Next *string `json:"next"`
			}
			if err = json.NewDecoder(res.Body).Decode(&page); err != nil {
				panic(err)
			}
			_ = res.Body.Close()
			rows := make([]row, len(page.Data))
			for i, o := range page.Data {
				rows[i] = row{o.ID, o.Number, o.Status, o.Total.String(), o.Currency, o.Customer.ID, o.Customer.Name, o.Note, o.Paid,
					o.Created.UTC().Format(time.RFC3339)}
			}
			_ = lines.Encode(map[string]any{"type": "rows", "rows": rows})
			if n += len(rows); page.Next == nil {
				_ = lines.Encode(map[string]any{"type": "end", "rows": n})
				return
			}
			cursor = *page.Next
		}
	})
}

// BenchmarkPages reads 50,000 orders from pages of 1,000, which the API has in memory, and
// compares the whole answer to /query with that of a program by hand, in turns.
func BenchmarkPages(b *testing.B) {
	api := newOrdersAPI(50)
	src, err := restsource.New(restsource.API{Base: "https://api.example.com", Authorize: restsource.Bearer("token")}, []restsource.Table{{
		Name: "orders", Path: "/orders", Rows: "data", Key: []string{"id"},
		Pages: restsource.Pages{By: restsource.PagingCursor, Param: "cursor", Next: "next", SizeParam: "limit", Size: 1000},
		Columns: []restsource.Column{
			{Name: "id", Type: wire.TypeNumber}, {Name: "number", Type: wire.TypeString}, {Name: "status", Type: wire.TypeString},
			{Name: "total", Type: wire.TypeDecimal}, {Name: "currency", Type: wire.TypeString},
			{Name: "customer", Path: "customer.id", Type: wire.TypeReference}, {Name: "name", Path: "customer.name", Type: wire.TypeString},
			{Name: "note", Type: wire.TypeString}, {Name: "paid", Type: wire.TypeBoolean}, {Name: "created_at", Type: wire.TypeDatetime},
		},
	}}, &restsource.Options{Transport: api})
	require.NoError(b, err)
	handler := testkit.New(strings.Repeat("t", 32), shopDefinition, src, testkit.Quiet())
	body := `{"table":"orders","fields":["id","number","status","total","currency","customer","name","note","paid","created_at"],` +
		`"and":[],"sort":[],"credentials":{"token":"x"},"timeoutMs":60000}`
	ask := func(h http.Handler) time.Duration {
		began := time.Now()
		req := httptest.NewRequest(http.MethodPost, wire.PathQuery, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+strings.Repeat("t", 32))
		w := &discarded{header: http.Header{}}
		h.ServeHTTP(w, req)
		require.Contains(b, string(w.last), `"end"`)
		require.Greater(b, w.n, 50_000*150)
		return time.Since(began)
	}
	var own, hand time.Duration
	for b.Loop() {
		own += ask(handler)
		hand += ask(byHand(api))
	}
	rows := float64(50_000 * b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(rows/own.Seconds(), "rows/s")
	b.ReportMetric(rows/hand.Seconds(), "by-hand-rows/s")
	b.ReportMetric(hand.Seconds()/own.Seconds(), "times-by-hand")
}

// discarded drops an answer, and keeps how long it was and its end.
type discarded struct {
	header http.Header
	n      int
	last   []byte
}

func (c *discarded) Header() http.Header { return c.header }
func (c *discarded) WriteHeader(int)     {}
func (c *discarded) Flush()              {}
func (c *discarded) Write(p []byte) (int, error) {
	c.n += len(p)
	c.last = append(c.last[:0], p[max(0, len(p)-64):]...)
	return len(p), nil
}
func (c *discarded) SetWriteDeadline(time.Time) error { return nil }
