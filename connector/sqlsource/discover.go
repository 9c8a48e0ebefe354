package sqlsource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Discover describes every table that is served and that these credentials can
// read. A table that cannot be read is left out with a warning.
func (s *Source) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return nil, err
	}
	defer x.close()
	tables, warnings, err := s.flavor.Catalog(ctx, x.tx, s.options.Schema, nil)
	if err != nil {
		return nil, s.failure(ctx, err, "")
	}
	answer := &wire.Discovery{Tables: []wire.Table{}, Warnings: warnings}
	known := map[string]bool{}
	var relations []*relation
	for _, t := range tables {
		public := s.options.publicTable(t.Name)
		if own, served := s.options.inDatabase(public); served && own == t.Name {
			known[public] = true
			relations = append(relations, s.relation(t, public, "t0"))
		}
	}
	for _, name := range s.options.Only {
		if public := s.options.publicTable(name); !known[public] && !s.options.Tables[name].Hidden {
			answer.Warnings = append(answer.Warnings,
				fmt.Sprintf("The table %s is not in this database, or its user may not read it.", wire.QuoteName(public)))
		}
	}
	limited, cancel := context.WithTimeout(ctx, max(0, s.options.Profile))
	defer cancel()
	for _, r := range relations {
		table := s.describe(r)
		warnings, readable := x.profile(ctx, limited, r, table)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		answer.Warnings = append(answer.Warnings, warnings...)
		if readable {
			answer.Tables = append(answer.Tables, *table)
		}
	}
	for i := range answer.Tables {
		t := &answer.Tables[i]
		t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(k wire.ForeignKey) bool {
			return !slices.ContainsFunc(answer.Tables, func(to wire.Table) bool { return to.Name == k.TargetTable })
		})
	}
	return answer, nil
}

const (
	sampleRows   = 100     // read for samples
	sampleCount  = 5       // samples of a column
	sampleBytes  = 100     // of a sample at most
	profiledRows = 200_000 // a larger table is not scanned for statistics
)

// profile adds samples from a table's first rows and statistics from all of
// them, until the limited context ends. It returns warnings, and reports whether
// the table can be read at all.
func (x *session) profile(ctx, limited context.Context, r *relation, t *wire.Table) (warnings []string, readable bool) {
	if limited.Err() != nil {
		return nil, true
	}
	err := x.begin(ctx) // a transaction of its own, because in some engines a failure ends it
	if err == nil {
		err = x.samples(limited, r, t)
	}
	if err == nil && (t.RowCount == nil || *t.RowCount <= profiledRows) {
		warnings, err = x.statistics(limited, r, t)
	}
	if err == nil || limited.Err() != nil {
		return warnings, true
	}
	return []string{fmt.Sprintf("The table %s is left out because reading it failed; whoever runs the database can tell why.",
		wire.QuoteName(t.Name))}, false
}

// samples adds the first distinct values of each column.
func (x *session) samples(ctx context.Context, r *relation, t *wire.Table) error {
	b := x.builder()
	statement := "SELECT " + selectCells(r.columns) + " FROM " + r.from + b.flavor.Window(b.bind(int64(sampleRows)), "")
	for values, err := range x.cells(ctx, r.name, statement, b.args, r.columns) {
		if err != nil {
			return err
		}
		for i, v := range values {
			f := &t.Fields[i]
			if len(f.Samples) < sampleCount && !v.IsNull() && fits(v) && !slices.Contains(f.Samples, v) {
				f.Samples = append(f.Samples, v.Clone())
			}
		}
	}
	return nil
}

// fits reports whether a value can be shown in a description.
func fits(v wire.Value) bool { return v.Err() == nil && len(v.Text()) <= sampleBytes }

// statistics adds exact statistics, by one statement over the whole table.
func (x *session) statistics(ctx context.Context, r *relation, t *wire.Table) (warnings []string, err error) {
	number := &Column{name: "count", Decode: DecodeInteger}
	exprs, columns := []string{"COUNT(*)"}, []*Column{number}
	add := func(expr string, c *Column) { exprs, columns = append(exprs, expr), append(columns, c) }
	for _, c := range r.columns {
		add("COUNT("+c.Raw+")", number)
		add("COUNT(CASE WHEN "+c.notNull()+" THEN 1 END)", number)
		if hasDistinct(c) {
			add("COUNT(DISTINCT "+c.group()+")", number)
		}
		if hasBounds(c) {
			add(c.read("MIN("+c.Key+")"), c)
			add(c.read("MAX("+c.Key+")"), c)
		}
	}
	for values, err := range x.cells(ctx, r.name, "SELECT "+strings.Join(exprs, ", ")+" FROM "+r.from, nil, columns) {
		if err != nil {
			return nil, err
		}
		next := func() wire.Value {
			v := values[0]
			values = values[1:]
			return v
		}
		rows := next().Int64()
		t.RowCount = &rows
		for i, c := range r.columns {
			f := &t.Fields[i]
			stored, sendable := next().Int64(), next().Int64()
			if stored > sendable {
				warnings = append(warnings, fmt.Sprintf("In table %s, %d values of the field %s cannot be sent, "+
					"such as NaN, an infinity or an impossible date: they are null everywhere.",
					wire.QuoteName(t.Name), stored-sendable, wire.QuoteName(f.Name)))
			}
			if !hasDistinct(c) {
				continue
			}
			f.Stats = &wire.Stats{DistinctCount: next().Int64()}
			if rows > 0 {
				share := float64(rows-sendable) / float64(rows) * 100
				f.Stats.NullPercent = &share
			}
			if hasBounds(c) {
				f.Stats.Min, f.Stats.Max = bound(next()), bound(next())
			}
		}
	}
	return warnings, nil
}

// hasDistinct reports whether a column's distinct values can be counted without
// a look at its values first.
func hasDistinct(c *Column) bool { return c.group() != "" && c.Guard == "" }

// hasBounds reports the same of its minimum and maximum.
func hasBounds(c *Column) bool {
	return hasDistinct(c) && c.Key != "" && c.Odd == "" && c.Class != ClassBoolean && c.Class != ClassBytes
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
