package connectortest

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxRows limits the rows of a table that are read to verify an answer, unless
// Options sets another limit. It is the protocol's row budget for live data.
const maxRows = 200_000

// relation is a list of rows and their columns: a table, or joined tables.
type relation struct {
	columns []wire.Column
	rows    [][]wire.Value
}

// place returns the position of a column, or -1.
func (r *relation) place(hop int, name string) int {
	for i, c := range r.columns {
		if c.Hop == hop && c.Name == name {
			return i
		}
	}
	return -1
}

// reading is a table as discovery describes it, with all rows that a query of
// all its fields answers, without filters, sort or window.
type reading struct {
	relation
	table *wire.Table
}

// snapshot is what one set of credentials can see. Answers are verified against
// it. It reads a table when it first needs it.
type snapshot struct {
	client    *client
	most      int64 // rows of a table
	doc       *wire.Document
	discovery *wire.Discovery
	readings  map[string]*reading // nil: not discovered
}

// takeSnapshot reads the document and discovers the tables.
func takeSnapshot(c *client, most int64) (*snapshot, error) {
	doc, err := fetchDocument(c.ctx, c.server)
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	found, err := c.discover(&wire.DiscoveryRequest{Envelope: c.envelope()})
	if err != nil {
		return nil, fmt.Errorf("discovering the tables: %w", err)
	}
	return &snapshot{client: c, most: most, doc: doc, discovery: found, readings: map[string]*reading{}}, nil
}

// table returns the description of a table, nil if there is none.
func (p *snapshot) table(name string) *wire.Table {
	for i := range p.discovery.Tables {
		if p.discovery.Tables[i].Name == name {
			return &p.discovery.Tables[i]
		}
	}
	return nil
}

// read reads the tables of these names unless it has read them already. It
// ignores a name that discovery does not list: need reports it later.
func (p *snapshot) read(names ...string) error {
	for _, name := range names {
		if _, done := p.readings[name]; done {
			continue
		}
		table := p.table(name)
		if table == nil {
			p.readings[name] = nil
			continue
		}
		rows, err := readTable(p.client, table, p.most)
		if errors.Is(err, errTooMany) {
			return unverifiable(fmt.Sprintf("table %q has more than %d rows", name, p.most))
		}
		if err != nil {
			return fmt.Errorf("reading table %q whole: %w", name, err)
		}
		p.readings[name] = &reading{relation{table.Columns(), rows}, table}
	}
	return nil
}

// readTable reads all rows of a table, with all its fields.
func readTable(c *client, table *wire.Table, most int64) ([][]wire.Value, error) {
	answer, err := c.query(&wire.QueryRequest{Table: table.Name, Fields: fieldNames(table), Envelope: c.envelope()}, most)
	if err != nil {
		return nil, err
	}
	return answer.Rows, nil
}

func fieldNames(table *wire.Table) []string {
	names := make([]string, len(table.Fields))
	for i, f := range table.Fields {
		names[i] = f.Name
	}
	return names
}

// need returns the reading of a table that an answer is about. It returns a
// violation if discovery does not list the table.
func (p *snapshot) need(name string) (*reading, error) {
	if r := p.readings[name]; r != nil {
		return r, nil
	}
	return nil, &violation{
		rule:     "measure-3",
		problem:  fmt.Sprintf("the connector answers for table %q, which discovery does not list", name),
		expected: "404 unknown_entity",
		got:      "an answer",
	}
}

// rowKey returns a text that is equal for rows whose cells at these places are
// equal.
func (r *relation) rowKey(row []wire.Value, places []int) string {
	var key []byte
	for _, at := range places {
		key = filter.AppendKey(key, row[at], r.columns[at].Type)
	}
	return string(key)
}

// project returns the cells at these places.
func project(row []wire.Value, places []int) []wire.Value {
	cells := make([]wire.Value, len(places))
	for i, at := range places {
		cells[i] = row[at]
	}
	return cells
}
