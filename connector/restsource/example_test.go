package restsource_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// helpdesk is an API with its key in a header, nested objects, and two ways to page:
// by a cursor, and by the header Link.
func helpdesk(w http.ResponseWriter, r *http.Request) {
	fmt.Println("asked:", r.URL)
	if r.Header.Get("X-Api-Key") != "k-123" {
		http.Error(w, `{"message": "Unauthorized"}`, http.StatusUnauthorized)
		return
	}
	query := r.URL.Query()
	switch {
	case r.URL.Path == "/api/agents" && query.Get("page") == "":
		w.Header().Set("Link", `</api/agents?page=2>; rel="next"`)
		_, _ = w.Write([]byte(`[{"id": "a1", "profile": {"name": "Ada", "born": "1815-12-10"}}]`))
	case r.URL.Path == "/api/agents":
		_, _ = w.Write([]byte(`[{"id": "a2", "profile": {"name": "Bob", "born": null}}]`))
	case query.Get("cursor") == "":
		_, _ = w.Write([]byte(`{"result": {"tickets": [
			{"id": 9007199254740993, "state": "open", "cost": 12.50, "agent": {"id": "a1"}, "times": {"updated": 1717243200}}
		]}, "meta": {"cursor": "YjI="}}`))
	default:
		_, _ = w.Write([]byte(`{"result": {"tickets": [
			{"id": 7, "state": "open", "cost": 7.00, "agent": null, "times": {"updated": 1717329600}}
		]}, "meta": {"cursor": null}}`))
	}
}

// The connector of an API: its address, its key, and a declaration for each table.
func ExampleNew() {
	api := restsource.API{
		Base:      "https://helpdesk.example/api",
		Authorize: restsource.KeyHeader("X-Api-Key", "key"),
		Check:     "/agents",
	}
	tables := []restsource.Table{{
		Name: "tickets", Description: "A request of a customer", Path: "/tickets", Rows: "result.tickets", Key: []string{"id"},
		Pages: restsource.Pages{By: restsource.PagingCursor, Param: "cursor", Next: "meta.cursor", SizeParam: "per_page", Size: 100},
		Columns: []restsource.Column{
			{Name: "id", Type: wire.TypeNumber},
			{Name: "state", Type: wire.TypeString},
			{Name: "cost", Type: wire.TypeDecimal},
			{Name: "agent", Path: "agent.id", Type: wire.TypeReference},
			{Name: "updated", Path: "times.updated", Type: wire.TypeDatetime, Unix: time.Second},
		},
		Filters: []restsource.Param{
			{Column: "state", Op: wire.OpEq, Name: "state"},
			{Column: "updated", Op: wire.OpGte, Name: "updated_since"},
		},
		ForeignKeys: []wire.ForeignKey{{Field: "agent", TargetTable: "agents", TargetField: "id"}},
	}, {
		Name: "agents", Path: "/agents", Key: []string{"id"}, Pages: restsource.Pages{By: restsource.PagingLink},
		Columns: []restsource.Column{
			{Name: "id", Type: wire.TypeReference},
			{Name: "name", Path: "profile.name", Type: wire.TypeString},
			{Name: "born", Path: "profile.born", Type: wire.TypeDate},
		},
	}}
	// Only this example answers from a function.
	upstream := testkit.Over(http.HandlerFunc(helpdesk))
	src, err := restsource.New(api, tables, &restsource.Options{Transport: upstream})
	if err != nil {
		log.Fatal(err)
	}
	token, err := wire.NewToken("an-example-token-of-32-characters-or-more")
	if err != nil {
		log.Fatal(err)
	}
	definition := connector.Definition{
		Slug:        "helpdesk",
		Credentials: []wire.CredentialField{{Key: "key", Label: "API key", Type: wire.CredentialPassword}},
	}
	handler, err := connector.New(definition, src, token, nil)
	if err != nil {
		log.Fatal(err)
	}

	for _, body := range []string{
		`{"table": "tickets", "fields": ["id", "cost"], "sort": [],
			"and": [{"field": "state", "op": "eq", "value": "open"}, {"field": "cost", "op": "gt", "value": 5},
				{"field": "updated", "op": "gt", "value": "2024-06-01T00:00:00Z"}],
			"credentials": {"key": "k-123"}, "timeoutMs": 30000}`,
		`{"table": "agents", "fields": ["id", "name", "born"], "and": [], "sort": [{"field": "name", "dir": "desc"}], "limit": 2,
			"credentials": {"key": "k-123"}, "timeoutMs": 30000}`,
		`{"table": "agents", "fields": ["id"], "and": [], "sort": [], "credentials": {"key": "k-124"}, "timeoutMs": 30000}`,
	} {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, wire.PathQuery, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer an-example-token-of-32-characters-or-more")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Print(w.Body)
	}
	// Output:
	// asked: https://helpdesk.example/api/tickets?per_page=100&state=open&updated_since=2024-06-01T00%3A00%3A00Z
	// asked: https://helpdesk.example/api/tickets?cursor=YjI%3D&per_page=100&state=open&updated_since=2024-06-01T00%3A00%3A00Z
	// {"served":{"filters":true,"sort":true,"window":true}}
	// {"rows":[{"id":"9007199254740993","cost":"12.50"},{"id":7,"cost":"7.00"}]}
	// {"end":1}
	// asked: https://helpdesk.example/api/agents
	// asked: https://helpdesk.example/api/agents?page=2
	// {"served":{"filters":true,"sort":true,"window":true}}
	// {"rows":[{"id":"a2","name":"Bob","born":null},{"id":"a1","name":"Ada","born":"1815-12-10"}]}
	// {"end":1}
	// asked: https://helpdesk.example/api/agents
	// {"error":{"code":"bad_request","message":"The API does not accept these credentials. Check them; they may have expired."}}
}
