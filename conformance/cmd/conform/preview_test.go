package main

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPreview prints rows as they are read, and nothing that they could do to a
// terminal.
func TestPreview(t *testing.T) {
	source := connectors.Tables(cells.TableOf(t, "notes", `text:string? price:decimal
		| "one\x1b[31m\ntwo" decimal:12.50 | null decimal:-0.10 | "" decimal:0 | "ä"*41 decimal:3 | "a fourth row" decimal:4`),
		cells.TableOf(t, "empty", "id:number"))
	handler := connectors.New(token, connector.Definition{Slug: "notes"}, source, connectors.Quiet())
	url := behindPort(t, handler)

	got := conform(t, withToken, "-preview", "4", url)
	require.Equal(t, check.ExitPass, got.code, got.err)
	require.Equal(t, `
notes
  text                                      price
  string                                    decimal
  one [31m two                              12.50
  null                                      -0.10
  ""                                        0
  `+strings.Repeat("ä", 39)+`…  3

empty
  id
  number
  no rows
`, got.out)

	got = conform(t, withToken, "-preview", "1", "-tables", "empty", url)
	require.Equal(t, check.ExitPass, got.code, got.err)
	require.Equal(t, "\nempty\n  id\n  number\n  no rows\n", got.out)

	got = conform(t, withToken, "-preview", "1", "-tables", "Notes", url)
	require.Equal(t, check.ExitNotRun, got.code)
	require.Contains(t, got.err, `discovery lists no table "Notes" for these credentials; it lists notes, empty`)
	require.Empty(t, got.out)

	// One of two names is wrong: the other is shown, and the program does not end as if both were.
	got = conform(t, withToken, "-preview", "1", "-tables", "empty,Notes", url)
	require.Equal(t, check.ExitNotRun, got.code)
	require.Contains(t, got.err, `no table "Notes"`)
	require.Contains(t, got.out, "no rows")
}

// TestPreviewOfATenant sends the first credentials, and says what was wrong with
// them.
func TestPreviewOfATenant(t *testing.T) {
	url := served(t, nil)
	got := conform(t, withToken, "-preview", "2", "-credentials", key, url)
	require.Equal(t, check.ExitPass, got.code, got.err)
	require.Contains(t, got.out, "planets\n  name    moons\n  string  number\n  Earth   1\n  Mars    2\n")

	got = conform(t, withToken, "-preview", "2", url)
	require.Equal(t, check.ExitNotRun, got.code)
	require.Contains(t, got.err, "API key is required. (no -credentials were given)")
	got = conform(t, map[string]string{check.EnvToken: strings.ToUpper(token)}, "-preview", "2", "-credentials", key, url)
	require.Equal(t, check.ExitNotRun, got.code)
	require.Contains(t, got.err, "The connector rejected the token")
	require.NotContains(t, got.err+got.out, "canary")
}

// TestPreviewOfAFault shows the other tables, and says where the cause stands: an
// answer never has it.
func TestPreviewOfAFault(t *testing.T) {
	source := connectors.Source{Tables: []memsource.Table{cells.TableOf(t, "away", "id:number"), cells.TableOf(t, "here", "id:number | 7")}}
	healthy := source
	source.OnQuery = func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
		if req.Table == "away" {
			return errors.New("dial tcp db.internal:5432: refused")
		}
		return healthy.Query(ctx, req, out)
	}
	handler := connectors.New(token, connector.Definition{Slug: "notes"}, source, connectors.Quiet())
	url := behindPort(t, handler)

	got := conform(t, withToken, "-preview", "1", url)
	require.Equal(t, check.ExitNotRun, got.code)
	require.Contains(t, got.out, "away\n  the connector answered internal: internal error; its log tells the cause\n")
	require.Contains(t, got.out, "here\n  id\n  number\n  7\n")
}

// echoing serves a connector that says what it is told: in names, in a description, in cells and in
// the message of a check that failed.
func echoing(t *testing.T, message string) string {
	t.Helper()
	const canary = "canary-secret-of-a-tenant"
	spelled := base64.StdEncoding.EncodeToString([]byte("user:" + canary))
	source := connectors.Tables(memsource.Table{
		Table: wire.Table{Name: "t " + token, Fields: []wire.Field{
			{Name: canary, Type: wire.TypeString}, {Name: "b\u202ec", Type: wire.TypeString},
		}},
		Rows: [][]wire.Value{
			{wire.Text("Bearer " + strings.ToUpper(token)), wire.Text(strings.Repeat("x", 30) + token)},
			{wire.Text(spelled), wire.Text(`{"apiKey":"` + strings.ReplaceAll(canary, "-", `\u002D`) + `"}`)},
		},
	})
	handler := connectors.New(token, connector.Definition{Slug: "echo",
		Credentials: []wire.CredentialField{{Key: "apiKey", Label: "Key", Type: wire.CredentialPassword}}}, source,
		connectors.Quiet())
	if message == "" {
		return behindPort(t, handler)
	}
	text, _ := wire.EncodeAnswer(&wire.ErrorAnswer{Error: wire.Error{Code: wire.CodeCheckFailed, Message: message}})
	return behindPort(t, testkit.OnPath(handler, wire.PathCheck, testkit.JSON(http.StatusBadRequest, string(text))))
}

// TestPreviewIsClean shows what a connector echoes as a report does.
func TestPreviewIsClean(t *testing.T) {
	got := conform(t, withToken, "-preview", "2", "-credentials", key, echoing(t, ""))
	require.Equal(t, check.ExitPass, got.code, got.err)
	require.Equal(t, `
t [token]
  [redacted]        b c
  string            string
  Bearer [token]    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx[token]
  dXNlcj[redacted]  {"apiKey":"[redacted]"}
`, got.out)

	message := "No such key\x1b[2J\a\u202e " + strings.ToUpper("canary-secret-of-a-tenant") + "\nconform: CONFORMANT " + token
	got = conform(t, withToken, "-preview", "2", "-credentials", key, echoing(t, message))
	require.Equal(t, check.ExitNotRun, got.code)
	require.Empty(t, got.out)
	require.Equal(t, `conform: the connector answered check_failed: No such key\u001b[2J\u0007\u202e [redacted]\nconform: CONFORMANT [redacted]`+"\n",
		got.err)

	got = conform(t, withToken, "-preview", "2", "-tables", "other", "-credentials", key, echoing(t, ""))
	require.Contains(t, got.err, "it lists t [token]")
}

// TestWatch: what failed is asked first, and all of it only once that passes.
func TestWatch(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	runs := []struct {
		asks   string // the checks that are asked; empty: all
		code   int
		failed []string
	}{
		{"", check.ExitNotRun, nil}, // it does not run yet
		{"", check.ExitFail, []string{"L2", "P3.4c"}},
		{"^(L2|P3.4c)$", check.ExitFail, []string{"P3.4c"}},
		{"^(P3.4c)$", check.ExitNotRun, nil}, // what failed is not known any more
		{"", check.ExitFail, []string{"L3"}},
		{"^(L3)$", check.ExitPass, nil},
		{"", check.ExitFail, []string{"L1"}},
	}
	restarted := make(chan struct{}, len(runs))
	for range runs {
		restarted <- struct{}{}
	}
	var asked []string
	code := watch(ctx, &config{}, restarted, func(c config) (int, []string) {
		run := runs[len(asked)]
		asked = append(asked, c.options.Match)
		if len(asked) == len(runs) {
			for len(restarted) > 0 {
				<-restarted
			}
			interrupt()
		}
		return run.code, run.failed
	}, io.Discard)
	assert.Equal(t, check.ExitFail, code, "of the last run")
	for i, run := range runs {
		assert.Equal(t, run.asks, asked[i])
	}
}

// TestRestarts: a connection that has gone is a restart, and so is an answer after none; a
// server that closes each connection, or is slow, is not restarted by it.
func TestRestarts(t *testing.T) {
	server := func(t *testing.T, word string) http.HandlerFunc {
		switch word {
		case "slow":
			return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		case "closes":
			return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }
		}
		status := testkit.Must(strconv.Atoi(word))(t)
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	for _, c := range testkit.Table(t, "testdata/restarts.tsv", 3) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			var listener atomic.Pointer[memlisten.Listener]
			transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				if l := listener.Load(); l != nil {
					return l.Dial(ctx)
				}
				return nil, syscall.ECONNREFUSED
			}}
			defer transport.CloseIdleConnections()
			var found <-chan struct{}
			seen := strings.Fields(c[2])
			for i, word := range strings.Fields(c[1]) {
				stop := func() {}
				if word != "none" {
					var l *memlisten.Listener
					l, stop = memlisten.Serve(&http.Server{Handler: server(t, word)})
					listener.Store(l)
				}
				if i == 0 { // what is there at first is there before anybody looks
					found = restarts(t.Context(), transport, "http://connector.test/shop")
				}
				time.Sleep(20 * every)
				assert.Equal(t, seen[i] == "yes", len(found) > 0, "server %d", i)
				for len(found) > 0 {
					<-found
				}
				listener.Store(nil)
				stop()
			}
		})
	}
}
