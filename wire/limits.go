package wire

import "time"

// Limits of the protocol, and those that this library adds, which a program on either
// side states or meets.
const (
	MaxLineBytes      = 16 << 20         // one NDJSON line, its newline included
	MaxBatchRows      = 5000             // rows in one line
	HeartbeatInterval = 10 * time.Second // since the last line written
	MinTokenLength    = 32               // characters of a bearer token
	AggregateLimit    = 1001             // what the platform sends: its budget of groups plus one
)
