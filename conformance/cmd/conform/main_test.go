package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const token = "0123456789abcdef-0123456789abcdef"

// served is a small connector with a credential, behind a real port. Its requests go through around.
func served(t *testing.T, around func(h http.Handler, w http.ResponseWriter, r *http.Request)) string {
	t.Helper()
	handler := connectors.Handler(token, connectors.Tables(connectors.Planets()), connectors.Key)
	if around == nil {
		return behindPort(t, handler)
	}
	return behindPort(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { around(handler, w, r) }))
}

// behindPort serves a handler, and returns its URL.
func behindPort(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

type result struct {
	code     int
	out, err string
}

func conform(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	code := run(t.Context(), args, func(name string) string { return env[name] }, &out, &errOut)
	return result{code, out.String(), errOut.String()}
}

var withToken = map[string]string{check.EnvToken: token}

const key = `{"apiKey":"canary-secret-of-a-tenant"}`

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"list.json": `["secret"]`, "long.json": strings.Repeat(" ", 2<<20), "occupied": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d.json"), 0o755))
	for _, c := range testkit.Table(t, "testdata/refusals.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			env, known := map[string]map[string]string{"token": withToken, "-": nil}[c[1]]
			require.True(t, known, c[1])
			got := conform(t, env, strings.Fields(strings.ReplaceAll(c[2], "DIR", dir))...)
			require.Equal(t, check.ExitNotRun, got.code, got.err)
			require.True(t, strings.HasPrefix(got.err, "conform: "), got.err)
			require.Contains(t, got.err, c[3])
			require.Equal(t, 1, strings.Count(got.err, "\n"), "one line")
			require.NotContains(t, got.err, "secret")
			require.Empty(t, got.out)
		})
	}
	require.NoFileExists(t, filepath.Join(dir, "r.pdf"))
}

func TestGrades(t *testing.T) {
	url := served(t, nil)
	dir := t.TempDir()
	credentials := filepath.Join(dir, "tenant.json")
	require.NoError(t, os.WriteFile(credentials, []byte("\ufeff"+key+"\n"), 0o600))
	files := []string{filepath.Join(dir, "r.json"), filepath.Join(dir, "r.xml"), filepath.Join(dir, "r.HTML")}
	require.NoError(t, os.WriteFile(files[0], bytes.Repeat([]byte("an older report"), 100_000), 0o600))
	for _, args := range [][]string{
		{"-mode", "live", "-seed", "42", "-credentials", "@" + credentials, "-report", files[0], "-report", files[1], "-report", files[2], url},
		{url, "-mode", "live", "-seed", "42", "-credentials", key, "-report", files[0], "-report=" + files[1], "-report", files[2]},
		{"-mode", "live", url + "/", "-seed", "42", "-alike", "-strict", "-credentials", key, "-credentials",
			`{"apiKey":"canary-of-another-tenant"}`, "-report", files[0], "-report", files[1], "-report", files[2]},
	} {
		got := conform(t, withToken, args...)
		require.Equal(t, check.ExitPass, got.code, got.out)
		require.Contains(t, got.out, "seed 42\nCONFORMANT: no check failed; judged 3 rows of 1 table, ")
		require.NotContains(t, got.out+got.err, "\x1b", "this is no terminal")
		require.Empty(t, got.err, "a run of a second has no progress to tell")

		for i, file := range files {
			body := testkit.Must(os.ReadFile(file))(t)
			got.out += string(body)
			switch i {
			case 0:
				require.True(t, json.Valid(body), "nothing of an older, longer report is left")
			case 1:
				require.NoError(t, xml.Unmarshal(body, new(struct{ XMLName xml.Name })))
			case 2:
				require.True(t, bytes.HasPrefix(body, []byte("<!doctype html>")))
			}
		}
		for _, secret := range []string{token, "canary-"} {
			require.NotContains(t, got.out+got.err, secret)
		}
	}
}

// TestTellsNoSecret grades a connector that accepts changed tokens and quotes what it
// is sent, and searches all that the command writes.
func TestTellsNoSecret(t *testing.T) {
	const own = "Zq8vRk3nXw7TmB2yLc9dFh4sJg6pKa1e"
	url := served(t, func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		if given := r.Header.Get("Authorization"); given != "Bearer "+own && r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			http.Error(w, strings.ToLower(given)+string(body), http.StatusInternalServerError)
			return
		}
		r.Header.Set("Authorization", "Bearer "+token)
		h.ServeHTTP(w, r)
	})
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "r.json"), filepath.Join(dir, "r.xml"), filepath.Join(dir, "r.html")}
	got := conform(t, map[string]string{check.EnvToken: own}, "-v", "-mode", "live", "-run", "^P1", "-credentials", key,
		"-report", files[0], "-report", files[1], "-report", files[2], url)
	require.Equal(t, check.ExitFail, got.code, got.out)
	require.Contains(t, got.out, `"${PLATFORM_CONNECTOR_TOKEN%?}"`)
	texts := []string{got.out, got.err}
	for _, file := range files {
		texts = append(texts, string(testkit.Must(os.ReadFile(file))(t)))
	}
	for _, text := range texts {
		text = strings.ToLower(text)
		for i := range len(own) - 15 {
			require.NotContains(t, text, strings.ToLower(own[i:i+16]))
		}
		require.NotContains(t, text, "canary-")
	}
}

func TestExitCodes(t *testing.T) {
	open := served(t, func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		h.ServeHTTP(w, r)
	})
	got := conform(t, withToken, "-mode", "live", "-credentials", key, "-phases", "0,1", open)
	require.Equal(t, check.ExitFail, got.code)
	require.Contains(t, got.out, "FAIL  no token gives 401 on every route  [P1.1]")
	require.Contains(t, got.out, "NOT CONFORMANT: ")
	require.Contains(t, got.out, `"$CONNECTOR_CREDENTIALS"`)
	require.Contains(t, got.out, "To check these again:  conform -mode live -seed ")
	require.NotContains(t, got.out+got.err, "canary-")

	got = conform(t, map[string]string{check.EnvToken: "another-" + token}, "-mode", "live", "-credentials", key, served(t, nil))
	require.Equal(t, check.ExitFail, got.code)
	require.Contains(t, got.out, "The connector rejected the token (exit 1)\n")

	got = conform(t, map[string]string{check.EnvToken: "another-" + token}, "-token", token, "-mode", "live",
		"-run", "^P1[.]6$", "-credentials", key, served(t, nil))
	require.Equal(t, check.ExitPass, got.code, "the flag goes before the environment: %s", got.out)

	got = conform(t, withToken, "-mode", "live", served(t, nil))
	require.Equal(t, check.ExitNotRun, got.code)
	require.Contains(t, got.out, "NOT GRADED: the document requires credentials that were not given: API key;")
	require.Contains(t, got.out, " 1 requests,", "nothing but the document was asked for")

	got = conform(t, withToken, "-credentials", key, served(t, nil))
	require.NotEqual(t, check.ExitPass, got.code, "the corpus is not there")

	report := filepath.Join(t.TempDir(), "r.json")
	got = conform(t, withToken, "-report", report, "http://127.0.0.1:1")
	require.Equal(t, check.ExitNotRun, got.code)
	require.Contains(t, got.out, "NOT GRADED: no answer for the document at http://127.0.0.1:1: no connection")
	require.FileExists(t, report, "also a run that could not happen is reported")

	report = filepath.Join(t.TempDir(), "r.json")
	got = conform(t, withToken, "-report", report, "nonsense")
	require.Equal(t, check.ExitNotRun, got.code)
	require.NoFileExists(t, report, "no empty file is left")
}

func TestTells(t *testing.T) {
	got := conform(t, nil, "-h")
	require.Equal(t, check.ExitPass, got.code)
	require.Empty(t, got.err)
	for _, flag := range []string{"token", "credentials", "mode", "phases", "run", "rows", "seed", "requests", "pace", "v", "report", "list",
		"explain", "timeout", "fixture", "tables", "version"} {
		require.Contains(t, got.out, "\n  -"+flag)
	}
	require.Contains(t, got.out, "list of processes", "a token in a flag is seen")

	got = conform(t, nil, "-list")
	require.Equal(t, check.ExitPass, got.code)
	require.Contains(t, got.out, "P2.3 ")
	require.NotContains(t, got.out, "L1 ")
	got = conform(t, nil, "-list", "-mode", "live", "-phases", "4")
	require.Contains(t, got.out, "L1 ")
	require.NotContains(t, got.out, "P0.1")

	got = conform(t, nil, "-explain", "p3.4C")
	require.Equal(t, check.ExitPass, got.code)
	require.True(t, strings.HasPrefix(got.out, "P3.4c  "), got.out)
	require.Contains(t, strings.Join(strings.Fields(got.out), " "), "When a filter names a field that is not in the table", "the rule")
	require.Contains(t, got.out, "\n  fix ")

	for _, id := range []string{"P2.3a", "p0.6H", "P3.4f"} {
		got = conform(t, nil, "-explain", id)
		require.Equal(t, check.ExitPass, got.code)
		words := strings.ToLower(strings.Join(strings.Fields(got.out), " "))
		require.Contains(t, words, "once "+strings.ToLower(id), "a retired id leads on")
		require.False(t, strings.HasPrefix(got.out, id))
	}

	dir := filepath.Join(t.TempDir(), "new", "corpus")
	for range 2 { // an older version is replaced
		got = conform(t, nil, "-fixture", dir)
		require.Equal(t, check.ExitPass, got.code, got.err)
	}
	require.FileExists(t, filepath.Join(dir, "README.md"))
}

func TestInterruptIsReported(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	url := served(t, func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == wire.PathDiscovery && r.Header.Get("Authorization") == "Bearer "+token && r.ContentLength > 0 {
			_, _ = io.Copy(io.Discard, r.Body) // only then the server sees the client leave
			cancel()
			<-r.Context().Done()
			return
		}
		h.ServeHTTP(w, r)
	})
	report := filepath.Join(t.TempDir(), "r.json")
	var out, errOut bytes.Buffer
	code := run(ctx, []string{"-mode", "live", "-credentials", key, "-report", report, url},
		func(string) string { return token }, &out, &errOut)
	require.Equal(t, check.ExitNotRun, code, out.String())
	require.Contains(t, out.String(), "NOT GRADED: the run was interrupted (exit 2)")
	require.Contains(t, out.String(), "not reached")
	body := testkit.Must(os.ReadFile(report))(t)
	require.Contains(t, string(body), `"problem": "the run was interrupted"`)
}

// TestSignals runs the command as a process: a signal ends the run with a
// report.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows sends no such signals")
	}
	if len(os.Args) > 1 && os.Getenv("CONFORM_CHILD") != "" {
		os.Args = []string{"conform", "-mode", "live", "-credentials", key, os.Getenv("CONFORM_CHILD")}
		main()
	}
	asked := make(chan struct{}, 100)
	url := served(t, func(_ http.Handler, _ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSignals$")
	cmd.Env = append(os.Environ(), "CONFORM_CHILD="+url, check.EnvToken+"="+token)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatal("the connector was not asked")
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	err := cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, check.ExitNotRun, exit.ExitCode(), out.String())
	require.Contains(t, out.String(), "interrupted; what was learned is reported")
	require.Contains(t, out.String(), "the run was interrupted (exit 2)")
}

func TestNullDeviceIsNoTerminal(t *testing.T) {
	null := testkit.Must(os.OpenFile(os.DevNull, os.O_WRONLY, 0))(t)
	defer func() { _ = null.Close() }()
	require.False(t, terminal(null))
	require.False(t, terminal(new(bytes.Buffer)))
	file := testkit.Must(os.Create(filepath.Join(t.TempDir(), "f")))(t)
	defer func() { _ = file.Close() }()
	require.False(t, terminal(file))
}

func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := &progress{out: &out, live: true, colour: true, width: 30}
	long := strings.Repeat("long ", 20)
	p.event(conformance.Event{ID: "P0.1", Title: long, Planned: 12})
	p.event(conformance.Event{ID: "P0.1", Title: long, Planned: 12, Done: &conformance.Outcome{Verdict: conformance.Pass}})
	p.event(conformance.Event{ID: "P0.2", Title: "short", Planned: 12, Done: &conformance.Outcome{Verdict: conformance.Fail}})
	p.end()
	// What is left on the screen: what follows the last carriage return of each line.
	var screen []string
	for line := range strings.SplitSeq(out.String(), "\n") {
		for part := range strings.SplitSeq(line, "\r\x1b[K") {
			plain := strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(part)
			require.Less(t, len([]rune(plain)), 30, "a line that wraps cannot be written over")
		}
		screen = append(screen, line[strings.LastIndex(line, "\x1b[K")+3:])
	}
	require.Equal(t, []string{"\x1b[31mFAIL P0.2  short\x1b[0m", ""}, screen)

	out.Reset()
	p = newProgress(&out, func(string) string { return "" }, true)
	p.event(conformance.Event{ID: "P0.1", Title: "a title", Planned: 12})
	p.event(conformance.Event{ID: "P0.1", Title: "a title", Planned: 12,
		Done: &conformance.Outcome{Verdict: conformance.Pass, Duration: 3 * time.Millisecond}})
	p.end()
	require.Equal(t, "[ 1/12] pass   P0.1    a title (3ms)\n", out.String())

	out.Reset()
	p = newProgress(&out, func(string) string { return "" }, false)
	p.event(conformance.Event{ID: "P0.1", Title: "a title", Planned: 12, Done: &conformance.Outcome{Verdict: conformance.Fail}})
	require.Empty(t, out.String(), "nothing is written for half a minute")
	p.last = p.last.Add(-often)
	p.event(conformance.Event{ID: "P0.2", Title: "a title", Planned: 12, Requests: 412, Budget: 1500, Left: 90 * time.Second})
	p.event(conformance.Event{ID: "P0.3", Planned: 12, Requests: 413, Budget: 1500})
	require.Equal(t, "[ 1/12] 1 failed, 412 of 1500 requests, about 1m30s left, P0.2 a title\n", out.String())

	out.Reset()
	p.last = p.last.Add(-often)
	p.event(conformance.Event{ID: "P0.4", Title: "a title", Planned: 12, Requests: 1503, Budget: 1500})
	require.Equal(t, "[ 1/12] 1 failed, 1503 requests, P0.4 a title\n", out.String())
}
