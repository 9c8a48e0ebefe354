package request

import (
	"cmp"
	"context"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"
)

// A statement about all columns of a wide table is asked in pieces: engines limit
// the number of expressions (the least we know takes 1664), and each count of distinct
// values has memory of its own.
const (
	PieceColumns  = 400 // of a statement that reads or counts
	PieceDistinct = 32  // of a statement that counts distinct values
)

// Tally is what one pass over a table says of a column.
type Tally struct {
	Stored   int64 // values that are not null in the engine
	Sendable int64 // cells that are not null
	Guarded  int64 // values that Guard selects
	long     int64 // values that Long selects
}

// TallyColumns counts a table's rows, and the values of these columns. All numbers are of
// one moment if the transaction is.
func TallyColumns(
	ctx context.Context, x *session.Session, r *session.Relation, columns []*sqltext.Column,
) (rows int64, tallies map[*sqltext.Column]*Tally, err error) {
	tallies = make(map[*sqltext.Column]*Tally, len(columns))
	var misjudged []*sqltext.Column // whose values that can be sent have yet to be counted
	for first := true; first || len(columns) > 0; first = false {
		piece := columns[:min(PieceColumns, len(columns))]
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
			n := &Tally{}
			tallies[c] = n
			add("COUNT("+cmp.Or(c.Index.Stored, c.Raw)+")", &n.Stored)
			if c.Valid != "" && !c.Loose.GuardsValid {
				add("COUNT(CASE WHEN "+c.NotNull()+" THEN 1 END)", &n.Sendable)
			}
			if c.Loose.Guard != "" {
				add("COUNT(CASE WHEN "+c.Loose.Guard+" THEN 1 END)", &n.Guarded)
			}
			if c.Loose.Long != "" {
				add("COUNT(CASE WHEN "+c.Loose.Long+" THEN 1 END)", &n.long)
			}
		}
		if err := x.Row(ctx, r.Name, "SELECT "+strings.Join(exprs, ", ")+" FROM "+r.From, nil, targets...); err != nil {
			return 0, nil, err
		}
		for _, c := range piece {
			n := tallies[c]
			if c.Valid == "" || c.Loose.GuardsValid {
				n.Sendable = n.Stored
			}
			if c.Loose.GuardsValid && n.Guarded > 0 {
				misjudged = append(misjudged, c)
			}
		}
	}
	for _, c := range misjudged {
		statement := "SELECT COUNT(CASE WHEN " + c.NotNull() + " THEN 1 END) FROM " + r.From
		if err := x.Row(ctx, r.Name, statement, nil, &tallies[c].Sendable); err != nil {
			return 0, nil, err
		}
	}
	return rows, tallies, nil
}

// Countable reports whether the engine can count a column's distinct values, and
// find its minimum and maximum.
func (n *Tally) Countable(c *sqltext.Column) bool {
	return c.GroupKey() != "" && n.Guarded == 0 && n.long == 0
}

// Key returns the expression whose distinct values are the column's.
func (n *Tally) Key(c *sqltext.Column) string {
	if c.Index.Sorted != "" && c.Index.Unsorted == "" && n.Stored == n.Sendable {
		return c.Index.Sorted // all values are among those that it tells apart as Key does, and it costs less
	}
	return c.GroupKey()
}
