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
// say, or does not hold. A table that can never be read is skipped: reading it
// says why. So is a table for which no time is left.
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
	var samples []*sample
	for i := range t.Columns {
		if s := t.sampleOf(&t.Columns[i]); s != nil {
			samples = append(samples, s)
		}
	}
	for part := range slices.Chunk(samples, lookColumns) {
		err := t.read(limited, q, part)
		switch {
		case err == nil:
		case ctx.Err() == nil && looking.Err() != nil:
			t.Late = true
			return nil
		case ctx.Err() != nil, limited.Err() == nil && !(flavor{}).lasting(err):
			return err
		}
		for _, s := range part {
			seen := s.seen()
			if err != nil {
				seen = ""
				if s.fits == nil {
					seen = seenTexts
				}
			}
			setNote(s.column, func(n *columnNote) { n.seen = seen })
		}
	}
	return nil
}

// sample is what the first rows of a column hold.
type sample struct {
	column *sqlengine.CatalogColumn
	expr   string         // of a value, without what is long and not asked for
	fits   func(any) bool // reports whether a value fits the declared type; nil: that says nothing
	moment func(any) bool // reports whether a value that is not a date is a datetime; nil: it is not asked

	values, fitting, moments, numbers, blobs int
}

// sampleOf returns an empty sample of a column; nil if its declared type says all.
func (t *table) sampleOf(c *sqlengine.CatalogColumn) *sample {
	name := flavor{}.Quote(c.Name)
	value := func(text string) string {
		return "CASE typeof(" + name + ") WHEN 'blob' THEN x'00' WHEN 'text' THEN " + text + " ELSE " + name + " END"
	}
	s := &sample{column: c, expr: value("''")}
	if undeclared(c.DataType, t.View) {
		return s
	}
	column := flavor{}.Column(name, *c)
	sent := func(decode func(any) (wire.Value, error)) func(any) bool {
		return func(v any) bool {
			cell, err := decode(v)
			return err == nil && !cell.IsNull()
		}
	}
	s.fits = sent(column.Decode)
	switch {
	case column.Valid == "":
		return nil
	case column.Type == wire.TypeString:
		return s
	case column.Type == wire.TypeJSON, column.Type == wire.TypeArray:
		s.expr = value("CASE WHEN " + column.Valid + " THEN '[]' ELSE '' END")
		s.fits = func(v any) bool { return v != "" && sent(column.Decode)(v) }
		return s
	case column.Type == wire.TypeDate:
		s.fits = func(v any) bool {
			text, ok := v.(string)
			return ok && len(text) == len(time.DateOnly) && sent(column.Decode)(v)
		}
		s.moment = sent(decode(wire.TypeDatetime))
	}
	s.expr = value(name)
	return s
}

// read fills samples from the table's first rows.
func (t *table) read(ctx context.Context, q sqlengine.Queryer, samples []*sample) error {
	exprs, values, targets := make([]string, len(samples)), make([]any, len(samples)), make([]any, len(samples))
	for i, s := range samples {
		exprs[i], targets[i] = s.expr, &values[i]
	}
	statement := "SELECT " + strings.Join(exprs, ", ") + " FROM " + t.note.table + " LIMIT ?1"
	return sqlengine.Each(ctx, q, statement, []any{lookRows}, func(scan func(...any) error) error {
		if err := scan(targets...); err != nil {
			return err
		}
		for i, s := range samples {
			s.add(values[i])
		}
		return nil
	})
}

// add counts a value.
func (s *sample) add(value any) {
	switch value.(type) {
	case nil:
		return
	case []byte:
		s.blobs++
	case int64, float64:
		s.numbers++
	}
	s.values++
	switch {
	case s.fits != nil && s.fits(value):
		s.fitting++
	case s.moment != nil && s.moment(value):
		s.moments++
	}
}

// seen returns what a column holds: nothing, if the declared type says so, and at
// least half of the values fit it.
func (s *sample) seen() string {
	switch {
	case s.fits != nil && s.fitting*2 >= s.values:
		return ""
	case s.moment != nil && (s.fitting+s.moments)*2 >= s.values:
		return seenDatetimes
	case s.values == 0:
		return seenTexts
	case s.numbers == s.values:
		return seenNumbers
	case s.blobs == s.values:
		return seenBlobs
	}
	return seenTexts
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
		own := flavor{}.Quote(name)
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
	f, c := flavor{}, *t.Column(name)
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
