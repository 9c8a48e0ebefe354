package connector

import (
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// RequestStats says what became of one request. [Options].Observe gets one after
// each, refused or answered.
//
// It holds no credential. Every text in it except RequestID is one of a few: a
// name that a caller has made up is never among them, so all may be labels of
// metrics.
type RequestStats struct {
	// RequestID is the id of the request, as [RequestID] returns it.
	RequestID string
	// Slug is the connector's.
	Slug string
	// Method is the HTTP method, or "" if HTTP knows no such method.
	Method string
	// Route is the path below the mount, such as "/query", or "" for a path that
	// the connector does not have.
	Route string
	// Table is the request's table, once the source has shown that it has it: it
	// described the table, or began rows of it. Otherwise it is "".
	Table string

	// Status is the HTTP status that was answered. A stream that fails after its
	// first line has the status 200: look at Code or Fault.
	Status int
	// Code is that of the error that was answered, as a status or as an error
	// line, or "".
	Code wire.Code
	// Fault says on whose side the reason lies, or "" if the answer is complete.
	Fault Fault
	// End says how a stream ended: "end", with the line that makes the answer
	// complete; "error", with an error line; "cut", without a last line, because the
	// reader was gone. It is "" for an answer that is no stream.
	End string

	// Asked says which parts a query has: filters, a sort, a window. It is set
	// too where the library counts by reading. Claimed are those of them that the
	// source has applied itself, and Served those that the stream says are
	// applied: by the source or by the library. Asked and not claimed means: not
	// pushed to the upstream.
	Asked, Claimed, Served wire.Served
	// RowsRead is the number of rows that the source offered, and RowsSent of
	// those that were written.
	RowsRead, RowsSent int64
	// BytesRead and BytesSent are the sizes of the bodies, of the request and of
	// the answer.
	BytesRead, BytesSent int64
	// FirstRow is when the first rows had been written, and Duration when the
	// answer was over, both since the request's arrival. FirstRow is zero without
	// rows.
	FirstRow, Duration time.Duration
}

// Fault says on whose side the reason lies for which a request was not answered
// in full.
type Fault string

const (
	// FaultCaller: the request was refused for what it says, its token or its
	// credentials included.
	FaultCaller Fault = "caller"
	// FaultSource: the source failed, broke a rule, or did not finish in time,
	// alone or because of its upstream.
	FaultSource Fault = "source"
	// FaultReader: the reader left, or took nothing of the answer.
	FaultReader Fault = "reader"
	// FaultHost: the server stopped while the request was open.
	FaultHost Fault = "host"
)
