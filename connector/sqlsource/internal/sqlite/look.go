package sqlite

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	lookRows    = 100 // that tell what a column holds
	lookColumns = 300 // of one statement

	// lookTime is how long a look at a view may take, whose first rows may cost
	// a sort of all. Its columns without a declared type are strings if it takes
	// longer. A look at a table is bounded by its rows, so no clock decides there.
	lookTime = 2 * time.Second
)

// look reads off the first rows what columns hold whose declared type does not
// say, or does not hold. A table that can never be read is not looked at: whoever
// reads it is told. So is a table that looking leaves no time for.
func (t *table) look(ctx, looking context.Context, q sqlengine.Queryer) error {
	if t.note.strict && !slices.ContainsFunc(t.Columns, func(c sqlengine.CatalogColumn) bool { return undeclared(c.DataType, false) }) {
		return nil
	}
	limited := looking
	if t.View {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(looking, lookTime)
		defer cancel()
	}
	columns := make([]*sqlengine.CatalogColumn, len(t.Columns))
	for i := range columns {
		columns[i] = &t.Columns[i]
	}
	for part := range slices.Chunk(columns, lookColumns) {
		exprs := make([]string, len(part))
		names := make([]string, len(part))
		seen := make([]any, len(part))
		for i, c := range part {
			names[i] = Flavor{}.Quote(c.Name)
			exprs[i] = t.seenExpr(names[i], *c)
			seen[i] = new(string)
		}
		if !slices.ContainsFunc(exprs, func(expr string) bool { return expr != said }) {
			continue
		}
		statement := "SELECT " + strings.Join(exprs, ", ") + " FROM (SELECT " + strings.Join(names, ", ") + " FROM " + t.note.table +
			" LIMIT ?1)"
		err := q.QueryRowContext(limited, statement, lookRows).Scan(seen...)
		switch {
		case err == nil:
		case ctx.Err() == nil && looking.Err() != nil:
			t.Late = true
			return nil
		case ctx.Err() != nil, limited.Err() == nil && !(Flavor{}).lasting(err):
			return err
		}
		for i, c := range part {
			if err != nil && undeclared(c.DataType, t.View) {
				*seen[i].(*string) = seenTexts
			}
			setNote(c, func(n *columnNote) { n.seen = *seen[i].(*string) })
		}
	}
	return nil
}

// said is the expression of a column whose declared type says all.
const said = "''"

// seenExpr returns the aggregate that says what a column holds: nothing, if the
// declared type says so, and at least half of the values fit it.
func (t *table) seenExpr(name string, c sqlengine.CatalogColumn) string {
	most := func(valid string) string {
		return "COUNT(CASE WHEN " + valid + " THEN 1 END) * 2 >= COUNT(" + name + ")"
	}
	expr := "CASE"
	if !undeclared(c.DataType, t.View) {
		column := Flavor{}.Column(name, c)
		if column.Valid == "" {
			return said
		}
		expr += " WHEN " + most(column.Valid) + " THEN ''"
		if column.Type == wire.TypeDate {
			expr += " WHEN " + most(Flavor{}.Column(name, sqlengine.CatalogColumn{DataType: "DATETIME"}).Valid) + " THEN '" + seenDatetimes + "'"
		}
	}
	return expr + " WHEN COUNT(" + name + ") = 0 THEN '" + seenTexts + "'" +
		" WHEN COUNT(CASE WHEN typeof(" + name + ") IN ('integer', 'real') THEN 1 END) = COUNT(" + name + ") THEN '" + seenNumbers + "'" +
		" WHEN COUNT(CASE WHEN typeof(" + name + ") = 'blob' THEN 1 END) = COUNT(" + name + ") THEN '" + seenBlobs + "'" +
		" ELSE '" + seenTexts + "' END"
}

// dropLoose drops the keys of one column whose values the engine tells apart and
// the wire does not, such as 1 and '1' in a column without a type, and a primary
// key with a value that does not fit its column, and so is null. It looks where an
// index answers at once.
func (t *table) dropLoose(ctx context.Context, q sqlengine.Queryer) error {
	const reason = "values that the database tells apart are equal in an answer"
	t.unique = slices.DeleteFunc(t.unique, func(key []string) bool {
		loose := t.loose(key)
		if loose && !slices.Equal(key, t.primary) { // which has an index of its own
			t.omit(sqlengine.UniqueKey, key, reason)
		}
		return loose
	})
	if t.loose(t.primary) {
		t.omitPrimaryKey(reason)
	}
	if t.note.strict {
		return nil
	}
	var exprs []string
	for _, name := range t.primary {
		own := Flavor{}.Quote(name)
		exists := func(condition string) {
			exprs = append(exprs, "EXISTS (SELECT 1 FROM "+t.note.table+" WHERE "+own+condition+")")
		}
		column := t.describes(name)
		switch {
		case !t.Column(name).Indexed:
		case column.Class == sqlengine.ClassFloat:
			exists(" >= 9e999")
			exists(" <= -9e999")
		case column.Class == sqlengine.ClassBytes:
			exists(noBlob)
		case column.Type == wire.TypeString:
			exists(isBlob)
		}
	}
	switch {
	case len(exprs) == 0:
		return nil
	case t.Late:
		t.primary = nil // a warning says what such tables lack
		return nil
	}
	var found bool
	err := q.QueryRowContext(ctx, "SELECT "+strings.Join(exprs, " OR ")).Scan(&found)
	if found {
		t.omitPrimaryKey("it has values that cannot be sent, which are null everywhere")
	}
	return err
}

// omitPrimaryKey leaves out the primary key.
func (t *table) omitPrimaryKey(reason string) {
	t.omit(sqlengine.PrimaryKey, t.primary, reason)
	t.primary = nil
}

// describes returns how a column is compared in an encoding that has all of it.
func (t *table) describes(name string) sqlengine.Column {
	f, c := Flavor{}, *t.Column(name)
	setNote(&c, func(n *columnNote) { n.utf16 = false })
	return f.Column(f.Quote(name), c)
}

// loose reports whether a key is one column that has several values for one value
// on the wire.
func (t *table) loose(key []string) bool {
	if len(key) != 1 {
		return false
	}
	c := t.describes(key[0])
	return c.Class == sqlengine.ClassBoolean || c.Loose.Lossy || c.Class == sqlengine.ClassText && c.Loose.Guard != ""
}
