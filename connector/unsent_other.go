//go:build !linux

package connector

import "net"

// limitUnsent leaves a connection as it is: only Linux is known to need it.
func limitUnsent(net.Conn) {}
