package standalone

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The variables of the environment that a program reads, and no others
// [rule http-11a].
const (
	EnvToken = "PLATFORM_CONNECTOR_TOKEN" // the bearer token, or two during a rotation, separated by a comma
	EnvPort  = "PORT"                     // the port to listen on
)

const defaultPort = "8080"

// Run serves a source until the process gets an interrupt or SIGTERM, and prints
// on the standard output where it is and requests to paste. Options may be nil.
// Each function of around is put around the connector's handler, the last one
// outermost, such as the Handler of package otelconnector's Telemetry. Run is what
// main calls when there is nothing else to do. It returns nil when the program was
// told to stop.
func Run(
	definition connector.Definition, source connector.Source, options *connector.Options, around ...func(http.Handler) http.Handler,
) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := Program{Definition: definition, Source: source, Options: options, Around: around}
	return p.Run(ctx)
}

// Program is a connector with what is needed to run it. Use it instead of [Run]
// when the program has flags or data of its own.
type Program struct {
	Definition connector.Definition
	Source     connector.Source
	Options    *connector.Options // may be nil
	// Around is put around the connector's handler, the last function outermost.
	Around []func(http.Handler) http.Handler
	// CertFile and KeyFile name files with a certificate, its chain behind it, and its
	// key, as PEM. With both the program serves https, with none http.
	CertFile, KeyFile string
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

// Run serves until ctx ends; see [connector.Serve]. The error says which setting
// is faulty and what it should be.
func (p *Program) Run(ctx context.Context) error {
	getenv := p.Getenv
	if getenv == nil {
		getenv = os.LookupEnv
	}
	secret, given := getenv(EnvToken)
	minted := !given // an empty one is a secret that did not arrive
	if minted {
		secret = rand.Text() + rand.Text()
	}
	token, err := wire.NewToken(secret)
	if err != nil {
		return fmt.Errorf("%s: %w; leave it unset to have one made for this run", EnvToken, err)
	}
	served, err := connector.New(p.Definition, p.Source, token, p.Options)
	if err != nil {
		return err
	}
	handler := http.Handler(served)
	for _, around := range p.Around {
		handler = around(handler)
	}
	secure, err := p.certificate()
	if err != nil {
		return err
	}
	port, given := getenv(EnvPort)
	if !given {
		port = defaultPort
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%s: must be a number from 0 to 65535; 0 takes any free port", EnvPort)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("", port))
	if err != nil {
		return fmt.Errorf("%s: %w", EnvPort, err)
	}
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	scheme := "http"
	if secure != nil {
		scheme = "https"
		listener = tls.NewListener(listener, secure)
	}
	secret, _, rotating := strings.Cut(secret, ",")
	ended := make(chan error, 1)
	go func() { ended <- connector.Serve(ctx, listener, handler) }()

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

// certificate returns the settings of TLS, or nil if the program names no files.
func (p *Program) certificate() (*tls.Config, error) {
	if p.CertFile == "" && p.KeyFile == "" {
		return nil, nil
	}
	if p.CertFile == "" || p.KeyFile == "" {
		return nil, errors.New("a certificate and its key: name the files of both, or none")
	}
	pair, err := tls.LoadX509KeyPair(p.CertFile, p.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("the certificate and its key: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}, nil
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
