package restsource_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// family is an API of three parents with two pages of children each.
type family struct {
	fail map[string]int // the status of some addresses

	mu    sync.Mutex
	asked []string
}

func (f *family) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	address := strings.TrimPrefix(r.URL.RequestURI(), "/v1")
	f.mu.Lock()
	f.asked = append(f.asked, address)
	f.mu.Unlock()
	if status := f.fail[address]; status != 0 {
		w.WriteHeader(status)
		return
	}
	switch {
	case r.URL.Path == "/v1/parents":
		_, _ = w.Write([]byte(`{"rows": [
			{"id": "a/1", "kind": "x", "code": 1}, {"id": "b", "kind": "y", "code": null}, {"id": "c", "kind": "x"}]}`))
	case r.URL.Query().Get("after") == "":
		_, _ = w.Write([]byte(`{"rows": [{"id": 1, "kind": "p"}], "next": "n"}`))
	default:
		_, _ = w.Write([]byte(`{"rows": [{"id": 2, "kind": "q"}]}`))
	}
}

func familyTables(path string) []restsource.Table {
	text := func(name string) restsource.Column { return restsource.Column{Name: name, Type: wire.TypeString} }
	kind := []restsource.Param{{Column: "kind", Op: wire.OpEq, Name: "kind"}}
	return []restsource.Table{{
		Name: "children", Path: path, Parent: "parents", Rows: "rows", Key: []string{"parent", "id"}, Filters: kind,
		Pages: restsource.Pages{By: restsource.PagingCursor, Param: "after", Next: "next"},
		Columns: []restsource.Column{
			{Name: "id", Type: wire.TypeNumber}, {Name: "parent_kind", OfParent: "kind"}, {Name: "parent", OfParent: "id"}, text("kind"),
		},
	}, {
		Name: "parents", Pages: onePage, Path: "/parents", Rows: "rows", Key: []string{"id"}, Filters: kind,
		Columns: []restsource.Column{text("id"), text("kind"), {Name: "code", Type: wire.TypeNumber}},
	}}
}

// TestFamily shows which endpoints a query asks, and that no filter goes to a table
// that it does not concern.
func TestFamily(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/family.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			api := &family{}
			tenant := asTenant(t, api, familyTables("/parents/{id}/children")).Unverified()
			answer, err := tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id", "parent"}, Where: whereOf(t, c[1])})
			require.NoError(t, err)
			var got []string
			for i, id := range answer.Column("id") {
				got = append(got, id.String()+answer.Column("parent")[i].String())
			}
			assert.Equal(t, c[2], strings.Join(got, " "))
			assert.ElementsMatch(t, strings.Fields(c[3]), api.asked)
		})
	}
}

// TestFamilyTrouble: an endpoint that fails is no endpoint without rows. One that answers 404 has
// no rows, but when all do, there is no such table.
func TestFamilyTrouble(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/families.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			api := &family{fail: map[string]int{}}
			for failure := range strings.FieldsSeq(c[2]) {
				at := strings.LastIndex(failure, "=")
				api.fail[failure[:at]] = testkit.Must(strconv.Atoi(failure[at+1:]))(t)
			}
			answer, said, err := query(t, familyTables(c[1]), testkit.Over(api), wire.QueryRequest{Table: "children", Fields: []string{"id"}})
			if err != nil {
				saysAll(t, c[3], err, said)
			} else {
				assert.Equal(t, c[3], strconv.Itoa(len(answer.Column("id"))))
			}
			asked := slices.Clone(api.asked)
			slices.Sort(asked)
			assert.Len(t, slices.Compact(asked), len(api.asked), "no address is asked twice")
		})
	}
}

// TestDiscoveredFamily: discovery asks for each first page once, and takes the first
// parent for all.
func TestDiscoveredFamily(t *testing.T) {
	for _, c := range []struct {
		fail             map[string]int
		tables, warnings []string
		asked            []string // without the controls
	}{
		{nil, []string{"children", "parents"}, nil, []string{"/parents", "/parents/a%2F1/children",
			"/parents/a%2F1/children?after=n", "/parents/a%2F1/children", "/parents/a%2F1/children?after=n"}},
		{map[string]int{"/parents/a%2F1/children": 404}, []string{"children", "parents"}, nil, []string{"/parents", "/parents/a%2F1/children"}},
		{map[string]int{"/parents/a%2F1/children": 403}, []string{"parents"},
			[]string{`Table "children" is left out: these credentials may not read it.`}, []string{"/parents", "/parents/a%2F1/children"}},
	} {
		api := &family{fail: c.fail}
		found := testkit.Must(asTenant(t, api, familyTables("/parents/{id}/children")).Unverified().Discover())(t)
		assert.Equal(t, c.tables, namesOf(found))
		var asked []string
		for _, address := range api.asked {
			if !strings.Contains(address, "kind=") {
				asked = append(asked, address)
			}
		}
		assert.Equal(t, c.asked, asked)
	}
}

// TestDiscoveredOrphans: where there is no parent yet, the child table is described all
// the same. A text that is long is no sample.
func TestDiscoveredOrphans(t *testing.T) {
	long := strings.Repeat("x", 100)
	for rows, samples := range map[string]int{`[]`: 0, `[{"id": "` + long + `"}, {"id": "` + long + `y"}]`: 1} {
		found := testkit.Must(asTenant(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/parents" {
				rows = `[]`
			}
			_, _ = w.Write([]byte(`{"rows": ` + rows + `}`))
		}), familyTables("/parents/{id}/children")).Unverified().Discover())(t)
		require.Len(t, found.Tables, 2)
		assert.Len(t, found.Tables[1].Fields[0].Samples, samples)
	}
}

// watched notes what its source leaves behind.
type watched struct {
	*restsource.Source
	left func()
}

func (w watched) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	defer w.left()
	return w.Source.Query(ctx, req, out)
}

// TestLeft: when a query of a child table ends before its last row, the requests that
// are under way end before the query does.
func TestLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, checked := 0, false
		api := testkit.Over(&family{})
		src := testkit.Must(restsource.New(shopAPI, familyTables("/parents/{id}/children"), &restsource.Options{Concurrency: 3,
			Transport: testkit.Transport(func(r *http.Request) (*http.Response, error) {
				if !strings.Contains(r.URL.Path, "/b/") {
					time.Sleep(time.Second) // the others have begun by then
					return api.RoundTrip(r)
				}
				mu.Lock()
				running++
				mu.Unlock()
				<-r.Context().Done()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return nil, r.Context().Err()
			})}))(t)
		tenant := connectortest.Start(t, shopDefinition, watched{src, func() {
			mu.Lock()
			defer mu.Unlock()
			checked = true
			assert.Zero(t, running)
		}}, testkit.Quiet()).As(shopCredentials).Unverified()
		testkit.Must(tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}, Limit: 1}))(t)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		assert.True(t, checked)
	})
}
