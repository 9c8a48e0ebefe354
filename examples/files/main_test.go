package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func mapFS(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

const testToken = "a-token-for-tests-0123456789abcdef"

func env(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}

func TestConfigure(t *testing.T) {
	for _, c := range testkit.Cases[struct {
		Why  string
		Args []string
		Env  map[string]string
		Want string // the error; empty: none
	}](t, "testdata/configured.json") {
		config, err := configure(c.Args, env(c.Env), io.Discard)
		if c.Want != "" {
			require.EqualError(t, err, c.Want, c.Why)
			continue
		}
		require.NoError(t, err, c.Why)
		secret, given := c.Env[envToken]
		assert.Equal(t, given, config.minted == "", "a token is made when none is given")
		if !given {
			secret = config.minted
			assert.Len(t, secret, 64)
		}
		assert.True(t, config.token.Matches(secret))
	}
	one := testkit.Must(configure(nil, env(nil), io.Discard))(t)
	assert.NotEqual(t, one.minted, testkit.Must(configure(nil, env(nil), io.Discard))(t).minted)
	assert.Equal(t, "8080", one.port)
	_, err := configure([]string{"-h"}, env(nil), io.Discard)
	assert.ErrorIs(t, err, flag.ErrHelp)
}

func TestRunRefusesFolders(t *testing.T) {
	empty := t.TempDir()
	err := run(t.Context(), []string{"-dir", empty}, env(nil), io.Discard, io.Discard)
	assert.EqualError(t, err, fmt.Sprintf(
		"-dir: %s holds no folder; make one for each tenant, such as %s/acme, and put the files there", empty, empty))
	gone := filepath.Join(empty, "gone")
	err = run(t.Context(), []string{"-dir", gone}, env(nil), io.Discard, io.Discard)
	assert.ErrorContains(t, err, "-dir: open "+gone)
}

// TestWelcome runs what is printed through a shell and against the connector.
func TestWelcome(t *testing.T) {
	testkit.NeedsShell(t)
	odd := map[string]string{"o'brien \"x\" $HOME/t'a.csv": "a'b,\"c\"\"d\",$e\n1,2,3\n"}
	for _, c := range []struct {
		why    string
		files  map[string]string // nil: the bundled data
		token  string            // empty: one is made
		vars   []string
		head   string
		tenant string
	}{
		{"the bundled data, whose password is no secret", nil, "", nil, "Tenants: science, shop (password demo-password)\n", "science"},
		{"a token of one's own is not printed", nil, testToken, []string{envToken + "=" + testToken},
			"Token: $PLATFORM_CONNECTOR_TOKEN\n", "science"},
		{"names that a shell would trip over", odd, "", nil, "Tenants: o'brien \"x\" $HOME\n", "o'brien \"x\" $HOME"},
		{"a tenant without a password is preferred",
			map[string]string{"a/.password": "x", "a/t.csv": "a\n1\n", "b/t.csv": "b\n1\n"}, "", nil, "Tenants: a (with a password), b\n", "b"},
		{"a password of the user's is not printed", map[string]string{"a/.password": "it's x", "a/t.csv": "a\n1\n"}, "",
			[]string{`TENANT_PASSWORD=it's x`}, "Tenants: a (with a password)\n", "a"},
		{"a malformed file is passed over", map[string]string{"a/a.csv": "x,x\n", "a/t.csv": "a\n1\n"}, "", nil, "Tenants: a\n", "a"},
	} {
		t.Run(c.why, func(t *testing.T) {
			vars := map[string]string{}
			if c.token != "" {
				vars[envToken] = c.token
			}
			config := testkit.Must(configure(nil, env(vars), io.Discard))(t)
			src, tenants, err := open("", quiet)
			require.NoError(t, err)
			if c.files != nil {
				config.dir = "somewhere"
				src = testkit.Must(filesource.FS(mapFS(c.files), quiet))(t)
				tenants = testkit.Must(tenantsIn(mapFS(c.files)))(t)
			}
			defer func() { _ = src.Close() }()
			handler := testkit.Must(connector.New(definition, src, config.token, &connector.Options{Logger: quiet.Logger}))(t)
			var asked testkit.Log
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = asked.Write([]byte(r.URL.Path + "\n"))
				handler.ServeHTTP(w, r)
			}))
			defer server.Close()
			var out bytes.Buffer
			require.NoError(t, welcome(t.Context(), &out, src, tenants, config, server.Listener.Addr()))
			assert.Contains(t, out.String(), strings.Replace(server.URL, "127.0.0.1", "localhost", 1)+"\n")
			assert.Contains(t, out.String(), c.head)
			if c.token != "" {
				assert.NotContains(t, out.String(), c.token)
			}
			assert.NotContains(t, out.String(), "it's")

			var answer string
			for line := range strings.Lines(out.String()) {
				if strings.HasPrefix(line, "curl -sS ") {
					var ok bool
					answer, ok = strings.CutSuffix(testkit.Paste(t, strings.TrimSpace(line)+` -w '\n%{http_code}'`, c.vars...), "\n200")
					require.True(t, ok, "%s%s", line, answer)
				}
			}
			paths := []string{wire.PathDocument, wire.PathCheck, wire.PathDiscovery, wire.PathQuery, ""}
			assert.Equal(t, strings.Join(paths, "\n"), asked.String())
			rows := 0
			for row, err := range ndjson.NewReader(strings.NewReader(answer)).Rows() {
				require.NoError(t, err)
				assert.NotEmpty(t, row.Names(), "the rows have members")
				rows++
			}
			assert.Equal(t, map[bool]int{true: 5, false: 1}[c.files == nil], rows)
		})
	}
}

// blocked is a file system whose tables cannot be opened before the test ends.
type blocked struct {
	fs.FS
	until <-chan struct{}
}

func (b blocked) Sub(dir string) (fs.FS, error) {
	sub, err := fs.Sub(b.FS, dir)
	return blocked{sub, b.until}, err
}

func (b blocked) Stat(name string) (fs.FileInfo, error) { return fs.Stat(b.FS, name) }

func (b blocked) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".csv") {
		<-b.until
	}
	return b.FS.Open(name)
}

// TestWelcomeDoesNotWaitForALargeFile prints a query without fields when the
// columns are not known in time.
func TestWelcomeDoesNotWaitForALargeFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		data := blocked{mapFS(map[string]string{"a/t.csv": "x\n1\n"}), until}
		src := testkit.Must(filesource.FS(data, quiet))(t)
		tenants := testkit.Must(tenantsIn(data))(t)
		config := testkit.Must(configure(nil, env(nil), io.Discard))(t)
		config.dir = "somewhere"
		var out bytes.Buffer
		start := time.Now()
		require.NoError(t, welcome(t.Context(), &out, src, tenants, config, &net.TCPAddr{Port: 1}))
		assert.Equal(t, 3*time.Second, time.Since(start))
		assert.Contains(t, out.String(), `"fields":[],"limit":5,"sort":[],"table":"t"`)
		close(until)
		require.NoError(t, src.Close())
	})
}

// TestRun starts and stops the whole program on a free port.
func TestRun(t *testing.T) {
	printed, stop := testkit.Launch(t, func(ctx context.Context, out io.Writer) error {
		return run(ctx, nil, env(map[string]string{envPort: "0", envToken: testToken}), out, io.Discard)
	})
	_, url, _ := strings.Cut(strings.TrimSpace(printed.Await(t, " at ")), " at ")
	printed.Await(t, "curl -sS "+url+wire.PathQuery)
	_, document := testkit.Send(t, http.DefaultClient, url+wire.PathDocument, "", "")
	require.NoError(t, wire.Decode([]byte(document), &wire.Document{}))
	stop()
}

func TestMain(m *testing.M) { testrun.Main(m) }
