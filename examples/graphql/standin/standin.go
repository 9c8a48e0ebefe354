// Package standin is a GraphQL API of a shop in memory, with a token endpoint and a
// budget of query costs, as large APIs have them. It stands in for a real API in the
// example and its tests.
package standin

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"

	"github.com/graph-gophers/graphql-go"
)

// North and South are the credentials of the two tenants.
var (
	North = map[string]string{"clientId": "north", "clientSecret": "demo-secret-of-north"}
	South = map[string]string{"clientId": "south", "clientSecret": "demo-secret-of-south"}
)

// Budget is what the queries of a tenant may cost.
type Budget struct {
	Most    float64 // in the beginning, and at most
	Restore float64 // in a second
}

// tokenLifetime is how long an access token is good.
const tokenLifetime = time.Minute

// Shop is the API. It answers requests without a network.
type Shop struct {
	budget Budget

	mu       sync.Mutex
	tenants  map[string]*tenant
	tokens   map[string]grant
	Tokens   int // how many were given out
	Throttle int // how many queries were refused
}

type grant struct {
	tenant *tenant
	until  time.Time
}

// tenant is the data of one tenant, and its budget.
type tenant struct {
	secret string
	schema *graphql.Schema
	left   float64
	at     time.Time
}

// New returns a shop with two tenants.
func New(budget Budget) *Shop {
	s := &Shop{budget: budget, tenants: map[string]*tenant{}, tokens: map[string]grant{}}
	for n, credentials := range []map[string]string{North, South} {
		s.tenants[credentials["clientId"]] = &tenant{
			secret: credentials["clientSecret"],
			schema: graphql.MustParseSchema(schema, seed(n), graphql.UseFieldResolvers()),
			left:   budget.Most,
		}
	}
	return s
}

// RoundTrip answers a request.
func (s *Shop) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	switch r.Method + " " + r.URL.Host + r.URL.Path {
	case "POST auth.shop.example/oauth/token":
		s.token(w, r)
	case "POST shop.example/graphql":
		s.query(w, r)
	default:
		http.NotFound(w, r)
	}
	return w.Result(), nil
}

// token gives out an access token for a client's id and secret.
func (s *Shop) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	t := s.tenants[id]
	switch {
	case t == nil || t.secret != secret:
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	case r.FormValue("grant_type") != "client_credentials":
		answer(w, http.StatusBadRequest, map[string]any{"error": "unsupported_grant_type"})
	default:
		token := rand.Text()
		s.tokens[token] = grant{t, time.Now().Add(tokenLifetime)}
		s.Tokens++
		answer(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": tokenLifetime.Seconds()})
	}
}

// query answers a query, if the tenant's budget has its cost.
func (s *Shop) query(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	granted := s.tokens[r.Header.Get("Authorization")[min(len("Bearer "), len(r.Header.Get("Authorization"))):]]
	if granted.tenant == nil || time.Now().After(granted.until) {
		answer(w, http.StatusUnauthorized, map[string]any{"errors": failure("UNAUTHENTICATED")})
		return
	}
	var asked struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"errors": failure("BAD_REQUEST")})
		return
	}
	first, _ := asked.Variables["first"].(float64)
	cost := 1 + first/10
	status := granted.tenant.spend(s.budget, cost)
	extensions := map[string]any{"cost": map[string]any{"requestedQueryCost": cost, "throttleStatus": map[string]any{
		"maximumAvailable": s.budget.Most, "currentlyAvailable": max(0, granted.tenant.left), "restoreRate": s.budget.Restore}}}
	if !status {
		s.Throttle++
		answer(w, http.StatusOK, map[string]any{"errors": failure("THROTTLED"), "extensions": extensions})
		return
	}
	res := granted.tenant.schema.Exec(r.Context(), asked.Query, "", asked.Variables)
	if len(res.Errors) > 0 {
		answer(w, http.StatusOK, map[string]any{"data": res.Data, "errors": res.Errors})
		return
	}
	answer(w, http.StatusOK, map[string]any{"data": res.Data, "extensions": extensions})
}

// spend takes a cost from the budget, and reports whether it was there.
func (t *tenant) spend(b Budget, cost float64) bool {
	now := time.Now()
	if !t.at.IsZero() {
		t.left = min(b.Most, t.left+now.Sub(t.at).Seconds()*b.Restore)
	}
	t.at = now
	if t.left < cost {
		return false
	}
	t.left -= cost
	return true
}

func failure(code string) []any {
	return []any{map[string]any{"message": code, "extensions": map[string]any{"code": code}}}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a recorder takes everything
}

// schema is the schema of the API.
const schema = `
type Query {
	customers(first: Int!, after: String): Customers!
	orders(first: Int!, after: String, status: OrderStatus, updatedSince: String): Orders!
}
enum OrderStatus { OPEN PAID SHIPPED }
enum Currency { EUR USD }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Customers { nodes: [Customer!]! pageInfo: PageInfo! }
type Customer { id: ID! name: String! address: Address }
type Address { city: String! }
type Orders { nodes: [Order!]! pageInfo: PageInfo! }
type Order {
	id: ID! status: OrderStatus! updatedAt: String! customer: Customer!
	total(currency: Currency!): Money! lines(first: Int!): Lines!
}
type Money { amount: String! }
type Lines { nodes: [Line!]! pageInfo: PageInfo! }
type Line { sku: String! quantity: Int! }
`

type pageInfo struct {
	HasNextPage bool
	EndCursor   *string
}

// pageOf cuts a page out of a list. A cursor is the number of rows before the page.
func pageOf[T any](all []T, first int32, after *string) ([]T, pageInfo) {
	begin := 0
	if after != nil {
		if _, err := fmt.Sscanf(*after, "c%d", &begin); err != nil || begin < 0 {
			begin = len(all)
		}
	}
	begin = min(begin, len(all))
	end := min(begin+int(max(0, min(first, 100))), len(all))
	cursor := fmt.Sprintf("c%d", end)
	return all[begin:end], pageInfo{end < len(all), &cursor}
}
