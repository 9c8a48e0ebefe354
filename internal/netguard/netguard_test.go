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
)

// TestCheck judges the first and the last address of each special network, and their
// neighbors of the public internet.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ addr, kind string }{
		{"0.0.0.0", "this host"},
		{"0.255.255.255", "this host"},
		{"10.0.0.0", "private"},
		{"10.255.255.255", "private"},
		{"100.64.0.0", "carrier"},
		{"100.127.255.255", "carrier"},
		{"127.0.0.0", "this host"},
		{"127.0.0.1", "this host"},
		{"127.255.255.255", "this host"},
		{"169.254.0.0", "link-local"},
		{"169.254.169.253", "link-local"},
		{"169.254.169.254", "metadata"},
		{"169.254.169.255", "link-local"},
		{"169.254.255.255", "link-local"},
		{"168.63.129.16", "metadata"},
		{"172.16.0.0", "private"},
		{"172.31.255.255", "private"},
		{"192.0.0.0", "reserved"},
		{"192.0.0.255", "reserved"},
		{"192.0.2.0", "documentation"},
		{"192.0.2.255", "documentation"},
		{"192.88.99.0", "reserved"},
		{"192.88.99.255", "reserved"},
		{"192.168.0.0", "private"},
		{"192.168.255.255", "private"},
		{"198.18.0.0", "benchmarks"},
		{"198.19.255.255", "benchmarks"},
		{"198.51.100.0", "documentation"},
		{"198.51.100.255", "documentation"},
		{"203.0.113.0", "documentation"},
		{"203.0.113.255", "documentation"},
		{"224.0.0.0", "multicast"},
		{"239.255.255.255", "multicast"},
		{"240.0.0.0", "reserved"},
		{"255.255.255.255", "reserved"},
		{"::", "this host"},
		{"::1", "this host"},
		{"::2", "reserved"},
		{"::127.0.0.1", "reserved"},
		{"::ffff:0:127.0.0.1", "reserved"},
		{"::ffff:168.63.129.16", "metadata"},
		{"64:ff9b::168.63.129.16", "metadata"},
		{"2002:a83f:8110::1", "metadata"},
		{"ff:ffff::1", "reserved"},
		{"::ffff:10.0.0.1", "private"},
		{"::ffff:169.254.169.254", "metadata"},
		{"64:ff9b::10.0.0.1", "private"},
		{"64:ff9b::169.254.169.254", "metadata"},
		{"64:ff9b::1:0:808:808", "reserved"},
		{"64:ff9b:1::", "private"},
		{"64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "private"},
		{"100::", "reserved"},
		{"100::ffff:ffff:ffff:ffff", "reserved"},
		{"100:0:0:1::", "reserved"},
		{"100:0:0:1:ffff:ffff:ffff:ffff", "reserved"},
		{"64:ff9b:0:0:0:1::", "reserved"},
		{"200::1", "reserved"},
		{"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
		{"2001::", "reserved"},
		{"2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"},
		{"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
		{"2001:db8::", "documentation"},
		{"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
		{"2002:a00:1::", "private"},
		{"2002:a00:1:808:808::", "private"},
		{"3fff::", "documentation"},
		{"3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
		{"4000::", "reserved"},
		{"5f00::", "reserved"},
		{"5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
		{"fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
		{"fe00::1", "reserved"},
		{"fc00::", "private"},
		{"fd00:ec2::253", "private"},
		{"fd00:ec2::254", "metadata"},
		{"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private"},
		{"fe80::", "link-local"},
		{"fe80::1%eth0", "link-local"},
		{"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"},
		{"fec0::", "private"},
		{"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private"},
		{"ff00::", "multicast"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"},

		{"1.0.0.0", ""},
		{"9.255.255.255", ""},
		{"11.0.0.0", ""},
		{"100.63.255.255", ""},
		{"100.128.0.0", ""},
		{"126.255.255.255", ""},
		{"128.0.0.0", ""},
		{"168.63.129.15", ""},
		{"168.63.129.17", ""},
		{"169.253.255.255", ""},
		{"169.255.0.0", ""},
		{"172.15.255.255", ""},
		{"172.32.0.0", ""},
		{"191.255.255.255", ""},
		{"192.0.1.0", ""},
		{"192.0.1.255", ""},
		{"192.0.3.0", ""},
		{"192.88.98.255", ""},
		{"192.88.100.0", ""},
		{"192.31.196.1", ""}, // AS112, AMT: special, and reachable by all
		{"192.52.193.1", ""},
		{"192.175.48.1", ""},
		{"2620:4f:8000::1", ""},
		{"192.167.255.255", ""},
		{"192.169.0.0", ""},
		{"198.17.255.255", ""},
		{"198.20.0.0", ""},
		{"198.51.99.255", ""},
		{"198.51.101.0", ""},
		{"203.0.112.255", ""},
		{"203.0.114.0", ""},
		{"223.255.255.255", ""},
		{"8.8.8.8", ""},
		{"::ffff:8.8.8.8", ""},
		{"64:ff9b::8.8.8.8", ""},
		{"2000::", ""},
		{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
		{"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
		{"2001:200::", ""},
		{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", ""},
		{"2001:db9::", ""},
		{"2002:808:808::", ""},
		{"2003::", ""},
		{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
		{"3fff:1000::", ""},
		{"2606:4700:4700::1111", ""},
	} {
		err := netguard.Check(netip.MustParseAddr(c.addr))
		if c.kind == "" {
			require.NoError(t, err, c.addr)
			continue
		}
		var refused *netguard.Error
		require.ErrorAs(t, err, &refused, c.addr)
		require.Contains(t, refused.Kind, c.kind, c.addr)
		require.Contains(t, err.Error(), "the platform would refuse this address", c.addr)
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
