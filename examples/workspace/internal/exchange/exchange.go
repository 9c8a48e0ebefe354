// Package exchange plays HTTP exchanges that were written by hand, so that tests
// compare a client with a document and not with another program.
//
// A file has a comment, and then requests and answers in turn:
//
//	>>>
//	GET /v1/whoami HTTP/1.1
//	Host: platform.example.com
//
//	<<<
//	HTTP/1.1 200 OK
//	Content-Type: application/json
//
//	{"data": {"id": "u1"}}
//
// A request must have exactly these headers and this body, byte for byte. Only
// User-Agent, Content-Length and Transfer-Encoding are free, and the boundary of a
// multipart body is written as BOUNDARY. An answer gets a Content-Length, unless it
// says "Connection: close".
package exchange

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Script is a sequence of exchanges.
type Script struct {
	t     *testing.T
	file  string
	turns []turn

	mu   sync.Mutex
	next int
}

type turn struct{ request, answer string }

// Play returns a transport that plays a file. The test fails if a request is not the
// one of its turn, and at its end if requests are missing.
func Play(t *testing.T, file string) http.RoundTripper {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &Script{t: t, file: file}
	for _, part := range strings.Split(string(text), "\n>>>\n")[1:] {
		request, answer, ok := strings.Cut(part, "\n<<<\n")
		if !ok {
			t.Fatalf("%s: a request has no answer", file)
		}
		s.turns = append(s.turns, turn{strings.TrimRight(request, "\n"), strings.TrimRight(answer, "\n")})
	}
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go s.serve(server)
		return client, nil
	}
	transport := &http.Transport{DialContext: dial, DialTLSContext: dial, DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.next < len(s.turns) {
			t.Errorf("%s: %d of %d requests came; the next one was to be\n%s", file, s.next, len(s.turns), s.turns[s.next].request)
		}
	})
	return transport
}

// wrong is the answer to a request that is not the one of its turn.
const wrong = "HTTP/1.1 418 Wrong Request\r\nConnection: close\r\n\r\n"

// serve plays turns on one connection.
func (s *Script) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		head, body, err := read(in)
		if err != nil {
			return
		}
		s.mu.Lock()
		at := s.next
		s.next++
		s.mu.Unlock()
		if at >= len(s.turns) {
			s.t.Errorf("%s: one request too many:\n%s", s.file, head)
			_, _ = io.WriteString(conn, wrong)
			return
		}
		if problem := s.turns[at].differs(head, body); problem != "" {
			s.t.Errorf("%s: exchange %d: %s; got\n%s\n%s", s.file, at+1, problem, head, body)
			_, _ = io.WriteString(conn, wrong)
			return
		}
		answer, closes := s.turns[at].bytes()
		if _, err := conn.Write(answer); err != nil || closes {
			return
		}
	}
}

// read returns the head of a request as it was sent, and its body.
func read(in *bufio.Reader) (head, body string, err error) {
	var raw bytes.Buffer
	for !bytes.HasSuffix(raw.Bytes(), []byte("\r\n\r\n")) {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return "", "", err
		}
		raw.Write(line)
	}
	r, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(raw.Bytes()), in)))
	if err != nil {
		return "", "", err
	}
	// ReadRequest buffers what follows; a client sends nothing before the answer.
	text, err := io.ReadAll(r.Body)
	body = string(text)
	head = strings.ReplaceAll(strings.TrimSuffix(raw.String(), "\r\n\r\n"), "\r\n", "\n")
	if _, params, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && params["boundary"] != "" {
		body = strings.ReplaceAll(body, params["boundary"], "BOUNDARY")
		body = strings.ReplaceAll(body, "\r\n", "\n")
		head = strings.ReplaceAll(head, params["boundary"], "BOUNDARY")
	}
	return head, body, err
}

// differs returns what of a request is not as it was to be.
func (t turn) differs(head, body string) string {
	wantHead, wantBody, _ := strings.Cut(t.request, "\n\n")
	want, got := strings.Split(wantHead, "\n"), strings.Split(head, "\n")
	if got[0] != want[0] {
		return "the request line is to be " + want[0]
	}
	got = slices.DeleteFunc(got, func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains([]string{"User-Agent", "Content-Length", "Transfer-Encoding"}, name)
	})
	slices.Sort(got[1:])
	slices.Sort(want[1:])
	if !slices.Equal(got, want) {
		return fmt.Sprintf("the headers are to be %q", want[1:])
	}
	if strings.TrimRight(body, "\n") != wantBody {
		return "the body is to be " + wantBody
	}
	return ""
}

// bytes returns the answer as it is sent, and whether the connection ends with it.
func (t turn) bytes() (answer []byte, closes bool) {
	head, body, _ := strings.Cut(t.answer, "\n\n")
	closes = strings.Contains(head, "\nConnection: close")
	if closes {
		body += "\n\n" // an event of a stream ends with an empty line
	} else if !strings.HasPrefix(head, "HTTP/1.1 204") {
		head += fmt.Sprintf("\nContent-Length: %d", len(body))
	}
	return []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body), closes
}
