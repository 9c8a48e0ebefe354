package discover

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/request"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The work that a discovery does for one table. All of it is counted in rows and
// cells, so that the answer does not depend on the load of the server.
const (
	sampleRows    = 100       // read for samples
	sampleCount   = 5         // samples of a column
	sampleBytes   = 100       // of a sample at most
	countedRows   = 2_000_000 // a larger table is not counted
	profiledRows  = 200_000   // a larger table has no statistics
	profiledCells = 2_000_000 // nor has one with more cells
)

// minReserve is the least time that is kept for the answer when the request's
// deadline is near.
const minReserve = 500 * time.Millisecond

// tableReserve is the time that is kept to list one table as the catalog has it.
const tableReserve = 500 * time.Microsecond

// sharedTime is how long the tables of a discovery share a transaction. A longer one
// would hold up those who write; one for each table takes longer than to read it.
const sharedTime = 100 * time.Millisecond

// profile adds samples, row counts and statistics, and settles what they decide:
// which columns are never null, and which keys hold. The samples of all tables come
// first, because they cost the least.
func (d *discovery) profile(ctx context.Context) error {
	limit := d.Database.Options.Profile
	steps := []func(context.Context, *discovered) error{d.sample, d.measure}
	if limit < 0 {
		limit, steps = session.DefaultProfile, []func(context.Context, *discovered) error{d.checkKey}
		d.guesses()
	}
	for _, step := range append(steps, d.checkForeignKeys) {
		if err := d.take(ctx, limit, step); err != nil {
			return err
		}
	}
	d.tooLate()
	for _, t := range d.tables {
		t.settleKey()
		t.warnMisordered()
	}
	return nil
}

// take takes one step for each table that it is still to be taken for.
func (d *discovery) take(ctx context.Context, limit time.Duration, step func(context.Context, *discovered) error) error {
	for _, t := range d.tables {
		switch {
		case t.left || t.slow || t.measured && len(t.doubts) == 0:
			continue
		case d.soon.Err() != nil:
			t.late = true
			continue
		}
		limited, cancel := context.WithTimeout(d.soon, limit)
		err := d.run(ctx, limited, t, step)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// beforeDeadline returns a context that ends so long before the deadline of ctx, which
// began at a time, that there is time to answer, with so many tables, without what is
// still missing.
func beforeDeadline(ctx context.Context, begun time.Time, tables int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := deadline.Sub(begun)
	return context.WithDeadline(ctx, deadline.Add(-min(left/2, max(left/10, minReserve, time.Duration(tables)*tableReserve))))
}

// run takes one step for a table. A failure ends the transaction, because in some
// engines nothing can be read in it any more. It returns an error if the request
// cannot go on: a failure that the table itself is not the reason of may pass, and
// without it the table would be there [rule error-10].
func (d *discovery) run(ctx, limited context.Context, t *discovered, step func(context.Context, *discovered) error) error {
	if d.stale {
		if err := d.reopen(ctx); err != nil {
			return err
		}
	}
	if d.begun.IsZero() || time.Since(d.begun) > sharedTime {
		d.begun = time.Now()
		if err := d.Begin(limited, d.soon); err != nil {
			if limited.Err() == nil {
				return d.Database.Failure(ctx, err, "")
			}
			t.late = true
		}
	}
	var err error
	if !t.late {
		err = step(limited, t)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// Some drivers close a connection whose statement has been cancelled.
	d.stale = limited.Err() != nil
	if err == nil {
		return nil
	}
	d.begun = time.Time{}
	t.late = t.late || d.soon.Err() != nil
	if t.slow = outOfTime(limited, err); t.slow || session.ReasonOf(err).Lasting() {
		return nil
	}
	return err
}

// reopen replaces the session by another one.
func (d *discovery) reopen(ctx context.Context) error {
	source, known := d.Database, d.Known
	d.Close()
	d.Session, d.stale, d.begun = nil, false, time.Time{}
	x, err := source.Open(ctx, d.creds, connector.Call{Method: "Discover"})
	if err != nil {
		return err
	}
	x.Known = known
	d.Session = x
	return x.AskAgain(ctx)
}

// tooLate warns of the tables whose turn did not come before the deadline.
func (d *discovery) tooLate() {
	var names []string
	for _, t := range d.tables {
		if t.late && !t.left {
			names = append(names, t.table.Name)
		}
	}
	if len(names) > 0 {
		d.warn("The time of this discovery was over before these tables were read in full, so they are listed as the catalog of the database "+
			"has them, without statistics, without keys that only their rows prove, and perhaps without samples: %s. "+
			"Allow the discovery more time, or serve fewer tables.", session.TableNames(names))
	}
}

// sample adds the first distinct values of each column. A table whose first rows
// cannot be read is left out. One that has no more rows is measured at once, because
// to open a table can cost an engine more than to read it.
func (d *discovery) sample(ctx context.Context, t *discovered) error {
	t.first = 0
	for from := 0; from < len(t.r.Columns); from += request.PieceColumns {
		to := min(from+request.PieceColumns, len(t.r.Columns))
		b := d.Builder()
		columns := t.tolerant(t.r.Columns[from:to])
		statement := b.Query(sqltext.SelectCells(columns), sqltext.Window{Limit: sampleRows}, func() string { return " FROM " + t.r.From })
		for values, err := range d.Cells(ctx, t.table.Name, statement, b.Args, columns) {
			if err != nil {
				d.unread(ctx, t, err)
				return err
			}
			if from == 0 {
				t.first++
			}
			for i, v := range values {
				f := &t.table.Fields[from+i]
				if len(f.Samples) < sampleCount && !v.IsNull() && fits(v) && !slices.Contains(f.Samples, v) {
					f.Samples = append(f.Samples, v.Clone())
				}
			}
		}
	}
	if t.first < sampleRows {
		return d.measure(ctx, t)
	}
	return nil
}

// tolerant returns columns that read as null what their Decode fails at, so that one value
// does not cost a table its description. The first of a column is warned of.
func (t *discovered) tolerant(columns []*sqltext.Column) []*sqltext.Column {
	copies := make([]*sqltext.Column, len(columns))
	for i, c := range columns {
		own := *c
		own.Decode = func(driver any) (wire.Value, error) {
			v, err := c.Decode(driver)
			if err != nil && !slices.Contains(t.unreadable, c) {
				t.unreadable = append(t.unreadable, c)
				t.warn("In table %s, the field %s has a value that cannot be read, and a request that meets it fails: "+
					"correct it, or leave the column out.", terms.QuoteName(c.Name))
			}
			if err != nil {
				v = wire.Null()
			}
			return v, nil
		}
		copies[i] = &own
	}
	return copies
}

// unread warns that the samples of a table could not be read, and leaves the
// table out unless it was only slow.
func (d *discovery) unread(ctx context.Context, t *discovered, err error) {
	switch {
	case d.soon.Err() != nil:
		return // tooLate says it
	case outOfTime(ctx, err):
		t.warn("The table %s is listed without samples and statistics%s, "+
			"because reading its first rows took longer than a discovery allows.", t.guess(t.table.RowCount))
		return
	}
	t.left = true
	reason := cmp.Or(session.Said(err), "reading it failed; whoever runs the database can tell why")
	switch session.ReasonOf(err) {
	case session.ReasonForbidden:
		reason = "the user of the database may not read it, or something that it reads"
	case session.ReasonNoTable:
		reason = "it, or something that it reads, no longer exists"
	}
	t.warn("The table %s is left out because %s.", reason)
}

// outOfTime reports whether an error says that a table took too long.
func outOfTime(ctx context.Context, err error) bool {
	return ctx.Err() != nil || session.ReasonOf(err) == session.ReasonTimeout
}

// fits reports whether a value can be shown in a description.
func fits(v wire.Value) bool { return v.Err() == nil && len(v.Text()) <= sampleBytes }

// measure counts a table's rows and adds statistics, as far as its size allows.
func (d *discovery) measure(ctx context.Context, t *discovered) error {
	if t.measured {
		return nil
	}
	t.measured = true
	estimate := t.table.RowCount
	t.table.RowCount = nil
	err := d.classify(ctx, t)
	columns := t.r.Columns
	switch t.size {
	case sizeMedium:
		columns = doubtful(t.r)
	case sizeLarge:
		if !d.Database.Flavor.CheapCounts {
			t.large(estimate)
			return d.checkKey(ctx, t)
		}
		columns = nil
	}
	if err == nil {
		err = d.count(ctx, t, columns)
	}
	if err != nil {
		d.incomplete(ctx, t, "a count of its rows"+t.guess(estimate), err)
		return err
	}
	if err = d.checkKey(ctx, t); err == nil && t.size == sizeSmall {
		if err = d.statistics(ctx, t); err != nil {
			d.incomplete(ctx, t, "statistics", err)
		}
	}
	return err
}

// The classes of size that decide what a discovery does for a table.
type sizeClass uint8

const (
	sizeUnknown sizeClass = iota
	sizeSmall             // statistics
	sizeMedium            // counted
	sizeLarge             // neither
)

// classify finds a table's class without counting more rows than that needs.
func (d *discovery) classify(ctx context.Context, t *discovered) error {
	if t.size != sizeUnknown {
		return nil
	}
	small := min(profiledRows, profiledCells/int64(max(1, len(t.r.Columns))))
	for _, bound := range []struct {
		class sizeClass
		rows  int64
	}{{sizeSmall, small}, {sizeMedium, countedRows}} {
		more := false
		if t.first < 0 || t.first == sampleRows { // fewer are all that there are
			var err error
			if more, err = d.hasRow(ctx, t.r, bound.rows); err != nil {
				return err
			}
		}
		if !more {
			t.size = bound.class
			return nil
		}
	}
	t.size = sizeLarge
	return nil
}

// hasRow reports whether a table has a row after so many others.
func (d *discovery) hasRow(ctx context.Context, r *session.Relation, offset int64) (bool, error) {
	b := d.Builder()
	statement := b.Query("1", sqltext.Window{Offset: offset, Limit: 1}, func() string { return " FROM " + r.From })
	return d.Finds(ctx, r.Name, statement, b.Args)
}

// large sets the row count of a table that is too large to be counted. An estimate
// that is known to be too small is left out.
func (t *discovered) large(estimate *int64) {
	if estimate == nil || *estimate <= countedRows {
		t.warn("The rows of the table %s are not counted, because there are more than %d.", countedRows)
		return
	}
	t.table.RowCount = estimate
	t.warn("The row count of the table %s is the database's estimate, because there are more than %d rows.", countedRows)
}

// guess sets the row count of a table that could not be counted to the database's
// estimate, and returns what a warning says of it.
func (t *discovered) guess(estimate *int64) string {
	t.table.RowCount = estimate
	if estimate == nil {
		return ""
	}
	return " (its row count is the database's estimate)"
}

// guesses warns once that all row counts are estimates.
func (d *discovery) guesses() {
	for _, t := range d.tables {
		if t.table.RowCount != nil {
			d.warn("Row counts are the database's estimates, because this connector takes no statistics.")
			return
		}
	}
}

// incomplete warns that a part of the description is missing.
func (d *discovery) incomplete(ctx context.Context, t *discovered, what string, err error) {
	if d.soon.Err() != nil {
		return // tooLate says it
	}
	why := "the database failed to compute it; whoever runs it can tell why"
	if outOfTime(ctx, err) {
		why = "computing it took longer than a discovery allows"
	}
	t.warn("The table %s is listed without %s, because %s.", what, why)
}

// warnMisordered warns of the texts of a table with many rows whose indexes serve no
// sort and no comparison.
func (t *discovered) warnMisordered() {
	if t.left || t.size != sizeMedium && t.size != sizeLarge {
		return
	}
	for _, c := range t.r.Columns {
		if t.r.Misordered(c) {
			t.warn("In table %s, a sort or a comparison by the field %s reads the whole table: the order of its index is not that "+
				"of the bytes as they are sent, which an index of a text has with a binary collation.", terms.QuoteName(c.Name))
		}
	}
}
