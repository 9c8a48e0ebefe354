package platform

import (
	"context"
	"fmt"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// previewRows is the number of rows that Connect reads of each table.
const previewRows = 50

// Preview is what the platform reads of each table after connecting: its size, and one page
// of its rows [rule connect-8].
type Preview struct {
	Table *wire.Table
	// Rows are the first 50 rows, with a cell for each field. After an error they are nil.
	Rows    [][]wire.Value
	RowsErr error
	// Size is the number of rows. A table that is larger than one query can reach has a
	// size, and beside it an error that matches [ErrReach] [rule connect-9].
	Size    *wire.Size
	SizeErr error
	// Notes are those of the size; see [Stats.Notes].
	Notes []string
}

// preview reads the first rows of a table and its size.
// A table whose rows are all on the page is not counted again where the connector does not
// know its size. A page that is shorter than the exact size allows is read once more, with
// the size, because the table may have changed. If it is too short again, it is refused.
func (c *Connection) preview(ctx context.Context, t *wire.Table) *Preview {
	p := &Preview{Table: t}
	var stats Stats
	c.readPreview(ctx, p, &stats)
	if p.lacks() {
		c.readPreview(ctx, p, &stats)
	}
	if p.lacks() {
		p.RowsErr = &AnswerError{Path: wire.PathQuery, Place: "end", Rule: "query-16", Problem: fmt.Sprintf(
			"comes after %d rows of table %s, which has %d by its size", len(p.Rows), terms.QuoteName(t.Name), p.Size.Rows)}
		p.Rows = nil
	}
	if n := int64(len(p.Rows)); p.Size != nil && p.Size.Exact && n > p.Size.Rows {
		c.noteCount(t.Name, n, &stats)
	}
	p.Notes = stats.Notes
	return p
}

// lacks reports whether the page has fewer rows than the exact size of the table allows.
func (p *Preview) lacks() bool {
	return p.RowsErr == nil && p.Size != nil && p.Size.Exact && int64(len(p.Rows)) < min(previewRows, p.Size.Rows)
}

// readPreview reads the page, then the size, whose notes it adds to the stats.
func (c *Connection) readPreview(ctx context.Context, p *Preview, stats *Stats) {
	p.Rows, p.RowsErr = c.firstRows(ctx, p.Table, previewRows)
	if got := int64(len(p.Rows)); p.RowsErr == nil && got < previewRows && !c.lists(wire.EndpointSize) {
		p.Size, p.SizeErr = &wire.Size{Rows: got, Exact: true}, nil
		c.sizes.see(p.Table.Name, p.Size, stats)
		return
	}
	var sized Stats
	p.Size, sized, p.SizeErr = c.Size(ctx, p.Table.Name)
	stats.Notes = append(stats.Notes, sized.Notes...)
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
				p := c.preview(ctx, &c.Tables[i])
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
