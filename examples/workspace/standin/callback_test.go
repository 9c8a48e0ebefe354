package standin

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPublicAddress covers the ranges that no URL of the exchanges shows.
func TestPublicAddress(t *testing.T) {
	for address, public := range map[string]bool{
		"8.8.8.8":                true,
		"172.15.0.1":             true,
		"172.32.0.1":             true,
		"100.63.255.255":         true,
		"2606:4700::1111":        true,
		"100.64.0.1":             false, // shared
		"192.0.0.192":            false, // a cloud's metadata
		"168.63.129.16":          false, // a cloud's metadata
		"168.63.129.17":          true,
		"2001::a83f:8110":        false, // through a tunnel
		"5f00::1":                false, // segments
		"100:0:0:1::1":           false, // discarded
		"224.0.0.1":              false, // multicast
		"255.255.255.255":        false, // broadcast
		"::":                     false,
		"ff02::1":                false,
		"fe80::1%eth0":           false,
		"fc00::1":                false,
		"64:ff9b::7f00:1":        false, // 127.0.0.1 through a translator
		"2002:7f00:1::":          false, // 127.0.0.1 through a tunnel
		"198.19.255.255":         false, // benchmarks
		"198.20.0.1":             true,
		"::127.0.0.1":            false, // 127.0.0.1 as IPv6 once spelled it
		"::ffff:169.254.169.254": false,
		"::ffff:100.100.100.200": false,
	} {
		assert.Equal(t, public, publicAddress(netip.MustParseAddr(address)), address)
	}
}

// TestCallbackHosts covers other spellings of this machine, which clients map to ASCII before
// they look them up.
func TestCallbackHosts(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://hooks.example.com/x":    true,
		"https://xn--bcher-kva.example/": true,
		"https://127。0。0。1/":             false,
		"https://１２７.0.0.1/":             false,
		"https://ⓛocalhost/":             false,
		"https://%E2%93%9Bocalhost/":     false,
		"https://local\u00adhost/":       false,
		"https://[::127.0.0.1]/":         false,
		"https://198.18.0.1/":            false,
		"https://ip6-localhost/":         false,
		"https://ip6-loopback./":         false,
		"https://localhost.localdomain/": false,
		"https://LOCALHOST:8443/":        false,
	} {
		assert.Equal(t, ok, checkCallback(url) == nil, url)
	}
	for _, url := range []string{"https://127。0。0。1/", "https://ⓛocalhost/", "https://bücher.example/"} {
		assert.EqualError(t, checkCallback(url), "must have a host in ASCII; write an international name in its xn-- form", url)
	}
}

// TestPublicTransport requires that a name that leads to this machine is refused
// when it is dialled, before anything is sent.
func TestPublicTransport(t *testing.T) {
	for _, host := range []string{"127.0.0.1:1", "[::1]:1", "localhost:1"} {
		r, err := http.NewRequest("POST", "https://"+host, nil)
		require.NoError(t, err)
		_, err = publicTransport().RoundTrip(r) //nolint:bodyclose // there is none
		assert.ErrorContains(t, err, "the callback's address is not public", host)
	}
}
