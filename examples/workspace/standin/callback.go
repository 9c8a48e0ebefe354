package standin

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// checkCallback returns an error unless raw is an HTTPS URL that points neither
// to localhost nor to a private address or a cloud's metadata service. It judges
// the text only; publicTransport judges the address that a name leads to.
//
// A host that is not ASCII is refused. Clients map such a host before they look it up, and not
// all alike: many make 127.0.0.1 of 127。0。0。1, and localhost of ⓛocalhost. A mapping here would need
// an IDNA library, and would judge another host than that of a client with other tables. An
// international name has an xn-- form, which all clients take as it is.
func checkCallback(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" {
		return errors.New("must be an HTTPS URL")
	}
	if strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r > 0x7f }) {
		return errors.New("must have a host in ASCII; write an international name in its xn-- form")
	}
	if !publicHost(u.Hostname()) {
		return errors.New("must not point to localhost, a private address or a cloud metadata address")
	}
	return nil
}

// metadataHosts are the names of clouds' metadata services. Their addresses are
// link-local, private or in notPublic.
var metadataHosts = []string{"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}

// localNames are the last labels of names that lead to the machine itself.
var localNames = []string{"localhost", "localdomain", "ip6-localhost", "ip6-loopback"}

func publicHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return publicAddress(a)
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	// A host that ends in a number is an IPv4 address in a short, octal or
	// hexadecimal spelling: 2130706433 and 0x7f.1 are both 127.0.0.1.
	number := strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == ""
	return !number && !slices.Contains(localNames, last) && !slices.Contains(metadataHosts, host)
}

// notPublic are ranges that netip's own predicates leave out: this network,
// shared addresses (where one cloud has its metadata), one cloud's own public
// address, protocol assignments (where another has it), IPv6 addresses that hold an
// IPv4 address, and routes inside of networks.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/16"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("5f00::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

func publicAddress(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() &&
		!slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) })
}

// publicTransport returns a transport that connects to public addresses only. It
// judges the address dialled, so that no name can lead to another one.
func publicTransport() http.RoundTripper {
	dialer := &net.Dialer{
		Timeout: 10 * time.Second,
		Control: func(_, address string, _ syscall.RawConn) error {
			if to, err := netip.ParseAddrPort(address); err != nil || !publicAddress(to.Addr()) {
				return errors.New("the callback's address is not public")
			}
			return nil
		},
	}
	return &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second}
}
