package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// Catalog reads what the user may read. A column's DataType is the name of its
// type, or of the base type of its domain; the Note says how it is to be read.
func (f flavor) Catalog(ctx context.Context, q sqlengine.Queryer, schema string, names []string) ([]*sqlengine.Table, []string, error) {
	var args []any
	bind := func(arg any) string {
		args = append(args, arg)
		return f.Param(len(args))
	}
	inSchema, err := named(ctx, q, bind, "n.nspname", []string{cmp.Or(schema, "public")})
	if err != nil {
		return nil, nil, err
	}
	visible := inSchema + ` AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_schema_privilege(n.oid, 'USAGE')
		AND has_any_column_privilege(c.oid, 'SELECT') AND NOT c.relispartition`
	if names != nil {
		among, err := named(ctx, q, bind, "c.relname", names)
		if err != nil {
			return nil, nil, err
		}
		visible += " AND " + among
	}
	tables, byName, err := columns(ctx, q, visible, args)
	if err == nil && len(tables) > 0 {
		err = keys(ctx, q, visible, args, byName)
	}
	if err == nil && names == nil {
		err = omittedKeys(ctx, q, visible, args, byName)
	}
	return tables, nil, err
}

// named returns the condition that a column of names has one of these names. A
// cast to name cuts what is too long, and an index serves. The caller compares
// names to the letter. The server refuses a text with a character that its encoding
// lacks, so a name beyond ASCII is compared by its bytes unless all names are UTF-8.
func named(ctx context.Context, q sqlengine.Queryer, bind func(any) string, column string, names []string) (string, error) {
	encoding := encodingUTF8
	ascii := func(name string) bool { return strings.IndexFunc(name, func(r rune) bool { return r > 0x7f }) < 0 }
	if slices.ContainsFunc(names, func(name string) bool { return !ascii(name) }) {
		if err := q.QueryRowContext(ctx, "SELECT current_setting('server_encoding')").Scan(&encoding); err != nil {
			return "", err
		}
	}
	conditions := []string{"1 = 0"}
	for _, name := range names {
		switch {
		case strings.IndexByte(name, 0) >= 0: // no name has a NUL, and no text
		case ascii(name), encoding == encodingUTF8, encoding == encodingASCII:
			conditions = append(conditions, column+" = "+bind(name)+"::text::name")
		default:
			conditions = append(conditions, "convert_to("+column+"::text, 'UTF8') = "+bind([]byte(name))+"::bytea")
		}
	}
	if len(conditions) > 1 {
		conditions = conditions[1:]
	}
	return "(" + strings.Join(conditions, " OR ") + ")", nil
}

// baseType is the base type of a domain t, through any number of domains, with
// the modifier of the innermost that has one. A domain over a domain has none of
// its own.
const baseType = `(WITH RECURSIVE chain AS (
			SELECT t.typbasetype AS base, t.typtypmod AS mod, t.typnotnull AS filled WHERE t.typtype = 'd'
			UNION ALL
			SELECT u.typbasetype, CASE WHEN u.typtypmod >= 0 THEN u.typtypmod ELSE chain.mod END, chain.filled OR u.typnotnull
			FROM chain JOIN pg_catalog.pg_type u ON u.oid = chain.base AND u.typtype = 'd'
		) SELECT chain.base, chain.mod, chain.filled
		FROM chain JOIN pg_catalog.pg_type u ON u.oid = chain.base AND u.typtype <> 'd')`

// nameBytes returns an expression of the UTF-8 of a name or a comment, as bytes:
// a server that does not know the encoding of its texts refuses to send those that
// are not UTF-8 as texts.
func nameBytes(expr string) string {
	return "convert_to(" + expr + "::text, CASE current_setting('server_encoding') WHEN '" + encodingASCII + "' THEN '" + encodingASCII +
		"' ELSE '" + encodingUTF8 + "' END)"
}

// bytewiseDefault is the condition that the database's own collation is byte
// order. Other columns of pg_database say so since PostgreSQL 15.
const bytewiseDefault = `EXISTS (SELECT FROM pg_catalog.pg_database d WHERE d.datname = current_database() AND
		CASE coalesce(to_jsonb(d)->>'datlocprovider', 'c')
			WHEN 'c' THEN d.datcollate IN ('C', 'POSIX') WHEN 'b' THEN to_jsonb(d)->>'datlocale' IN ('C', 'C.UTF-8') ELSE false END)`

// servingIndex is the condition that an index begins with a column, has all rows, and is
// ordered by the type, or for texts by their key.
const servingIndex = `EXISTS (SELECT FROM pg_catalog.pg_index i
		JOIN pg_catalog.pg_opclass oc ON oc.oid = i.indclass[0] AND oc.opcdefault AND oc.opcmethod = 403 -- a B-tree
		WHERE i.indrelid = c.oid AND i.indkey[0] = a.attnum AND i.indisvalid AND i.indpred IS NULL AND i.indoption[0] IN (0, 3)
			AND i.indcollation[0] = CASE WHEN b.typname NOT IN ('text', 'varchar') OR a.attcollation = 100 AND s.bytewise
				THEN a.attcollation ELSE 950 END)`

// estimate is how many rows the server believes a table to have, with those of its partitions and of the
// tables that inherit from it; -1 if it does not know. What it notes of the table itself is without them.
const estimate = `(CASE WHEN c.relkind <> 'p' AND NOT c.relhassubclass THEN c.reltuples ELSE (
		WITH RECURSIVE tree AS (
			SELECT c.oid, c.relkind, c.reltuples
			UNION ALL
			SELECT h.oid, h.relkind, h.reltuples
			FROM tree JOIN pg_catalog.pg_inherits i ON i.inhparent = tree.oid JOIN pg_catalog.pg_class h ON h.oid = i.inhrelid
		) SELECT CASE WHEN min(tree.reltuples) < 0 THEN -1 ELSE coalesce(sum(tree.reltuples), 0) END
		FROM tree WHERE tree.relkind <> 'p') END)::float8::bigint`

// columns returns the tables that meet a condition, with their columns. A column
// whose domain is NOT NULL is so in a table; a view may join nulls to it.
func columns(
	ctx context.Context, q sqlengine.Queryer, visible string, args []any,
) (tables []*sqlengine.Table, byName map[string]*sqlengine.Table, err error) {
	byName = map[string]*sqlengine.Table{}
	statement := `SELECT ` + nameBytes("c.relname") + `, c.relkind::text, ` +
		nameBytes("coalesce(obj_description(c.oid, 'pg_class'), '')") + `,
		` + estimate + `, ` + nameBytes("a.attname") + `, ` + nameBytes("coalesce(col_description(c.oid, a.attnum), '')") + `,
		NOT (a.attnotnull OR coalesce(d.filled, false) AND c.relkind IN ('r', 'p')),
		` + nameBytes("b.typname") + `, b.typcategory::text, b.typtype::text, greatest(a.atttypmod, d.mod, -1), ` + servingIndex + `,
		current_setting('server_encoding'), current_setting('server_version_num')::bigint, a.attcollation::bigint,
		a.attcollation IN (950, 951) OR a.attcollation = 100 AND s.bytewise
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_catalog.pg_attribute a
			ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT')
		JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
		LEFT JOIN LATERAL ` + baseType + ` d ON t.typtype = 'd'
		JOIN pg_catalog.pg_type b ON b.oid = coalesce(d.base, a.atttypid)
		CROSS JOIN (SELECT ` + bytewiseDefault + ` AS bytewise) s
		WHERE ` + visible + ` ORDER BY c.relname, a.attnum`
	err = sqlengine.Each(ctx, q, statement, args, func(scan func(...any) error) error {
		var t sqlengine.Table
		var c sqlengine.CatalogColumn
		var note columnNote
		var kind, category, typtype string
		var estimate, mod int64
		err := scan(&t.Name, &kind, &t.Comment, &estimate, &c.Name, &c.Comment, &c.Nullable, &c.DataType, &category, &typtype, &mod,
			&c.Indexed, &note.encoding, &note.version, &note.collation, &note.bytewise)
		if err != nil {
			return err
		}
		t.View = kind == "v" // a materialized view stores its rows
		if estimate >= 0 && kind != "v" && kind != "f" {
			t.Estimate = &estimate
		}
		if category == "A" {
			note.array = c.DataType
		}
		completeType(&c, category, typtype, mod)
		c.Note = note
		table := byName[t.Name]
		if table == nil {
			table = &t
			byName[t.Name] = table
			tables = append(tables, table)
		}
		table.Columns = append(table.Columns, c)
		return nil
	})
	return tables, byName, err
}

// unprovenForeign is the condition that rows may break a foreign key f: it was not
// validated, covers a period, or has its triggers switched off; the rows of inheriting
// tables are not bound; and a policy may hide the rows that it leads to.
const unprovenForeign = `coalesce(NOT f.convalidated OR to_jsonb(f)->>'conperiod' = 'true' OR row_security_active(f.confrelid)
			OR EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgconstraint = f.oid AND g.tgenabled NOT IN ('O', 'A'))
			OR EXISTS (SELECT FROM pg_catalog.pg_inherits h JOIN pg_catalog.pg_class p ON p.oid = h.inhparent
				WHERE h.inhparent = f.conrelid AND p.relkind = 'r'), false)`

// keys adds the keys of the tables. It leaves out those of a table that others inherit
// from, which do not bind the rows of the others.
func keys(ctx context.Context, q sqlengine.Queryer, visible string, args []any, tables map[string]*sqlengine.Table) error {
	statement := `SELECT ` + nameBytes("c.relname") + `, k.kind, k.unproven, k.id::text,
		(SELECT ` + nameBytes("a.attname") + ` FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = k.col),
		coalesce((SELECT ` + nameBytes("s.nspname") + ` FROM pg_catalog.pg_namespace s WHERE s.oid = r.relnamespace AND s.oid <> n.oid), ''),
		coalesce(` + nameBytes("r.relname") + `, ''),
		coalesce((SELECT ` + nameBytes("a.attname") + ` FROM pg_catalog.pg_attribute a WHERE a.attrelid = r.oid AND a.attnum = k.refcol), '')
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN (
			SELECT i.indrelid AS rel,
				CASE WHEN i.indisprimary THEN '` + sqlengine.PrimaryKey + `' ELSE '` + sqlengine.UniqueKey + `' END AS kind,
				false AS unproven, i.indexrelid AS id, u.col, u.at, NULL::oid AS ref, NULL::smallint AS refcol
			FROM pg_catalog.pg_index i CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY u(col, at)
			WHERE i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL AND u.at <= i.indnkeyatts
				AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h JOIN pg_catalog.pg_class p ON p.oid = h.inhparent
					WHERE h.inhparent = i.indrelid AND p.relkind = 'r')
			UNION ALL
			SELECT f.conrelid, '` + sqlengine.ForeignKey + `', ` + unprovenForeign + `, f.oid, u.col, u.at, f.confrelid, f.confkey[u.at]
			FROM pg_catalog.pg_constraint f CROSS JOIN LATERAL unnest(f.conkey) WITH ORDINALITY u(col, at)
			WHERE f.contype = 'f' AND f.conparentid = 0 -- a key to a partitioned table has one more for each partition
		) k ON k.rel = c.oid
		LEFT JOIN pg_catalog.pg_class r ON r.oid = k.ref
		WHERE ` + visible + ` ORDER BY c.relname, k.kind, k.id, k.at`
	return sqlengine.Each(ctx, q, statement, args, func(scan func(...any) error) error {
		k := sqlengine.Key{Columns: make([]string, 1)}
		var table, targetColumn string
		if err := scan(&table, &k.Kind, &k.Unproven, &k.ID, &k.Columns[0], &k.TargetSchema, &k.Target, &targetColumn); err != nil {
			return err
		}
		if k.Kind == sqlengine.ForeignKey {
			k.TargetColumns = []string{targetColumn}
		}
		if t := tables[table]; t != nil {
			t.Keys = append(t.Keys, k)
		}
		return nil
	})
}

// completeType completes a column's type, precision and scale from its typmod.
func completeType(c *sqlengine.CatalogColumn, category, typtype string, mod int64) {
	switch {
	case category == "A":
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
