// Command hosts serves several connectors from one process, in the router or behind
// the middleware that a host has: each under a path of its own, with a token of its
// own. They share nothing but the server.
//
//	go run -C examples/hosts .                   # in http.ServeMux
//	go run -C examples/hosts . -in chi           # or gorilla, gin, echo; gzip or otelhttp around it
//	go run -C examples/hosts . -tokens           # prints the tokens
//
// Every connector's token is derived from one secret of the host. So the
// environment holds one secret however many connectors there are, and no token
// tells anything about another.
//
// The tests ask each router and middleware for every kind of answer, over HTTP/1.1,
// HTTP/2 and h2c and behind nginx, HAProxy and Caddy, and require that rows arrive
// while the source still works.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"log"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func main() {
	in := flag.String("in", "mux", "what the connectors are mounted in: "+strings.Join(slices.Sorted(maps.Keys(hosts)), ", "))
	printTokens := flag.Bool("tokens", false, "print the connectors' tokens, for whoever connects them, and exit")
	flag.Parse()
	host, known := hosts[*in]
	if !known || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}

	secret := os.Getenv("PLATFORM_CONNECTOR_TOKEN")
	minted := secret == ""
	if minted && *printTokens {
		log.Fatal("PLATFORM_CONNECTOR_TOKEN: set it to the secret of the host that serves; without one, each run makes its own")
	}
	if minted {
		secret = rand.Text() + rand.Text()
	}
	connectors, err := handlers(secret)
	if err != nil {
		log.Fatal(err)
	}
	if *printTokens {
		for _, c := range connectors {
			fmt.Println(c.path, derive(secret, c.path))
		}
		return
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		log.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(listener.Addr().String()) // PORT=0 takes any free port
	for _, c := range connectors {
		url := "http://localhost:" + port + c.path
		fmt.Printf("%s\n  curl %s%s\n", url, url, wire.PathDocument)
		if minted {
			fmt.Printf("  curl %s%s -H 'Authorization: Bearer %s' -d '{\"credentials\":{},\"timeoutMs\":5000}'\n",
				url, wire.PathDiscovery, derive(secret, c.path))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := connector.Serve(ctx, listener, host(connectors), nil); err != nil {
		log.Fatal(err)
	}
}

// derive returns the token of the connector under a path: of each secret, while the host rotates two.
func derive(secrets, path string) string {
	var tokens []string
	for secret := range strings.SplitSeq(secrets, ",") {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(path))
		tokens = append(tokens, hex.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(tokens, ",")
}

// mounted is a connector under its path.
type mounted struct {
	path    string
	handler *connector.Handler
}

// handlers returns the connectors of this host, each with its token.
func handlers(secret string) ([]mounted, error) {
	for one := range strings.SplitSeq(secret, ",") {
		if len(one) < wire.MinTokenLength {
			return nil, fmt.Errorf("PLATFORM_CONNECTOR_TOKEN: at least %d characters, for instance of `openssl rand -hex 32`", wire.MinTokenLength)
		}
	}
	list, err := connectors()
	if err != nil {
		return nil, err
	}
	var all []mounted
	for _, c := range list {
		token, err := wire.NewToken(derive(secret, c.path))
		if err != nil {
			return nil, err
		}
		h, err := connector.New(c.definition, c.source, token, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.path, err)
		}
		all = append(all, mounted{c.path, h})
	}
	return all, nil
}
