package platform_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// recording connects a handler, and records what is asked of it from then on.
func recording(t testing.TB, h http.Handler) (*platform.Connection, *recorder) {
	t.Helper()
	r := record(h)
	conn := connectTo(t, r, nil)
	r.seen()
	return conn, r
}

// saysJSON and saysNDJSON return a client to which everything is answered by one text.
func saysJSON(t testing.TB, body string) *platform.Client { return says(t, terms.MediaJSON, body) }

func saysNDJSON(t testing.TB, body string) *platform.Client { return says(t, terms.MediaNDJSON, body) }

func says(t testing.TB, media, body string) *platform.Client {
	t.Helper()
	return clientOver(t, testkit.Always(http.StatusOK, body, "Content-Type: "+media))
}

// clientOver returns a client of https://connector.test whose requests a transport answers.
func clientOver(t testing.TB, answers http.RoundTripper) *platform.Client {
	t.Helper()
	return clientWith(t, platform.Options{HTTP: &http.Client{Transport: answers}})
}

// clientWith returns a client of https://connector.test.
func clientWith(t testing.TB, opts platform.Options) *platform.Client {
	t.Helper()
	return testkit.Must(platform.NewClient("https://connector.test", wire.NewBearer(testToken), &opts))(t)
}

// counted reads all rows, none of which may fail, and returns their number.
func counted(t testing.TB, rows iter.Seq2[[]wire.Value, error]) (n int64) {
	t.Helper()
	for _, err := range rows {
		require.NoError(t, err)
		n++
	}
	return n
}

// by sorts by these fields; one that follows a minus descends.
func by(fields ...string) (keys []wire.SortKey) {
	for _, field := range fields {
		name, desc := strings.CutPrefix(field, "-")
		name, dir, _ := strings.Cut(name, ":")
		keys = append(keys, wire.SortKey{Field: name, Dir: wire.Direction(cmp.Or(dir, map[bool]string{true: "desc", false: "asc"}[desc]))})
	}
	return keys
}

// faultOf returns the error of an answer that the client refuses.
func faultOf(t testing.TB, err error, why ...any) (fault *platform.AnswerError) {
	t.Helper()
	require.ErrorAs(t, err, &fault, why...)
	return fault
}

// requireFault requires the place and the rule of a refused answer, or no error where the rule is empty.
func requireFault(t testing.TB, err error, place, rule string, why ...any) {
	t.Helper()
	if rule == "" {
		require.NoError(t, err, why...)
		return
	}
	fault := faultOf(t, err, why...)
	require.Equal(t, [2]string{place, rule}, [2]string{fault.Place, fault.Rule}, "%v: %v", why, fault)
	_, known := rules.Lookup(rule)
	require.True(t, known, rule)
}

// rowsOf returns all rows that answer a query.
func rowsOf(t testing.TB, c *platform.Connection, req *wire.QueryRequest) [][]wire.Value {
	t.Helper()
	rows, _, err := casetest.Rows(t.Context(), c, req)
	require.NoError(t, err)
	return rows
}

// requireRight requires the rows that the oracle finds in tables, or others that are as right.
func requireRight(t testing.TB, req *wire.QueryRequest, rows [][]wire.Value, tables ...memsource.Table) {
	t.Helper()
	all := oracle.Tables{}
	for _, table := range tables {
		all[table.Name] = &oracle.Table{Name: table.Name, Columns: table.Columns(), PrimaryKey: table.PrimaryKey, Rows: table.Rows}
	}
	require.Nil(t, oracle.Verify(all, req, rows))
}

// recorder is a handler that keeps the requests to another one, and what is wrong
// with them: all that the document does not declare.
type recorder struct {
	handler  http.Handler
	document wire.Document

	mu       sync.Mutex
	requests []recorded
	open     int
	most     int // requests that were open at once
	faults   []string
}

type recorded struct {
	path string
	body sent
}

// sent is what is judged of a request.
type sent struct {
	Table                         string
	And                           []sentFilter
	Or                            [][]sentFilter
	Sort                          []struct{ Field string }
	GroupBy                       []struct{ Grain string }
	Fields, StringFields, Columns []string
	Limit, Offset                 int64
	Joins                         []any
	FieldTypes                    map[string]wire.Type
}

type sentFilter struct {
	Field string
	Op    wire.Op
}

// record returns a recorder of the requests to a handler.
func record(h http.Handler) *recorder {
	r := &recorder{handler: h}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, wire.PathDocument, nil))
	if err := wire.Decode(w.Body.Bytes(), &r.document); err != nil {
		panic(err)
	}
	return r
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodPost {
		one := recorded{path: req.URL.Path}
		if err := json.Unmarshal(testkit.Body(req), &one.body); err != nil {
			panic(err)
		}
		r.mu.Lock()
		r.requests = append(r.requests, one)
		r.judge(one)
		r.open++
		r.most = max(r.most, r.open)
		r.mu.Unlock()
		defer func() {
			r.mu.Lock()
			r.open--
			r.mu.Unlock()
		}()
	}
	r.handler.ServeHTTP(w, req)
}

// judge notes what a request asks for that the document does not declare.
func (r *recorder) judge(one recorded) {
	caps, b := r.document.Capabilities, one.body
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			r.faults = append(r.faults, one.path+" "+fmt.Sprintf(format, args...))
		}
	}
	always := []string{wire.PathCheck, wire.PathDiscovery, wire.PathQuery}
	fault(!slices.Contains(always, one.path) && !slices.Contains(r.document.Endpoints, wire.Endpoint(one.path[1:])), "is not listed")
	for _, f := range slices.Concat(append(b.Or, b.And)...) {
		fault(!slices.Contains(caps.Operators, f.Op), "filters with %s", f.Op)
		fault(b.FieldTypes[f.Field] == "", "does not state the type of %s", f.Field)
	}
	for _, k := range b.Sort {
		fault(b.FieldTypes[k.Field] == "", "does not state the type of %s", k.Field)
	}
	fault(caps.Sort == wire.SortNone && len(b.Sort) > 0 || caps.Sort == wire.SortSingle && len(b.Sort) > 1, "has %d sort keys", len(b.Sort))
	fault(!caps.Join && len(b.Joins) > 0, "joins")
	for _, g := range b.GroupBy {
		fault(!caps.DateBucket && g.Grain != "", "has the grain %s", g.Grain)
	}
	if one.path != wire.PathQuery {
		return
	}
	limits := caps.Limits
	fault(!caps.Offset && b.Offset > 0 || limits.OffsetMax > 0 && b.Offset > limits.OffsetMax, "has the offset %d", b.Offset)
	fault(limits.PageSizeMax > 0 && (b.Limit == 0 || b.Limit > limits.PageSizeMax), "has the limit %d", b.Limit)
	fault(limits.RowsPerTableMax > 0 && b.Offset+b.Limit > limits.RowsPerTableMax, "ends at row %d", b.Offset+b.Limit)
}

// seen returns what is wrong, and forgets the requests.
func (r *recorder) seen() (requests []recorded, faults []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests, faults = r.requests, r.faults
	r.requests, r.faults = nil, nil
	return requests, faults
}

// asked returns the requests, and forgets them. Nothing is wrong with any of them.
func (r *recorder) asked(t testing.TB) []recorded {
	t.Helper()
	requests, faults := r.seen()
	require.Empty(t, faults, "the document declares what is asked (route-6, document-15)")
	return requests
}

// paths returns the routes of requests, in their order.
func paths(requests []recorded) (list []string) {
	for _, r := range requests {
		list = append(list, r.path)
	}
	return list
}
