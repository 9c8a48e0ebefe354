// Command workspace is a connector over the workflow platform's own general API: its
// chats, files, workflows, runs and dashboards become tables.
//
//	go run -C examples/workspace .            # with a stand-in of the platform beside it
//	go run -C examples/workspace . -upstream  # for whatever address a tenant types
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/standin"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "workspace:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("workspace", flag.ContinueOnError)
	upstream := flags.Bool("upstream", false, "serve public addresses that tenants type, without the stand-in")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not a flag; the address of the platform is a credential that each tenant types", flags.Arg(0))
	}
	secret, shown := getenv("PLATFORM_CONNECTOR_TOKEN"), "$PLATFORM_CONNECTOR_TOKEN"
	if secret == "" {
		secret = rand.Text() + rand.Text()
		shown = secret
		_, _ = fmt.Fprintln(out, "Token:", secret, "(for this run; set PLATFORM_CONNECTOR_TOKEN to keep one)")
	}
	token, err := wire.NewToken(secret)
	if err != nil {
		return fmt.Errorf("PLATFORM_CONNECTOR_TOKEN: %w", err)
	}
	// The stand-in is at a local address, so the connector beside it dials those, and is
	// reached from this machine alone.
	host := "localhost"
	if *upstream {
		host = ""
	}
	handler, err := newHandler(token, &restsource.Options{AllowPrivate: !*upstream})
	if err != nil {
		return err
	}
	port := getenv("PORT")
	if port == "" {
		port = "8080"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("PORT: %w", err)
	}
	address := fmt.Sprintf("http://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	_, _ = fmt.Fprintf(out, "Serving workspaces at %s\n", address)
	if *upstream {
		return connector.Serve(ctx, listener, handler, nil)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped, err := serveStandin(ctx, func(platform string) { tryIt(out, address, shown, platform) })
	if err != nil {
		_ = listener.Close()
		return err
	}
	err = connector.Serve(ctx, listener, handler, nil)
	cancel()
	return errors.Join(err, <-stopped)
}

// serveStandin serves the platform's API from memory until ctx ends. It tells ready
// the address.
func serveStandin(ctx context.Context, ready func(address string)) (stopped <-chan error, err error) {
	// Only this machine reaches it: its tokens are known.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	service := standin.New(standin.Options{})
	server := &http.Server{Handler: service, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() {
		err := server.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		done <- err
	}()
	context.AfterFunc(ctx, func() {
		service.Close()
		_ = server.Close()
	})
	ready("http://" + listener.Addr().String())
	return done, nil
}

// tryIt prints lines for a shell.
func tryIt(out io.Writer, address, token, platform string) {
	account := standin.DefaultAccounts()[0]
	_, _ = fmt.Fprintf(out, "The stand-in of the platform is at %s\n\nTry it:\n\n", platform)
	credentials := fmt.Sprintf(`"credentials":{"baseUrl":"%s","token":"%s"},"timeoutMs":60000`, platform, account.Token)
	for _, request := range []struct{ route, body string }{
		{"check", ""},
		{"discovery", ""},
		{"query", `"table":"workflows","fields":["id","name","status"],"and":[{"field":"status","op":"eq","value":"active"}],"sort":[],`},
		{"query", `"table":"runs","fields":["id","workflow_id","state"],"and":[],"sort":[{"field":"duration","dir":"desc"}],"limit":3,`},
	} {
		_, _ = fmt.Fprintf(out, "curl -sS %s/%s -H \"Authorization: Bearer %s\" -d '{%s%s}'\n",
			address, request.route, token, request.body, credentials)
	}
	_, _ = fmt.Fprintf(out, "\nThe platform itself:\n\ncurl -sS %s/v1/workflows -H \"Authorization: Bearer %s\"\n", platform, account.Token)
}
