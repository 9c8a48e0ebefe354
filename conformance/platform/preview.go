package platform

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// PreviewRows is the number of rows that Connect reads of each table.
const PreviewRows = 50

// Preview is what the platform reads of each table after connecting: its size, and one page
// of its rows [rule connect-8].
type Preview struct {
	Table *wire.Table
	// Rows are the first rows, with a cell for each field. After an error they are nil.
	Rows    [][]wire.Value
	RowsErr error
	// Size is the number of rows. A table that is larger than one query can reach has a
	// size, and beside it an error that matches [ErrReach] [rule connect-9].
	Size    *wire.Size
	SizeErr error
}

// Preview reads the first rows of a table and its size, as Connect does for all tables; 0
// is all rows.
// A table whose rows are all on the page is not counted again where the connector does not
// know its size. A page that is shorter than the exact size allows is read once more, with
// the size, because the table may have changed. If it is too short again, it is refused.
func (c *Connection) Preview(ctx context.Context, table string, rows int64) *Preview {
	p := &Preview{Table: c.Table(table)}
	if p.Table == nil {
		_, err := c.table(table)
		p.RowsErr, p.SizeErr = err, err
		return p
	}
	c.readPreview(ctx, p, rows)
	if p.lacks(rows) {
		c.readPreview(ctx, p, rows)
	}
	if p.lacks(rows) {
		p.RowsErr = &AnswerError{Path: wire.PathQuery, Place: "end", Rule: "query-16", Problem: fmt.Sprintf(
			"comes after %d rows of table %s, which has %d by its size", len(p.Rows), terms.QuoteName(table), p.Size.Rows)}
		p.Rows = nil
	}
	return p
}

// lacks reports whether the page has fewer rows than the exact size of the table allows.
func (p *Preview) lacks(rows int64) bool {
	return p.RowsErr == nil && p.Size != nil && p.Size.Exact && int64(len(p.Rows)) < min(cmp.Or(rows, p.Size.Rows), p.Size.Rows)
}

// readPreview reads the page, then the size.
func (c *Connection) readPreview(ctx context.Context, p *Preview, rows int64) {
	p.Rows, p.RowsErr = c.firstRows(ctx, p.Table, rows)
	if got := int64(len(p.Rows)); p.RowsErr == nil && (rows == 0 || got < rows) && !c.lists(wire.EndpointSize) {
		p.Size, p.SizeErr = &wire.Size{Rows: got, Exact: true}, nil
		return
	}
	p.Size, _, p.SizeErr = c.Size(ctx, p.Table.Name)
}

// firstRows returns the first rows of a table, each a copy with its texts: the line that they
// came in may be much longer.
func (c *Connection) firstRows(ctx context.Context, t *wire.Table, limit int64) (rows [][]wire.Value, err error) {
	req := &wire.QueryRequest{Table: t.Name, Limit: limit}
	for _, f := range t.Fields {
		req.Fields = append(req.Fields, f.Name)
	}
	answer, err := c.Query(ctx, req)
	if err != nil {
		return nil, err
	}
	for row, err := range answer.All() {
		if err != nil {
			return nil, err
		}
		rows = append(rows, relation.KeepRow(row))
	}
	return rows, nil
}

// previewAll reads the previews of all tables, as many at once as the connector takes
// requests. It calls progress with each, one call at a time.
func (c *Connection) previewAll(ctx context.Context, progress func(*Connection, *Preview)) error {
	c.Previews = make([]*Preview, len(c.Tables))
	var mu sync.Mutex
	var readers sync.WaitGroup
	next := make(chan int)
	for range min(cap(c.places), len(c.Tables)) {
		readers.Go(func() {
			for i := range next {
				p := c.Preview(ctx, c.Tables[i].Name, PreviewRows)
				mu.Lock()
				c.Previews[i] = p
				if ctx.Err() == nil {
					progress(c, p)
				}
				mu.Unlock()
			}
		})
	}
	for i := range c.Tables {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	readers.Wait()
	return ctx.Err()
}
