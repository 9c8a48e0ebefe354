package restsource_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// FuzzAnswer reads answers that hold anything. What is not JSON never becomes rows, and
// no address in an answer leads to another host.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"rows": [{"id": 1, "v": {"a": [1, 2.50, "x"]}}, {"id": 2}]}`), `<https://shop.example/v1/rows?p=2>; rel="next"`)
	f.Add([]byte(`{"rows": [{"id": 1}, {"id": 1}], "rows": null}`), `</rows>; rel=next, <//evil.example>; rel="prev next"`)
	f.Add([]byte(`{"rows": [{"id": 1e999999999}]}`), `<https://shop.example@evil.example/>; rel=next`)
	f.Add([]byte(`{"rows": [{"id": "\ud800"}]} x`), `<<>>;;,,rel=next`)
	f.Add([]byte("{\"rows\": [{\"id\": \"\xff\"}]}"), `<`)
	const secret = "a-token-of-at-least-32-characters"
	tables := []restsource.Table{{
		Name: "rows", Path: "/rows", Rows: "rows", Key: []string{"id"}, Pages: restsource.Pages{By: restsource.PagingLink},
		Columns: []restsource.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "v", Path: "v.a.1", Type: wire.TypeJSON}},
	}}
	const query = `{"table": "rows", "fields": ["id", "v"], "and": [], "sort": [], "credentials": {"token": "k"}, "timeoutMs": 10000}`
	f.Fuzz(func(t *testing.T, body []byte, link string) {
		asked := 0
		upstream := testkit.Transport(func(r *http.Request) (*http.Response, error) {
			port := r.URL.Port()
			if r.URL.Scheme != "https" || !strings.EqualFold(r.URL.Hostname(), "shop.example") || port != "" && port != "443" {
				t.Errorf("another host was asked: %s", r.URL)
			}
			if asked++; asked > 1 {
				return reply(200, `{"rows": []}`), nil
			}
			res := reply(200, string(body))
			res.Header["Link"] = []string{link}
			return res, nil
		})
		src := testkit.Must(restsource.New(shopAPI, tables, &restsource.Options{Transport: upstream}))(t)
		w := testkit.Post(testkit.New(secret, shopDefinition, src, testkit.Quiet()), secret, wire.PathQuery, query)
		complete := bytes.Contains(w.Body.Bytes(), []byte(`{"end":1}`))
		if complete && !json.Valid(body) {
			t.Errorf("rows of what is not JSON: %s", w.Body)
		}
		if !complete && !strings.Contains(w.Body.String(), `"internal"`) {
			t.Errorf("neither an end nor an internal error: %s", w.Body)
		}
	})
}
