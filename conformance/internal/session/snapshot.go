package session

import (
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Snapshot is a table as it was read whole, by a plain request: no filter, no sort, every column.
type Snapshot struct {
	*oracle.Table // nil: Missing says why
	// Missing is why there are no rows: the table is larger than the row budget, or
	// reading it broke the rule of a check, which then blocks others.
	Missing *check.Finding
	// Window holds the first rows of a table that is not held whole, once [Run.Window] has read them.
	Window *oracle.Table
	bytes  int64
}

// Broken returns the finding that blocks checks about the table, because reading it broke a rule.
func (s *Snapshot) Broken() *check.Finding {
	if s.Missing != nil && s.Missing.By != "" {
		return s.Missing
	}
	return nil
}

// What is held of all tables together is limited: in rows, as a multiple of the
// row budget, and in bytes. Tables beyond it count as larger than the budget.
const (
	maxSnapshots     = 4
	maxSnapshotBytes = 512 << 20
)

// Table returns all rows of a table of the first tenant, or nil if the table is
// larger than the row budget. The check is blocked if the table cannot be read.
func (run *Run) Table(t *wire.Table) (*oracle.Table, *check.Finding) {
	snapshot := run.Snapshot(t)
	return snapshot.Table, snapshot.Broken()
}

// Window returns some rows of a table of the first tenant that is larger than the row budget.
func (run *Run) Window(t *wire.Table) (*oracle.Table, *check.Finding) {
	snapshot := run.Snapshot(t)
	if snapshot.Broken() == nil && snapshot.Table == nil && snapshot.Window == nil {
		read := run.read(t, defaults.WindowRows)
		snapshot.Window = read.Window
		if read.Missing != nil {
			snapshot.Missing = read.Missing
		}
	}
	return snapshot.Window, snapshot.Broken()
}

// Snapshot returns what is held of a table of the first tenant. It reads the table if nothing is.
func (run *Run) Snapshot(t *wire.Table) *Snapshot {
	if lost := run.Lost[t.Name]; lost != nil {
		return &Snapshot{Missing: lost}
	}
	if held := run.snapshots[t.Name]; held != nil {
		return held
	}
	snapshot := run.read(t, 0)
	rows, bytes := 0, snapshot.bytes
	for _, other := range run.snapshots {
		if other.Table != nil {
			rows, bytes = rows+len(other.Rows), bytes+other.bytes
		}
	}
	if snapshot.Table != nil && (rows+len(snapshot.Rows) > maxSnapshots*run.Rows || bytes > maxSnapshotBytes) {
		snapshot = missing("table %s is more than can be held besides the others", terms.QuoteName(t.Name))
	}
	run.snapshots[t.Name] = snapshot
	return snapshot
}

// missing returns the snapshot of a table that is too large to be read whole.
func missing(format string, args ...any) *Snapshot {
	return &Snapshot{Missing: check.Skip(check.NoData, format, args...)}
}

// read reads a table whole or, given a number of rows, a window of that many. It
// does not read tables that are larger than the row budget.
func (run *Run) read(t *wire.Table, window int) *Snapshot {
	limits := run.Document.Capabilities.Limits
	whole := window == 0
	name := terms.QuoteName(t.Name)
	if count := t.RowCount; whole && count != nil {
		if *count > int64(run.Rows) {
			return missing("table %s has %d rows, more than the row budget of %d", name, *count, run.Rows)
		}
		if most := limits.RowsPerTableMax; most > 0 && *count > most {
			return missing("table %s has %d rows, more than the declared rowsPerTableMax of %d", name, *count, most)
		}
	}
	req := declared.AllRows(t)
	most := run.Rows
	if !whole {
		most = window
		req.Limit, _ = run.Document.Window(int64(window), 0)
	}
	c := run.Ask(wire.PathQuery, req, 0)
	c.Most = most
	st := run.Exchange(c).Stream
	if f := st.Unusable(); f != nil {
		if !t.StoresRows && st.Status == http.StatusUnprocessableEntity {
			unread := missing("table %s stores no rows, and reading it is refused as unsupported", name)
			unread.Window = declared.Shape(t)
			return unread
		}
		return &Snapshot{Missing: check.Block("P3.1c", "table %s cannot be read: %s", name, f.Detail)}
	}
	if st.Broken != nil {
		return &Snapshot{Missing: st.Broken}
	}
	table := declared.Shape(t)
	table.Rows = st.Table.Rows
	n := int64(len(table.Rows))
	switch {
	case !whole:
		return &Snapshot{Window: table}
	case st.Over:
		return missing("table %s has more rows than the row budget of %d, or too many bytes", name, run.Rows)
	case n > 0 && (n == limits.RowsPerTableMax || n == limits.PageSizeMax) && (t.RowCount == nil || *t.RowCount > n):
		// A source whose ceiling is reached may have more rows than it can give.
		return missing("table %s answers as many rows as the declared limits allow; it may have more", name)
	}
	return &Snapshot{Table: table, bytes: weight(table)}
}

// ReadAgain reads a table of the first tenant anew, of which all rows or, if window is set, some were
// read before, and reports whether they have changed; nil rows have not. The rows are nil if it has grown beyond the row
// budget, or is not beyond it any more. What an earlier request left to the next is no change: rows that have changed
// are read once more, behind a request for another table.
func (run *Run) ReadAgain(t *wire.Table, before *oracle.Table, window bool) (now *oracle.Table, changed bool, f *check.Finding) {
	for again := range 2 {
		if again > 0 {
			run.readAnother(t)
		}
		delete(run.snapshots, t.Name)
		if now, f = run.Table(t); f == nil && window {
			now, f = run.Window(t)
		}
		if f != nil || before == nil || now != nil && compare.SameRows(before, now) {
			return now, false, f
		}
	}
	return now, true, nil
}

// readAnother asks for a row of another table than t.
func (run *Run) readAnother(t *wire.Table) {
	for _, other := range run.SmallestFirst() {
		if other.Name != t.Name {
			req := declared.AllRows(other)
			req.Limit, _ = run.Document.Window(1, 0)
			run.Post(wire.PathQuery, req)
			return
		}
	}
}

// weight returns roughly how many bytes a table's rows hold.
func weight(t *oracle.Table) (bytes int64) {
	for _, row := range t.Rows {
		bytes += 24 + 32*int64(len(row))
		for _, v := range row {
			bytes += int64(len(v.Text()))
		}
	}
	return bytes
}

// maxFormTables is how many tables are read to see the form of streams.
const maxFormTables = 16

// ReadSomeTables ensures that there were streams: of the largest table that may
// be read whole, which shows where batches are cut, and of small ones.
func (run *Run) ReadSomeTables() *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	tables := run.SmallestFirst()
	if len(tables) == 0 {
		return check.Skip(check.NoData, "no tables")
	}
	some := tables[:min(len(tables), maxFormTables)]
	var largest *wire.Table
	for _, t := range tables {
		if t.RowCount != nil && *t.RowCount <= int64(run.Rows) && (largest == nil || *t.RowCount > *largest.RowCount) {
			largest = t
		}
	}
	if largest != nil {
		some = append(some[:len(some):len(some)], largest)
	}
	for _, t := range some {
		if _, f := run.Table(t); f != nil {
			return f
		}
	}
	return nil
}

// Coverage returns what the run has asked. Call it when the run is over.
func (s *Session) Coverage() coverage.Report {
	of := coverage.Source{Document: s.Document, Clean: s.Clean}
	if d := s.discovered[0]; d != nil && d.err == nil {
		of.Tables = d.Tables
	}
	of.Held = func(table string) (rows *oracle.Table, whole bool, partly string) {
		held, lost := s.snapshots[table], s.Lost[table]
		switch {
		case lost != nil:
			return nil, false, lost.Detail
		case held == nil:
			return nil, false, ""
		case held.Table != nil:
			return held.Table, true, ""
		case held.Missing != nil:
			partly = held.Missing.Detail
		}
		return held.Window, false, partly
	}
	return s.Covered.Report(of)
}
