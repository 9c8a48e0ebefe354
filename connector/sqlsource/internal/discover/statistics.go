package discover

import (
	"context"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/request"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// count sets the row count of a table, and what the values of these columns say
// of nulls. It warns of values that make every request leave a column to the library.
func (d *discovery) count(ctx context.Context, t *discovered, columns []*sqltext.Column) error {
	rows, tallies, err := request.TallyColumns(ctx, d.Session, t.r, columns)
	if err != nil {
		return err
	}
	t.table.RowCount, t.tallies = &rows, tallies
	for i, c := range t.r.Columns {
		n := tallies[c]
		if n == nil {
			continue
		}
		f := &t.table.Fields[i]
		if unsendable := n.Stored - n.Sendable; unsendable > 0 {
			f.Nullable = true
			t.warn("In table %s, %d values of the field %s cannot be sent, because each is %s: they are null everywhere.",
				unsendable, terms.QuoteName(f.Name), invalid(c))
		} else if c.Required {
			f.Nullable = false
		}
		if n.Guarded > 0 {
			t.warn("In table %s, the field %s has %d values of another kind than the database compares exactly there: "+
				"filters, sorts, joins and groups by it are computed from the rows, which takes longer.",
				terms.QuoteName(f.Name), n.Guarded)
		}
	}
	return nil
}

// invalid describes the values of a column that cannot be sent.
func invalid(c *sqltext.Column) string {
	switch {
	case c.Invalid != "":
		return c.Invalid
	case c.Type.Numeric():
		return "NaN, an infinity, or no number"
	case c.Type == wire.TypeDate, c.Type == wire.TypeDatetime:
		return "an infinity, a day that does not exist, or of a year that cannot be sent"
	}
	return "no value of the type " + string(c.Type)
}

// statistics adds exact statistics of the columns that count has counted.
func (d *discovery) statistics(ctx context.Context, t *discovered) error {
	stats := make(map[*sqltext.Column]*wire.Stats, len(t.r.Columns))
	var columns []*sqltext.Column
	for _, c := range t.r.Columns {
		if t.tallies[c].Countable(c) {
			columns = append(columns, c)
		}
	}
	for len(columns) > 0 {
		piece := columns[:min(request.PieceDistinct, len(columns))]
		columns = columns[len(piece):]
		if err := d.statisticsOf(ctx, t, piece, stats); err != nil {
			return err
		}
	}
	rows := *t.table.RowCount
	for i, c := range t.r.Columns {
		f := &t.table.Fields[i]
		if f.Stats = stats[c]; f.Stats != nil && rows > 0 {
			share := float64(rows-t.tallies[c].Sendable) / float64(rows) * 100
			f.Stats.NullPercent = &share
		}
	}
	return nil
}

// statisticsOf reads the statistics of a piece of the columns by one statement.
func (d *discovery) statisticsOf(ctx context.Context, t *discovered, piece []*sqltext.Column, stats map[*sqltext.Column]*wire.Stats) error {
	number := &sqltext.Column{Name: "count", Column: sqlengine.Column{Decode: sqltext.DecodeInteger}}
	var exprs []string
	var read []*sqltext.Column
	add := func(expr string, c *sqltext.Column) { exprs, read = append(exprs, expr), append(read, c) }
	for _, c := range piece {
		add("COUNT(DISTINCT "+t.tallies[c].Key(c)+")", number)
		if hasBounds(c) {
			bound := t.tolerant([]*sqltext.Column{c})[0]
			add(c.AsCell("MIN("+c.Key+")"), bound)
			add(c.AsCell("MAX("+c.Key+")"), bound)
		}
	}
	for values, err := range d.Cells(ctx, t.table.Name, "SELECT "+strings.Join(exprs, ", ")+" FROM "+t.r.From, nil, read) {
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
func hasBounds(c *sqltext.Column) bool {
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
