package sqlsource

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
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

// profile adds samples, row counts and statistics, and settles what they decide:
// which columns are never null, and which primary keys hold. The samples of all
// tables come first, because they cost the least.
func (d *discovery) profile(ctx context.Context) error {
	options := d.source.options
	limit := options.Profile
	steps := []func(context.Context, *discovered) error{d.sample, d.measure}
	if limit < 0 {
		limit, steps = defaultProfile, []func(context.Context, *discovered) error{d.checkKey}
		d.guesses()
	}
	soon, cancel := beforeDeadline(ctx)
	defer cancel()
	for _, step := range steps {
		for _, t := range d.tables {
			if t.left || t.slow {
				continue
			}
			if soon.Err() != nil {
				t.late = true
				continue
			}
			limited, cancel := context.WithTimeout(soon, limit)
			err := d.run(ctx, limited, t, step)
			cancel()
			if err != nil {
				return err
			}
		}
	}
	d.tooLate()
	for _, t := range d.tables {
		t.settleKey()
	}
	return nil
}

// beforeDeadline returns a context that ends so long before the deadline of ctx
// that there is time to answer without what is still missing.
func beforeDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := time.Until(deadline)
	return context.WithDeadline(ctx, deadline.Add(-min(left/2, max(left/10, minReserve))))
}

// run takes one step for a table, in a transaction of its own, because in some
// engines a failure ends it. It returns an error only if the request cannot go
// on.
func (d *discovery) run(ctx, limited context.Context, t *discovered, step func(context.Context, *discovered) error) error {
	if d.stale {
		if err := d.reopen(ctx); err != nil {
			return err
		}
	}
	err := d.begin(limited)
	switch {
	case err == nil:
		err = step(limited, t)
		_ = d.tx.Rollback() // before the context ends, which would do it at a time of its own
		t.slow = err != nil && outOfTime(limited, err)
	case limited.Err() == nil:
		return d.source.failure(ctx, err, "")
	default:
		t.late = true
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// Some drivers close a connection whose statement has been cancelled.
	d.stale = limited.Err() != nil
	return nil
}

// reopen replaces the session by another one.
func (d *discovery) reopen(ctx context.Context) error {
	source := d.source
	d.close()
	d.session, d.stale = nil, false
	x, err := source.open(ctx, d.creds, connector.Call{Method: "Discover"})
	if err != nil {
		return err
	}
	d.session = x
	return nil
}

// tooLate warns of the tables whose turn did not come before the deadline.
func (d *discovery) tooLate() {
	var names []string
	for _, t := range d.tables {
		if t.late {
			names = append(names, wire.QuoteName(t.table.Name))
		}
	}
	if len(names) > 0 {
		d.warn("The time of this discovery was over before these tables were read in full, so they are listed without statistics, "+
			"perhaps without samples, and with the row counts that the database estimates: %s. "+
			"Allow the discovery more time, or serve fewer tables.", strings.Join(names, ", "))
	}
}

// sample adds the first distinct values of each column. A table whose first rows
// cannot be read is left out.
func (d *discovery) sample(ctx context.Context, t *discovered) error {
	for from := 0; from < len(t.r.columns); from += pieceColumns {
		to := min(from+pieceColumns, len(t.r.columns))
		b := d.builder()
		columns := t.r.columns[from:to]
		statement := "SELECT " + selectCells(columns) + " FROM " + t.r.from + b.window(0, sampleRows)
		for values, err := range d.cells(ctx, t.table.Name, statement, b.args, columns) {
			if err != nil {
				d.unread(ctx, t, err)
				return err
			}
			for i, v := range values {
				f := &t.table.Fields[from+i]
				if len(f.Samples) < sampleCount && !v.IsNull() && fits(v) && !slices.Contains(f.Samples, v) {
					f.Samples = append(f.Samples, v.Clone())
				}
			}
		}
	}
	return nil
}

// unread warns that the samples of a table could not be read, and leaves the
// table out unless it was only slow.
func (d *discovery) unread(ctx context.Context, t *discovered, err error) {
	if outOfTime(ctx, err) {
		t.warn("The table %s is listed without samples and statistics%s, "+
			"because reading its first rows took longer than a discovery allows.", t.guess(t.table.RowCount))
		return
	}
	t.left = true
	reason := "reading it failed; whoever runs the database can tell why"
	switch {
	case errors.Is(err, connector.ErrBadRequest):
		reason = "the user of the database may not read it, or something that it reads"
	case errors.Is(err, connector.ErrUnknownEntity):
		reason = "it, or something that it reads, no longer exists"
	}
	t.warn("The table %s is left out because %s.", reason)
}

// outOfTime reports whether an error says that a table took too long.
func outOfTime(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, connector.ErrTimeout)
}

// fits reports whether a value can be shown in a description.
func fits(v wire.Value) bool { return v.Err() == nil && len(v.Text()) <= sampleBytes }

// measure counts a table's rows and adds statistics, as far as its size allows.
func (d *discovery) measure(ctx context.Context, t *discovered) error {
	estimate := t.table.RowCount
	t.table.RowCount = nil
	size, err := d.sizeClass(ctx, t.r)
	if err == nil && size == sizeLarge {
		t.large(estimate)
		return d.checkKey(ctx, t)
	}
	columns := t.r.columns
	if size == sizeMedium {
		columns = t.r.doubtful()
	}
	if err == nil {
		err = d.count(ctx, t, columns)
	}
	if err != nil {
		t.incomplete(ctx, "a count of its rows"+t.guess(estimate), err)
		return err
	}
	if size == sizeSmall {
		if err = d.statistics(ctx, t); err != nil {
			t.incomplete(ctx, "statistics", err)
		}
	}
	return err
}

// The classes of size that decide what a discovery does for a table.
type sizeClass uint8

const (
	sizeSmall  sizeClass = iota // statistics
	sizeMedium                  // counted
	sizeLarge                   // neither
)

// sizeClass finds a table's class without counting more rows than that needs.
func (d *discovery) sizeClass(ctx context.Context, r *relation) (sizeClass, error) {
	small := min(profiledRows, profiledCells/int64(max(1, len(r.columns))))
	for class, rows := range []int64{small, countedRows} {
		more, err := d.hasRow(ctx, r, rows)
		if err != nil || !more {
			return sizeClass(class), err
		}
	}
	return sizeLarge, nil
}

// hasRow reports whether a table has a row after so many others.
func (d *discovery) hasRow(ctx context.Context, r *relation, offset int64) (bool, error) {
	b := d.builder()
	rows, err := d.tx.QueryContext(ctx, "SELECT 1 FROM "+r.from+b.window(offset, 1), b.args...)
	if err != nil {
		return false, d.source.failure(ctx, err, r.name)
	}
	defer func() { _ = rows.Close() }()
	found := rows.Next()
	return found, d.source.failure(ctx, rows.Err(), r.name)
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
func (t *discovered) incomplete(ctx context.Context, what string, err error) {
	why := "the database failed to compute it; whoever runs it can tell why"
	if outOfTime(ctx, err) {
		why = "computing it took longer than a discovery allows"
	}
	t.warn("The table %s is listed without %s, because %s.", what, why)
}
