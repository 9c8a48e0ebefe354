package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/request"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// doubtful returns the columns of which only a look at the values tells whether
// they are ever null on the wire although the catalog, or the host, says never, and those
// that may make rows equal on the wire which the engine tells apart.
func doubtful(r *session.Relation) []*sqltext.Column {
	var columns []*sqltext.Column
	for _, c := range r.Columns {
		inKey := slices.Contains(r.Primary, c)
		if c.Required && c.Valid != "" || inKey && (c.Nullable || c.Ambiguous()) {
			columns = append(columns, c)
		}
	}
	return columns
}

// unsendable is why a key with a null on the wire is left out.
const unsendable = "it has values that cannot be sent, which are null everywhere"

// checkKey looks for a null in the columns of the primary key that are not counted, and for
// two rows that it does not tell apart on the wire. It takes the host's word for a key that
// the host names.
func (d *discovery) checkKey(ctx context.Context, t *discovered) error {
	t.measured = true
	if !t.r.Enforced || t.keyChecked {
		return nil
	}
	var nulls []string
	for _, c := range t.r.Primary {
		if c.Nullable && t.tallies[c] == nil {
			nulls = append(nulls, c.Null())
		}
	}
	sound, err := d.NoneMatch(ctx, t.r, nulls...)
	switch {
	case err != nil:
		return err
	case !sound:
		t.keyBroken = unsendable
	case slices.ContainsFunc(t.r.Primary, (*sqltext.Column).Ambiguous):
		t.keyBroken, err = d.ambiguous(ctx, t)
	}
	t.keyChecked = err == nil
	return err
}

// ambiguous returns why a primary key may not tell its rows apart on the wire although the
// engine does, as where one moment is spelled in two ways; empty if it does.
func (d *discovery) ambiguous(ctx context.Context, t *discovered) (reason string, err error) {
	var keys, guards []string // guards of the columns that are not counted
	exact := true
	for _, c := range t.r.Primary {
		key := cmp.Or(c.GroupKey(), c.Tie)
		if c.Ambiguous() {
			key = c.GroupKey()
		}
		if key == "" {
			return "values that the database tells apart may be equal in an answer", nil
		}
		keys = append(keys, key)
		if n := t.tallies[c]; n == nil {
			guards = append(guards, c.Loose.Guard, c.Loose.Long)
		} else if c.Ambiguous() {
			exact = exact && n.Countable(c)
		}
	}
	if err := d.classify(ctx, t); err != nil {
		return "", err
	}
	if t.size == sizeLarge {
		return fmt.Sprintf("values that the database tells apart may be equal in an answer, and it has more than %d rows, too many to check them",
			countedRows), nil
	}
	if exact {
		exact, err = d.NoneMatch(ctx, t.r, guards...)
	}
	if err != nil {
		return "", err
	}
	if !exact {
		return "the database cannot tell which of its values are equal in an answer", nil
	}
	var most int64
	err = d.Row(ctx, t.r.Name, "SELECT COALESCE(MAX(n), 0) FROM (SELECT COUNT(*) AS n FROM "+t.r.From+
		" GROUP BY "+strings.Join(keys, ", ")+") counts", nil, &most)
	if err == nil && most > 1 {
		reason = "values that the database tells apart are equal in an answer"
	}
	return reason, err
}

// settleKey leaves out a primary key if a value of it is null on the wire or may be, or if two
// rows have the same. The fields of every other key are never null.
func (t *discovered) settleKey() {
	if t.left || len(t.table.PrimaryKey) == 0 {
		return
	}
	proven := true
	for _, c := range t.r.Primary {
		n := t.tallies[c]
		switch {
		case n != nil && n.Sendable < *t.table.RowCount:
			t.keyBroken = cmp.Or(t.keyBroken, unsendable)
		case t.r.Enforced && !t.keyChecked && (n == nil && c.Nullable || c.Ambiguous()):
			proven = false
		}
	}
	switch {
	case t.keyBroken != "":
		t.dropKey(t.keyBroken)
	case !proven && t.late:
		t.dropKey("") // as tooLate says
	case !proven:
		t.dropKey("there was no time to make sure that all its values can be sent, and tell rows apart")
	}
}

// dropKey leaves out the primary key, with a warning if there is a reason.
func (t *discovered) dropKey(reason string) {
	if reason != "" {
		t.leftKey("primary key", t.table.PrimaryKey, reason)
	}
	for _, c := range t.r.Primary {
		n := t.tallies[c]
		t.table.Field(c.Name).Nullable = c.Nullable && !(c.Required && n != nil && n.Sendable == n.Stored)
	}
	t.table.PrimaryKey = []string{}
}

// leftKey warns of a key that is left out.
func (t *discovered) leftKey(kind string, fields []string, reason string) {
	t.warn("In table %s, the %s (%s) is left out because %s.", kind, session.QuotedNames(fields), reason)
}

// doubt is a foreign key, from column to column, that rows may break.
type doubt struct {
	key     wire.ForeignKey
	settled bool
	broken  string // the reason why it is not declared; empty: it holds, or is not settled
}

// doubts returns the pairs of columns that only unproven keys of a table have.
func doubts(s *session.Database, t *session.Table) []doubt {
	var proven, unproven []sqlengine.Key
	for _, k := range t.Foreign {
		if t.Unproven(k) {
			unproven = append(unproven, k)
		} else {
			proven = append(proven, k)
		}
	}
	vouched := foreignKeys(s, t, proven)
	var doubts []doubt
	for _, key := range foreignKeys(s, t, unproven) {
		if !slices.Contains(vouched, key) {
			doubts = append(doubts, doubt{key: key})
		}
	}
	return doubts
}

// checkForeignKeys counts the values without a match of the foreign keys that rows
// may break, if both tables are small enough to be counted.
func (d *discovery) checkForeignKeys(ctx context.Context, t *discovered) error {
	for i := range t.doubts {
		k := &t.doubts[i]
		target := d.listed[k.key.TargetTable]
		if target == nil || target.left || target.table.Field(k.key.TargetField) == nil {
			continue // the answer does not have it anyway
		}
		broken, err := d.broken(ctx, t, target, k.key)
		if err != nil {
			return err
		}
		k.settled, k.broken = true, broken
	}
	return nil
}

// broken returns why a foreign key cannot be declared; empty if it can. It warns of
// values that are not in the target: the key is one of the database all the same
// [rule discovery-11], unless none of its values is there.
func (d *discovery) broken(ctx context.Context, from, to *discovered, key wire.ForeignKey) (reason string, err error) {
	for _, t := range []*discovered{from, to} {
		if err := d.classify(ctx, t); err != nil {
			return "", err
		}
		if t.size == sizeLarge {
			return fmt.Sprintf("the database does not enforce it, and the table %s has more than %d rows, too many to check it",
				terms.QuoteName(t.table.Name), countedRows), nil
		}
	}
	rate, err := request.Request{Session: d.Session}.LinkHitRate(ctx, &wire.LinkHitRateRequest{
		FromTable: from.table.Name, FromColumn: key.Field, ToTable: to.table.Name, ToColumn: key.TargetField,
	}, false)
	var tooMuch *measures.BudgetError
	switch {
	case session.ReasonOf(err).Lasting(), errors.As(err, &tooMuch):
		return "the database does not enforce it, and its values cannot be compared", nil
	case err != nil || rate.OrphanCount == 0:
		return "", err
	case rate.OrphanCount == rate.FromNonNull:
		return "none of its values is in the table " + terms.QuoteName(to.table.Name), nil
	}
	from.warn("In table %s, the foreign key (%s) is broken: %d of %d values are not in the table %s.",
		terms.QuoteName(key.Field), rate.OrphanCount, rate.FromNonNull, terms.QuoteName(to.table.Name))
	return "", nil
}

// keys drops foreign keys whose other end is not in the answer, or that were not
// checked, and warns of every key of the catalog that is left out, but not of
// what the host itself has hidden.
func (d *discovery) keys() {
	for _, t := range d.tables {
		if t.left {
			continue
		}
		t.table.ForeignKeys = slices.DeleteFunc(t.table.ForeignKeys, func(k wire.ForeignKey) bool {
			target := d.listed[k.TargetTable]
			return target == nil || target.left || target.table.Field(k.TargetField) == nil
		})
		for _, k := range t.r.Catalog.Omitted {
			if fields, served := keyFields(d.Database, t.r.Catalog, k.Columns); served && (k.Kind != sqlengine.PrimaryKey || len(t.r.Primary) == 0) {
				t.leftKey(k.Kind, fields, k.Omitted)
			}
		}
		if own := d.Database.Options.Tables[t.r.Catalog.Name].PrimaryKey; len(own) > 0 && t.r.Primary == nil {
			if _, served := keyFields(d.Database, t.r.Catalog, own); served {
				t.warn("In table %s, the primary key that the options of this connector name is left out because the table does not have " +
					"all of its columns, or the user may not read them.")
			}
		}
		for _, k := range t.r.Catalog.Foreign {
			if d.Database.Options.Serves(k.Target) {
				d.foreignKey(t, k, d.listed[d.Database.Options.PublicTable(k.Target)])
			}
		}
		t.doubtfulKeys()
		t.uniqueKeys()
	}
}

// doubtfulKeys drops the foreign keys that no row keeps to. It also drops those that rows
// may break, if time was too short for a check, and one warning for all tables names them.
func (t *discovered) doubtfulKeys() {
	for _, k := range t.doubts {
		i := slices.Index(t.table.ForeignKeys, k.key)
		if i < 0 || k.settled && k.broken == "" {
			continue
		}
		t.table.ForeignKeys = slices.Delete(t.table.ForeignKeys, i, i+1)
		switch {
		case k.settled:
			t.leftKey("foreign key", []string{k.key.Field}, k.broken)
		case !t.late:
			t.leftKey("foreign key", []string{k.key.Field}, "the database does not enforce it, and checking it took longer than a discovery allows")
		}
	}
}

// foreignKey warns of a foreign key that is left out, in full or in part. It does
// not name a table that is not in the answer, which these credentials may not be
// allowed to know of [rule tenant-6a].
func (d *discovery) foreignKey(t *discovered, k sqlengine.Key, target *discovered) {
	options := &d.Database.Options
	fields, served := keyFields(d.Database, t.r.Catalog, k.Columns)
	if !served {
		return
	}
	reason := ""
	switch {
	case len(k.Columns) > len(fields):
		reason = "the user may not read all of its columns"
	case target == nil || target.left:
		reason = "the table that it leads to is not in this answer: it does not exist, or the user may not read it"
	default:
		for _, column := range k.TargetColumns {
			public, served := options.PublicColumn(k.Target, column)
			if served && target.table.Field(public) == nil {
				reason = "the user may not read all of the columns that it leads to, or they do not exist"
			}
		}
	}
	if reason != "" {
		t.leftKey("foreign key", fields, reason)
	}
}

// keyFields returns the protocol's names of those columns of a key that the user
// may read. It reports false if the host hides one of them.
func keyFields(s *session.Database, t *session.Table, columns []string) (fields []string, served bool) {
	for _, column := range columns {
		public, shown := s.Options.PublicColumn(t.Name, column)
		if !shown {
			return nil, false
		}
		if t.Column(column) != nil {
			fields = append(fields, public)
		}
	}
	return fields, true
}

// uniqueKeys warns of unique columns that are not declared unique.
func (t *discovered) uniqueKeys() {
	for i, c := range t.r.Columns {
		f := &t.table.Fields[i]
		alone := func(key []string) bool { return len(key) == 1 && key[0] == f.SourceColumn }
		if !f.Unique && !slices.Equal(t.r.Primary, []*sqltext.Column{c}) && slices.ContainsFunc(t.r.Catalog.Unique, alone) {
			t.warn("In table %s, the field %s is not declared unique, although the database keeps it so, "+
				"because values that are equal here may be stored in several ways.", terms.QuoteName(c.Name))
		}
	}
}
