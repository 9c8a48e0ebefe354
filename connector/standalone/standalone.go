package standalone

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The variables of the environment that a program reads, and no others
// [rule http-11a].
const (
	envToken = "PLATFORM_CONNECTOR_TOKEN" // the bearer token, or two during a rotation, separated by a comma
	envPort  = "PORT"                     // the port to listen on
)

const defaultPort = "8080"

// Main serves a source until the process gets an interrupt or SIGTERM, and prints on
// the standard output where it is and requests to paste. Options may be nil. If the
// connector cannot be served, Main logs why and ends the process with status 1. It is
// all that a main function calls when there is nothing else to do; use [Program] to
// put something around the handler, to serve https, or to get the error.
func Main(definition connector.Definition, source connector.Source, options *connector.Options) {
	p := Program{Definition: definition, Source: source, Options: options}
	if err := p.Run(context.Background()); err != nil {
		log.Fatalf("%s: %v", cmp.Or(definition.Slug, "connector"), err)
	}
}

// Program is a connector with what is needed to run it. Use it instead of [Main]
// when the program has flags or data of its own.
type Program struct {
	Definition connector.Definition
	Source     connector.Source
	Options    *connector.Options // may be nil
	// Around is put around the connector's handler, the last function outermost, such as
	// the Handler of package otelconnector's Telemetry.
	Around []func(http.Handler) http.Handler
	// CertFile and KeyFile name files with a certificate, its chain behind it, and its
	// key, as PEM. With both the program serves https, with none http. Files that change
	// are read again for the next connection; while they are faulty, the old ones serve.
	CertFile, KeyFile string
	// Drain is how long requests may go on after the program is told to stop; see
	// [connector.ServeOptions]. Default: one second.
	Drain time.Duration
	// Serving says what is served, such as the name of a file. Default: the slug.
	Serving string
	// Credentials are printed in the requests to paste. Give those of a
	// demonstration only. Without them, the requests of a connector that requires
	// credentials take them from the variable CONNECTOR_CREDENTIALS.
	Credentials map[string]string
	// Getenv reads the environment. Default: os.LookupEnv.
	Getenv func(name string) (value string, set bool)
	// Out gets the lines for the person who started the program. Default: os.Stdout.
	Out io.Writer
}

// Run serves until ctx ends or the process gets an interrupt or SIGTERM; see
// [connector.Serve]. A second signal ends the process at once. Run returns nil when it
// was told to stop. The error says which setting is faulty and what it should be.
func (p *Program) Run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if p.Drain < 0 {
		return errors.New("the option Drain must not be negative; leave it out for one second")
	}
	getenv := p.Getenv
	if getenv == nil {
		getenv = os.LookupEnv
	}
	secret, given := getenv(envToken)
	minted := !given // an empty one is a secret that did not arrive
	if minted {
		secret = rand.Text() + rand.Text()
	}
	token, err := wire.NewToken(secret)
	if err != nil {
		return fmt.Errorf("%s: %w; leave it unset to have one made for this run", envToken, err)
	}
	served, err := connector.New(p.Definition, p.Source, token, p.Options)
	if err != nil {
		return err
	}
	handler := http.Handler(served)
	for _, around := range p.Around {
		handler = around(handler)
	}
	secure, err := p.secure()
	if err != nil {
		return err
	}
	port, given := getenv(envPort)
	if !given {
		port = defaultPort
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%s: must be a number from 0 to 65535; 0 takes any free port", envPort)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("", port))
	if err != nil {
		return fmt.Errorf("%w; set %s to another port, or to 0 for any free one", err, envPort)
	}
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	scheme := "http"
	if secure != nil {
		scheme = "https"
		listener = tls.NewListener(listener, secure)
	}
	secret, _, rotating := strings.Cut(secret, ",")
	ended := make(chan error, 1)
	go func() { ended <- connector.Serve(ctx, listener, handler, &connector.ServeOptions{Drain: p.Drain}) }()

	w := welcome{
		url:         scheme + "://localhost:" + port,
		secret:      secret,
		minted:      minted,
		rotating:    rotating,
		serving:     cmp.Or(p.Serving, p.Definition.Slug),
		credentials: p.Credentials,
	}
	if p.Credentials == nil {
		w.required = p.required()
	}
	out := p.Out
	if out == nil {
		out = os.Stdout
	}
	// The connector serves although nobody may read these lines.
	_, _ = io.WriteString(out, w.text(ctx))
	return <-ended
}

// required returns the credential fields that a tenant must give.
func (p *Program) required() (fields []wire.CredentialField) {
	for _, f := range p.Definition.Credentials {
		if !f.Optional {
			fields = append(fields, f)
		}
	}
	return fields
}
