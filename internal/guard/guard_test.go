package guard_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/guard"
)

// TestCheck judges addresses of each special network, at its borders, and of the
// public internet.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ addr, kind string }{
		{"127.0.0.1", "this host"},
		{"127.255.255.254", "this host"},
		{"0.0.0.0", "this host"},
		{"0.1.2.3", "this host"},
		{"10.0.0.1", "private"},
		{"172.16.0.1", "private"},
		{"172.31.255.255", "private"},
		{"192.168.1.1", "private"},
		{"100.64.0.1", "carrier"},
		{"100.127.255.255", "carrier"},
		{"169.254.169.254", "metadata"},
		{"169.254.0.1", "link-local"},
		{"192.0.0.8", "reserved"},
		{"198.19.0.1", "reserved"},
		{"203.0.113.7", "documentation"},
		{"224.0.0.1", "multicast"},
		{"239.255.255.255", "multicast"},
		{"240.0.0.1", "reserved"},
		{"255.255.255.255", "reserved"},
		{"::", "this host"},
		{"::1", "this host"},
		{"::127.0.0.1", "reserved"},
		{"::ffff:10.0.0.1", "private"},
		{"::ffff:169.254.169.254", "metadata"},
		{"fd00:ec2::254", "metadata"},
		{"fc00::1", "private"},
		{"fdff::1", "private"},
		{"fe80::1", "link-local"},
		{"fe80::1%eth0", "link-local"},
		{"fec0::1", "private"},
		{"ff02::1", "multicast"},
		{"64:ff9b::10.0.0.1", "private"},
		{"64:ff9b::169.254.169.254", "metadata"},
		{"64:ff9b:1::1", "private"},
		{"2002:a00:1::", "private"},
		{"2001:0:1::", "reserved"},
		{"2001:db8::1", "documentation"},

		{"9.255.255.255", ""},
		{"11.0.0.1", ""},
		{"100.63.255.255", ""},
		{"100.128.0.1", ""},
		{"172.15.255.255", ""},
		{"172.32.0.1", ""},
		{"192.167.255.255", ""},
		{"8.8.8.8", ""},
		{"::ffff:8.8.8.8", ""},
		{"64:ff9b::8.8.8.8", ""},
		{"2002:808:808::", ""},
		{"2606:4700:4700::1111", ""},
	} {
		err := guard.Check(netip.MustParseAddr(c.addr))
		if c.kind == "" {
			require.NoError(t, err, c.addr)
			continue
		}
		var refused *guard.Error
		require.ErrorAs(t, err, &refused, c.addr)
		require.Contains(t, refused.Kind, c.kind, c.addr)
		require.Contains(t, err.Error(), "the platform would refuse this address", c.addr)
	}
	require.ErrorContains(t, guard.Check(netip.Addr{}), "not an address")
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
			conn, err := guard.Dialer{Local: local}.DialContext(t.Context(), "tcp4", to)
			if local {
				require.NoError(t, err)
				require.NoError(t, conn.Close())
				continue
			}
			var refused *guard.Error
			require.ErrorAs(t, err, &refused, to)
			require.Equal(t, "this host", refused.Kind)
		}
	}
	client := &http.Client{Transport: &http.Transport{DialContext: guard.Dialer{}.DialContext}}
	_, err = client.Get(srv.URL) //nolint:bodyclose // there is none
	require.ErrorAs(t, err, new(*guard.Error))
	require.Zero(t, asked.Load())
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
	require.NoError(t, guard.Check(addresses[0]), "the first look-up is of a public address")

	_, err = guard.Dialer{Net: net.Dialer{Resolver: resolver}}.DialContext(t.Context(), "tcp4", "connector.example:443")
	var refused *guard.Error
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
