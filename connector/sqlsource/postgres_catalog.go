package sqlsource

import (
	"context"
	"strings"
)

// Catalog reads what the user may read. A column's DataType is the name of its
// type, or of the base type of its domain; the Note says how it is to be read.
func (f postgres) Catalog(ctx context.Context, q Queryer, schema string, names []string) ([]Table, []string, error) {
	// A cast to name cuts what is too long, and an index serves. The caller
	// compares names to the letter.
	args := []any{or(schema, "public")}
	visible := `n.nspname = $1::text::name AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_schema_privilege(n.oid, 'USAGE')
		AND has_any_column_privilege(c.oid, 'SELECT') AND NOT c.relispartition`
	if names != nil {
		var params []string
		for _, n := range names {
			if strings.IndexByte(n, 0) >= 0 {
				continue // no name has a NUL, and no text
			}
			args = append(args, n)
			params = append(params, f.Param(len(args))+"::text::name")
		}
		if len(params) == 0 {
			return nil, nil, nil
		}
		visible += " AND c.relname IN (" + strings.Join(params, ", ") + ")"
	}
	var list tableList
	err := f.columns(ctx, q, visible, args, &list)
	if err == nil && len(list.tables) > 0 {
		err = f.keys(ctx, q, visible, args, &list)
	}
	return list.tables, nil, err
}

// columns adds the tables that meet a condition, with their columns.
func (postgres) columns(ctx context.Context, q Queryer, visible string, args []any, list *tableList) error {
	statement := `SELECT c.relname::text, c.relkind::text, coalesce(obj_description(c.oid, 'pg_class'), ''), c.reltuples::float8::bigint,
		a.attname::text, coalesce(col_description(c.oid, a.attnum), ''), NOT a.attnotnull,
		b.typname::text, b.typcategory::text, b.typtype::text,
		CASE WHEN a.atttypmod >= 0 THEN a.atttypmod ELSE coalesce(nullif(t.typtypmod, -1), -1) END,
		current_setting('server_encoding')
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_catalog.pg_attribute a
			ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT')
		JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
		JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
		WHERE ` + visible + ` ORDER BY c.relname, a.attnum`
	return each(ctx, q, statement, args, func(scan func(...any) error) error {
		var t Table
		var c CatalogColumn
		var kind, category, typtype, encoding string
		var estimate, mod int64
		err := scan(&t.Name, &kind, &t.Comment, &estimate,
			&c.Name, &c.Comment, &c.Nullable, &c.DataType, &category, &typtype, &mod, &encoding)
		if err != nil {
			return err
		}
		t.View = kind == "v" || kind == "m"
		if estimate >= 0 && kind != "v" && kind != "f" {
			t.Estimate = &estimate
		}
		postgresType(&c, category, typtype, mod)
		if encoding != "UTF8" {
			c.Note += " " + noteEncoding
		}
		table := list.table(t)
		table.Columns = append(table.Columns, c)
		return nil
	})
}

// keys adds the keys of the tables in list. It leaves out keys with columns that
// the user may not read, and those of a table that others inherit from, which do
// not bind the rows of the others.
func (postgres) keys(ctx context.Context, q Queryer, visible string, args []any, list *tableList) error {
	statement := `SELECT c.relname::text, k.kind, k.id::text,
		(SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = k.col), coalesce(r.relname::text, ''),
		coalesce((SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = r.oid AND a.attnum = k.refcol), '')
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN (
			SELECT i.indrelid AS rel, CASE WHEN i.indisprimary THEN '` + primaryKey + `' ELSE '` + uniqueKey + `' END AS kind,
				i.indexrelid AS id, u.col, u.at, NULL::oid AS ref, NULL::smallint AS refcol
			FROM pg_catalog.pg_index i CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY u(col, at)
			WHERE i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL AND u.at <= i.indnkeyatts
				AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h JOIN pg_catalog.pg_class p ON p.oid = h.inhparent
					WHERE h.inhparent = i.indrelid AND p.relkind = 'r')
			UNION ALL
			SELECT f.conrelid, '` + foreignKey + `', f.oid, u.col, u.at, f.confrelid, f.confkey[u.at]
			FROM pg_catalog.pg_constraint f CROSS JOIN LATERAL unnest(f.conkey) WITH ORDINALITY u(col, at)
			WHERE f.contype = 'f'
		) k ON k.rel = c.oid
		LEFT JOIN pg_catalog.pg_class r ON r.oid = k.ref AND r.relnamespace = n.oid
		WHERE ` + visible + ` ORDER BY c.relname, k.kind, k.id, k.at`
	err := each(ctx, q, statement, args, func(scan func(...any) error) error {
		var table, kind, id, column, target, targetColumn string
		if err := scan(&table, &kind, &id, &column, &target, &targetColumn); err != nil {
			return err
		}
		if t := list.find(table); t != nil {
			t.addKey(kind, id, column, target, targetColumn)
		}
		return nil
	})
	for i := range list.tables {
		list.tables[i].keysRead()
	}
	return err
}

// postgresType completes a column's type, precision and scale from its typmod.
func postgresType(c *CatalogColumn, category, typtype string, mod int64) {
	switch {
	case category == "A":
		c.Note = c.DataType // the name of an array's type begins with a line and names its elements
		c.DataType = "array"
	case typtype == "e":
		c.DataType = "enum"
	}
	switch c.DataType {
	case "numeric":
		c.Precision, c.Scale = -1, -1
		if mod >= 4 {
			c.Precision = int((mod-4)>>16) & 0xffff
			c.Scale = int(mod-4) & 0x7ff
			if c.Scale > 1023 { // negative, since PostgreSQL 15
				c.Scale = -1
				c.Precision = -1
			}
		}
	case "timestamp", "timestamptz":
		c.Precision = 6
		if mod >= 0 {
			c.Precision = int(mod)
		}
	}
}
