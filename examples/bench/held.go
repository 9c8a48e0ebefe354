package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// S15: what a stream costs that is held open, and what a fast one beside many of
// them still gets.

const (
	heldStreams  = 1000
	heldSpeed    = 0.8      // of the fast one alone, at least
	heldMemory   = 48 << 10 // of each stream whose source is slow, at most
	stalledMost  = 96 << 10 // of each stream whose reader takes nothing, at most
	leastRounds  = 3        // of the fast one
	settleEvery  = 250 * time.Millisecond
	settleWithin = time.Minute
)

// heldKinds are the ways in which a stream is held.
var heldKinds = []struct {
	name  string
	table string
	reads bool // the reader takes what comes
	most  int64
}{
	{"silent", silentTable, true, heldMemory},
	{"dripping", drippingTable, true, heldMemory},
	{"stalled", tableName, false, stalledMost},
}

// held measures S15. For each kind a fresh server holds the streams, while a fast
// reader takes the whole table from it.
func (e *experiment) held(ctx context.Context) ([]result, error) {
	r := result{id: "S15", met: true}
	var figures []string
	for _, kind := range heldKinds {
		fmt.Fprintf(e.progress, "many streams: %d %s\n", e.streamsHeld(), kind.name)
		each, speed, err := e.heldBeside(ctx, kind.table, kind.reads)
		if err != nil {
			return nil, err
		}
		r.met = r.met && each <= kind.most && speed.mid >= heldSpeed
		figures = append(figures, fmt.Sprintf("%s %.1f KiB each, beside them %.2fx (%.2f to %.2f)",
			kind.name, float64(each)/1024, speed.mid, speed.low, speed.high))
	}
	r.figure = fmt.Sprintf("%d streams: %s", e.streamsHeld(), strings.Join(figures, "; "))
	return []result{r}, nil
}

// streamsHeld returns how many streams are held: fewer beside a small table.
func (e *experiment) streamsHeld() int { return max(1, min(heldStreams, e.rows/100)) }

// heldBeside returns the memory of each held stream, and how fast a whole answer
// beside them is, as a part of its speed alone.
func (e *experiment) heldBeside(ctx context.Context, table string, reads bool) (each int64, speed ratio, err error) {
	s, err := start(ctx, serverSDK, e.rows)
	if err != nil {
		return 0, speed, err
	}
	defer s.stop()
	defer e.client.close()
	var alone, beside []time.Duration
	take := func(times *[]time.Duration) error {
		for range max(leastRounds, e.rounds) {
			a, err := e.client.discard(ctx, s, query())
			if err != nil {
				return err
			}
			*times = append(*times, a.wall)
		}
		return nil
	}
	if err := take(&alone); err != nil {
		return 0, speed, err
	}
	before, err := s.liveMemory()
	if err != nil {
		return 0, speed, err
	}
	q := query()
	q.Table = table
	for range e.streamsHeld() {
		conn, err := hold(ctx, s, q, reads)
		if err != nil {
			return 0, speed, err
		}
		defer conn.Close()
	}
	after, err := s.settledMemory(ctx)
	if err != nil {
		return 0, speed, err
	}
	if err := take(&beside); err != nil {
		return 0, speed, err
	}
	return (after - before) / int64(e.streamsHeld()), ratioOf(beside, alone), nil
}

// hold opens a stream whose reader takes the header, and then what comes or
// nothing more.
func hold(ctx context.Context, s *server, q *wire.QueryRequest, reads bool) (io.Closer, error) {
	body, err := wire.EncodeRequest(q)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.Host)
	if err != nil {
		return nil, err
	}
	// A small buffer of the kernel, so that a reader that takes nothing is felt soon.
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		_ = conn.Close()
		return nil, err
	}
	if _, err := conn.Write(rawRequest(body)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	if reads {
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		return conn, nil
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("server %s answered status %d", s.kind, res.StatusCode)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// rawRequest returns a query as it goes over the wire, for a connection that is
// used once.
func rawRequest(body []byte) []byte {
	return fmt.Appendf(nil, "POST /query HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n%s", bearer, len(body), body)
}

// settledMemory returns the live memory of a server once it hardly changes.
func (s *server) settledMemory(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	last := int64(0)
	for {
		now, err := s.liveMemory()
		if err != nil {
			return 0, err
		}
		if apart := max(now-last, last-now); apart <= now/200 {
			return now, nil
		}
		last = now
		select {
		case <-ctx.Done():
			return 0, errors.New("the memory of the held streams did not settle")
		case <-time.After(settleEvery):
		}
	}
}

// liveMemory returns the heap and the stacks that are in use after a collection.
func (s *server) liveMemory() (int64, error) {
	if _, err := s.stdin.Write([]byte("\n")); err != nil {
		return 0, err
	}
	line, err := s.stdout.ReadBytes('\n')
	if err != nil {
		return 0, err
	}
	var bytesInUse int64
	_, err = fmt.Sscan(string(bytes.TrimSpace(line)), &bytesInUse)
	return bytesInUse, err
}
