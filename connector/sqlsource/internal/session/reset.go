//go:build !windows

package session

import "syscall"

// errReset is what the system says of a connection that the other side has reset.
const errReset = syscall.ECONNRESET
