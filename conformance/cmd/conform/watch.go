package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
)

// every is how often -watch looks whether the connector still runs.
const every = time.Second

// watch grades the connector, and again whenever it has been restarted, until ctx ends: first the
// checks that failed last, and all of them once those pass. grade returns the exit code and what failed.
func watch(ctx context.Context, c *config, restarted <-chan struct{}, grade func(config) (int, []string), errOut io.Writer) int {
	code, failed := grade(*c)
	for {
		fmt.Fprintln(errOut, "conform: waiting until the connector is restarted; interrupt to end")
		select {
		case <-ctx.Done():
			return code
		case <-restarted:
		}
		if len(failed) > 0 {
			again := *c
			again.options.Match = `^(` + strings.Join(failed, "|") + `)$`
			if code, failed = grade(again); code != check.ExitPass {
				continue
			}
		}
		code, failed = grade(*c)
	}
}

// restarts reports that the server at base has been restarted: it did not answer, and does now, or a
// connection that it keeps open between requests has gone.
func restarts(ctx context.Context, transport http.RoundTripper, base string) <-chan struct{} {
	found := make(chan struct{}, 1)
	go func() {
		before := sight{up: true}
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			if now, ok := look(ctx, transport, base); ok {
				if now.up && (!before.up || before.kept && now.dialed) {
					select {
					case found <- struct{}{}:
					default: // one is waiting to be seen
					}
				}
				before = now
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return found
}

// sight is what one request shows of a server.
type sight struct {
	up     bool
	dialed bool // over a new connection
	kept   bool // the connection stays open
}

// look asks the server for its health: any answer will do that does not come from a proxy without
// a server behind it. ok is false if a slow server shows nothing.
func look(ctx context.Context, transport http.RoundTripper, base string) (s sight, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*every)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { s.dialed = !info.Reused }})
	u, err := url.Parse(base)
	if err != nil {
		return s, false // the run says so
	}
	u.Path, u.RawQuery = "/healthz", ""
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return s, false
	}
	answer, err := transport.RoundTrip(request)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return s, false
	} else if err != nil {
		return s, true
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	s.kept = err == nil && n < 1<<16 && !answer.Close
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		s.up = true
	}
	return s, true
}
