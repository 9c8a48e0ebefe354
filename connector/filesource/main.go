// Command files is a connector over a folder of CSV and NDJSON files: the main
// job of this SDK on real input, with every optional route of the protocol.
//
//	go run ./examples/files                 # the bundled data
//	go run ./examples/files -dir ./mydata   # your own
//
// Each sub-folder belongs to one tenant, each file in it is a table, and the
// types of its columns are found out by reading it. README.md tells the layout
// of a folder, the sidecar file that adds keys and descriptions, and the rough
// edges.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) (string, bool), out, errOut io.Writer) error {
	c, err := configure(args, getenv, errOut)
	if err != nil {
		return err
	}
	r, err := c.root()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(errOut, nil))
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(errStopping)
	src := newSource(life, r, log)
	handler, err := connector.New(definition, src, c.token, &connector.Options{Logger: log})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("", c.port))
	if err != nil {
		return fmt.Errorf("%s: %w", envPort, err)
	}
	go src.survey(life)
	// Before the first request is answered; until then connections queue up.
	if err := src.welcome(ctx, out, c, listener.Addr()); err != nil {
		log.Warn("the first lines could not be printed", "cause", err)
	}
	return serve(ctx, server(handler), listener, shutdown{drain: time.Second, last: 5 * time.Second})
}

// root is the folder to serve.
func (c config) root() (*root, error) {
	if c.dir == "" {
		return bundledRoot(), nil
	}
	r, err := openRoot(c.dir)
	if err != nil {
		return nil, fmt.Errorf("-dir: %w", err)
	}
	names, err := r.tenants()
	if err != nil {
		return nil, fmt.Errorf("-dir: %w", err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("-dir: %s holds no folder; make one for each tenant, such as %s/acme, and put the files there", c.dir, c.dir)
	}
	return r, nil
}

// errStopping is why requests end when the process does.
var errStopping = errors.New("the host is shutting down")

// shutdown says how long a stop may take.
type shutdown struct {
	drain time.Duration // for requests to end by themselves
	last  time.Duration // for streams to write their error line, then the connections are cut
}

// serve serves until ctx ends, then stops: no new connections, a moment for
// what is nearly done, and then the requests' contexts end, upon which each
// open stream ends with an error line and each other request with an error.
func serve(ctx context.Context, srv *http.Server, listener net.Listener, stop shutdown) error {
	requests, end := context.WithCancelCause(context.Background())
	defer end(errStopping)
	srv.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain := time.AfterFunc(stop.drain, func() { end(errStopping) })
	defer drain.Stop()
	deadline, cancel := context.WithTimeout(context.Background(), stop.drain+stop.last)
	defer cancel()
	if err := srv.Shutdown(deadline); err != nil {
		_ = srv.Close()
		return fmt.Errorf("some requests did not end in time and were cut: %w", err)
	}
	return nil
}
