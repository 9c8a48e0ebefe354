package sqlsource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Catalog reads the pragmas. They match names without regard to case, so it looks
// names up to the letter first.
func (f sqlite) Catalog(ctx context.Context, q Queryer, schema string, names []string) ([]Table, []string, error) {
	var encoding string
	if err := q.QueryRowContext(ctx, "PRAGMA encoding").Scan(&encoding); err != nil {
		return nil, nil, err
	}
	schema = or(schema, "main")
	statement := `SELECT name, type, wr, strict FROM pragma_table_list
		WHERE schema = ?1 AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`
	args := []any{schema}
	if names != nil {
		var params []string
		for _, n := range names {
			args = append(args, n)
			params = append(params, f.Param(len(args)))
		}
		statement += " AND name COLLATE BINARY IN (" + strings.Join(params, ", ") + ")"
	}
	var tables []sqliteTable
	err := each(ctx, q, statement+" ORDER BY name", args, func(scan func(...any) error) error {
		var t sqliteTable
		var kind string
		var strict bool
		if err := scan(&t.Name, &kind, &t.withoutRowID, &strict); err != nil {
			return err
		}
		t.View = kind == "view"
		t.note = sqliteNote{strict: strict, utf16: encoding != "UTF-8", view: t.View, table: f.Table(schema, t.Name)}
		tables = append(tables, t)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	var described []Table
	for _, t := range tables {
		err := t.describe(ctx, q, schema)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("The table %s is left out because it cannot be described. "+
				"It may be a view of a table that no longer exists.", wire.QuoteName(t.Name)))
		default:
			described = append(described, t.Table)
		}
	}
	return described, warnings, nil
}

// sqliteTable is a table that is being described.
type sqliteTable struct {
	Table
	note         sqliteNote // of its columns
	withoutRowID bool
}

// set changes what the Note of a column says.
func (c *CatalogColumn) set(change func(*sqliteNote)) {
	note := parseSQLiteNote(c.Note)
	change(&note)
	c.Note = note.String()
}

// describe adds columns and keys.
func (t *sqliteTable) describe(ctx context.Context, q Queryer, schema string) error {
	keys, err := t.columns(ctx, q, schema)
	if err != nil {
		return err
	}
	if err := t.look(ctx, q); err != nil || t.View {
		return err
	}
	indexed, err := t.indexes(ctx, q, schema)
	if err != nil {
		return err
	}
	t.primaryKey(keys, indexed)
	if err := t.dropLoose(ctx, q); err != nil {
		return err
	}
	return t.foreignKeys(ctx, q, schema)
}

// columns adds the columns, and returns those of the primary key in its order.
func (t *sqliteTable) columns(ctx context.Context, q Queryer, schema string) (keys []string, err error) {
	at := map[int]string{}
	const statement = `SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?1, ?2) WHERE hidden <> 1 ORDER BY cid`
	err = each(ctx, q, statement, []any{t.Name, schema}, func(scan func(...any) error) error {
		c := CatalogColumn{Note: t.note.String()}
		var required bool
		var pk int
		if err := scan(&c.Name, &c.DataType, &required, &pk); err != nil {
			return err
		}
		if pk > 0 {
			at[pk] = c.Name
		}
		c.Nullable = !required
		t.Columns = append(t.Columns, c)
		return nil
	})
	for i := 1; i <= len(at); i++ {
		keys = append(keys, at[i])
	}
	return keys, err
}

// indexes adds the unique indexes on columns, and marks the columns that an index
// in the order of their bytes begins with. It reports whether the primary key has
// an index of its own.
func (t *sqliteTable) indexes(ctx context.Context, q Queryer, schema string) (primary bool, err error) {
	type index struct {
		unique  bool
		columns []string
	}
	byName := map[string]*index{}
	var list []*index
	const statement = `SELECT l.name, l."unique", l.origin = 'pk', coalesce(x.name, ''), x.coll = 'BINARY'
		FROM pragma_index_list(?1, ?2) l, pragma_index_xinfo(l.name, ?2) x WHERE l.partial = 0 AND x.key = 1 ORDER BY l.seq, x.seqno`
	err = each(ctx, q, statement, []any{t.Name, schema}, func(scan func(...any) error) error {
		var name, column string
		var unique, isPrimary, binary bool
		if err := scan(&name, &unique, &isPrimary, &column, &binary); err != nil {
			return err
		}
		primary = primary || isPrimary
		i := byName[name]
		if i == nil {
			i = &index{unique: unique}
			byName[name] = i
			list = append(list, i)
			if c := t.column(column); c != nil && binary {
				c.Indexed = true
			}
		}
		i.columns = append(i.columns, column)
		return nil
	})
	for _, i := range list {
		if i.unique && !slices.Contains(i.columns, "") { // an index on an expression proves nothing
			t.Unique = append(t.Unique, i.columns)
		}
	}
	return primary, err
}

// primaryKey sets the primary key if it holds no nulls. SQLite lets them in,
// unless the key is the row's number or the table has none.
func (t *sqliteTable) primaryKey(keys []string, indexed bool) {
	if len(keys) == 0 {
		return
	}
	first := t.column(keys[0])
	switch {
	case t.withoutRowID:
		for _, name := range keys {
			t.column(name).Nullable = false
		}
	case len(keys) == 1 && strings.EqualFold(first.DataType, "INTEGER") && !indexed:
		first.Nullable = false
		first.Indexed = true
		first.set(func(n *sqliteNote) { n.rowID = true })
	case !t.notNull(keys):
		t.Omitted = append(t.Omitted, OmittedKey{Kind: OmittedPrimaryKey, Columns: keys, Reason: "SQLite lets nulls into it; " +
			"declare its columns NOT NULL, or name the key in the options of this connector"})
		return
	}
	t.PrimaryKey = keys
}

// foreignKeys adds the declared keys. SQLite enforces them only where a
// connection asks for it, and names tables and columns without regard to case.
func (t *sqliteTable) foreignKeys(ctx context.Context, q Queryer, schema string) error {
	byID := map[int]*ForeignKey{}
	dangling := map[int][]string{} // columns whose other end does not exist
	var order []int
	err := each(ctx, q, `SELECT k.id, k."from", coalesce(m.name, k."table"),
		coalesce((SELECT x.name FROM pragma_table_xinfo(k."table", ?2) x
			WHERE x.name = k."to" COLLATE NOCASE OR k."to" IS NULL AND x.pk = k.seq + 1), '')
		FROM pragma_foreign_key_list(?1, ?2) k LEFT JOIN pragma_table_list m ON m.schema = ?2 AND m.name = k."table" COLLATE NOCASE
		ORDER BY k.id DESC, k.seq`, []any{t.Name, schema}, func(scan func(...any) error) error {
		var id int
		var from, target, to string
		if err := scan(&id, &from, &target, &to); err != nil {
			return err
		}
		k := byID[id]
		if k == nil {
			k = &ForeignKey{Target: target}
			byID[id] = k
			order = append(order, id)
		}
		named := func(c CatalogColumn) bool { return strings.EqualFold(c.Name, from) }
		if i := slices.IndexFunc(t.Columns, named); i >= 0 && to != "" {
			k.Columns = append(k.Columns, t.Columns[i].Name)
			k.TargetColumns = append(k.TargetColumns, to)
		} else {
			dangling[id] = append(dangling[id], from)
		}
		return nil
	})
	for _, id := range order {
		if columns := dangling[id]; columns != nil {
			t.Omitted = append(t.Omitted, OmittedKey{Kind: OmittedForeignKey, Columns: columns,
				Reason: "the table or the columns that it leads to do not exist"})
		}
		if k := byID[id]; len(k.Columns) > 0 {
			t.ForeignKeys = append(t.ForeignKeys, *k)
		}
	}
	return err
}
