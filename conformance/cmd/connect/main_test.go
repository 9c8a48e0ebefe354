package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const token = "page-token-0123456789abcdef-0123456"

func TestListenIsLoopbackOnly(t *testing.T) {
	for _, c := range []struct {
		address string
		ok      bool
	}{
		{"127.0.0.1:0", true}, {"127.8.8.8:0", true},
		{"0.0.0.0:0", false}, {":0", false}, {"[::]:0", false}, {"192.0.2.1:0", false}, {"localhost:0", false}, {"127.0.0.1", false},
	} {
		l, err := listen(t.Context(), c.address)
		if !c.ok {
			require.ErrorContains(t, err, "this machine alone", c.address)
			continue
		}
		require.NoError(t, err, c.address)
		require.NoError(t, l.Close())
	}
}

func TestConfigure(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return "@" + path
	}
	getenv := func(name string) string { return map[string]string{check.EnvToken: token}[name] }

	var out bytes.Buffer
	good := file("good", "\ufeff{\"apiKey\": \"sk-1\"}\n")
	c, err := configure([]string{"-local", "http://localhost:1/x", "-name", "Shop", "-credentials", good}, getenv, &out)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:0", c.address)
	require.Equal(t, "Shop", c.form.Name())
	require.Equal(t, "http://localhost:1/x", c.form.URL())
	require.True(t, c.form.Local())
	require.True(t, c.form.HasToken())
	require.True(t, c.form.HasCredential("apiKey"), "a URL that was set before does not forget them")

	c = testkit.Must(configure(nil, func(string) string { return "" }, &out))(t, "everything can be typed")
	require.False(t, c.form.HasToken())
	require.False(t, c.form.Local(), "the platform's own ways are the default")

	for name, args := range map[string][]string{
		"two URLs":                   {"https://a.test", "secret-that-lost-its-flag"},
		"credentials in the clear":   {"-credentials", `{"apiKey": "secret"}`},
		"credentials that are none":  {"-credentials", file("list", `["secret"]`)},
		"credentials that are two":   {"-credentials", file("two", `{"a": "secret"}, "timeoutMs": 2, "x": {}`)},
		"credentials that repeat":    {"-credentials", file("repeat", `{"a": "secret", "a": "b"}`)},
		"a file that does not exist": {"-credentials", "@" + filepath.Join(dir, "none")},
	} {
		_, err := configure(args, getenv, &out)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "secret", name)
	}
}

// TestPageIsPrivate asks for the page as others on the machine, or other sites in the browser, can.
func TestPageIsPrivate(t *testing.T) {
	c := testkit.Must(configure(nil, func(string) string { return token }, io.Discard))(t)
	const host = "127.0.0.1:8321"
	p := newPage(c.form, host)
	defer p.close()
	spelled := strings.NewReplacer("PAGE", "/"+p.key, "HOST", host)
	for _, r := range testkit.Table(t, "testdata/private.tsv", 7) {
		t.Run(r[0], func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), r[2], "http://"+spelled.Replace(r[3]+r[4]), http.NoBody)
			for header := range strings.SplitSeq(strings.TrimPrefix(r[5], "-"), "; ") {
				if name, value, ok := strings.Cut(header, ": "); ok {
					request.Header.Set(name, spelled.Replace(value))
				}
			}
			answer := httptest.NewRecorder()
			p.ServeHTTP(answer, request)
			require.Equal(t, r[6], strconv.Itoa(answer.Code), r[1])
			require.Contains(t, answer.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'")
			require.NotContains(t, answer.Header().Get("Content-Security-Policy"), "unsafe")
			require.Equal(t, "no-referrer", answer.Header().Get("Referrer-Policy"), "the key is in the path")
			require.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
			require.NotContains(t, answer.Body.String(), token)
			if r[6] != "200" {
				require.NotContains(t, answer.Body.String(), p.key, "nobody learns the key")
			}
		})
	}
	require.GreaterOrEqual(t, len(p.key), 26, "the key has 128 bits")
	require.NotEqual(t, p.key, newPage(c.form, host).key)
}

func TestMarkdown(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/markdown.tsv", 3) {
		text, want := testkit.Must(strconv.Unquote(c[1]))(t), testkit.Must(strconv.Unquote(c[2]))(t)
		require.Equal(t, want, string(markdown(text)), c[0])
	}
}

// visitor uses the page without a browser.
type visitor struct {
	t    *testing.T
	url  string
	seen *bytes.Buffer // all that the page has sent
}

func (v *visitor) post(path, body string) string {
	v.t.Helper()
	status, text := testkit.Send(v.t, http.DefaultClient, v.url+path, "", body)
	v.seen.WriteString(text)
	require.Equal(v.t, 200, status, text)
	return text
}

func (v *visitor) button(path string) (view formView) {
	v.t.Helper()
	require.NoError(v.t, json.Unmarshal([]byte(v.post(path, "{}")), &view))
	return view
}

// events reads patches until one of them has the text.
func (v *visitor) events(last, id, text string) (event string) {
	v.t.Helper()
	ctx, stop := context.WithTimeout(v.t.Context(), 2*time.Minute)
	defer stop()
	r := testkit.Must(http.NewRequestWithContext(ctx, http.MethodGet, v.url+"events", nil))(v.t)
	r.Header.Set("Last-Event-ID", last)
	answer := testkit.Must(http.DefaultClient.Do(r))(v.t)
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(io.TeeReader(answer.Body, v.seen))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if number, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			event = number
		}
		var p patch
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if ok && json.Unmarshal([]byte(data), &p) == nil && p.ID == id && strings.Contains(p.HTML, text) {
			return event
		}
	}
	v.t.Fatalf("no patch of %s has %q: %v", id, text, lines.Err())
	return ""
}

// TestRun uses the whole program: it connects, waits for the verdict, measures and asks.
func TestRun(t *testing.T) {
	table := connectors.Planets()
	table.Rows[2][0] = wire.Text("<Venus>")
	server := httptest.NewServer(connectors.Handler(token, connectors.Tables(table), connectors.Key))
	defer server.Close()

	printed, _ := testkit.Launch(t, func(ctx context.Context, out io.Writer) error {
		return run(ctx, []string{"-local", server.URL}, func(string) string { return token }, out)
	})
	v := &visitor{t: t, url: strings.Fields(printed.Await(t, "http://"))[1], seen: &bytes.Buffer{}}

	require.Contains(t, v.button("connect").Problem, "read the connector first")
	view := v.button("read")
	require.Equal(t, "planets", view.Slug)
	require.Contains(t, view.Warning, "The platform would refuse this address")
	require.Contains(t, view.Fields, `type="password"`)
	require.Equal(t, "API key is required.", view.WhyNotTest)
	require.Equal(t, "API key is required.", v.button("test").Problem)
	v.post("form", `{"field": "credential", "key": "apiKey", "value": "canary-key"}`)
	require.Equal(t, "The connector takes the credentials.", v.button("test").Done)
	v.post("form", `{"field": "second", "key": "apiKey", "value": "canary-key of another"}`)
	require.Equal(t, []string{"apiKey"}, v.button("test").HeldSecond)
	v.post("form", `{"field": "second", "key": "apiKey", "value": ""}`) // it would see the same rows
	view = v.button("connect")
	require.Empty(t, view.Problem)
	require.True(t, view.Connected)
	require.Equal(t, []string{"apiKey"}, view.Held, "that there is one is no secret")

	v.events("0", "chip", "conformant")
	last := v.events("0", "size-0", "3 rows")
	v.events("0", "rows-0", "&lt;Venus&gt;")
	require.Contains(t, v.post("measure", `{"kind": "column", "table": 0, "index": 1}`), "{}")
	v.events(last, "column-0-1", "3 / 3")
	v.post("measure", `{"kind": "grain", "table": 0}`)
	v.events("", "grain-0", "name")

	const ask = `{"kind": "rows", "table": "planets", "and": [{"field": "moons", "op": "gt", "text": "0"}],
		"sort": [{"field": "moons", "dir": "desc"}], "fields": ["name"], "limit": "1"}`
	require.Contains(t, v.post("preview", ask), `$CONNECTOR_CREDENTIALS`)
	var parts []string
	for part := range strings.Lines(v.post("ask", ask)) {
		var p struct{ ID, HTML string }
		require.NoError(t, json.Unmarshal([]byte(part), &p))
		parts = append(parts, p.ID)
		switch p.ID {
		case "ask-work":
			require.Contains(t, p.HTML, "<dt>Served by the connector</dt><dd>filters, order, number of rows</dd>")
			require.Contains(t, p.HTML, "<dt>Finished here</dt><dd>nothing</dd>")
		case "ask-rows":
			require.Contains(t, p.HTML, "Mars")
			require.NotContains(t, p.HTML, "Earth")
		}
	}
	require.Equal(t, "ask-answer", parts[0])
	require.Contains(t, parts, "ask-lines")
	require.Contains(t, v.post("preview", `{"kind": "rows", "table": "moons"}`), "no table")
	require.Equal(t, "name\nMars\n", v.post("csv", ask))
	status, why := testkit.Send(t, http.DefaultClient, v.url+"csv", "", `{"kind": "groups", "table": "planets"}`)
	require.Contains(t, why, "groupBy", "why there is no file")
	require.Equal(t, http.StatusBadGateway, status)

	require.NotContains(t, v.seen.String(), "canary-key")
	require.NotContains(t, v.seen.String(), token)
}

// TestPageIsClean connects a connector that says what it is told, and searches all that the page is
// sent: it is shown as in reports.
func TestPageIsClean(t *testing.T) {
	const key = "canary-key-of-a-tenant"
	src := connectors.Tables(memsource.Table{
		Table: wire.Table{Name: "t " + token, SourceDescription: "of " + key, StoresRows: true, Fields: []wire.Field{
			{Name: "f " + key, Type: wire.TypeString, SourceDescription: strings.ToUpper(key)},
			{Name: "account", Type: wire.TypeString},
		}},
		Rows: [][]wire.Value{
			{wire.Text("\u202e" + token), wire.Text("tenant-account")},
			{wire.Text(strings.Repeat("x", 290) + key), wire.Text(strings.ReplaceAll(key, "-", `\u002D`))},
		},
	})
	h := connectors.New(token, connector.Definition{Slug: "echo", Credentials: []wire.CredentialField{
		{Key: "account", Label: "Account", Type: wire.CredentialText},
		{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword}}}, src, connectors.Quiet())
	var rejects atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body := testkit.Body(r); !rejects.Load() || !bytes.Contains(body, []byte(key)) {
			h.ServeHTTP(w, r)
			return
		}
		text, _ := wire.EncodeAnswer(&wire.ErrorAnswer{Error: wire.Error{Code: wire.CodeCheckFailed,
			Message: "tenant-account has no " + key + " for " + token + "\u202e\x1b"}})
		w.Header().Set("Content-Type", terms.MediaJSON)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(text)
	}))
	defer server.Close()
	c := testkit.Must(configure([]string{"-local", server.URL}, func(string) string { return token }, io.Discard))(t)
	p := newPage(c.form, "")
	page := httptest.NewServer(p)
	defer page.Close()
	defer p.close()
	p.host = strings.TrimPrefix(page.URL, "http://")
	v := &visitor{t: t, url: p.url(), seen: &bytes.Buffer{}}

	v.button("read")
	v.post("form", `{"field": "credential", "key": "account", "value": "tenant-account"}`)
	v.post("form", `{"field": "credential", "key": "apiKey", "value": "`+key+`"}`)
	rejects.Store(true)
	require.Equal(t, `tenant-account has no [redacted] for [redacted]\u202e\u001b`, v.button("test").Problem,
		"what was typed as plain text may be shown to who typed it [rule credential-9]")
	rejects.Store(false)
	require.Empty(t, v.button("connect").Problem)

	v.events("0", "rows-0", `<th>f [redacted]</th>`)
	v.events("0", "rows-0", `\u202e[token]`)
	v.events("0", "rows-0", strings.Repeat("x", 290)+"[redacted]")
	v.events("0", "panel-tables", `<b>t [token]</b>`)
	v.events("0", "panel-ask", template.HTMLEscapeString(`{"f `+key+`":"f [redacted]","t `+token+`":"t [token]"}`))

	const question = `{"kind": "rows", "table": "t ` + token + `", "fields": ["f ` + key + `", "account"], "limit": "2"}`
	v.seen.Reset() // the script has to know the names that it sends
	require.Contains(t, v.post("preview", question), "t [token]")
	require.Contains(t, v.post("ask", question), `\\u202e[token]`)
	for _, text := range []string{token, key, "canary", "tenant-account", "\u202e"} {
		require.NotContains(t, strings.ToLower(v.seen.String()), text)
	}
}
