package wire

import "time"

// The limits of the protocol (section Limits), and those our rulings add.
const (
	MaxDocumentBytes    = 64 << 10         // capability document (G10)
	MaxAnswerBytes      = 32 << 20         // JSON answer body (G10)
	MaxLineBytes        = 16 << 20         // one NDJSON line, its newline included (C6)
	MaxBatchRows        = 5000             // rows in one line (C6)
	HeartbeatInterval   = 10 * time.Second // since the last line written (C4)
	PlatformIdleTimeout = 30 * time.Second // three missed heartbeats
	MinTokenLength      = 32               // characters of a bearer token
	AggregateLimit      = 1001             // what the platform sends: its budget of groups plus one
	MaxOrphanSamples    = 20               // linkHitRate
	MinConcurrency      = 1                // limits.concurrency
	MaxConcurrency      = 16
	MaxDepth            = 32        // nesting of a JSON body (G4)
	MaxSafeInteger      = 1<<53 - 1 // largest integer that crosses as a JSON number (D1)
)
