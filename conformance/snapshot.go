package conformance

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// snapshot is a table as it was read whole, by a plain request: no filter, no
// sort, every column.
type snapshot struct {
	*oracle.Table
	// window is, of a table that is not held whole, some of its rows: the first
	// that came. It is nil until it is wanted.
	window *oracle.Table
	why    string // why there is none: it is larger than the row budget, or cannot be read
	by     string // the check whose rule it broke, when it broke one
	bytes  int64
}

// snapshotKey tells snapshots apart: two tenants may have a table of one name.
type snapshotKey struct {
	tenant int
	table  string
}

// What is held of all tables together is bounded: in rows, as a multiple of the
// row budget, and in bytes. Tables beyond it count as larger than the budget.
const (
	maxSnapshots     = 4
	maxSnapshotBytes = 512 << 20
)

// windowRows is how many rows are read of a table that is not read whole.
const windowRows = 500

// table is a discovered table with all its rows, of the first tenant. A table
// that is larger than the row budget is nil.
func (x *exam) table(t *wire.Table) *oracle.Table {
	snap := x.snapshot(0, t)
	if snap.by != "" {
		x.blocked(snap.by, snap.why)
	}
	return snap.Table
}

// window is some rows of a table that is larger than the row budget, of the
// first tenant.
func (x *exam) window(t *wire.Table) *oracle.Table {
	snap := x.snapshot(0, t)
	if snap.by == "" && snap.Table == nil && snap.window == nil {
		rows := x.read(0, t, windowRows)
		snap.window, snap.by, snap.why = rows.window, rows.by, rows.why
	}
	if snap.by != "" {
		x.blocked(snap.by, snap.why)
	}
	return snap.window
}

// snapshot is what is held of a table, read now if it was not.
func (x *exam) snapshot(tenant int, t *wire.Table) *snapshot {
	key := snapshotKey{tenant, t.Name}
	if snap := x.snapshots[key]; snap != nil {
		return snap
	}
	snap := x.read(tenant, t, 0)
	rows, bytes := 0, snap.bytes
	for _, other := range x.snapshots {
		if other.Table != nil {
			rows, bytes = rows+len(other.Rows), bytes+other.bytes
		}
	}
	if snap.Table != nil && (rows+len(snap.Rows) > maxSnapshots*x.Rows || bytes > maxSnapshotBytes) {
		snap = &snapshot{why: fmt.Sprintf("table %s is more than can be held besides the others", wire.QuoteName(t.Name))}
	}
	x.snapshots[key] = snap
	return snap
}

// read reads a table whole, or, given a number of rows, a window of that many.
// The row budget keeps it off larger ones.
func (x *exam) read(tenant int, t *wire.Table, window int) *snapshot {
	limits := x.document().Capabilities.Limits
	whole := window == 0
	if count := t.RowCount; whole && count != nil {
		if *count > int64(x.Rows) {
			return &snapshot{why: fmt.Sprintf("table %s has %d rows, more than the row budget of %d", wire.QuoteName(t.Name), *count, x.Rows)}
		}
		if most := limits.RowsPerTableMax; most > 0 && *count > most {
			return &snapshot{why: fmt.Sprintf("table %s has %d rows, more than the declared rowsPerTableMax of %d", wire.QuoteName(t.Name), *count, most)}
		}
	}
	req := everything(t)
	most := x.Rows
	if !whole {
		most = window
		req.Limit = int64(window)
		if limits.PageSizeMax > 0 {
			req.Limit = min(req.Limit, limits.PageSizeMax)
		}
	}
	st := x.session.stream(x.ctx, x.ask(wire.PathQuery, req, tenant), members(req), most)
	x.last = st.request
	switch f := st.unusable(); {
	case f != nil:
		return &snapshot{by: wholeTable, why: fmt.Sprintf("table %s cannot be read: %s", wire.QuoteName(t.Name), f.detail)}
	case st.broken != "":
		return &snapshot{by: st.broken, why: st.why}
	}
	table := shape(t)
	table.Rows = st.table.Rows
	n := int64(len(table.Rows))
	switch {
	case !whole:
		return &snapshot{window: table}
	case st.over:
		return &snapshot{why: fmt.Sprintf("table %s has more rows than the row budget of %d, or too many bytes", wire.QuoteName(t.Name), x.Rows)}
	case n > 0 && (n == limits.RowsPerTableMax || n == limits.PageSizeMax) && (t.RowCount == nil || *t.RowCount > n):
		// A source whose ceiling is reached may have more rows than it can give.
		return &snapshot{why: fmt.Sprintf("table %s answers as many rows as the declared limits allow; it may have more", wire.QuoteName(t.Name))}
	}
	return &snapshot{Table: table, bytes: weight(table)}
}

// everything asks for all rows and all columns of a table.
func everything(t *wire.Table) *wire.QueryRequest {
	req := &wire.QueryRequest{Table: t.Name}
	for _, f := range t.Fields {
		req.Fields = append(req.Fields, f.Name)
	}
	return req
}

// weight is about how many bytes a table's rows hold.
func weight(t *oracle.Table) (bytes int64) {
	for _, row := range t.Rows {
		bytes += 24 + 32*int64(len(row))
		for _, v := range row {
			bytes += int64(len(v.Text()))
		}
	}
	return bytes
}

// wholeTable is the check that every discovered table can be read.
const wholeTable = "P3.1c"

// forget drops what was read of a table, so that it is read again.
func (s *session) forget(tenant int, t *wire.Table) {
	delete(s.snapshots, snapshotKey{tenant, t.Name})
}
