package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/keyset"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	// tablesAtOnce limits the tables that are read at the same time, if limits.concurrency
	// does not. Each keeps pages in memory.
	tablesAtOnce = 4

	// An export notes how far a table has come after so many rows, or so much time.
	saveEvery = 50_000
	saveAfter = 10 * time.Second
)

// export writes all tables of a connector into a folder, each into one file.
type export struct {
	dir        string
	format     string // csv or ndjson
	url        string // of the connector
	connection *platform.Connection
	every      int64 // rows between two notes of the progress
	log        *exportLog
}

// run exports the tables, some at once. A table whose export ended before is not read again;
// one that was cut is gone on with behind the last key that was noted. What is wrong with one
// table does not keep the others; a connector that cannot be reached ends the export.
func (e *export) run(ctx context.Context) error {
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return fmt.Errorf("-export: %w", err)
	}
	tables := e.connection.Tables
	faults := make([]error, len(tables))
	next, ended := make(chan int), make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) })
	var readers sync.WaitGroup
	for range min(max(e.connection.Document.Capabilities.Limits.Concurrency, 1), tablesAtOnce, len(tables)) {
		readers.Go(func() {
			for i := range next {
				err := e.table(ctx, &tables[i])
				if err == nil {
					continue
				}
				faults[i] = fmt.Errorf("table %q: %w", tables[i].Name, err)
				if !ofTable(err) {
					end()
					return // and takes no other table, which may be ready at the same moment
				}
			}
		})
	}
	for i := range tables {
		select {
		case next <- i:
			continue
		case <-ended:
		}
		break
	}
	close(next)
	readers.Wait()
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%w\nRun the same command again to go on", err)
	}
	return nil
}

// ofTable reports whether an error may be that of one table alone.
func ofTable(err error) bool {
	var refusal *wire.Error
	var malformed *platform.AnswerError
	var request *platform.RequestError
	return errors.As(err, &refusal) || errors.As(err, &malformed) || errors.As(err, &request)
}

// table exports one table.
func (e *export) table(ctx context.Context, t *wire.Table) (err error) {
	name := filepath.Join(e.dir, fileName(t.Name)+"."+e.format)
	order := keyset.Order(e.connection.Document, t)
	p, size, err := e.progress(name, t, order)
	if err != nil {
		return err
	}
	if p.Done && size == p.Bytes {
		e.log.skip(t, p)
		return nil
	}
	if p.Done || len(p.Last) == 0 || size < p.Bytes {
		p.restart()
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Truncate(p.Bytes); err != nil {
		return err
	}
	if _, err := file.Seek(p.Bytes, io.SeekStart); err != nil {
		return err
	}
	err = e.rows(ctx, t, order, p, file)
	if contradictory(err) {
		return errors.Join(err, os.Remove(name+progressSuffix))
	}
	return err
}

// contradictory reports whether an error says that rows which came before may be others than
// those that belong before the last key: a filter, the order or the key does not hold.
func contradictory(err error) bool {
	var fault *platform.AnswerError
	return errors.Is(err, platform.ErrMoved) ||
		errors.As(err, &fault) && slices.Contains([]string{"stream-2", "stream-11", "discovery-10"}, fault.Rule)
}

// fileName returns a table's name as a file may have it on every system: what Windows or a path
// takes for something else is escaped, and letters of any script stay, since a name may have no
// more than 255 bytes.
func fileName(table string) string {
	var b strings.Builder
	for i := range len(table) {
		if c := table[i]; c < ' ' || strings.IndexByte(`/\:*?"<>|%`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// rows appends the rows behind the progress to a file.
func (e *export) rows(ctx context.Context, t *wire.Table, order []wire.SortKey, p *progress, file *os.File) error {
	req := &wire.QueryRequest{Table: t.Name, Fields: names(t), Sort: order}
	if len(p.Last) > 0 {
		var last []wire.Value
		for _, text := range p.Last {
			last = append(last, wire.Text(text))
		}
		req.Where = keyset.After(t, order, last, wire.Where{})
	}
	answer, err := e.connection.Query(ctx, req)
	if err != nil {
		return err
	}
	to := bufio.NewWriterSize(file, 256<<10)
	status := e.log.begin(t, p.Rows)
	defer e.log.end(status)
	save := func(done bool) error {
		if err := errors.Join(to.Flush(), file.Sync()); err != nil {
			return err
		}
		var err error
		if p.Bytes, err = file.Seek(0, io.SeekCurrent); err != nil {
			return err
		}
		p.Done = done
		e.log.note(status, p)
		return writeProgress(file.Name()+progressSuffix, p)
	}
	saved := time.Now()
	rows := func(yield func([]wire.Value, error) bool) {
		for row, err := range answer.All() {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(row, nil) {
				return
			}
			p.Rows++
			if p.Rows%e.every > 0 && time.Since(saved) < saveAfter {
				continue
			}
			p.Last = p.Last[:0]
			for _, k := range order {
				p.Last = append(p.Last, row[slices.Index(req.Fields, k.Field)].String())
			}
			if err := save(false); err != nil {
				yield(nil, err)
				return
			}
			saved = time.Now()
		}
	}
	columns, write := answer.Columns, platform.WriteNDJSON
	if e.format == "csv" {
		write = platform.WriteCSV
		if p.Rows > 0 {
			columns = nil // the names are there
		}
	}
	if err := write(to, columns, rows); err != nil {
		return err
	}
	return save(true)
}
