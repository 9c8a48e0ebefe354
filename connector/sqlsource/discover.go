package sqlsource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Discover describes every table that is served and that these credentials can
// read. One that cannot be read is left out with a warning, and breaks nothing.
func (s *Source) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return nil, err
	}
	defer x.close()
	tables, warnings, err := s.config.Flavor.Catalog(ctx, x.tx, s.config.Schema, nil)
	if err != nil {
		return nil, s.failure(ctx, err, "")
	}
	answer := &wire.Discovery{Tables: []wire.Table{}, Warnings: warnings}
	known := map[string]bool{}
	var relations []*relation
	for _, t := range tables {
		if own, served := s.config.inDatabase(s.publicTable(t.Name)); !served || own != t.Name {
			continue
		}
		known[s.publicTable(t.Name)] = true
		relations = append(relations, s.use(t, s.publicTable(t.Name), "t0"))
	}
	for _, name := range s.config.Only {
		if !known[s.publicTable(name)] && !s.config.Tables[name].Hidden {
			answer.Warnings = append(answer.Warnings, fmt.Sprintf("The table %s is not in this database, or its user may not read it.", wire.QuoteName(s.publicTable(name))))
		}
	}
	profile, done := s.profiler(ctx, x)
	defer done()
	for _, r := range relations {
		table := s.describe(r)
		table.ForeignKeys = slices.DeleteFunc(table.ForeignKeys, func(k wire.ForeignKey) bool { return !known[k.TargetTable] })
		warnings, readable := profile(r, table)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		answer.Warnings = append(answer.Warnings, warnings...)
		if readable {
			answer.Tables = append(answer.Tables, *table)
		}
	}
	// What could not be read is no target either.
	for i := range answer.Tables {
		t := &answer.Tables[i]
		t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(k wire.ForeignKey) bool {
			return !slices.ContainsFunc(answer.Tables, func(to wire.Table) bool { return to.Name == k.TargetTable })
		})
	}
	return answer, nil
}

const (
	sampleRows   = 100     // looked at for samples
	sampleCount  = 5       // of a column
	sampleBytes  = 100     // of a sample at most
	profiledRows = 200_000 // a larger table is not scanned for statistics
)

// profiler looks at the rows of one table after the other until its time is
// up: samples from the first rows, and statistics from all of them. It answers
// warnings, and whether the table can be read at all.
func (s *Source) profiler(ctx context.Context, x *session) (look func(*relation, *wire.Table) ([]string, bool), done func()) {
	if s.config.Profile < 0 {
		return func(*relation, *wire.Table) ([]string, bool) { return nil, true }, func() {}
	}
	limited, cancel := context.WithTimeout(ctx, s.config.Profile)
	return func(r *relation, t *wire.Table) ([]string, bool) {
		if limited.Err() != nil {
			return nil, true
		}
		// A transaction of its own, because in some engines a failure ends it.
		err := x.begin(ctx)
		if err == nil {
			err = x.samples(limited, r, t)
		}
		var warnings []string
		if err == nil && (t.RowCount == nil || *t.RowCount <= profiledRows) {
			warnings, err = x.statistics(limited, r, t)
		}
		if err == nil || limited.Err() != nil {
			return warnings, true
		}
		return []string{fmt.Sprintf("The table %s is left out because reading it failed; whoever runs the database can tell why.", wire.QuoteName(t.Name))}, false
	}, cancel
}

// samples are the first distinct values of each column.
func (x *session) samples(ctx context.Context, r *relation, t *wire.Table) error {
	b := &builder{flavor: x.source.config.Flavor}
	statement := "SELECT " + selectCells(r.columns) + " FROM " + r.from + b.flavor.Window(b.bind(int64(sampleRows)), "")
	for values, err := range x.cells(ctx, r.name, statement, b.args, r.columns) {
		if err != nil {
			return err
		}
		for i, v := range values {
			f := &t.Fields[i]
			if len(f.Samples) < sampleCount && !v.IsNull() && v.Err() == nil && len(v.Text()) <= sampleBytes && !slices.Contains(f.Samples, v) {
				f.Samples = append(f.Samples, v.Clone())
			}
		}
	}
	return nil
}

// statistics are exact, by one statement over the whole table.
func (x *session) statistics(ctx context.Context, r *relation, t *wire.Table) (warnings []string, err error) {
	exprs := []string{"COUNT(*)"}
	columns := []*Column{{name: "rows", Decode: DecodeInteger}}
	number := columns[0]
	for _, c := range r.columns {
		exprs = append(exprs, "COUNT("+c.Raw+")", "COUNT(CASE WHEN "+c.notNull()+" THEN 1 END)")
		columns = append(columns, number, number)
		if !measurable(c) {
			continue
		}
		exprs = append(exprs, "COUNT(DISTINCT "+c.group()+")")
		columns = append(columns, number)
		if ordered(c) {
			exprs = append(exprs, c.read("MIN("+c.Key+")"), c.read("MAX("+c.Key+")"))
			columns = append(columns, c, c)
		}
	}
	for values, err := range x.cells(ctx, r.name, "SELECT "+strings.Join(exprs, ", ")+" FROM "+r.from, nil, columns) {
		if err != nil {
			return nil, err
		}
		rows := values[0].Int64()
		t.RowCount = &rows
		at := 1
		for i, c := range r.columns {
			f := &t.Fields[i]
			stored, kept := values[at].Int64(), values[at+1].Int64()
			at += 2
			if stored > kept {
				warnings = append(warnings, fmt.Sprintf("In table %s, %d values of the field %s cannot be sent, such as NaN, an infinity or a date that is none: they are null everywhere.",
					wire.QuoteName(t.Name), stored-kept, wire.QuoteName(f.Name)))
			}
			if !measurable(c) {
				continue
			}
			f.Stats = &wire.Stats{DistinctCount: values[at].Int64()}
			at++
			if rows > 0 {
				share := float64(rows-kept) / float64(rows) * 100
				f.Stats.NullPercent = &share
			}
			if ordered(c) {
				f.Stats.Min, f.Stats.Max = bound(values[at]), bound(values[at+1])
				at += 2
			}
		}
	}
	return warnings, nil
}

// measurable reports whether a column's distinct values can be counted without
// a look at its values first.
func measurable(c *Column) bool { return c.group() != "" && c.Guard == "" }

func ordered(c *Column) bool {
	return measurable(c) && c.Key != "" && c.Odd == "" && c.Class != ClassBoolean && c.Class != ClassBytes
}

func bound(v wire.Value) *wire.Value {
	if v.IsNull() || v.Err() != nil || len(v.Text()) > sampleBytes {
		return nil
	}
	v = v.Clone()
	return &v
}
