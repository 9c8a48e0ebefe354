// Command files serves a folder of CSV and NDJSON files as tables. The work is
// done by package filesource; this is the program around it.
//
//	go run ./examples/files                 # the bundled data
//	go run ./examples/files -dir ./mydata   # your own
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
)

// embedded is the bundled data. "all:" includes names that begin with a dot,
// because one of them is the shop's password.
//
//go:embed all:data
var embedded embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
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
	log := slog.New(slog.NewTextHandler(errOut, nil))
	src, tenants, err := open(c.dir, &filesource.Options{Logger: log})
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	definition := connector.Definition{Slug: "files", Credentials: filesource.Credentials()}
	handler, err := connector.New(definition, src, c.token, &connector.Options{Logger: log})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("", c.port))
	if err != nil {
		return fmt.Errorf("%s: %w", envPort, err)
	}
	go src.Prepare(ctx)
	// The lines come before the first answer; until then connections wait.
	if err := welcome(ctx, out, src, tenants, c, listener.Addr()); err != nil {
		log.Warn("the first lines could not be printed", "cause", err)
	}
	return connector.Serve(ctx, listener, handler, nil)
}

// open opens the folder, or the bundled data if dir is empty, and lists its tenants.
func open(dir string, opts *filesource.Options) (*filesource.Source, []tenant, error) {
	if dir == "" {
		data, err := fs.Sub(embedded, "data")
		if err != nil {
			return nil, nil, err
		}
		tenants, err := tenantsIn(data)
		if err != nil {
			return nil, nil, err
		}
		src, err := filesource.FS(data, opts)
		return src, tenants, err
	}
	src, err := filesource.Open(dir, opts)
	if err != nil {
		return nil, nil, fmt.Errorf("-dir: %w", err)
	}
	tenants, err := tenantsIn(os.DirFS(dir))
	if err == nil && len(tenants) == 0 {
		err = fmt.Errorf("%s holds no folder; make one for each tenant, such as %s/acme, and put the files there", dir, dir)
	}
	if err != nil {
		_ = src.Close()
		return nil, nil, fmt.Errorf("-dir: %w", err)
	}
	return src, tenants, nil
}
