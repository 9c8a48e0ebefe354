package duckdb

import (
	"github.com/duckdb/duckdb-go/mapping"
)

// fetcher fetches the chunks of an answer in a goroutine of its own: the engine computes
// the next ones while the rows of one are written. At most two chunks wait besides the one
// that is being read, of some 2,000 rows each.
type fetcher struct {
	chunks chan mapping.DataChunk // closed at the end of the answer
	err    error                  // why the answer ended early; to be read when chunks is closed
	quit   chan struct{}
}

// startFetching begins to fetch the chunks of a result. Until stop has returned, nothing
// else may use the connection.
func startFetching(result *mapping.Result) *fetcher {
	f := &fetcher{chunks: make(chan mapping.DataChunk, 1), quit: make(chan struct{})}
	go f.run(result)
	return f
}

func (f *fetcher) run(result *mapping.Result) {
	defer close(f.chunks)
	for {
		chunk := mapping.FetchChunk(*result)
		if chunk.Ptr == nil {
			if text := mapping.ResultError(result); text != "" {
				f.err = failure(text)
			}
			return
		}
		select {
		case f.chunks <- chunk:
		case <-f.quit:
			mapping.DestroyDataChunk(&chunk)
			return
		}
	}
}

// stop ends the fetching, and returns when it has ended. Before the end of the answer it
// interrupts the engine, which may be searching long for a chunk that nobody wants. That
// aborts the transaction.
func (f *fetcher) stop(c mapping.Connection) {
	close(f.quit)
	select {
	case chunk, more := <-f.chunks:
		if !more {
			return
		}
		mapping.DestroyDataChunk(&chunk)
	default:
	}
	mapping.Interrupt(c)
	for chunk := range f.chunks {
		mapping.DestroyDataChunk(&chunk)
	}
}
