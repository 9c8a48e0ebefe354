package sqlsource

import (
	"context"
	"database/sql"
	"strings"
)

const (
	noteJSON     = "json"     // a text that the engine keeps JSON
	noteCharset  = "charset"  // a text whose bytes are not UTF-8
	noteUnsigned = "unsigned" // an integer
)

// Catalog reads information_schema, which shows what the user may use. It is
// asked for one table at a time where names are given: the engine finds a table
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
		tables, err := f.describe(ctx, q, schema, nil)
		return tables, nil, err
	}
	var tables []Table
	for _, name := range names {
		found, err := f.describe(ctx, q, schema, &name)
		if err != nil {
			return nil, nil, err
		}
		tables = append(tables, found...)
	}
	return tables, nil, nil
}

// place is the condition on a view of information_schema for one schema, or one
// table of it.
func place(schema string, name *string, columns ...string) (where string, args []any) {
	for _, c := range columns {
		if where != "" {
			where += " AND "
		}
		where += c + "_SCHEMA = ?"
		args = append(args, schema)
		if name != nil {
			where += " AND " + strings.Replace(c, "CONSTRAINT", "TABLE", 1) + "_NAME = ?"
			args = append(args, *name)
		}
	}
	return where, args
}

// describe describes all tables, or one. Names are compared to the letter,
// whatever the server's collation.
func (f mysql) describe(ctx context.Context, q Queryer, schema string, name *string) ([]Table, error) {
	where, args := place(schema, name, "c.TABLE", "t.TABLE")
	var tables []Table
	at := map[string]int{}
	err := each(ctx, q, `SELECT c.TABLE_NAME, t.TABLE_TYPE, COALESCE(t.TABLE_COMMENT, ''), t.TABLE_ROWS,
		c.COLUMN_NAME, c.COLUMN_COMMENT, c.IS_NULLABLE = 'YES', LOWER(c.DATA_TYPE), LOWER(c.COLUMN_TYPE),
		COALESCE(c.NUMERIC_PRECISION, c.CHARACTER_OCTET_LENGTH, 0), COALESCE(c.NUMERIC_SCALE, 0), COALESCE(c.DATETIME_PRECISION, 0), COALESCE(c.CHARACTER_SET_NAME, '')
		FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
		WHERE `+where+` AND t.TABLE_TYPE IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
		ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`, args, func(scan func(...any) error) error {
		var t Table
		var c CatalogColumn
		var kind, columnType, charset string
		var rows sql.NullInt64
		var fraction int
		if err := scan(&t.Name, &kind, &t.Comment, &rows, &c.Name, &c.Comment, &c.Nullable, &c.DataType, &columnType, &c.Precision, &c.Scale, &fraction, &charset); err != nil {
			return err
		}
		if name != nil && *name != t.Name {
			return nil
		}
		i, known := at[t.Name]
		if !known {
			if t.View = kind == "VIEW"; t.View {
				t.Comment = "" // only the word VIEW
			} else if rows.Valid {
				t.Estimate = &rows.Int64
			}
			i = len(tables)
			at[t.Name] = i
			tables = append(tables, t)
		}
		mysqlType(&c, columnType, charset, fraction)
		tables[i].Columns = append(tables[i].Columns, c)
		return nil
	})
	if err != nil || len(tables) == 0 {
		return nil, err
	}
	where, args = place(schema, name, "k.TABLE")
	err = each(ctx, q, `SELECT k.TABLE_NAME, k.INDEX_NAME, COALESCE(k.COLUMN_NAME, '')
		FROM information_schema.STATISTICS k
		WHERE `+where+` AND k.NON_UNIQUE = 0 AND k.INDEX_TYPE <> 'FULLTEXT'
		ORDER BY k.TABLE_NAME, k.INDEX_NAME, k.SEQ_IN_INDEX`, args, func(scan func(...any) error) error {
		var table, index, column string
		if err := scan(&table, &index, &column); err != nil {
			return err
		}
		if i, known := at[table]; known {
			kind := "u"
			if index == "PRIMARY" {
				kind = "p"
			}
			tables[i].addKey(kind, index, column, "", "")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, q, `SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME
		FROM information_schema.KEY_COLUMN_USAGE k
		WHERE `+where+` AND k.REFERENCED_TABLE_SCHEMA = k.TABLE_SCHEMA
		ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`, args, func(scan func(...any) error) error {
		var table, key, column, target, targetColumn string
		if err := scan(&table, &key, &column, &target, &targetColumn); err != nil {
			return err
		}
		if i, known := at[table]; known {
			tables[i].addKey("f", key, column, target, targetColumn)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range tables {
		tables[i].settle()
	}
	return tables, f.checked(ctx, q, schema, name, tables, at)
}

// checked finds the texts that MariaDB keeps JSON.
func (f mysql) checked(ctx context.Context, q Queryer, schema string, name *string, tables []Table, at map[string]int) error {
	texts := false
	for _, t := range tables {
		for _, c := range t.Columns {
			texts = texts || c.DataType == "longtext"
		}
	}
	if !texts {
		return nil
	}
	var version string
	if err := q.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil || !strings.Contains(version, "MariaDB") {
		return err
	}
	where, args := place(schema, name, "k.CONSTRAINT")
	return each(ctx, q, "SELECT k.TABLE_NAME, k.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS k WHERE "+where, args, func(scan func(...any) error) error {
		var table, clause string
		if err := scan(&table, &clause); err != nil {
			return err
		}
		i, known := at[table]
		if !known {
			return nil
		}
		for n := range tables[i].Columns {
			if c := &tables[i].Columns[n]; clause == "json_valid("+f.Quote(c.Name)+")" {
				c.Note += " " + noteJSON
			}
		}
		return nil
	})
}

// mysqlType makes of a column's full type what Column has to know.
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
