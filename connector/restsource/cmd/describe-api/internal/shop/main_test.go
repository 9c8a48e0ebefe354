package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testKey = "key-for-tests"

type object = map[string]any

// The data of the server: 250 orders are three pages.
const (
	orderCount    = 250
	customerCount = 120
	shipmentCount = 230
)

var began = time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)

// order returns an order. Some members are null in some, and absent in others.
func order(id int) object {
	status := [...]string{"open", "paid", "sent"}[id%3]
	o := object{
		"id": id, "status": status, "total": fmt.Sprintf("%d.%02d", id%97, id%100),
		"customer": object{"id": id%customerCount + 1, "name": fmt.Sprintf("Customer %d", id%customerCount+1)},
		"tags":     []string{"a", status}, "created_at": began.Add(time.Duration(id) * time.Hour).Format(time.RFC3339),
		"weight": float64(id) / 4, "due": began.AddDate(0, 0, id%40).Format(time.DateOnly), "note": fmt.Sprintf("Note %d", id%7),
	}
	switch id % 11 {
	case 0:
		o["weight"], o["due"] = nil, nil
	case 1:
		delete(o, "note")
	}
	return o
}

// shop is the API of testdata/shop.yaml, and what its description does not tell: the
// header Link of /shipments, and archived=any of /stock.
type shop struct{}

func (shop) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.Header.Get("Authorization") != "Bearer "+testKey {
		w.WriteHeader(http.StatusUnauthorized)
		return w.Result(), nil
	}
	path := strings.TrimPrefix(r.URL.Path, "/v2")
	id, isLines := strings.CutSuffix(strings.TrimPrefix(path, "/orders/"), "/lines")
	switch {
	case path == "/me":
		write(w, object{"name": "test"})
	case path == "/orders":
		orders(w, r)
	case path == "/customers":
		customers(w, r)
	case path == "/shipments":
		shipments(w, r)
	case path == "/stock":
		stock(w, r)
	case isLines:
		lines(w, id)
	default:
		http.NotFound(w, r)
	}
	return w.Result(), nil
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// number returns a query parameter, bounded as servers do.
func number(r *http.Request, name string, preset, most int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 1 {
		n = preset
	}
	return min(n, most)
}

// orders answers pages by cursor, and applies three filters.
func orders(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after := number(r, "after", 0, orderCount)
	limit := number(r, "limit", 20, 100)
	least, _ := strconv.ParseFloat(q.Get("min_total"), 64)
	page, next := []object{}, any(nil)
	for id := after + 1; id <= orderCount; id++ {
		o := order(id)
		total, _ := strconv.ParseFloat(o["total"].(string), 64)
		if s := q.Get("status"); s != "" && s != o["status"] || q.Has("min_total") && total < least {
			continue
		}
		if s := q.Get("created_after"); s != "" {
			bound, err := time.Parse(time.RFC3339Nano, s)
			if err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			if !began.Add(time.Duration(id) * time.Hour).After(bound) {
				continue
			}
		}
		if len(page) == limit {
			next = strconv.Itoa(page[limit-1]["id"].(int))
			break
		}
		page = append(page, o)
	}
	write(w, object{"data": page, "paging": object{"next_cursor": next}})
}

// lines answers up to two lines of an order.
func lines(w http.ResponseWriter, order string) {
	id, err := strconv.Atoi(order)
	if err != nil || id < 1 || id > orderCount {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	all := []object{}
	for n := range id % 3 {
		all = append(all, object{"id": n + 1, "sku": fmt.Sprintf("sku-%d", (id+n)%9), "amount": id%5 + n, "gift": n == 1})
	}
	write(w, all)
}

// customers answers pages by number, and their total in a header.
func customers(w http.ResponseWriter, r *http.Request) {
	size := number(r, "per_page", 20, 50)
	first := (number(r, "page", 1, 1000) - 1) * size
	page := []object{}
	for id := first + 1; id <= min(first+size, customerCount); id++ {
		c := object{"id": id, "name": fmt.Sprintf("Customer %d", id), "email": fmt.Sprintf("c%d@example.com", id)}
		if id%5 == 0 {
			c["address"] = object{"street": fmt.Sprintf("Street %d", id)}
		}
		page = append(page, c)
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(customerCount))
	write(w, page)
}

// shipments answers pages by the header Link.
func shipments(w http.ResponseWriter, r *http.Request) {
	limit := number(r, "limit", 50, 200)
	from := number(r, "from", 1, shipmentCount+1)
	page := []object{}
	for id := from; id < from+limit && id <= shipmentCount; id++ {
		page = append(page, object{"id": fmt.Sprintf("s%03d", id), "order_id": id, "sent": began.Unix() + int64(id)*3600})
	}
	if from+limit <= shipmentCount {
		w.Header().Set("Link", fmt.Sprintf(`<https://api.shop.example/v2/shipments?limit=%d&from=%d>; rel="next"`, limit, from+limit))
	} else {
		w.Header().Set("Link", `<https://api.shop.example/v2/shipments>; rel="first"`)
	}
	write(w, page)
}

// stock answers all rows, but those that are archived only if they are asked for.
func stock(w http.ResponseWriter, r *http.Request) {
	all := []object{}
	for n := range 40 {
		row := object{"sku": fmt.Sprintf("sku-%d", n/2), "warehouse": [...]string{"north", "south"}[n%2], "amount": n * 3, "archived": n%8 == 0}
		if n%8 != 0 || r.URL.Query().Get("archived") == "any" {
			all = append(all, row)
		}
	}
	write(w, all)
}

// TestGraded grades the connector with the conformance program.
func TestGraded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, err := restsource.New(api, tables, &restsource.Options{Transport: shop{}})
		require.NoError(t, err)
		const secret = "a-token-of-enough-letters-0123456789"
		token, err := wire.NewToken(secret)
		require.NoError(t, err)
		handler, err := connector.New(definition, source, token, &connector.Options{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		target, stop := conformance.InProcess(handler, secret)
		defer stop()
		target.Credentials = []wire.Credentials{wire.NewCredentials(map[string]string{"token": testKey})}
		report, err := conformance.Run(t.Context(), target, &conformance.Options{Mode: conformance.ModeLive})
		require.NoError(t, err)
		require.NoError(t, report.Err(), report.Text(false, true))
		require.Regexp(t, `(?i)^conformant`, report.Verdict())
		t.Log(report.Verdict())
	})
}

// TestRows asserts rows that are known: what is missing from every answer is found by
// nothing else.
func TestRows(t *testing.T) {
	source, err := restsource.New(api, tables, &restsource.Options{Transport: shop{}})
	require.NoError(t, err)
	tenant := connectortest.Start(t, definition, source, nil).As(map[string]string{"token": testKey})
	linesOfOrders := 0
	for id := range orderCount + 1 {
		linesOfOrders += id % 3
	}
	for table, want := range map[string]int{
		"orders": orderCount, "customers": customerCount, "shipments": shipmentCount, "stock": 40, "order_lines": linesOfOrders,
	} {
		n, err := tenant.Count(wire.CountRequest{Table: table})
		require.NoError(t, err)
		require.Equal(t, int64(want), n, table)
	}
	answer, err := tenant.Query(wire.QueryRequest{
		Table:  "orders",
		Where:  wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Int(249)}}},
		Fields: []string{"status", "total", "weight", "customer_id", "created_at", "due"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `[{"status": "open", "total": "55.49", "weight": "62.25", "customer_id": 10,
		"created_at": "2026-01-11T17:00:00Z", "due": "2026-01-10"}]`, answer.JSON())
}

// TestTouched requires that no more than three declarations of the output were changed.
func TestTouched(t *testing.T) {
	golden, err := os.ReadFile("../../testdata/shop.golden")
	require.NoError(t, err)
	completed, err := os.ReadFile("main.go")
	require.NoError(t, err)
	declarations := func(source []byte) (all []string) {
		for line := range strings.Lines(string(source)) {
			if line = strings.Join(strings.Fields(line), " "); line != "" && !strings.HasPrefix(line, "//") {
				all = append(all, line)
			}
		}
		return all
	}
	drafted := declarations(golden)
	var touched []string
	for _, line := range declarations(completed) {
		if !slices.Contains(drafted, line) {
			touched = append(touched, line)
		}
	}
	require.Equal(t, []string{
		`Pages: restsource.Pages{By: restsource.PagingLink, SizeParam: "limit", Size: 200},`,
		`Query: "archived=any",`,
		`Key: []string{"sku", "warehouse"},`,
	}, touched)
}
