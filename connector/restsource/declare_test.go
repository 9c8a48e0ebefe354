package restsource_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestInfer gives each member the narrowest type that holds its values.
func TestInfer(t *testing.T) {
	columns := testkit.Must(restsource.Infer([]byte(`{"data": [
		{"id": 1, "price": 12.50, "ratio": 1e-3, "on": true, "day": "2024-05-01", "at": "2024-05-01T10:00:00Z", "seen": "2024-05-01",
		 "tags": [], "owner": {"id": 1}, "code": "0017", "mixed": 1, "void": null, "a.b": 1, "late": null},
		{"id": 2, "price": 7, "ratio": 2, "on": null, "day": "2024-05-02", "at": "2024-05-01T10:00:00+02:00", "seen": "2024-05-01T10:00:00Z",
		 "tags": ["a"], "owner": null, "code": "2024-05-01", "mixed": "x", "new": {}, "late": "x"}]}`), "data"))(t)
	got := map[string]wire.Type{}
	var names []string
	for _, c := range columns {
		got[c.Name] = c.Type
		names = append(names, c.Name)
	}
	assert.Equal(t, map[string]wire.Type{
		"id": "number", "price": "decimal", "ratio": "number", "on": "boolean", "day": "date", "at": "datetime", "seen": "datetime",
		"tags": "array", "owner": "json", "code": "string", "mixed": "json", "void": "string", "a.b": "number", "late": "string", "new": "json",
	}, got)
	assert.Equal(t, "id price ratio on day at seen tags owner code mixed void a.b late new", strings.Join(names, " "), "in their order")
}

// TestCells checks how members become cells. Dates come as APIs write them, several spellings in one column.
func TestCells(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/cells.tsv", 5) {
		t.Run(c[0]+" "+c[2], func(t *testing.T) {
			var column restsource.Column
			for word := range strings.FieldsSeq(c[0]) { // its type, and what differs, as in "datetime unix=1s"
				switch name, value, _ := strings.Cut(word, "="); name {
				case "unix":
					column.Unix = testkit.Must(time.ParseDuration(value))(t)
				case "zone":
					column.Zone = testkit.Must(time.LoadLocation(value))(t)
				case "path":
					column.Path = value
				case "required":
					column.NotNull = true
				default:
					column.Type = wire.Type(word)
				}
			}
			if c[1] != "" {
				column.Layouts = strings.Split(c[1], " | ")
			}
			got, said, err := cellOf(t, column, c[2])
			if c[3] == "" {
				require.ErrorContains(t, err, "internal", c[4])
				if value := strings.Trim(c[2], `"`); len(value) > 4 {
					assert.NotContains(t, said, value, "no error quotes a value")
				}
				return
			}
			require.NoError(t, err, c[4])
			assert.Equal(t, c[3], got.String())
		})
	}
}

// TestConvert checks what a function of the author gets, and that its cell is the column's.
func TestConvert(t *testing.T) {
	for _, c := range []struct {
		member, want string
		typ          wire.Type
		convert      func(any) (wire.Value, error)
	}{
		{`true`, "false", wire.TypeBoolean, func(v any) (wire.Value, error) { return wire.Bool(!v.(bool)), nil }},
		{`1.50`, "1.50", wire.TypeString, func(v any) (wire.Value, error) { return wire.Text(string(v.(json.Number))), nil }},
		{`{"a": 1}`, `{"a": 1}`, wire.TypeString, func(v any) (wire.Value, error) { return wire.Text(string(v.(json.RawMessage))), nil }},
		{`null`, "true", wire.TypeBoolean, func(v any) (wire.Value, error) { return wire.Bool(v == nil), nil }},
		{`[1]`, "3", wire.TypeNumber, func(v any) (wire.Value, error) { return wire.Int(int64(len(v.(json.RawMessage)))), nil }},
	} {
		got, _, err := cellOf(t, restsource.Column{Type: c.typ, Convert: c.convert}, c.member)
		require.NoError(t, err, c.member)
		assert.Equal(t, c.want, got.String(), c.member)
	}
}

// cellOf returns what a column makes of a member, and what the log says.
func cellOf(t *testing.T, column restsource.Column, member string) (cell wire.Value, said string, err error) {
	t.Helper()
	column.Name = "v"
	tables := []restsource.Table{{Name: "t", Pages: onePage, Path: "/t", Columns: []restsource.Column{column}}}
	answer, said, err := query(t, tables, inTurn(`[{"v": `+member+`}]`), wire.QueryRequest{Table: "t", Fields: []string{"v"}})
	if err != nil {
		return cell, said, err
	}
	return answer.Column("v")[0], said, nil
}

// TestAddress checks what credentials make of the address.
func TestAddress(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/addresses.tsv", 4) {
		t.Run(c[0]+" "+c[1], func(t *testing.T) {
			api := inTurn(`{}`)
			src := testkit.Must(restsource.New(restsource.API{Base: c[0], Check: "/t/1"}, numbersTable(onePage),
				&restsource.Options{AllowPrivate: c[2] == "here", Transport: api}))(t)
			err := src.Check(t.Context(), checkOf("shop", unfold(c[1])))
			assert.Equal(t, unfold(c[3]), strings.Join(api.urls, " "))
			if c[3] == "" {
				require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err))
				return
			}
			require.NoError(t, err)
		})
	}
}

// checkOf is a check of one credential.
func checkOf(key, value string) *wire.CheckRequest {
	return &wire.CheckRequest{Envelope: wire.Envelope{Credentials: wire.NewCredentials(map[string]string{key: value})}}
}

// TestGuard: an address that a tenant types leads to no private network, unless the host opens it.
func TestGuard(t *testing.T) {
	tables := numbersTable(onePage, func(t *restsource.Table) { t.Rows = "" })
	check := func(opts *restsource.Options, address string) error {
		src := testkit.Must(restsource.New(restsource.API{Base: "{url}"}, tables, opts))(t)
		return src.Check(t.Context(), checkOf("url", address))
	}
	var refused *wire.Error
	require.ErrorAs(t, check(nil, "https://127.0.0.1:1"), &refused)
	assert.Equal(t, "The address of the API cannot be used, because it is not public: it is this host.", refused.Message)
	require.ErrorAs(t, check(nil, "https://169.254.169.254/latest"), &refused)
	assert.Contains(t, refused.Message, "the metadata service of a cloud")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[]`)) }))
	defer server.Close()
	require.NoError(t, check(&restsource.Options{AllowPrivate: true}, server.URL))
	src := testkit.Must(restsource.New(restsource.API{Base: server.URL}, tables, nil))(t)
	require.NoError(t, src.Check(t.Context(), checkOf("url", "")), "where the author states the address, it may be any")
	require.ErrorAs(t, check(&restsource.Options{AllowPrivate: true, Attempts: 1}, "https://127.0.0.1:1"), &refused)
	assert.Equal(t, "Nothing answers at this address. Check the address of the API.", refused.Message)
}

// TestAuthorize puts credentials where the API wants them, and nowhere else.
func TestAuthorize(t *testing.T) {
	for name, c := range map[string]struct {
		authorize restsource.Authorize
		want      string
	}{
		"pasted":        {restsource.Bearer("pasted"), "Authorization: Bearer k2 https://shop.example/v1/me"},
		"broken":        {restsource.Bearer("broken"), ""},
		"deleted":       {restsource.Bearer("deleted"), ""},
		"tab":           {restsource.Bearer("tab"), "Authorization: Bearer k\t2 https://shop.example/v1/me"},
		"pasted header": {restsource.KeyHeader("X-Api-Key", "pasted"), "X-Api-Key: k2 https://shop.example/v1/me"},
		"pasted param":  {restsource.KeyParam("key", "pasted"), "https://shop.example/v1/me?key=k2"},
		"both":          {restsource.Basic("key", "other"), "Authorization: Basic ay8xOm90aGVy https://shop.example/v1/me"},
		"bearer":        {restsource.Bearer("key"), "Authorization: Bearer k/1 https://shop.example/v1/me"},
		"header":        {restsource.KeyHeader("X-Api-Key", "key"), "X-Api-Key: k/1 https://shop.example/v1/me"},
		"param":         {restsource.KeyParam("key", "key"), "https://shop.example/v1/me?key=k%2F1"},
		"basic":         {restsource.Basic("key", "none"), "Authorization: Basic ay8xOg== https://shop.example/v1/me"},
		"moved": {func(r *http.Request, _ wire.Credentials) error {
			r.URL.Host = "evil.example"
			return nil
		}, ""},
		"failed": {func(*http.Request, wire.Credentials) error { return errors.New("no token") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			api := inTurn(`{}`)
			src := testkit.Must(restsource.New(restsource.API{Base: "https://shop.example/v1", Check: "/me", Authorize: c.authorize},
				declared("shop"), &restsource.Options{Transport: api}))(t)
			credentials := wire.NewCredentials(map[string]string{
				"key": "k/1", "pasted": " k2\n", "broken": "k\n2", "deleted": "k\x7f2", "tab": "k\t2", "other": "other",
			})
			err := src.Check(t.Context(), &wire.CheckRequest{Envelope: wire.Envelope{Credentials: credentials}})
			got := strings.Join(api.urls, "")
			for _, header := range []string{"Authorization", "X-Api-Key"} {
				for _, h := range api.headers {
					if v := h.Get(header); v != "" {
						got = header + ": " + v + " " + got
					}
				}
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.want == "", err != nil)
		})
	}
}

// TestColumnsOfChild: a child table may have columns of the tenant's own, beside those
// of its parent. Columns that cannot be are an error.
func TestColumnsOfChild(t *testing.T) {
	for _, c := range []struct {
		columns []restsource.Column
		want    string // "": the query fails
	}{
		{[]restsource.Column{{Name: "own", Path: "kind", Type: wire.TypeString}},
			`[{"parent": "a/1", "own": "p"}, {"parent": "a/1", "own": "q"}]`},
		{[]restsource.Column{{Name: "own", Type: wire.TypeString}, {Name: "id", Type: wire.TypeNumber}}, ``},
		{[]restsource.Column{{Name: "own"}}, ``},
	} {
		tables := declared("family")
		tables[0].ColumnsOf = func(context.Context, func(string, url.Values) ([]byte, error)) ([]restsource.Column, error) {
			return c.columns, nil
		}
		answer, err := serve(t, shopAPI, tables, family()).Query(wire.QueryRequest{
			Table: "children", Fields: []string{"parent", "own"}, Limit: 2,
		})
		if c.want == "" {
			requireCode(t, wire.CodeInternal, err)
			continue
		}
		require.NoError(t, err)
		assert.JSONEq(t, c.want, answer.JSON())
	}
}

// TestCheck: what a check asks. Without an endpoint of its own it is the first table,
// whose status is then about the credentials.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		check  string
		status int
		asked  string
		want   wire.Code
		log    string
	}{
		{"/me/{token}?a=1&b={c}", 200, "/v1/me/a%2Fb?a=1&b=x%26y", "", ""},
		{"/me?a=%zz", 200, "", wire.CodeInternal, "malformed query"},
		{"", 200, "/v1/parents", "", ""},
		{"", 401, "/v1/parents", wire.CodeCheckFailed, "check"},
		{"", 403, "/v1/parents", wire.CodeCheckFailed, "check"},
		{"", 404, "/v1/parents", wire.CodeInternal, "check"},
	} {
		api := inTurn(fmt.Sprint(c.status, ` {"rows": []}`))
		tables := append(declared("family")[1:], numbersTable(onePage)...)
		src := testkit.Must(restsource.New(restsource.API{Base: "https://shop.example/v1", Check: c.check}, tables,
			&restsource.Options{Transport: api}))(t)
		err := src.Check(t.Context(), &wire.CheckRequest{Envelope: wire.Envelope{
			Credentials: wire.NewCredentials(map[string]string{"token": "a/b", "c": "x&y"})}})
		assert.Equal(t, c.asked, strings.TrimPrefix(strings.Join(api.urls, ""), "https://shop.example"))
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.log)
		var said *wire.Error
		assert.Equal(t, c.want == wire.CodeCheckFailed, errors.As(err, &said))
	}
}

// TestDescribed: what the declarations say of a table reaches the platform. Samples are few, distinct and never null;
// the sample of a table adds no column for a member that is declared; a column of the parent has the parent's type.
func TestDescribed(t *testing.T) {
	tables := declared("shop")
	tables[0].Columns[1].Unique, tables[0].Columns[1].Description = true, "How far it is"
	found := testkit.Must(asTenant(t, newShopOf(13), tables).Unverified().Discover())(t)
	text := testkit.Must(wire.EncodeAnswer(found))(t)
	if *update {
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, text, "", " "))
		require.NoError(t, os.WriteFile("testdata/described.json", append(indented.Bytes(), '\n'), 0o644))
	}
	want := testkit.Must(os.ReadFile("testdata/described.json"))(t)
	assert.JSONEq(t, string(want), string(text), "run the test with -update")
}

// TestSample: a sample fills in what is not declared, and nothing else.
func TestSample(t *testing.T) {
	src := testkit.Must(restsource.New(shopAPI, []restsource.Table{{
		Name: "t", Pages: onePage, Path: "/t", Rows: "rows",
		Unwrap:  func(body []byte) ([]byte, error) { return []byte(`{"rows": ` + string(body) + `}`), nil },
		Sample:  `[{"a.b": 1, "c": 1, "d": {"e": 1, "f": 2}, "note": "2024-05-01T10:00:00Z"}, {"note": "x"}]`,
		Columns: []restsource.Column{{Name: "a.b"}, {Name: "c", Type: wire.TypeString}, {Name: "e", Path: "d.e", Type: wire.TypeDecimal}},
	}}, nil))(t)
	described := testkit.Must(src.Describe(t.Context(), wire.Credentials{}, "t"))(t)
	var got []string
	for _, f := range described.Fields {
		got = append(got, f.Name+" "+string(f.Type))
	}
	assert.Equal(t, []string{"a.b number", "c string", "e decimal", "note string"}, got)
}

// TestShapes: lists that are no lists of an object's members, and another format.
func TestShapes(t *testing.T) {
	for _, c := range append(testkit.Table(t, "testdata/shapes.tsv", 4),
		[]string{"another format", "{}", "{Content-Type: text/html} id↵1↵2", `[{"id": 1, "v": null}, {"id": 2, "v": null}]`}) {
		t.Run(c[0], func(t *testing.T) {
			tables := numbersTable(onePage, keyless, func(t *restsource.Table) { t.Rows, t.Columns = "", nil })
			require.NoError(t, json.Unmarshal([]byte(c[1]), &tables[0]))
			if tables[0].Columns == nil {
				tables[0].Columns = []restsource.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "v", Type: wire.TypeString}}
			}
			if c[0] == "another format" {
				tables[0].Unwrap = restsource.DecodeCSV(',', "id")
			}
			api := inTurn(c[2])
			answer, err := serve(t, shopAPI, tables, api).Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id", "v"}})
			assert.Len(t, api.asked, 1)
			if c[3] == "" {
				requireCode(t, wire.CodeInternal, err)
				return
			}
			require.NoError(t, err)
			assert.JSONEq(t, unfold(c[3]), answer.JSON())
		})
	}
}

// TestTypedAddressInLog: what a tenant types into a field is not logged, not even in part [rule credential-9].
func TestTypedAddressInLog(t *testing.T) {
	const cannot = `restsource: check: the API cannot be reached: `
	for _, c := range []struct {
		base, typed string
		cause       error
		want        string
	}{
		{"{url}", "https://typed.example/v1", &net.DNSError{Name: "typed.example", Err: "no such host", IsNotFound: true},
			cannot + "its name cannot be looked up"},
		{"https://{url}.example/v1", "typed", &net.DNSError{Name: "typed.example", Err: "no such host", IsNotFound: true},
			cannot + "its name cannot be looked up"},
		{"https://typed.example/v1", "", errors.New("dial typed.example"), cannot + "dial typed.example"}, // it is the author's
		{"{url}", "https://typed.example/v1", &net.OpError{Op: "dial", Addr: &net.UnixAddr{Name: "typed.example"}, Err: syscall.ECONNREFUSED},
			cannot + "connection refused"},
		{"{url}", "https://typed.example/v1", &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, cannot + "it does not answer in time"},
		{"{url}", "https://typed.example/v1", &net.OpError{Op: "dial", Err: errors.New("typed.example")},
			cannot + "an error of the type *net.OpError"},
		{"{url}", "https://typed.example/v1", &tls.CertificateVerificationError{Err: errors.New("not valid for typed.example")},
			cannot + "its certificate cannot be verified"},
		{"{url}", "https://typed.example/v1", errors.New("dial typed.example"), cannot + "an error of the type *errors.errorString"},
		{"{url}", "https://typed.example/v1", &recording.Missing{Request: "GET /v1/t", Dir: "testdata"}, cannot +
			"record: there is no recording of GET /v1/t in testdata; record it by setting Recorder.Upstream"},
	} {
		src, err := restsource.New(restsource.API{Base: c.base},
			[]restsource.Table{{Name: "t", Pages: onePage, Path: "/t", Columns: []restsource.Column{{Name: "id", Type: wire.TypeNumber}}}},
			&restsource.Options{Attempts: 1, Transport: testkit.Fails(c.cause)})
		require.NoError(t, err)
		require.EqualError(t, src.Check(t.Context(), checkOf("url", c.typed)), strings.Replace(c.want, "check", `table "t"`, 1))
	}
}

type decoder = func(body []byte) ([]byte, error)

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func zipped(files ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	_, _ = w.Create("folder/")
	for i, text := range files {
		f, _ := w.Create(fmt.Sprintf("folder/part-%d", i))
		_, _ = f.Write([]byte(text))
	}
	_ = w.Close()
	return b.String()
}

// decoders are those of TestDecode.
var decoders = map[string]decoder{
	"gzip": restsource.DecodeGzip(nil), "gzipped lines": restsource.DecodeGzip(restsource.DecodeNDJSON), "zip": restsource.DecodeZip(nil),
	"zip of gzipped lines": restsource.DecodeZip(restsource.DecodeGzip(restsource.DecodeNDJSON)),
	"csv":                  restsource.DecodeCSV(',', "id", "name"), "tabs": restsource.DecodeCSV('\t', "id"),
	"ids": restsource.DecodeCSV(',', "id"), "lines": restsource.DecodeNDJSON,
	"items": restsource.DecodeXML("items.item", "items.item.tag"), "top": restsource.DecodeXML("item"),
	"keyed": restsource.DecodeKeyed("data", "id"), "days": restsource.DecodeKeyed("", "day"),
	"rowwise": restsource.DecodeColumns("rows", "columns"), "columnar": restsource.DecodeColumns("hourly", ""),
	"schema": restsource.DecodeColumns("rows", "schema.name"),
}

// TestDecode: bodies in the formats that public reports tell of, and what becomes of them.
func TestDecode(t *testing.T) {
	for _, c := range append(testkit.Table(t, "testdata/decoded.tsv", 4), [][]string{
		{"no longer compressed: airbytehq/airbyte-python-cdk#378", "gzip", `[1]`, `[1]`},
		{"compressed, and broken off", "gzipped lines", gzipped(strings.Repeat("{}\n", 9))[:24], ``},
		{"a zip of compressed lines: airbytehq/airbyte#23144", "zip of gzipped lines",
			zipped(gzipped("{\"id\":1}\n{\"id\":2}\n"), gzipped(""), gzipped("{\"id\":3}\n")), `[{"id":1},{"id":2},{"id":3}]`},
		{"a zip of one file of any shape", "zip", zipped(`{"rows": []}`), `{"rows": []}`},
		{"files that are no lists", "zip", zipped(`{"rows": []}`, `{"rows": []}`), ``},
		{"an empty zip", "zip", zipped(), ``},
		{"a zip that broke off", "zip", zipped("[]")[:40], ``},
	}...) {
		t.Run(c[0], func(t *testing.T) {
			body, want := c[2], c[3]
			if !strings.Contains(c[1], "zip") {
				body = unfold(body)
			}
			got, err := decoders[c[1]]([]byte(body))
			if err == nil && !json.Valid(got) { // which the source reads next, and more strictly
				err = fmt.Errorf("not JSON: %s", got)
			}
			if want == "" {
				require.Error(t, err)
				assert.NotContains(t, err.Error(), "Ann", "no error quotes the answer")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want, string(got))
		})
	}
}

// TestBombs: a small answer that unpacks to a very large one is refused.
func TestBombs(t *testing.T) {
	testrun.Long(t)
	bomb := strings.Repeat(gzipped(strings.Repeat(" ", 1<<20)), 130) // members one after the other are one text
	require.Less(t, len(bomb), 1<<20)
	for name, c := range map[string]struct {
		decode decoder
		body   string
	}{
		"gzip":         {restsource.DecodeGzip(nil), bomb},
		"files in zip": {restsource.DecodeZip(nil), zipped(strings.Repeat(" ", 70<<20), strings.Repeat(" ", 70<<20))},
	} {
		_, err := c.decode([]byte(c.body))
		require.ErrorContains(t, err, "larger", name)
	}
}
