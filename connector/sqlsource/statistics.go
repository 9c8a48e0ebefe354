package sqlsource

import (
	"cmp"
	"context"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A statement about all columns of a wide table is asked in pieces: engines limit
// the number of expressions (PostgreSQL 1664, SQLite 2000, MariaDB 4096), and each
// count of distinct values has memory of its own.
const (
	pieceColumns  = 400 // of a statement that reads or counts
	pieceDistinct = 32  // of a statement that counts distinct values
)

// tally is what one pass over a table says of a column.
type tally struct {
	stored   int64 // values that are not null in the engine
	sendable int64 // cells that are not null
	guarded  int64 // values that Guard selects
	long     int64 // values that Long selects
}

// tally counts a table's rows, and the values of these columns. All numbers are of
// one moment if the transaction is.
func (x *session) tally(ctx context.Context, r *relation, columns []*column) (rows int64, tallies map[*column]*tally, err error) {
	tallies = make(map[*column]*tally, len(columns))
	for first := true; first || len(columns) > 0; first = false {
		piece := columns[:min(pieceColumns, len(columns))]
		columns = columns[len(piece):]
		var exprs []string
		var targets []any
		add := func(expr string, target *int64) {
			exprs, targets = append(exprs, expr), append(targets, target)
		}
		if first {
			add("COUNT(*)", &rows)
		}
		for _, c := range piece {
			n := &tally{}
			tallies[c] = n
			add("COUNT("+cmp.Or(c.Index.Stored, c.Raw)+")", &n.stored)
			if c.Valid != "" {
				add("COUNT(CASE WHEN "+c.notNull()+" THEN 1 END)", &n.sendable)
			}
			if c.Loose.Guard != "" {
				add("COUNT(CASE WHEN "+c.Loose.Guard+" THEN 1 END)", &n.guarded)
			}
			if c.Loose.Long != "" {
				add("COUNT(CASE WHEN "+c.Loose.Long+" THEN 1 END)", &n.long)
			}
		}
		if err := x.row(ctx, r.name, "SELECT "+strings.Join(exprs, ", ")+" FROM "+r.from, nil, targets...); err != nil {
			return 0, nil, err
		}
		for _, c := range piece {
			if c.Valid == "" {
				tallies[c].sendable = tallies[c].stored
			}
		}
	}
	return rows, tallies, nil
}

// countable reports whether the engine can count a column's distinct values, and
// find its minimum and maximum.
func (n *tally) countable(c *column) bool {
	return c.group() != "" && n.guarded == 0 && n.long == 0
}

// key returns the expression whose distinct values are the column's.
func (n *tally) key(c *column) string {
	if c.Index.Sorted != "" && c.Index.Unsorted == "" && n.stored == n.sendable {
		return c.Index.Sorted // all values are among those that it tells apart as Key does, and it costs less
	}
	return c.group()
}

// count sets the row count of a table, and what the values of these columns say
// of nulls.
func (d *discovery) count(ctx context.Context, t *discovered, columns []*column) error {
	rows, tallies, err := d.tally(ctx, t.r, columns)
	if err != nil {
		return err
	}
	t.table.RowCount, t.tallies = &rows, tallies
	for i, c := range t.r.columns {
		n := tallies[c]
		if n == nil {
			continue
		}
		f := &t.table.Fields[i]
		if unsendable := n.stored - n.sendable; unsendable > 0 {
			f.Nullable = true
			t.warn("In table %s, %d values of the field %s cannot be sent, "+
				"such as NaN, an infinity or an impossible date: they are null everywhere.",
				unsendable, wire.QuoteName(f.Name))
		} else if c.required {
			f.Nullable = false
		}
	}
	return nil
}

// statistics adds exact statistics of the columns that count has counted.
func (d *discovery) statistics(ctx context.Context, t *discovered) error {
	stats := make(map[*column]*wire.Stats, len(t.r.columns))
	var columns []*column
	for _, c := range t.r.columns {
		if t.tallies[c].countable(c) {
			columns = append(columns, c)
		}
	}
	for len(columns) > 0 {
		piece := columns[:min(pieceDistinct, len(columns))]
		columns = columns[len(piece):]
		if err := d.statisticsOf(ctx, t, piece, stats); err != nil {
			return err
		}
	}
	rows := *t.table.RowCount
	for i, c := range t.r.columns {
		f := &t.table.Fields[i]
		if f.Stats = stats[c]; f.Stats != nil && rows > 0 {
			share := float64(rows-t.tallies[c].sendable) / float64(rows) * 100
			f.Stats.NullPercent = &share
		}
	}
	return nil
}

// statisticsOf reads the statistics of a piece of the columns by one statement.
func (d *discovery) statisticsOf(ctx context.Context, t *discovered, piece []*column, stats map[*column]*wire.Stats) error {
	number := &column{name: "count", Column: sqlengine.Column{Decode: decodeInteger}}
	var exprs []string
	var read []*column
	add := func(expr string, c *column) { exprs, read = append(exprs, expr), append(read, c) }
	for _, c := range piece {
		add("COUNT(DISTINCT "+t.tallies[c].key(c)+")", number)
		if hasBounds(c) {
			add(c.read("MIN("+c.Key+")"), c)
			add(c.read("MAX("+c.Key+")"), c)
		}
	}
	for values, err := range d.cells(ctx, t.table.Name, "SELECT "+strings.Join(exprs, ", ")+" FROM "+t.r.from, nil, read) {
		if err != nil {
			return err
		}
		next := func() wire.Value {
			v := values[0]
			values = values[1:]
			return v
		}
		for _, c := range piece {
			s := &wire.Stats{DistinctCount: next().Int64()}
			if hasBounds(c) {
				s.Min, s.Max = bound(next()), bound(next())
			}
			stats[c] = s
		}
	}
	return nil
}

// hasBounds reports whether the engine finds the minimum and maximum of a column.
func hasBounds(c *column) bool {
	return c.Key != "" && c.Class != sqlengine.ClassBoolean && c.Class != sqlengine.ClassBytes
}

// bound returns a minimum or maximum as a description shows it; nil if it
// cannot.
func bound(v wire.Value) *wire.Value {
	if v.IsNull() || !fits(v) {
		return nil
	}
	v = v.Clone()
	return &v
}
