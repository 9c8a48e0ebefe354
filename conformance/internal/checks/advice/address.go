package advice

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
)

// publicAddress judges the host's addresses, as this machine resolves them.
func publicAddress(run *session.Run) *check.Finding {
	u, err := url.Parse(run.Base)
	if err != nil {
		panic(err) // it was parsed before
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return check.Differs("a public host", host, "the base URL leads to this machine, which the platform does not reach")
	}
	var addresses []netip.Addr
	if ip, err := netip.ParseAddr(host); err == nil {
		addresses = []netip.Addr{ip}
	} else if !run.InProcess {
		ctx, cancel := context.WithTimeout(run.Ctx, defaults.Grace)
		defer cancel()
		if addresses, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
			return check.Skip(check.NoData, "the host's name does not resolve here")
		}
	}
	for _, ip := range addresses {
		if ip = ip.Unmap(); netguard.Check(ip) != nil { // [rule tenant-7]
			return check.Differs("a public address", ip.String(), "the host %s is in a private network, which the platform refuses", host)
		}
	}
	return nil
}
