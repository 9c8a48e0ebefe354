package netguard_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestCheck judges the addresses of testdata/addresses.tsv.
func TestCheck(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/addresses.tsv", 2) {
		addr, kind := row[0], row[1]
		err := netguard.Check(netip.MustParseAddr(addr))
		if kind == "public" {
			require.NoError(t, err, addr)
			continue
		}
		var refused *netguard.Error
		require.ErrorAs(t, err, &refused, addr)
		require.Contains(t, refused.Kind, kind, addr)
		require.Contains(t, err.Error(), "the platform would refuse this address", addr)
	}
	require.ErrorContains(t, netguard.Check(netip.Addr{}), "not an address")
}

// TestDialContext dials a server on this machine, by address and by name: refused
// without Local, and then the server gets no connection.
func TestDialContext(t *testing.T) {
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer srv.Close()
	address := strings.TrimPrefix(srv.URL, "http://")
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	for _, local := range []bool{false, true} {
		for _, to := range []string{address, "localhost:" + port} {
			conn, err := netguard.Dialer{Local: local}.DialContext(t.Context(), "tcp4", to)
			if local {
				require.NoError(t, err)
				require.NoError(t, conn.Close())
				continue
			}
			var refused *netguard.Error
			require.ErrorAs(t, err, &refused, to)
			require.Equal(t, "this host", refused.Kind)
		}
	}
	_, err = netguard.Dialer{}.DialContext(t.Context(), "unix", filepath.Join(t.TempDir(), "socket"))
	require.ErrorContains(t, err, "the platform would refuse this address: it is not an address of the internet")
	client := &http.Client{Transport: &http.Transport{DialContext: netguard.Dialer{}.DialContext}}
	_, err = client.Get(srv.URL) //nolint:bodyclose // there is none
	require.ErrorAs(t, err, new(*netguard.Error))
	require.Zero(t, asked.Load())
}

// TestTimeout dials a name whose look-up hangs.
func TestTimeout(t *testing.T) {
	// The first look-up of a process makes a channel that all others share, which
	// must not belong to a bubble.
	fails := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no resolver")
	}}
	_, err := fails.LookupHost(t.Context(), "connector.example")
	require.ErrorContains(t, err, "no resolver")

	for stated, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 3 * time.Second: 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			over := make(chan struct{})
			hangs := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
				<-over
				return nil, errors.New("no resolver")
			}}
			begun := time.Now()
			_, err := netguard.Dialer{Net: net.Dialer{Timeout: stated, Resolver: hangs}}.DialContext(t.Context(), "tcp4", "connector.example:443")
			require.Error(t, err)
			require.Equal(t, want, time.Since(begun))
			close(over)
			synctest.Wait()
		})
	}
}

// TestRebinding looks a name up twice. The second look-up gives a private address,
// as that of an attacker would who was judged by the first.
func TestRebinding(t *testing.T) {
	var lookups atomic.Int64
	answers := []netip.Addr{netip.MustParseAddr("203.0.114.1"), netip.MustParseAddr("10.0.0.1")}
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go answerDNS(server, answers[min(int(lookups.Add(1))-1, len(answers)-1)])
		return client, nil
	}}
	addresses, err := resolver.LookupNetIP(t.Context(), "ip4", "connector.example")
	require.NoError(t, err)
	require.NoError(t, netguard.Check(addresses[0]), "the first look-up is of a public address")

	_, err = netguard.Dialer{Net: net.Dialer{Resolver: resolver}}.DialContext(t.Context(), "tcp4", "connector.example:443")
	var refused *netguard.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "10.0.0.1", refused.Addr.String())
	require.Equal(t, int64(2), lookups.Load())
	require.False(t, errors.Is(err, context.DeadlineExceeded))
}

// answerDNS answers one question over TCP with one IPv4 address.
func answerDNS(conn net.Conn, addr netip.Addr) {
	defer conn.Close()
	var length [2]byte
	if _, err := conn.Read(length[:1]); err != nil {
		return
	}
	if _, err := conn.Read(length[1:]); err != nil {
		return
	}
	question := make([]byte, binary.BigEndian.Uint16(length[:]))
	for n := 0; n < len(question); {
		m, err := conn.Read(question[n:])
		if err != nil {
			return
		}
		n += m
	}
	end := 12 // of the name, then of the type and the class
	for question[end] != 0 {
		end += 1 + int(question[end])
	}
	end += 5
	answer := append([]byte{}, question[:end]...)
	copy(answer[2:], []byte{0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0}) // a response with one answer
	answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
	answer = append(answer, addr.AsSlice()...)
	_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
}
