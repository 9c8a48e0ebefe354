package restsource_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestWholeAnswers: an answer with a good status has its rows, or says that there are
// none. Whatever else it says is no end of the rows [rule error-10].
func TestWholeAnswers(t *testing.T) { readings(t, "whole.tsv") }

// TestRefusedBy200: an error with a good status is an answer to what was pushed, and
// tells the person at a form to look at the credentials.
func TestRefusedBy200(t *testing.T) {
	const refusal = `{"error": "` + secretText + `"}`
	const said = "The API answers these credentials with an error. Check them; they may have expired, or lack a permission."
	for _, c := range []struct {
		name, path, body, want string // want "": the check passes
	}{
		{"the check", "/whoami", refusal, said},
		{"errors at the check", "/whoami", `{"errors": [{"message": "` + secretText + `"}]}`, said},
		{"errors that a broken answer begins with", "/whoami", refusal[:len(refusal)-1], said},
		{"no error", "/whoami", `{"error": null, "errors": [], "id": 7}`, ""},
		{"a list", "/whoami", `[{"error": "x"}]`, ""},
		{"no JSON", "/whoami", `pong`, ""},
		{"the first page", "", refusal, said},
		{"the first page, empty", "", `{"rows": null}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, base := range []string{shopAPI.Base, "https://{token}.example/v1"} {
				err := serve(t, restsource.API{Base: base, Check: c.path}, numbersTable(onePage), inTurn(c.body)).Check()
				if c.want == "" {
					require.NoError(t, err)
					continue
				}
				requireCode(t, wire.CodeCheckFailed, err)
				assert.Contains(t, err.Error(), c.want)
			}
		})
	}
	t.Run("columns", func(t *testing.T) {
		for body, whole := range map[string]bool{
			`{"fields": ["x"], "errors": []}`: true, refusal: false, `{"errors": {"a": 1}, "fields": []}`: false,
		} {
			tables := numbersTable(onePage, func(t *restsource.Table) {
				t.ColumnsOf = func(_ context.Context, get func(string, url.Values) ([]byte, error)) ([]restsource.Column, error) {
					_, err := get("/fields", nil)
					return nil, err
				}
			})
			_, err := serve(t, shopAPI, tables, inTurn(body, bodyOfOne)).Query(allNumbers)
			assert.Equal(t, whole, err == nil, body)
		}
	})
	t.Run("what was pushed", func(t *testing.T) {
		api := newShopOf(13)
		pushed := 0
		api.change = func(w http.ResponseWriter, r *http.Request) bool {
			if !r.URL.Query().Has("status") {
				return false
			}
			pushed++
			_, _ = w.Write([]byte(refusal))
			return true
		}
		tenant := asTenant(t, api, shopTables()).Unverified()
		open := wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("open")}}}
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "orders", Where: open, Fields: []string{"id"}}))(t)
		assert.Len(t, answer.Column("id"), 3, "it is asked again without the filter")
		assert.Equal(t, 1, pushed)
		found := testkit.Must(tenant.Discover())(t)
		assert.Len(t, found.Tables, 3)
	})
	t.Run("what cannot be", func(t *testing.T) {
		api := newShopOf(13)
		api.change = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("status") == "open" || !r.URL.Query().Has("status") {
				return false
			}
			_, _ = w.Write([]byte(refusal))
			return true
		}
		open := wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("open")}}}
		before := len(api.requests())
		count := testkit.Must(asTenant(t, api, shopTables()).Unverified().Count(wire.CountRequest{Table: "orders", Where: open}))(t)
		assert.Equal(t, int64(3), count)
		assert.Greater(t, len(api.requests())-before, 2,
			"an error may be about anything, so the API's total is not believed and the rows are counted")
	})
}

// TestWholeElsewhere: what holds of the rows of a query holds of a total, of discovery
// and of the rows of a parent.
func TestWholeElsewhere(t *testing.T) {
	for body, whole := range map[string]bool{
		`{"rows": null, "total": 0}`:               true,
		`{"rows": null, "total": 2}`:               false,
		`{"rows": null, "total": 0, "error": "x"}`: false,
	} {
		tenant := serve(t, shopAPI, numbersTable(onePage, withTotal), inTurn(body))
		_, sized := tenant.Size("numbers")
		_, counted := tenant.Count(wire.CountRequest{Table: "numbers"})
		_, discovered := tenant.Discover()
		for route, err := range map[string]error{"size": sized, "count": counted, "discovery": discovered} {
			assert.Equal(t, whole, err == nil, "%s of %s", route, body)
		}

		tables := append(numbersTable(onePage), children())
		for bodies, rows := range map[*[2]string]int{
			{body, `{"rows": []}`}:                0,
			{`{"rows": [{"id": 1}]}`, body}:       0,
			{`{"rows": [{"id": 1}]}`, bodyOfRows}: 2,
		} {
			answer, err := serve(t, shopAPI, tables, inTurn(bodies[:]...)).Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}})
			refused := strings.Contains(bodies[0]+bodies[1], "error") || strings.Contains(bodies[0]+bodies[1], `"total": 2`)
			assert.Equal(t, refused, err != nil, "%s", bodies)
			if err == nil {
				assert.Len(t, answer.Column("id"), rows, "%s", bodies)
			}
		}
	}
}

const bodyOfRows = `{"rows": [{"x": 1}, {"x": 2}]}`

const bodyOfOne = `{"rows": [{"id": 1}]}`

// TestPathsThatNoRowHas: discovery warns of a column that is null everywhere because
// its path leads nowhere.
func TestPathsThatNoRowHas(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/paths.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			tables := numbersTable(onePage, func(t *restsource.Table) { t.Columns = append(t.Columns, pathsOf(c[1])...) })
			want := []string(nil)
			if c[3] != "" {
				want = []string{`Table "numbers": no row of the first page has ` + c[3] + `, so these columns may be null everywhere; check Path.`}
			}
			assert.Equal(t, want, testkit.Must(serve(t, shopAPI, tables, inTurn(c[2])).Discover())(t).Warnings)
		})
	}
	t.Run("of the parent", func(t *testing.T) {
		tables := append(numbersTable(onePage), children(pathsOf("x y")...))
		found := testkit.Must(serve(t, shopAPI, tables, inTurn(bodyOfOne, bodyOfRows)).Discover())(t)
		assert.Equal(t, []string{`Table "children": no row of the first page has "y", so these columns may be null everywhere; check Path.`},
			found.Warnings)
	})
}

// pathsOf returns columns of texts: "name" or "name=path".
func pathsOf(words string) (all []restsource.Column) {
	for word := range strings.FieldsSeq(words) {
		name, path, _ := strings.Cut(word, "=")
		c := restsource.Column{Name: name, Path: strings.TrimSuffix(path, "()"), Type: wire.TypeString}
		if c.Path != path {
			c.Type, c.Convert = wire.TypeNumber, one
		}
		all = append(all, c)
	}
	return all
}
