package duckdb

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
)

// rowsFunction is the engine's name of the function that reads the rows of a reading.
const rowsFunction = "folder_rows"

// A reading is a table of text files that this package reads for the engine: JSON, whose
// numbers the engine has as doubles, and CSV that it would read otherwise than it is
// meant. The engine asks for its rows by its number, and gets the text of each cell.
type reading struct {
	files   []readingFile
	columns []textColumn
	rows    int64
	fault   atomic.Pointer[textfile.Fault] // that a statement has met

	mu   sync.Mutex
	open map[io.Closer]bool // files of statements, some of which end before the rows do
}

func (t *reading) opened(file io.Closer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[io.Closer]bool{}
	}
	t.open[file] = true
}

func (t *reading) close(file io.Closer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, file)
	_ = file.Close()
}

// closeAll closes what statements have left open.
func (t *reading) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for file := range t.open {
		_ = file.Close()
	}
	clear(t.open)
}

// readingFile is one file of a reading.
type readingFile struct {
	textFile
	names      []string // of its columns
	to         []int    // the places of these columns in the table
	partitions []partition
}

// readings are those of an engine, by their numbers.
type readings struct {
	mu   sync.Mutex
	last int64
	open map[int64]*reading
}

// add returns the number of a reading, which is known until it is dropped.
func (r *readings) add(t *reading) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.open[r.last] = t
	return r.last
}

func (r *readings) drop(numbers []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range numbers {
		r.open[n].closeAll()
		delete(r.open, n)
	}
}

func (r *readings) get(n int64) *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open[n]
}

// register adds the table function that reads rows to an engine.
func (r *readings) register(c sqldriver.Connector) error {
	db := sql.OpenDB(c)
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	number, err := driver.NewTypeInfo(driver.TYPE_BIGINT)
	if err != nil {
		return err
	}
	return driver.RegisterTableUDF(conn, rowsFunction, driver.ChunkTableFunction{
		Config: driver.TableFunctionConfig{Arguments: []driver.TypeInfo{number}},
		BindArguments: func(_ map[string]any, args ...any) (driver.ChunkTableSource, error) {
			n, _ := args[0].(int64)
			if t := r.get(n); t != nil {
				return newRowSource(t)
			}
			return nil, errors.New("no such rows")
		},
	})
}

// rowSource gives the engine the rows of a reading, in their order.
type rowSource struct {
	*reading
	columnInfos []driver.ColumnInfo

	wanted  []bool // the columns that the statement reads; nil: it is not known yet
	next    int    // file
	records textfile.Records
	file    io.Closer
	current *readingFile
	rules   textvalue.Rules
	cells   []textvalue.Raw // of a row, in the order of the table
	text    []byte          // of a cell
}

func newRowSource(t *reading) (*rowSource, error) {
	text, err := driver.NewTypeInfo(driver.TYPE_VARCHAR)
	if err != nil {
		return nil, err
	}
	s := &rowSource{reading: t, cells: make([]textvalue.Raw, len(t.columns))}
	for i := range t.columns {
		s.columnInfos = append(s.columnInfos, driver.ColumnInfo{Name: columnName(i), T: text})
	}
	return s, nil
}

// columnName returns the engine's name of a column of a reading.
func columnName(i int) string { return fmt.Sprintf("c%d", i) }

func (s *rowSource) ColumnInfos() []driver.ColumnInfo { return s.columnInfos }

func (s *rowSource) Cardinality() *driver.CardinalityInfo {
	return &driver.CardinalityInfo{Cardinality: uint(s.rows), Exact: true}
}

func (s *rowSource) Init() {}

// FillChunk implements driver.ChunkTableSource.
func (s *rowSource) FillChunk(chunk driver.DataChunk) (err error) {
	defer func() {
		if p := recover(); p != nil { // in a thread of the engine, it would end the process
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			s.close()
			var fault *textfile.Fault
			if errors.As(err, &fault) {
				s.fault.Store(fault)
			}
		}
	}()
	if s.wanted == nil {
		s.findWanted(chunk)
	}
	n := 0
	for ; n < driver.GetDataChunkCapacity(); n++ {
		more, err := s.read()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		for i := range s.columns {
			if !s.wanted[i] {
				continue
			}
			cell, err := s.rules.Value(s.cells[i], s.columns[i].typ, s.columns[i].width)
			switch {
			case err != nil:
				return errChanged // it fitted when the type was decided
			case cell.IsNull():
				err = chunk.SetValue(i, n, nil)
			default:
				s.text = relation.AppendText(s.text[:0], cell)
				err = driver.SetChunkValue(chunk, i, n, s.text)
			}
			if err != nil {
				return err
			}
		}
	}
	return chunk.SetSize(n)
}

// findWanted finds out which columns the statement reads. The driver ignores whatever is
// written to others.
func (s *rowSource) findWanted(chunk driver.DataChunk) {
	s.wanted = make([]bool, len(s.columns))
	for i := range s.columns {
		s.wanted[i] = chunk.SetValue(i, 0, struct{}{}) != nil
	}
}

// read reads the next row into the cells.
func (s *rowSource) read() (more bool, err error) {
	for {
		if s.records == nil {
			if s.next == len(s.files) {
				return false, nil
			}
			s.current = &s.files[s.next]
			s.next++
			if s.records, s.file, err = s.current.open(s.current.names); err != nil {
				return false, err
			}
			s.opened(s.file)
			s.rules = s.current.format.Rules()
			clear(s.cells)
			for _, p := range s.current.partitions {
				s.cells[p.column] = p.raw()
			}
		}
		cells, err := s.records.Next()
		switch {
		case errors.Is(err, io.EOF):
			s.close()
			continue
		case err != nil:
			return false, err
		case len(cells) != len(s.current.names):
			return false, errChanged // a new member
		}
		for i, c := range cells {
			if to := s.current.to[i]; to >= 0 {
				s.cells[to] = c
			}
		}
		return true, nil
	}
}

func (s *rowSource) close() {
	if s.file != nil {
		s.reading.close(s.file)
	}
	s.records, s.file = nil, nil
}
