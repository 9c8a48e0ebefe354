package memlisten_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

func TestDialAndAccept(t *testing.T) {
	l := memlisten.New()
	assert.Equal(t, "memory", l.Addr().Network())
	assert.Equal(t, "connector.test:80", l.Addr().String())
	accepted := make(chan net.Conn)
	go func() {
		c, err := l.Accept()
		assert.NoError(t, err)
		accepted <- c
	}()
	client := testkit.Must(l.Dial(t.Context()))(t)
	server := <-accepted
	go func() { _, _ = server.Write([]byte("x")) }()
	got := make([]byte, 1)
	testkit.Must(client.Read(got))(t)
	assert.Equal(t, "x", string(got))
}

func TestClosed(t *testing.T) {
	l := memlisten.New()
	require.NoError(t, l.Close())
	require.NoError(t, l.Close(), "closing twice is harmless")
	_, err := l.Dial(t.Context())
	assert.ErrorIs(t, err, net.ErrClosed)
	_, err = l.Accept()
	assert.ErrorIs(t, err, net.ErrClosed)
}

func TestDialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := memlisten.New().Dial(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

// TestServe asks a server under several names, and then none.
func TestServe(t *testing.T) {
	l, stop := memlisten.Serve(&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host)
	})})
	client := &http.Client{Transport: l.Route(&http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		return nil, errors.New("a proxy is asked")
	}})}
	ask := func(host string) (string, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, host, http.NoBody)
		require.NoError(t, err)
		res, err := client.Do(r)
		if err != nil {
			return "", err
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		return string(body), err
	}
	for url, host := range map[string]string{
		"http://connector.test":  "connector.test",
		"https://another.test/x": "another.test", // the platform's base URLs are https
	} {
		assert.Equal(t, host, testkit.Must(ask(url))(t, url))
	}
	kept, err := l.Dial(t.Context())
	require.NoError(t, err)
	_, err = io.WriteString(kept, "GET")
	require.NoError(t, err, "the server reads, so it knows the connection")
	stop()
	stop()
	_, err = ask("http://connector.test")
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = kept.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.EOF, "open connections are closed")
}
