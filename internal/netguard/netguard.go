// Package netguard dials addresses of the public internet and no others, as the
// platform does [rule tenant-7].
//
// It judges the address that is dialled, and not the name that was looked up
// before: a name can have another address at its second look-up.
package netguard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// A Dialer opens connections to public addresses. Its zero value is ready to use;
// pass its DialContext to an [net/http.Transport].
type Dialer struct {
	// Local permits every address, for work on one's own machine or network.
	Local bool
	// Net holds further settings, such as a resolver. Its ControlContext is
	// replaced. Without a timeout it is given one of 10 seconds.
	Net net.Dialer
}

// DialContext connects to an address as [net.Dialer.DialContext] does. For an
// address that is not public it returns an error that wraps an [*Error], and sends
// nothing there.
func (d Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	own := d.Net
	if own.Timeout == 0 {
		own.Timeout = 10 * time.Second
	}
	if !d.Local {
		own.ControlContext = control // Control is not called beside it
	}
	return own.DialContext(ctx, network, address)
}

// control refuses a forbidden address. The dialer calls it after every look-up, before it
// connects.
func control(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Error{Kind: "not an address of the internet"}
	}
	return Check(ap.Addr())
}

// Error says that the platform refuses an address.
type Error struct {
	Addr netip.Addr // not valid for what is no IP address
	Kind string     // such as "a private network"
}

// Error returns the address and why the platform refuses it.
func (e *Error) Error() string {
	if !e.Addr.IsValid() {
		return "the platform would refuse this address: it is " + e.Kind
	}
	return fmt.Sprintf("the platform would refuse this address: %s is %s", e.Addr, e.Kind)
}

// Check returns an [*Error] for an address that the platform refuses, or nil.
func Check(addr netip.Addr) error {
	if kind := refused(addr); kind != "" {
		return &Error{Addr: addr, Kind: kind}
	}
	return nil
}

// special lists the networks that are not public, from IANA's registries of special
// addresses (RFC 6890). Narrow ones come before wide ones. What the registries call
// globally reachable, such as AS112, is public, unless it is a part of 2001::/23.
var special = []struct {
	prefix netip.Prefix
	kind   string
}{
	{netip.MustParsePrefix("169.254.169.254/32"), "the metadata service of a cloud"},
	{netip.MustParsePrefix("168.63.129.16/32"), "the metadata service of a cloud"}, // a public address by its number
	{netip.MustParsePrefix("fd00:ec2::254/128"), "the metadata service of a cloud"},
	{netip.MustParsePrefix("0.0.0.0/8"), "this host"},
	{netip.MustParsePrefix("10.0.0.0/8"), "in a private network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "in the private network of a carrier"},
	{netip.MustParsePrefix("127.0.0.0/8"), "this host"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "in a private network"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "reserved"},
	{netip.MustParsePrefix("192.168.0.0/16"), "in a private network"},
	{netip.MustParsePrefix("198.18.0.0/15"), "reserved for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::/128"), "this host"},
	{netip.MustParsePrefix("::1/128"), "this host"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "in a private network"}, // local NAT64
	{netip.MustParsePrefix("2001::/23"), "reserved"},                  // Teredo among others
	{netip.MustParsePrefix("2001:db8::/32"), "reserved for documentation"},
	{netip.MustParsePrefix("3fff::/20"), "reserved for documentation"},
	{netip.MustParsePrefix("fc00::/7"), "in a private network"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "in a private network"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

var (
	// The IPv6 networks whose addresses lead to the IPv4 address inside them.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	sixTo = netip.MustParsePrefix("2002::/16")
	// unicast is all that IANA has opened of IPv6 for public addresses. Beyond it
	// are 5f00::/16 (segment routing), 100:0:0:1::/64, and what comes next.
	unicast = netip.MustParsePrefix("2000::/3")
)

// refused returns why the platform refuses an address, or "".
func refused(addr netip.Addr) string {
	// A prefix contains no address with a zone.
	addr = addr.Unmap().WithZone("")
	if !addr.IsValid() {
		return "not an address of the internet"
	}
	switch b := addr.As16(); {
	case nat64.Contains(addr):
		return refused(netip.AddrFrom4([4]byte(b[12:16])))
	case sixTo.Contains(addr):
		return refused(netip.AddrFrom4([4]byte(b[2:6])))
	}
	for _, s := range special {
		if s.prefix.Contains(addr) {
			return s.kind
		}
	}
	if addr.Is6() && !unicast.Contains(addr) {
		return "reserved"
	}
	return ""
}
