package sqlsource

import (
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// doubtful returns the columns of which only a look at the values tells whether
// they are ever null on the wire although the catalog, or the host, says never.
func (r *relation) doubtful() []*Column {
	var columns []*Column
	for _, c := range r.columns {
		if c.required && c.Valid != "" || c.nullable && slices.Contains(r.primary, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// checkKey looks for a null in the primary key of a table that is not counted.
// It takes the host's word for a key that the host names.
func (d *discovery) checkKey(ctx context.Context, t *discovered) error {
	if !t.r.enforced {
		return nil
	}
	var nulls []string
	for _, c := range t.r.primary {
		if c.nullable {
			nulls = append(nulls, c.null())
		}
	}
	sound, err := d.noneMatch(ctx, t.r, nulls...)
	t.keyChecked, t.keyBroken = err == nil, err == nil && !sound
	return err
}

// settleKey leaves out a primary key with values that are null on the wire, or
// that may be. The fields of every other are never null.
func (t *discovered) settleKey() {
	if t.left || len(t.table.PrimaryKey) == 0 {
		return
	}
	proven := true
	for _, c := range t.r.primary {
		n := t.tallies[c]
		switch {
		case n != nil:
			t.keyBroken = t.keyBroken || n.sendable < *t.table.RowCount
		case c.nullable && t.r.enforced && !t.keyChecked:
			proven = false
		}
	}
	switch {
	case t.keyBroken:
		t.dropKey("it has values that cannot be sent, which are null everywhere")
	case !proven:
		t.dropKey("there was no time to make sure that all its values can be sent")
	}
}

// dropKey leaves out the primary key, with a warning.
func (t *discovered) dropKey(reason string) {
	t.leftKey("primary key", t.table.PrimaryKey, reason)
	for _, c := range t.r.primary {
		t.table.Field(c.name).Nullable = true
	}
	t.table.PrimaryKey = []string{}
}

// fieldNames returns quoted names as a warning lists them.
func fieldNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = wire.QuoteName(name)
	}
	return strings.Join(quoted, ", ")
}

// leftKey warns of a key that is left out.
func (t *discovered) leftKey(kind string, fields []string, reason string) {
	t.warn("In table %s, the %s (%s) is left out because %s.", kind, fieldNames(fields), reason)
}

// keys drops foreign keys whose other end is not in the answer, and warns of every
// key of the catalog that is left out, but not of what the host itself has hidden.
func (d *discovery) keys() {
	listed := map[string]*wire.Table{}
	for _, t := range d.tables {
		if !t.left {
			listed[t.table.Name] = t.table
		}
	}
	for _, t := range d.tables {
		if t.left {
			continue
		}
		t.table.ForeignKeys = slices.DeleteFunc(t.table.ForeignKeys, func(k wire.ForeignKey) bool {
			target := listed[k.TargetTable]
			return target == nil || target.Field(k.TargetField) == nil
		})
		for _, k := range t.r.catalog.Omitted {
			if fields, served := d.source.keyFields(t.r.catalog, k.Columns); served && (k.Kind != OmittedPrimaryKey || len(t.r.primary) == 0) {
				t.leftKey(string(k.Kind), fields, k.Reason)
			}
		}
		for _, k := range t.r.catalog.ForeignKeys {
			if d.source.options.serves(k.Target) {
				d.foreignKey(t, k, listed[d.source.options.publicTable(k.Target)])
			}
		}
		t.uniqueKeys()
	}
}

// foreignKey warns of a foreign key that is left out, in full or in part. It does
// not name a table that is not in the answer, which these credentials may not be
// allowed to know of [rule tenant-6a].
func (d *discovery) foreignKey(t *discovered, k ForeignKey, target *wire.Table) {
	options := &d.source.options
	fields, served := d.source.keyFields(t.r.catalog, k.Columns)
	if !served {
		return
	}
	reason := ""
	switch {
	case len(k.Columns) > len(fields):
		reason = "the user may not read all of its columns"
	case target == nil:
		reason = "the table that it leads to is not in this answer: it does not exist, or the user may not read it"
	default:
		for _, column := range k.TargetColumns {
			public, served := options.publicColumn(k.Target, column)
			if served && target.Field(public) == nil {
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
func (s *Source) keyFields(t Table, columns []string) (fields []string, served bool) {
	for _, column := range columns {
		public, shown := s.options.publicColumn(t.Name, column)
		if !shown {
			return nil, false
		}
		if t.column(column) != nil {
			fields = append(fields, public)
		}
	}
	return fields, true
}

// uniqueKeys warns of unique columns that are not declared unique.
func (t *discovered) uniqueKeys() {
	for i, c := range t.r.columns {
		f := &t.table.Fields[i]
		alone := func(key []string) bool { return len(key) == 1 && key[0] == f.SourceColumn }
		if !f.Unique && slices.ContainsFunc(t.r.catalog.Unique, alone) {
			t.warn("In table %s, the field %s is not declared unique, although the database keeps it so, "+
				"because values that are equal here may be stored in several ways.", wire.QuoteName(c.name))
		}
	}
}
