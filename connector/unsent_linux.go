package connector

import (
	"net"
	"syscall"
)

// maxUnsent is how much of an answer the kernel takes for a connection beyond what is
// on its way to the reader. By itself it takes up to 4 MB: a thousand readers that
// take nothing then use up the kernel's memory for TCP, and every other connection
// of the machine is slowed down.
const maxUnsent = 128 << 10

// tcpNotSentLowAt is TCP_NOTSENT_LOWAT of linux/tcp.h.
const tcpNotSentLowAt = 25

// limitUnsent keeps a connection to maxUnsent. What is on its way is not limited, so
// that a reader far away is served as fast as before.
func limitUnsent(c net.Conn) {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = over.NetConn()
	}
	conn, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowAt, maxUnsent)
	})
}
