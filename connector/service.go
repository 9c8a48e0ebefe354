package connector

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/finish"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// service is what all requests of one connector share. Nothing changes in it after
// [New] but the number of lingering calls, the queue of the requests that wait, the
// number of large batches, and what has been logged once.
type service struct {
	def         Definition
	opts        Options
	source      Source
	caps        capabilities
	doc         *wire.Document
	connectForm form

	lingering atomic.Int64 // calls of the source that outlived their request
	admission admission    // to the source, of so many requests at once
	large     batch.Large  // places for streams whose batches are large
	wrapped   sync.Once    // logs what the host's ResponseWriter cannot do
}

// timeout returns a timeout of a request as a duration, not longer than the
// host's maximum. It compares before it multiplies: milliseconds times a million
// overflow.
func (s *service) timeout(ms int64) time.Duration {
	if longest := s.opts.MaxTimeout; ms > longest.Milliseconds() {
		return longest
	}
	return time.Duration(ms) * time.Millisecond
}

// plan returns what a query asks, and how much of it the document lets the
// library do.
func (s *service) plan(req *wire.QueryRequest, table *wire.Table) *finish.Plan {
	p := &finish.Plan{
		Request:     req,
		Table:       table,
		MaxSortKeys: math.MaxInt,
		MaxOffset:   math.MaxInt64,
		SortBudget:  s.opts.SortBudget,
	}
	caps := s.doc.Capabilities
	switch caps.Sort {
	case wire.SortNone:
		p.MaxSortKeys = 0
	case wire.SortSingle:
		p.MaxSortKeys = 1
	}
	if !caps.Offset {
		p.MaxOffset = 0
	} else if caps.Limits.OffsetMax > 0 {
		p.MaxOffset = caps.Limits.OffsetMax
	}
	return p
}
