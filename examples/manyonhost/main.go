// Command manyonhost serves several connectors from one process: each under a
// path of its own, with a token of its own. They share nothing but the server.
//
//	go run ./examples/manyonhost
//
// Every connector's token is derived from one secret of the host. So the
// environment holds one secret however many connectors there are, and no token
// tells anything about another.
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
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func main() {
	printTokens := flag.Bool("tokens", false, "print the connectors' tokens, for whoever connects them, and exit")
	flag.Parse()

	secret := os.Getenv("PLATFORM_CONNECTOR_TOKEN")
	minted := secret == ""
	if minted {
		secret = rand.Text() + rand.Text()
	}
	connectors, err := connectors()
	if err != nil {
		log.Fatal(err)
	}
	mux, err := mount(connectors, secret)
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
	if err := connector.Serve(ctx, listener, mux); err != nil {
		log.Fatal(err)
	}
}

// derive returns the token of the connector under a path.
func derive(secret, path string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(path))
	return hex.EncodeToString(mac.Sum(nil))
}

// mount puts every connector on one mux, under its path and with its token.
func mount(connectors []hosted, secret string) (*http.ServeMux, error) {
	if len(secret) < wire.MinTokenLength {
		return nil, fmt.Errorf("PLATFORM_CONNECTOR_TOKEN: at least %d characters, for instance of `openssl rand -hex 32`", wire.MinTokenLength)
	}
	mux := http.NewServeMux()
	for _, c := range connectors {
		token, err := wire.NewToken(derive(secret, c.path))
		if err != nil {
			return nil, err
		}
		h, err := connector.New(c.definition, c.source, token, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.path, err)
		}
		mux.Handle(h.Mount(c.path))
	}
	return mux, nil
}
