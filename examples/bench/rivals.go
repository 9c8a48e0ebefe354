package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The Go rivals of the whole-process goals.

const servedLine = `{"served":{"filters":true,"sort":true,"window":true}}` + "\n"

// limitOf returns how many rows a request asks for, or most if it has no limit.
func limitOf(r *http.Request, most int) (int, error) {
	var q struct{ Limit *int }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		return 0, err
	}
	if q.Limit != nil {
		most = min(most, *q.Limit)
	}
	return most, nil
}

// mapsHandler returns the rival of S4, as one would write it with the standard
// library: a map a row, an encoder over batches of 5,000.
func mapsHandler(rows int) http.Handler { return rivalHandler(rows, writeMaps) }

// rivalHandler returns a handler that sends the lines that write writes of the first
// n rows.
func rivalHandler(rows int, write func(w io.Writer, n int) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := limitOf(r, rows)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = w.Write([]byte(servedLine))
		if write(w, n) == nil {
			_, _ = w.Write([]byte("{\"end\":1}\n"))
		}
	})
}

// newEncoder returns an encoder that leaves <, > and & as they are.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// writeMaps writes the first n rows of the table.
func writeMaps(w io.Writer, n int) error {
	enc := newEncoder(w)
	var line struct {
		Rows []map[string]any `json:"rows"`
	}
	var o order
	for i := range n {
		o.at(i)
		line.Rows = append(line.Rows, o.object())
		if len(line.Rows) == wire.MaxBatchRows || i == n-1 {
			if err := enc.Encode(line); err != nil {
				return err
			}
			line.Rows = line.Rows[:0]
		}
	}
	return nil
}

// prebuiltRows are the rows of a prebuilt line, 260 KB: several of the library's, so
// that lines cost the rival next to nothing.
const prebuiltRows = 850

// prebuiltHandler returns the rival of S5, the loopback limit: the same server
// writing bytes that were encoded beforehand, as many of them. The rows of every
// line are those of the first.
func prebuiltHandler(rows int) (http.Handler, error) {
	full, err := prebuiltLine(prebuiltRows)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := limitOf(r, rows)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		flush := http.NewResponseController(w).Flush
		_, err = w.Write([]byte(servedLine))
		for ; n >= prebuiltRows && err == nil; n -= prebuiltRows {
			if _, err = w.Write(full); err == nil {
				err = flush()
			}
		}
		if n > 0 && err == nil {
			var rest []byte
			if rest, err = prebuiltLine(n); err == nil {
				_, err = w.Write(rest)
			}
		}
		if err == nil {
			_, _ = w.Write([]byte("{\"end\":1}\n"))
		}
	}), nil
}

// prebuiltLine encodes the first n rows as one line.
func prebuiltLine(n int) ([]byte, error) { return encodedLine(0, n) }

// encodedLine encodes n rows from a row on as one line.
func encodedLine(from, n int) ([]byte, error) {
	layout, err := lines.NewLayout(reference.Names(), nil)
	if err != nil {
		return nil, err
	}
	batch := layout.NewBatch()
	var o order
	var cells []wire.Value
	for i := range n {
		o.at(from + i)
		cells = o.cells(cells[:0])
		if err := batch.Append(cells); err != nil {
			return nil, err
		}
	}
	return batch.Line(), nil
}
