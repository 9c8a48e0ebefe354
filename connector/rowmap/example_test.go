package rowmap_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// invoices is an upstream that answers JSON.
type invoices struct{}

func (invoices) Check(context.Context, *wire.CheckRequest) error { return nil }

func (invoices) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{}, nil
}

func (invoices) Query(_ context.Context, _ *connector.Query, out *connector.Rows) error {
	upstream := json.NewDecoder(strings.NewReader(`
		{"number": "0017", "total": 12.50, "issued": "2024-03-01T00:30:00+01:00", "tags": ["a", "b"]}
		{"number": "0018", "total": 90071992547409931.10, "issued": null}`))
	upstream.UseNumber() // a float64 would have lost digits already
	w := out.Begin([]wire.Column{
		{Name: "number", Type: wire.TypeString}, {Name: "total", Type: wire.TypeDecimal},
		{Name: "issued", Type: wire.TypeDatetime}, {Name: "tags", Type: wire.TypeArray},
	})
	for upstream.More() {
		var row map[string]any
		if err := upstream.Decode(&row); err != nil {
			return err
		}
		if err := rowmap.Offer(w, row); err != nil {
			return err
		}
	}
	return nil
}

// Rows that come as JSON are spelled as their columns ask.
func ExampleOffer() {
	token, err := wire.NewToken("no-secret-ever-stands-in-an-example")
	if err != nil {
		panic(err)
	}
	handler, err := connector.New(connector.Definition{Slug: "invoices"}, invoices{}, token, nil)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/query", strings.NewReader(`{
		"table": "invoices", "fields": ["number", "total", "issued", "tags"], "and": [], "sort": [],
		"credentials": {}, "timeoutMs": 5000}`))
	r.Header.Set("Authorization", "Bearer no-secret-ever-stands-in-an-example")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	fmt.Print(w.Body)
	// Output:
	// {"served":{"filters":true,"sort":true,"window":true}}
	// {"rows":[{"number":"0017","total":"12.50","issued":"2024-02-29T23:30:00Z","tags":"[\"a\",\"b\"]"},{"number":"0018","total":"90071992547409931.10","issued":null,"tags":null}]}
	// {"end":1}
}
