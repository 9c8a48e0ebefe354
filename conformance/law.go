package conformance

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// What one law may cost: live data belongs to somebody, and may be large.
const (
	lawTables   = 12
	lawRequests = 40
	lawRows     = 3 // rows read and compared, as a multiple of the row budget
)

// law is one check of phase 4 being judged: what holds of a connector whatever
// its data, told from what it answers itself.
type law struct {
	*exam
	requests int
	rows     int
	moved    []string // the tables that moved while they were judged
}

// lawful makes a judge of a law. It passes when the law was exercised, and
// otherwise says what would exercise it.
func lawful(judge func(*law), wants string) func(*exam) {
	return func(x *exam) {
		l := &law{exam: x}
		judge(l)
		switch {
		case len(l.moved) > 0:
			x.skip(DataChanged, "table %s moved while it was judged", l.moved[0])
		case x.cases == 0:
			x.skip(NoData, "%s", wants)
		}
	}
}

// left tells whether the law may make n requests more, for a window each.
func (l *law) left(n int) bool { return l.requests+n <= lawRequests }

// room tells whether the law may make n requests more, for whole tables.
func (l *law) room(n int) bool {
	return l.left(n) && l.rows < max(lawRows*l.Rows, lawRequests*windowRows)
}

// steady judges a part of the law that is about some tables. Tables that moved
// under another part of it are let be.
func (l *law) steady(part func(), tables ...*wire.Table) {
	for _, t := range tables {
		if slices.Contains(l.moved, wire.QuoteName(t.Name)) {
			return
		}
	}
	if moved := l.standing(part, func() string { return l.readAgain(tables) }); moved != "" {
		l.moved = append(l.moved, moved)
	}
}

// standing judges a part of a check that compares answers given at different
// times. Live data moves: when the part fails, again reads anew what it is
// about, and names a table that is no longer what it was. The part fails the
// check when it fails twice without that; otherwise the table that moved last
// is named.
func (x *exam) standing(part func(), again func() string) (moved string) {
	const tries = 3
	failed := false
	for range tries {
		f := x.attempt(part)
		if f == nil {
			return ""
		}
		now := again()
		if now == "" && failed {
			x.found(f)
		}
		failed = failed || now == ""
		if now != "" {
			moved = now
		}
	}
	return moved
}

// readAgain reads tables anew and names the first that is no longer what it was.
func (l *law) readAgain(tables []*wire.Table) (moved string) {
	for _, t := range tables {
		before := l.snapshot(0, t)
		l.forget(0, t)
		after := l.snapshot(0, t)
		if after.by != "" {
			l.blocked(after.by, after.why)
		}
		changed := (before.Table == nil) != (after.Table == nil)
		switch {
		case changed:
		case after.Table != nil:
			l.rows += len(after.Rows)
			changed = !sameRows(t, before.Table, after.Table)
		case before.window != nil:
			changed = !sameRows(t, before.window, l.window(t))
		}
		if changed && moved == "" {
			moved = wire.QuoteName(t.Name)
		}
	}
	return moved
}

// sameRows tells whether two readings of a table hold the same rows, in any
// order.
func sameRows(t *wire.Table, a, b *oracle.Table) bool {
	return len(a.Rows) == len(b.Rows) && oracle.Verify(oracle.Tables{t.Name: a}, everything(t), b.Rows) == nil
}

// ask sends a query that must be answered, and tells what the platform makes of
// the answer: it finishes what is unserved. The rows are nil when there are more
// of them than are read.
func (l *law) ask(t *wire.Table, req *wire.QueryRequest) (*stream, *oracle.Table) {
	l.requests++
	l.cover.filters(shape(t), req.And, req.Or)
	st := l.exam.rows(req)
	l.rows += len(st.table.Rows)
	if st.over {
		return st, nil
	}
	final, err := oracle.Finish(declared(t, req, st), req, st.served)
	if err != nil {
		l.fail("the rows cannot be finished: %v", err)
	}
	return st, final
}

// declared are a stream's rows as they came, under the types that discovery declares.
func declared(t *wire.Table, req *wire.QueryRequest, st *stream) *oracle.Table {
	rows := &oracle.Table{Name: t.Name, PrimaryKey: t.PrimaryKey, Rows: st.table.Rows}
	for _, name := range req.Fields {
		c := wire.Column{Name: name}
		if f := t.Field(name); f != nil {
			c.Type = f.Type
		}
		rows.Columns = append(rows.Columns, c)
	}
	return rows
}

// verify holds final rows against those of a table. Where the protocol leaves a
// choice, any reading will do.
func (l *law) verify(data *oracle.Table, req *wire.QueryRequest, rows [][]wire.Value, what string, args ...any) {
	l.rows += len(data.Rows)
	var first *oracle.Difference
	for _, r := range []oracle.Reading{{}, {DatesAsText: true}} {
		d := r.Verify(oracle.Tables{data.Name: data}, req, rows)
		if d == nil {
			return
		}
		if first == nil {
			first = d
		}
	}
	l.want(first.Expected, first.Received, "%s: %s", fmt.Sprintf(what, args...), first.Detail)
}
