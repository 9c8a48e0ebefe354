package main

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	kit "github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const token = "a-token-for-tests-0123456789abcdef"

// many is more rows than a batch, which is sent as soon as it is full.
const many = 20_000

// TestHosts asks a connector under each host, over each kind of connection.
func TestHosts(t *testing.T) {
	h2c := new(http.Protocols)
	h2c.SetUnencryptedHTTP2(true)
	for name, host := range hosts {
		for connection, start := range map[string]func(*httptest.Server){
			"HTTP/1.1": (*httptest.Server).Start,
			"HTTP/2 over TLS": func(server *httptest.Server) {
				server.EnableHTTP2 = true
				server.StartTLS()
			},
			"h2c": func(server *httptest.Server) {
				server.Config.Protocols = h2c
				server.Start()
				server.Client().Transport.(*http.Transport).Protocols = h2c
			},
		} {
			t.Run(name+" "+connection, func(t *testing.T) {
				goOn := make(chan struct{})
				handler := host(shop(goOn))
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					assert.Equal(t, connection == "HTTP/1.1", r.ProtoMajor == 1, r.Proto)
					handler.ServeHTTP(w, r)
				}))
				start(server)
				t.Cleanup(server.Close)
				ask(t, server.Client(), server.URL, goOn, name == "gzip")
			})
		}
	}
}

// shop returns the connector, below /shop. Its table has many rows, and one more that it writes when goOn is closed.
func shop(goOn chan struct{}) []mounted {
	source := kit.Source{OnQuery: func(ctx context.Context, _ *connector.Query, out *connector.Rows) error {
		w := out.Begin([]wire.Column{{Name: "id", Type: wire.TypeNumber}})
		for id := range int64(many) {
			if err := w.Row(wire.Int(id)); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil { // for a batch that is not full
			return err
		}
		select {
		case <-goOn:
			return w.Row(wire.Int(many))
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	return []mounted{{"/shop", kit.New(token, connector.Definition{Slug: "shop"}, source, kit.Quiet())}}
}

// ask asks for every kind of answer.
func ask(t *testing.T, client *http.Client, url string, goOn chan struct{}, compressed bool) {
	t.Helper()
	const envelope = `"credentials":{},"timeoutMs":60000}`
	for _, c := range []struct {
		why, path, body string // a GET has none
		status          int
	}{
		{"the document", "/shop" + wire.PathDocument, "", 200},
		{"a route", "/shop/check", "{" + envelope, 200},
		{"no route", "/shop/nothing", "{" + envelope, 404},
		{"a route with a slash at its end is another path", "/shop/check/", "{" + envelope, 404},
		{"another method", "/shop/check", "", 405},
	} {
		status, _ := testkit.Send(t, client, url+c.path, token, c.body)
		require.Equal(t, c.status, status, c.why)
	}

	query := strings.NewReader(`{"table":"items","fields":["id"],"and":[],"sort":[],` + envelope)
	req := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/shop/query", query))(t)
	req.Header.Set("Authorization", "Bearer "+token)
	if compressed {
		req.Header.Set("Accept-Encoding", "gzip") // and the client leaves the answer as it is
	}
	res := testkit.Must(client.Do(req))(t)
	body := io.Reader(res.Body)
	if compressed {
		require.Equal(t, "gzip", res.Header.Get("Content-Encoding"))
		body = testkit.Must(gzip.NewReader(res.Body))(t)
	}
	rows := 0
	for _, err := range ndjson.NewReader(body).Rows() {
		require.NoError(t, err)
		if rows++; rows == many {
			close(goOn) // every row is here while the source waits
		}
	}
	require.NoError(t, res.Body.Close())
	require.Equal(t, many+1, rows)
}

const secret = "a-secret-of-the-host-for-tests-0123456789"

// TestMany: each connector answers under its own path and token, and no other, in
// every router.
func TestMany(t *testing.T) {
	list := testkit.Must(handlers(secret))(t)
	for name, host := range hosts {
		t.Run(name, func(t *testing.T) {
			handler := host(list)
			for _, c := range testkit.Table(t, "testdata/many.tsv", 6) {
				r := httptest.NewRequest(c[1], c[2], strings.NewReader(`{"credentials":{},"timeoutMs":5000}`))
				switch token := c[3]; token {
				case "-":
				case "HOST":
					r.Header.Set("Authorization", "Bearer "+secret)
				default:
					r.Header.Set("Authorization", "Bearer "+derive(secret, token))
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				require.Equal(t, c[4], strconv.Itoa(w.Code), c[0])
				require.Contains(t, w.Body.String(), strings.TrimPrefix(c[5], "-"), c[0])
			}
		})
	}
	for _, short := range []string{"short", secret + ",short"} {
		_, err := handlers(short)
		require.ErrorContains(t, err, "PLATFORM_CONNECTOR_TOKEN")
	}
}

// TestRotation: while the host rotates its secret, the tokens of both are good.
func TestRotation(t *testing.T) {
	const next = "the-next-secret-of-the-host-0123456789abc"
	for _, c := range testkit.Must(handlers(secret + "," + next))(t) {
		for _, one := range []string{secret, next} {
			r := httptest.NewRequest("POST", c.path+"/check", strings.NewReader(`{"credentials":{},"timeoutMs":5000}`))
			r.Header.Set("Authorization", "Bearer "+derive(one, c.path))
			w := httptest.NewRecorder()
			hosts["mux"]([]mounted{c}).ServeHTTP(w, r)
			require.Equal(t, 200, w.Code, c.path)
		}
	}
}
