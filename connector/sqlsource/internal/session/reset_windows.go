package session

import "syscall"

// errReset is what the system says of a connection that the other side has reset.
// syscall.ECONNRESET is a number that Windows never answers with.
const errReset = syscall.WSAECONNRESET
