// Command connect shows one connector as a tenant of the platform sees it: the connect form,
// the verdict of the conformance program, the tables, and the answers to queries with what
// the connector served and what was left to the platform.
//
//	export PLATFORM_CONNECTOR_TOKEN=...
//	connect -local http://localhost:8080
//	connect -name Shop -credentials @tenant.json https://connect.example.com/shop
//	connect -export ./tables -credentials @tenant.json https://connect.example.com/shop
//
// With -export it writes all tables into a folder, one file of CSV or NDJSON each, and ends. It
// reads up to four tables at once, within the connector's limits. If an answer is
// cut, it continues after the last row, for tables with a key that the connector sorts and
// filters by. Take one folder for each tenant:
// the files do not say whose credentials read them.
//
// Otherwise it prints the address of one page, which a browser on the same machine opens. The address
// holds a random key: keep it secret, because it opens the page. The process keeps the token and
// the credentials in memory while it runs, writes them to no file, and sends them to the
// connector alone. What is typed on the page is in the memory of the browser too. With the credentials
// of a second account, the verdict is also on whether the connector keeps two accounts apart.
//
// The platform refuses plain http and addresses in a private network. The flag -local, or the
// switch on the page, allows them.
//
//	go install github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect@latest
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "connect:", err)
		os.Exit(1)
	}
}

// run serves the page until ctx ends. It writes the page's address to out.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	c, err := configure(args, getenv, out)
	if err != nil {
		return err
	}
	if c.export.dir != "" {
		return exportAll(ctx, c, out)
	}
	l, err := listen(ctx, c.address)
	if err != nil {
		return err
	}
	p := newPage(c.form, l.Addr().String())
	p.options.Reach = c.reach
	defer p.close()
	fmt.Fprintf(out, "Open %s in a browser on this machine. Interrupt to end.\n", p.url())
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// listen listens on a port of this machine that no other machine can reach.
func listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, errors.New("-addr must be a port of this machine alone, such as 127.0.0.1:8321")
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

// config is what the command line and the environment ask for.
type config struct {
	address string
	form    *lifecycle.Form
	reach   int64

	export      export // dir is empty unless tables are to be exported
	token       wire.Bearer
	credentials wire.Credentials
}

// exportAll connects, and exports all tables.
func exportAll(ctx context.Context, c *config, out io.Writer) error {
	c.export.url = lifecycle.Completed(c.form.URL())
	client, err := platform.NewClient(c.export.url, c.token, &platform.Options{Local: c.form.Local()})
	if err != nil {
		return err
	}
	c.export.connection, err = platform.Connect(ctx, client, c.credentials,
		&platform.ConnectionOptions{Reach: c.reach, DiscoverOnly: true})
	if err == nil {
		c.export.every, c.export.log = saveEvery, &exportLog{out: out, tables: len(c.export.connection.Tables)}
		err = c.export.run(ctx)
	}
	if err != nil {
		return errors.New(check.Legible(err.Error())) // which may hold what the connector says
	}
	return nil
}

// configure reads the command line. Flags may stand before and after the URL. No error
// quotes a value, since it may be a secret that lost its flag.
func configure(args []string, getenv func(string) string, out io.Writer) (*config, error) {
	fs := flag.NewFlagSet("connect", flag.ContinueOnError)
	fs.SetOutput(out)
	fs.Usage = func() {
		fmt.Fprintf(out, "connect shows a connector as a tenant of the platform sees it.\n\n  connect [flags] [URL]\n\n"+
			"URL is the connector's base URL. The token is read from %s, or typed on the page.\n\n", check.EnvToken)
		fs.PrintDefaults()
	}
	address := fs.String("addr", "127.0.0.1:0", "serve the page at this `address` of this machine")
	name := fs.String("name", "", "the `name` of the source")
	local := fs.Bool("local", false, "allow plain http and addresses of a private network, which the platform refuses")
	reach := fs.Int64("reach", 1_000_000, "refuse tables of more `rows`; the protocol does not state the platform's number")
	credentials := fs.String("credentials", "", "upstream credentials: @ and the name of a `file` that holds a JSON object of strings")
	dir := fs.String("export", "",
		"write all tables into this `folder`, and end; the same command once more goes on where it was cut")
	format := fs.String("format", "csv", "write -export as `csv` or ndjson")
	var urls []string
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			break
		}
		urls, args = append(urls, fs.Arg(0)), fs.Args()[1:]
	}
	if len(urls) > 1 {
		return nil, fmt.Errorf("expected one base URL, got %d arguments", len(urls))
	}
	form := lifecycle.NewForm(&platform.Options{Local: *local})
	form.SetName(*name)
	form.SetURL(strings.Join(urls, ""))
	form.SetToken(getenv(check.EnvToken))
	if *format != "csv" && *format != "ndjson" {
		return nil, errors.New("-format takes csv or ndjson")
	}
	c := &config{
		address: *address,
		form:    form,
		reach:   *reach,
		export:  export{dir: *dir, format: *format},
		token:   wire.NewBearer(getenv(check.EnvToken)),
	}
	if *credentials != "" {
		values, err := readCredentials(*credentials)
		if err != nil {
			return nil, err
		}
		c.credentials = values
		for key, value := range values.Reveal() {
			form.SetCredential(key, value)
		}
	}
	return c, nil
}

// readCredentials reads the file of a -credentials.
func readCredentials(text string) (wire.Credentials, error) {
	none := wire.Credentials{}
	name, ok := strings.CutPrefix(text, "@")
	if !ok {
		return none, errors.New("-credentials takes @ and the name of a file: what stands on a command line is seen in the list of processes")
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return none, fmt.Errorf("-credentials: %w", err)
	}
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	// A set of credentials is read as strictly as in a request.
	var request wire.CheckRequest
	if err := wire.Decode(fmt.Appendf(nil, `{"credentials":%s,"timeoutMs":1}`, body), &request); err != nil {
		return none, fmt.Errorf("-credentials %s: not one flat JSON object of strings: %w", text, err)
	}
	return request.Credentials, nil
}
