// Command receiver receives the webhooks of workflow runs and writes each delivery,
// once, to a file of JSON lines.
//
//	go run -C examples/workspace ./cmd/receiver -keys keys.txt -out deliveries.ndjson
//
// keys.txt has the API keys that runs are started with, one a line. The service calls
// https addresses only: put HAProxy, nginx or Caddy in front.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/webhook"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

// run receives until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("receiver", flag.ContinueOnError)
	keys := flags.String("keys", "", "the `file` of the API keys, one a line")
	path := flags.String("out", "deliveries.ndjson", "the `file` that deliveries are appended to; it holds resume addresses")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *keys == "" {
		return errors.New("give -keys FILE, and flags only")
	}
	secrets, err := readKeys(*keys)
	if err != nil {
		return fmt.Errorf("-keys: %w", err)
	}
	journal, err := openJournal(*path)
	if err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	defer func() { _ = journal.file.Close() }()
	receiver, err := webhook.NewReceiver(secrets, func(_ context.Context, d webhook.Delivery, body []byte) error {
		if err := journal.append(body); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(out, "run", d.About().RunID, d.Event(), d.Key().JobID)
		return nil
	}, nil)
	if err != nil {
		return err
	}
	for _, d := range journal.earlier {
		receiver.Remember(d.Key())
	}
	port := getenv("PORT")
	if port == "" {
		port = "8081"
	}
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return fmt.Errorf("PORT: %w", err)
	}
	_, _ = fmt.Fprintf(out, "Receiving at http://localhost:%d, %d deliveries known\n",
		listener.Addr().(*net.TCPAddr).Port, len(journal.earlier))
	return serve(ctx, listener, receiver)
}

// serve serves until ctx ends, and lets deliveries that are being handled finish.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:     handler,
		ReadTimeout: 20 * time.Second, // an attempt takes at most 30
		IdleTimeout: time.Minute,
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// readKeys returns the signing secrets of the keys in a file. Only digests stay in
// memory.
func readKeys(path string) ([]webhook.Secret, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var secrets []webhook.Secret
	for line := range strings.Lines(string(text)) {
		if key := strings.TrimSpace(line); key != "" {
			secrets = append(secrets, webhook.NewSecret(key))
		}
	}
	if len(secrets) == 0 {
		return nil, errors.New("the file has no key")
	}
	return secrets, nil
}

// journal is the file of deliveries. It is what the program knows after a restart.
// webhook.Receiver calls append from several goroutines, each for another delivery.
type journal struct {
	earlier []webhook.Delivery

	mu   sync.Mutex
	file *os.File
	size int64 // of whole lines
}

// openJournal opens or creates a journal and reads it.
func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file}
	if err := j.read(); err != nil {
		_ = file.Close()
		return nil, err
	}
	return j, nil
}

// read reads the deliveries, and cuts off a last line that was never finished: it was
// not acknowledged, so the service sends it again.
func (j *journal) read() error {
	in := bufio.NewReader(j.file)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return j.file.Truncate(j.size)
		} else if err != nil {
			return err
		}
		delivery, err := webhook.Parse(line)
		if err != nil {
			return fmt.Errorf("the file has a line that is no delivery, after %d bytes", j.size)
		}
		j.earlier = append(j.earlier, delivery)
		j.size += int64(len(line))
	}
}

// append writes a delivery to the disk, whole or not at all.
func (j *journal) append(body []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		return err
	}
	line.WriteByte('\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	n, err := j.file.Write(line.Bytes())
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(n)
	return nil
}
