package sqlsource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Catalog reads the pragmas, which match names without regard to case: a name
// is looked up to the letter first.
func (f sqlite) Catalog(ctx context.Context, q Queryer, schema string, names []string) ([]Table, []string, error) {
	var encoding string
	if err := q.QueryRowContext(ctx, "PRAGMA encoding").Scan(&encoding); err != nil {
		return nil, nil, err
	}
	statement := "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = ?1 AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
	args := []any{or(schema, "main")}
	if names != nil {
		var params []string
		for _, n := range names {
			args = append(args, n)
			params = append(params, f.Param(len(args)))
		}
		statement += " AND name COLLATE BINARY IN (" + strings.Join(params, ", ") + ")"
	}
	var tables []Table
	var notes []string
	var without []bool
	err := each(ctx, q, statement+" ORDER BY name", args, func(scan func(...any) error) error {
		var t Table
		var kind string
		var wr, strict bool
		if err := scan(&t.Name, &kind, &wr, &strict); err != nil {
			return err
		}
		t.View = kind == "view"
		note := ""
		if strict {
			note += noteStrict
		}
		if encoding != "UTF-8" {
			note += " " + noteUTF16
		}
		tables, notes, without = append(tables, t), append(notes, note), append(without, wr)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	described := tables[:0]
	for i, t := range tables {
		err := f.describe(ctx, q, or(schema, "main"), &t, notes[i], without[i])
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("The table %s is left out because it cannot be described: a view, perhaps, of a table that is gone.", wire.QuoteName(t.Name)))
		default:
			described = append(described, t)
		}
	}
	return described, warnings, nil
}

// describe fills in columns and keys.
func (f sqlite) describe(ctx context.Context, q Queryer, schema string, t *Table, note string, withoutRowID bool) error {
	keys := map[int]string{}
	notNull := true
	err := each(ctx, q, "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?1, ?2) WHERE hidden <> 1 ORDER BY cid", []any{t.Name, schema}, func(scan func(...any) error) error {
		c := CatalogColumn{Note: note}
		var required bool
		var pk int
		if err := scan(&c.Name, &c.DataType, &required, &pk); err != nil {
			return err
		}
		if pk > 0 {
			keys[pk] = c.Name
			notNull = notNull && required
		}
		c.Nullable = !required
		t.Columns = append(t.Columns, c)
		return nil
	})
	if err != nil || t.View {
		return err
	}
	ownIndex := false
	type index struct{ name string }
	var indexes []index
	err = each(ctx, q, "SELECT name, origin FROM pragma_index_list(?1, ?2) WHERE \"unique\" = 1 AND partial = 0", []any{t.Name, schema}, func(scan func(...any) error) error {
		var x index
		var origin string
		if err := scan(&x.name, &origin); err != nil {
			return err
		}
		ownIndex = ownIndex || origin == "pk"
		indexes = append(indexes, x)
		return nil
	})
	if err != nil {
		return err
	}
	for _, x := range indexes {
		var columns []string
		err := each(ctx, q, "SELECT coalesce(name, '') FROM pragma_index_xinfo(?1, ?2) WHERE key = 1 ORDER BY seqno", []any{x.name, schema}, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			columns = append(columns, name)
			return err
		})
		if err != nil {
			return err
		}
		if !slices.Contains(columns, "") { // an index on an expression proves nothing
			t.Unique = append(t.Unique, columns)
		}
	}
	for i := 1; i <= len(keys); i++ {
		t.PrimaryKey = append(t.PrimaryKey, keys[i])
	}
	if len(keys) > 0 {
		// A primary key may hold nulls here, unless it is the row's number, or
		// the table has none.
		single := t.column(t.PrimaryKey[0])
		rowID := len(keys) == 1 && strings.EqualFold(single.DataType, "INTEGER") && !withoutRowID && !ownIndex
		switch {
		case rowID:
			single.Nullable = false
			single.Note += " " + noteRowID
		case withoutRowID:
			for _, name := range t.PrimaryKey {
				t.column(name).Nullable = false
			}
		case !notNull:
			t.PrimaryKey = nil
		}
	}
	return f.foreignKeys(ctx, q, schema, t)
}

// foreignKeys reads the declared keys; SQLite enforces them only where a
// connection asks for it, and names tables and columns without regard to case.
func (f sqlite) foreignKeys(ctx context.Context, q Queryer, schema string, t *Table) error {
	byID := map[int]*ForeignKey{}
	var order []int
	err := each(ctx, q, `SELECT k.id, k."from", coalesce(m.name, k."table"),
		coalesce((SELECT x.name FROM pragma_table_xinfo(k."table", ?2) x WHERE x.name = k."to" COLLATE NOCASE OR k."to" IS NULL AND x.pk = k.seq + 1), '')
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
		if i := slices.IndexFunc(t.Columns, func(c CatalogColumn) bool { return strings.EqualFold(c.Name, from) }); i >= 0 && to != "" {
			k.Columns = append(k.Columns, t.Columns[i].Name)
			k.TargetColumns = append(k.TargetColumns, to)
		}
		return nil
	})
	for _, id := range order {
		t.ForeignKeys = append(t.ForeignKeys, *byID[id])
	}
	return err
}

// each runs a statement and calls row for every row of its answer.
func each(ctx context.Context, q Queryer, statement string, args []any, row func(scan func(...any) error) error) error {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
