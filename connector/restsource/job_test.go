package restsource_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// exporter is an API that makes exports: each is there when it has been asked about so
// often, or in another state then.
type exporter struct {
	rounds   int
	state    string // at the end
	address  string // of the file, in the last answer
	begun    []string
	asked    map[string]int
	gone     []http.Header // of the requests to other hosts
	download string
}

func (e *exporter) RoundTrip(r *http.Request) (*http.Response, error) {
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	switch {
	case r.URL.Host != "shop.example":
		e.gone = append(e.gone, r.Header)
		return reply(200, e.download), nil
	case r.Method == http.MethodPost && path == "/exports":
		body, err := io.ReadAll(r.Body)
		e.begun = append(e.begun, string(body))
		return reply(202, fmt.Sprintf(`{"id": %d}`, len(e.begun))), err
	case strings.HasSuffix(path, "/file"):
		return reply(200, e.download), nil
	}
	if e.asked == nil {
		e.asked = map[string]int{}
	}
	if e.asked[path]++; e.asked[path] <= e.rounds {
		return reply(200, `{"status": "running"}`), nil
	}
	return reply(200, fmt.Sprintf(`{"status": %q, "result": {"url": %q}}`, e.state, e.address)), nil
}

func exportTable(download string) restsource.Table {
	return restsource.Table{
		Name: "t", Pages: onePage, Key: []string{"id"}, Query: "format=csv", Unwrap: restsource.DecodeGzip(restsource.DecodeCSV(',', "id")),
		Columns: columns(wire.TypeNumber, "id"), Filters: []restsource.Param{{Column: "id", Op: wire.OpGte, Name: "from"}},
		Job: restsource.Job{Create: "/exports", Status: "/exports/{job}", Download: download, Hosts: []string{"*.files.example"},
			Done: map[string]bool{"running": false, "done": true}},
	}
}

// TestJob: an export is begun, asked for until it is there, and downloaded, with the address of
// the file in an answer as in airbytehq/airbyte-python-cdk#211.
func TestJob(t *testing.T) {
	for _, c := range []struct {
		name, download string
		api            exporter
		err            string // what the log says
		took           time.Duration
		answer         string // what the platform is told
	}{
		{"at a path", "/exports/{job}/file", exporter{rounds: 3, state: "done"}, "", 6 * time.Second, ""},
		{"at another host of the author's list", "result.url",
			exporter{rounds: 1, state: "done", address: "https://a.files.example/x?signature=s3cr3t"}, "", 2 * time.Second, ""},
		{"at the API itself", "result.url", exporter{state: "done", address: "/v1/exports/1/file"}, "", 0, ""},
		{"at a host of nobody's list", "result.url", exporter{state: "done", address: "https://evil.example/x"},
			"none whose host is one of Hosts", 0, "internal"},
		{"at a host of the list, without TLS", "result.url", exporter{state: "done", address: "http://a.files.example/x"},
			"none whose host is one of Hosts", 0, "internal"},
		{"nowhere", "result.url", exporter{state: "done"}, "none whose host is one of Hosts", 0, "internal"},
		{"a state that is not told of is a failure: a11global/facebook-ads-performance-downloader#20", "/exports/{job}/file",
			exporter{rounds: 1, state: "Job Failed"}, "in a state that Done does not name", 2 * time.Second, "internal"},
		{"not in time: airbytehq/airbyte-python-cdk#428, airbytehq/airbyte#8388", "/exports/{job}/file", exporter{rounds: 1e9},
			"the export is not there", 28 * time.Second, "still making the rows"},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			api := &c.api
			api.download = gzipped("id\n1\n2\n3\n")
			shop := shopAPI
			shop.Header = http.Header{"X-Host-Key": {"k"}}
			tenant, log := connect(t, shop, []restsource.Table{exportTable(c.download)}, restsource.Options{Transport: api})
			begun := time.Now()
			rows, err := read(t, tenant, "t", []wire.Filter{cond("id", wire.OpGte, wire.Int(2))}, "id")
			assert.Equal(t, c.took, time.Since(begun).Truncate(time.Second))
			assert.Equal(t, []string{`{"format":"csv","from":"2"}`}, api.begun)
			synctest.Wait()
			assert.NotContains(t, log.String(), "s3cr3t")
			for _, h := range api.gone {
				assert.Empty(t, h.Get("Authorization")+h.Get("X-Host-Key"), "what is for the API alone")
			}
			if c.err != "" {
				require.ErrorContains(t, err, c.answer)
				assert.Contains(t, log.String(), c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{"2", "3"}, rows)
		})
	}
}

// TestJobOfParent: an export for each row of a parent. A 404 while one is made does not tell that the
// row of the parent has gone: the rows of that export would be missing.
func TestJobOfParent(t *testing.T) {
	const below = "/accounts/{id}/exports"
	account := regexp.MustCompile(`"account":"(.)"`)
	for _, c := range []struct {
		name, query, create, gone string
		want                      []string
	}{
		{"the parent in the paths", "", below, "", []string{"11", "12", "21", "22"}},
		{"the parent in the body", "format=csv&account={id}", "/exports", "", []string{"11", "12", "21", "22"}},
		{"a file that is not there", "", below, "/accounts/2/exports/j2/file", nil},
		{"an export that is not there", "", below, "/accounts/2/exports/j2", nil},
		{"no export of a row", "", below, "/accounts/2/exports", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := &emulated{answer: func(r *http.Request) (int, string) {
				path := strings.TrimPrefix(r.URL.Path, "/v1")
				if path == "/whoami" {
					return 200, `{}`
				}
				id, _, _ := strings.Cut(strings.TrimPrefix(path, "/accounts/"), "/")
				switch {
				case path == c.gone:
					return 404, ""
				case path == "/accounts":
					return 200, `[{"id": 1}, {"id": 2}]`
				case r.Method == http.MethodPost && path == "/exports":
					body, err := io.ReadAll(r.Body)
					assert.NoError(t, err)
					return 202, fmt.Sprintf(`{"id": "j%s"}`, account.FindSubmatch(body)[1])
				case r.Method == http.MethodPost:
					return 202, `{"id": "j` + id + `"}`
				case strings.HasSuffix(path, "/file"):
					id = strings.TrimPrefix(strings.Split(path, "/exports/")[1], "j")[:1]
					return 200, "id\n" + id + "1\n" + id + "2\n"
				}
				return 200, `{"status": "done"}`
			}}
			exports := exportTable(c.create + "/{job}/file")
			exports.Parent, exports.Query, exports.Filters = "accounts", c.query, nil
			exports.Job.Create, exports.Job.Status = c.create, c.create+"/{job}"
			exports.Columns = append(exports.Columns, restsource.Column{Name: "account", OfParent: "id"})
			accounts := restsource.Table{Name: "accounts", Path: "/accounts", Pages: onePage, Key: []string{"id"},
				Columns: columns(wire.TypeNumber, "id")}
			src := testkit.Must(restsource.New(shopAPI, []restsource.Table{accounts, exports},
				&restsource.Options{Transport: testkit.Over(api)}))(t)
			tenant := connectortest.Start(t, shopDefinition, src, testkit.Quiet()).As(shopCredentials).Unverified()
			rows, err := read(t, tenant, "t", nil, "id")
			if c.want == nil {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, rows)
			rows = testkit.Must(read(t, tenant, "t", []wire.Filter{cond("account", wire.OpEq, wire.Int(2))}, "id"))(t)
			assert.Equal(t, c.want[2:], rows, "one export")
			connectortest.Run(t, shopDefinition, src, &connectortest.Options{Credentials: shopCredentials, Requests: 200})
		})
	}
}
