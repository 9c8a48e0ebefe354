package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The program reads the token and the port from the environment, and nothing
// else.
const (
	envToken = "PLATFORM_CONNECTOR_TOKEN"
	envPort  = "PORT"

	defaultPort = "8080"
)

// config is what the host chose.
type config struct {
	dir    string // empty: the bundled data
	port   string
	token  wire.Token
	minted string // the token's secret, if it was made for this run
}

// configure reads the command line and the environment.
func configure(args []string, getenv func(string) (string, bool), out io.Writer) (c config, err error) {
	flags := flag.NewFlagSet("files", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&c.dir, "dir", "", "the `folder` to serve, with one sub-folder per tenant (default: the bundled data)")
	flags.Usage = func() {
		_, _ = fmt.Fprint(out, "Serves a folder of CSV and NDJSON files as tables.\n\n  files [-dir folder]\n\n")
		flags.PrintDefaults()
		_, _ = fmt.Fprintf(out, "\nEnvironment: %s, the bearer token, at least %d characters (default: one is made);\n"+
			"%s, the port to listen on (default: %s).\n", envToken, wire.MinTokenLength, envPort, defaultPort)
	}
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if flags.NArg() > 0 {
		return c, errors.New("unexpected argument; the folder to serve is given as -dir FOLDER")
	}
	dirGiven := false
	flags.Visit(func(f *flag.Flag) { dirGiven = dirGiven || f.Name == "dir" })
	if dirGiven && c.dir == "" {
		return c, errors.New("-dir: is empty; name a folder, or leave the flag out for the bundled data")
	}
	c.port = defaultPort
	if port, ok := getenv(envPort); ok {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
			return c, fmt.Errorf("%s: must be a number from 0 to 65535; 0 takes any free port", envPort)
		}
		c.port = port
	}
	secret, ok := getenv(envToken)
	if !ok {
		b := make([]byte, 32)
		_, _ = rand.Read(b) // never fails
		c.minted = hex.EncodeToString(b)
		secret = c.minted
	}
	if c.token, err = wire.NewToken(secret); err != nil {
		return c, fmt.Errorf("%s: %w; leave it unset to have one made for this run", envToken, err)
	}
	return c, nil
}
