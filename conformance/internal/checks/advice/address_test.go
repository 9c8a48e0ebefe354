package advice

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
)

// TestPrivate judges addresses that the platform's servers reach, and others.
func TestPrivate(t *testing.T) {
	for address, want := range map[string]bool{
		"10.0.0.1": true, "172.16.5.4": true, "192.168.1.1": true, "127.0.0.1": true, "169.254.169.254": true,
		"100.64.0.1": true, "0.0.0.0": true,
		"::1": true, "fe80::1": true, "fd00::1": true, "8.8.8.8": false, "172.32.0.1": false, "100.128.0.1": false, "2606:4700::1111": false,
		"168.63.129.16": true, "64:ff9b::10.0.0.1": true, "5f00::1": true, "198.18.0.1": true,
	} {
		host := netip.AddrPortFrom(netip.MustParseAddr(address), 443).String()
		run := &session.Run{Session: &session.Session{Config: session.Config{Base: "https://" + host}}}
		require.Equal(t, want, publicAddress(run) != nil, address)
	}
}
