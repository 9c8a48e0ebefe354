package standin

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// The client address that a budget is counted for. All functions here check
// syntax only, and return the empty string if there is no valid address: such
// requests share one budget of the route.

// normalAddress returns the first entry of X-Forwarded-For, or else X-Real-IP.
func normalAddress(r *http.Request) string {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
	if a := validAddress(first); a != "" {
		return a
	}
	return validAddress(r.Header.Get("X-Real-IP"))
}

// privacyAddress returns the caller's address for privacy requests: X-Real-IP comes first.
func privacyAddress(r *http.Request) string {
	if a := validAddress(r.Header.Get("X-Real-IP")); a != "" {
		return a
	}
	return normalAddress(r)
}

// connectionAddress returns the caller's address for the desktop wake route and OAuth
// routes: the address of the connection comes first.
func connectionAddress(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		if a := validAddress(host); a != "" {
			return a
		}
	}
	return normalAddress(r)
}

// validAddress returns an IPv4 or IPv6 address in its canonical spelling, or ""
// for any other text, such as an address with a port or a zone.
func validAddress(text string) string {
	a, err := netip.ParseAddr(strings.TrimSpace(text))
	if err != nil || a.Zone() != "" {
		return ""
	}
	return a.String()
}
