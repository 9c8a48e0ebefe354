package sqlsource

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// The words of a catalog column's Note.
const (
	noteJSON     = "json"     // a text that the engine keeps JSON
	noteCharset  = "charset"  // a text whose bytes are not UTF-8
	noteUnsigned = "unsigned" // an integer
)

// Catalog reads information_schema, which shows what the user may use. It reads
// one table at a time if names are given, because the engine finds a table
// quickly only by equality with constants.
func (f mysql) Catalog(ctx context.Context, q Queryer, schema string, names []string) ([]Table, []string, error) {
	if schema == "" {
		var current sql.NullString
		if err := q.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&current); err != nil {
			return nil, nil, err
		}
		schema = current.String
	}
	if names == nil {
		tables, err := mysqlScope{Queryer: q, schema: schema}.read(ctx)
		return tables, nil, err
	}
	var tables []Table
	for _, name := range names {
		found, err := mysqlScope{q, schema, &name}.read(ctx)
		if err != nil {
			return nil, nil, err
		}
		tables = append(tables, found...)
	}
	return tables, nil, nil
}

// mysqlScope is what one reading of the catalog is about: a schema, or one table
// of it.
type mysqlScope struct {
	Queryer
	schema string
	table  *string
}

// where returns the condition on views of information_schema, named by the
// prefixes of their columns, and its arguments.
func (s mysqlScope) where(prefixes ...string) (where string, args []any) {
	var conditions []string
	for _, prefix := range prefixes {
		conditions = append(conditions, prefix+"_SCHEMA = ?")
		args = append(args, s.schema)
		if s.table != nil {
			conditions = append(conditions, strings.Replace(prefix, "CONSTRAINT", "TABLE", 1)+"_NAME = ?")
			args = append(args, *s.table)
		}
	}
	return strings.Join(conditions, " AND "), args
}

// read returns all tables of the scope with their columns and keys.
func (s mysqlScope) read(ctx context.Context) ([]Table, error) {
	var list tableList
	if err := s.columns(ctx, &list); err != nil || len(list.tables) == 0 {
		return nil, err
	}
	if err := s.keys(ctx, &list); err != nil {
		return nil, err
	}
	for i := range list.tables {
		list.tables[i].keysRead()
	}
	return list.tables, s.jsonColumns(ctx, &list)
}

// columns adds the tables with their columns. Names are compared to the letter,
// whatever the server's collation.
func (s mysqlScope) columns(ctx context.Context, list *tableList) error {
	where, args := s.where("c.TABLE", "t.TABLE")
	return each(ctx, s, `SELECT c.TABLE_NAME, t.TABLE_TYPE, COALESCE(t.TABLE_COMMENT, ''), t.TABLE_ROWS,
		c.COLUMN_NAME, c.COLUMN_COMMENT, c.IS_NULLABLE = 'YES', LOWER(c.DATA_TYPE), LOWER(c.COLUMN_TYPE),
		COALESCE(c.NUMERIC_PRECISION, c.CHARACTER_OCTET_LENGTH, 0), COALESCE(c.NUMERIC_SCALE, 0), COALESCE(c.DATETIME_PRECISION, 0),
		COALESCE(c.CHARACTER_SET_NAME, '')
		FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
		WHERE `+where+` AND t.TABLE_TYPE IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
		ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`, args, func(scan func(...any) error) error {
		var t Table
		var c CatalogColumn
		var kind, columnType, charset string
		var rows sql.NullInt64
		var fraction int
		err := scan(&t.Name, &kind, &t.Comment, &rows,
			&c.Name, &c.Comment, &c.Nullable, &c.DataType, &columnType, &c.Precision, &c.Scale, &fraction, &charset)
		if err != nil || s.table != nil && *s.table != t.Name {
			return err
		}
		if t.View = kind == "VIEW"; t.View {
			t.Comment = "" // only the word VIEW
		} else if rows.Valid {
			t.Estimate = &rows.Int64
		}
		mysqlType(&c, columnType, charset, fraction)
		table := list.table(t)
		table.Columns = append(table.Columns, c)
		return nil
	})
}

// keys adds the keys of the tables in list.
func (s mysqlScope) keys(ctx context.Context, list *tableList) error {
	read := func(statement string, args []any) error {
		return each(ctx, s, statement, args, func(scan func(...any) error) error {
			var table, kind, key, column, target, targetColumn string
			if err := scan(&table, &kind, &key, &column, &target, &targetColumn); err != nil {
				return err
			}
			if t := list.find(table); t != nil {
				t.addKey(kind, key, column, target, targetColumn)
			}
			return nil
		})
	}
	where, args := s.where("k.TABLE")
	err := read(`SELECT k.TABLE_NAME, CASE k.INDEX_NAME WHEN 'PRIMARY' THEN '`+primaryKey+`' ELSE '`+uniqueKey+`' END,
		k.INDEX_NAME, COALESCE(k.COLUMN_NAME, ''), '', ''
		FROM information_schema.STATISTICS k
		WHERE `+where+` AND k.NON_UNIQUE = 0 AND k.INDEX_TYPE <> 'FULLTEXT'
		ORDER BY k.TABLE_NAME, k.INDEX_NAME, k.SEQ_IN_INDEX`, args)
	if err != nil {
		return err
	}
	return read(`SELECT k.TABLE_NAME, '`+foreignKey+`', k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME
		FROM information_schema.KEY_COLUMN_USAGE k
		WHERE `+where+` AND k.REFERENCED_TABLE_SCHEMA = k.TABLE_SCHEMA
		ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`, args)
}

// jsonColumns notes the texts that MariaDB keeps JSON.
func (s mysqlScope) jsonColumns(ctx context.Context, list *tableList) error {
	longText := func(c CatalogColumn) bool { return c.DataType == "longtext" }
	if !slices.ContainsFunc(list.tables, func(t Table) bool { return slices.ContainsFunc(t.Columns, longText) }) {
		return nil
	}
	var version string
	err := s.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
	if err != nil || !strings.Contains(version, "MariaDB") {
		return err
	}
	where, args := s.where("k.CONSTRAINT")
	statement := "SELECT k.TABLE_NAME, k.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS k WHERE " + where
	return each(ctx, s, statement, args, func(scan func(...any) error) error {
		var table, clause string
		if err := scan(&table, &clause); err != nil {
			return err
		}
		if t := list.find(table); t != nil {
			for i := range t.Columns {
				if c := &t.Columns[i]; clause == "json_valid("+(mysql{}).Quote(c.Name)+")" {
					c.Note += " " + noteJSON
				}
			}
		}
		return nil
	})
}

// mysqlType completes a column with what Column must know of its full type.
func mysqlType(c *CatalogColumn, columnType, charset string, fraction int) {
	switch c.DataType {
	case "tinyint":
		if strings.HasPrefix(columnType, "tinyint(1)") {
			c.DataType = "boolean"
		}
	case "bit":
		if columnType == "bit(1)" {
			c.DataType = "boolean"
		}
	case "datetime", "timestamp":
		c.Precision = fraction
	case "binary", "varbinary":
		c.Precision = (c.Precision + 2) / 3 * 4 // as base64
	}
	if strings.Contains(columnType, "unsigned") {
		c.Note += " " + noteUnsigned
	}
	switch charset {
	case "", "utf8mb4", "utf8mb3", "utf8", "ascii":
	default:
		c.Note += " " + noteCharset
	}
}
