package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// saveEvery is the number of rows after which an export notes how far it has come.
const saveEvery = 50_000

// export writes all tables of a connector into a folder, each into one file.
type export struct {
	dir        string
	format     string // csv or ndjson
	connection *platform.Connection
	out        io.Writer // progress
}

// progress is how far the export of one table has come, in a file beside that of the rows.
// Last is empty if the table cannot be gone on with, because no key orders its rows.
type progress struct {
	Key   []string
	Last  []wire.Value
	Rows  int64
	Bytes int64
	Done  bool
}

// run exports the tables, one after the other. A table whose export ended before is not read
// again; one that was cut is gone on with behind the last key that was noted.
func (e *export) run(ctx context.Context) error {
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return fmt.Errorf("-export: %w", err)
	}
	for i := range e.connection.Tables {
		if err := e.table(ctx, &e.connection.Tables[i]); err != nil {
			return fmt.Errorf("table %q: %w; run the same command again to go on", e.connection.Tables[i].Name, err)
		}
	}
	return nil
}

// table exports one table.
func (e *export) table(ctx context.Context, t *wire.Table) (err error) {
	name := filepath.Join(e.dir, fileName(t.Name)+"."+e.format)
	p, key := progress{}, e.key(t)
	if p, err = readProgress(name + ".progress"); err != nil {
		return err
	}
	if _, err := os.Stat(name); err == nil && p.Done {
		fmt.Fprintf(e.out, "%q: complete, %d rows\n", t.Name, p.Rows)
		return nil
	}
	info, err := os.Stat(name)
	if len(p.Last) == 0 || !slices.Equal(p.Key, key) || err != nil || info.Size() < p.Bytes {
		p = progress{Key: key} // from the beginning
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
	return e.rows(ctx, t, &p, file)
}

// fileName returns a table's name as a file may have it on every system. Windows takes
// what follows a colon for a stream of the file before it.
func fileName(table string) string {
	return strings.ReplaceAll(url.PathEscape(table), ":", "%3A")
}

// rows appends the rows behind the progress to a file.
func (e *export) rows(ctx context.Context, t *wire.Table, p *progress, file *os.File) error {
	req := &wire.QueryRequest{Table: t.Name, Where: behind(p.Key, p.Last)}
	var names []string
	for _, f := range t.Fields {
		req.Fields, names = append(req.Fields, f.Name), append(names, f.Name)
	}
	var at []int
	for _, k := range p.Key {
		req.Sort, at = append(req.Sort, wire.SortKey{Field: k, Dir: wire.Asc}), append(at, slices.Index(names, k))
	}
	answer, err := e.connection.Query(ctx, req)
	if err != nil {
		return err
	}
	w := &rowWriter{names: names, format: e.format, to: bufio.NewWriterSize(file, 256<<10), bytes: p.Bytes}
	if p.Rows == 0 {
		w.header()
	}
	begun, from := time.Now(), p.Rows
	save := func(done bool) error {
		if err := errors.Join(w.to.Flush(), file.Sync()); err != nil {
			return err
		}
		p.Bytes, p.Done = w.bytes, done
		fmt.Fprintf(e.out, "%q: %d rows, %d bytes, %.0f rows/s\n", t.Name, p.Rows, p.Bytes,
			float64(p.Rows-from)/max(time.Since(begun).Seconds(), 1e-3))
		return writeProgress(file.Name()+".progress", p)
	}
	for row, err := range answer.All() {
		if err != nil {
			return err
		}
		w.row(row)
		p.Rows++
		if p.Rows%saveEvery > 0 {
			continue
		}
		p.Last = p.Last[:0]
		for _, i := range at {
			p.Last = append(p.Last, row[i].Clone())
		}
		if err := save(false); err != nil {
			return err
		}
	}
	return save(true)
}

// key returns the fields in whose order an export of a table can be gone on with, or nil: a
// key that is never null, which the connector sorts by and compares with gt and eq. Dates
// are left out: connectors may compare them as text or as instants [rule filter-9].
func (e *export) key(t *wire.Table) []string {
	caps := e.connection.Document.Capabilities
	key := t.PrimaryKey
	if caps.Sort == wire.SortNone || caps.Sort == wire.SortSingle && len(key) > 1 ||
		!slices.Contains(caps.Operators, wire.OpGt) || len(key) > 1 && !slices.Contains(caps.Operators, wire.OpEq) {
		return nil
	}
	for _, name := range key {
		f := t.Field(name)
		switch f.Type {
		case wire.TypeString, wire.TypeReference, wire.TypeNumber, wire.TypeDecimal:
		default:
			return nil
		}
		if f.Nullable || f.Filterable != nil && !*f.Filterable {
			return nil
		}
	}
	return key
}

// behind returns the filters of the rows that come behind a key, or none at the beginning.
func behind(key []string, last []wire.Value) (where wire.Where) {
	var equal []wire.Filter
	for i, v := range last {
		where.Or = append(where.Or, append(slices.Clone(equal), wire.Filter{Field: key[i], Op: wire.OpGt, Value: v}))
		equal = append(equal, wire.Filter{Field: key[i], Op: wire.OpEq, Value: v})
	}
	if len(where.Or) == 1 {
		where.And, where.Or = where.Or[0], nil
	}
	return where
}

// saved is a progress in its file. The texts of the last key are told from its numbers by
// the table's types when they are compared.
type saved struct {
	Key   []string `json:"key,omitempty"`
	Last  []string `json:"last,omitempty"`
	Rows  int64    `json:"rows"`
	Bytes int64    `json:"bytes"`
	Done  bool     `json:"done"`
}

// readProgress reads a progress, or that of an export which has not begun.
func readProgress(name string) (p progress, err error) {
	body, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	var s saved
	if err == nil {
		err = json.Unmarshal(body, &s)
	}
	if err != nil {
		return p, fmt.Errorf("%s cannot be read, delete it to begin anew: %w", name, err)
	}
	p = progress{Key: s.Key, Rows: s.Rows, Bytes: s.Bytes, Done: s.Done}
	for _, text := range s.Last {
		p.Last = append(p.Last, wire.Text(text))
	}
	return p, nil
}

// writeProgress replaces the file of a progress at once, so that no cut leaves half of it.
func writeProgress(name string, p *progress) error {
	s := saved{Key: p.Key, Rows: p.Rows, Bytes: p.Bytes, Done: p.Done}
	for _, v := range p.Last {
		s.Last = append(s.Last, v.String())
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", body, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// rowWriter writes rows as CSV or as NDJSON. A null is an empty field of CSV, and an empty
// text is "", so that a null alone on its line makes an empty line. Errors of writing come from
// Flush.
type rowWriter struct {
	names  []string
	format string
	to     *bufio.Writer
	bytes  int64
	line   []byte
	keys   [][]byte // of NDJSON: the names as JSON, with what stands around them
	text   []byte
}

// header writes the names of the columns, as the first line of CSV.
func (w *rowWriter) header() {
	if w.format != "csv" {
		return
	}
	for i, name := range w.names {
		w.comma(i)
		w.field(name)
	}
	w.end()
}

// row writes one row.
func (w *rowWriter) row(row []wire.Value) {
	if w.format == "csv" {
		for i, v := range row {
			w.comma(i)
			if !v.IsNull() {
				w.text = v.AppendText(w.text[:0])
				w.field(string(w.text))
			}
		}
		w.end()
		return
	}
	if w.keys == nil {
		for _, name := range w.names {
			key, _ := json.Marshal(name)
			w.keys = append(w.keys, append(key, ':'))
		}
	}
	w.line = append(w.line, '{')
	for i, v := range row {
		w.comma(i)
		w.line = append(w.line, w.keys[i]...)
		w.line, _ = v.AppendJSON(w.line) // what has crossed the wire can be written
	}
	w.line = append(w.line, '}')
	w.end()
}

func (w *rowWriter) comma(i int) {
	if i > 0 {
		w.line = append(w.line, ',')
	}
}

// field appends a text that is not null to a line of CSV.
func (w *rowWriter) field(text string) {
	if text != "" && !strings.ContainsAny(text, "\",\r\n") && text[0] != ' ' && text[0] != '\t' {
		w.line = append(w.line, text...)
		return
	}
	w.line = append(w.line, '"')
	w.line = append(w.line, strings.ReplaceAll(text, `"`, `""`)...)
	w.line = append(w.line, '"')
}

// end writes the line.
func (w *rowWriter) end() {
	w.line = append(w.line, '\n')
	_, _ = w.to.Write(w.line)
	w.bytes += int64(len(w.line))
	w.line = w.line[:0]
}
