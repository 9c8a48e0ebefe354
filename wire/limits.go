package wire

import "time"

// The limits of the protocol, and those that this library adds.
const (
	MaxDocumentBytes  = 64 << 10         // capability document
	MaxAnswerBytes    = 32 << 20         // JSON answer body
	MaxLineBytes      = 16 << 20         // one NDJSON line, its newline included
	MaxBatchRows      = 5000             // rows in one line
	HeartbeatInterval = 10 * time.Second // since the last line written
	MinTokenLength    = 32               // characters of a bearer token
	AggregateLimit    = 1001             // what the platform sends: its budget of groups plus one
	MaxOrphanSamples  = 20               // in an answer of /linkHitRate
)
