package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
)

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
	answers := func(status int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if len(header) > 0 {
				w.Header().Set(header[0], header[1])
			}
			w.WriteHeader(status)
		}
	}
	slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	closes := answers(http.StatusOK, "Connection", "close")
	for _, c := range []struct {
		name  string
		seen  []http.HandlerFunc // one after the other; nil: no server
		again []bool             // restarts that are seen then
	}{
		{"at once", []http.HandlerFunc{answers(200), answers(200)}, []bool{false, true}},
		{"without a health of its own", []http.HandlerFunc{answers(404), answers(404)}, []bool{false, true}},
		{"later", []http.HandlerFunc{answers(200), nil, answers(200)}, []bool{false, false, true}},
		{"not there at first", []http.HandlerFunc{nil, answers(200)}, []bool{false, true}},
		{"connections that are closed", []http.HandlerFunc{closes, nil, closes}, []bool{false, false, true}},
		{"behind a proxy", []http.HandlerFunc{answers(200), answers(502), answers(200)}, []bool{false, false, true}},
		{"slow", []http.HandlerFunc{slow}, []bool{false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var listener atomic.Pointer[memlisten.Listener]
				transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					if l := listener.Load(); l != nil {
						return l.Dial(ctx)
					}
					return nil, syscall.ECONNREFUSED
				}}
				defer transport.CloseIdleConnections()
				found := restarts(t.Context(), transport, "http://connector.test/shop")
				for i, handler := range c.seen {
					stop := func() {}
					if handler != nil {
						var l *memlisten.Listener
						l, stop = memlisten.Serve(&http.Server{Handler: handler})
						listener.Store(l)
					}
					time.Sleep(20 * every)
					assert.Equal(t, c.again[i], len(found) > 0, "server %d", i)
					for len(found) > 0 {
						<-found
					}
					listener.Store(nil)
					stop()
				}
			})
		})
	}
}
