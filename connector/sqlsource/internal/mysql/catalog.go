package mysql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// columnNote is the Note of a catalog column.
type columnNote struct {
	boolean   bool   // an integer that a CHECK keeps 0 or 1
	json      bool   // a text that the engine keeps JSON
	unsigned  bool   // an integer
	zerofill  bool   // a number that the engine shows with zeros in front
	charset   string // of a text
	collation string // of a text
	foreign   bool   // a text whose bytes are not UTF-8
	mixed     bool   // a text that may be made of several collations, so that it has none
}

// noteOf returns the Note of a column; that of one without a note is empty.
func noteOf(c sqlengine.CatalogColumn) columnNote {
	note, _ := c.Note.(columnNote)
	return note
}

// setNote changes the Note of a column.
func setNote(c *sqlengine.CatalogColumn, change func(*columnNote)) {
	note := noteOf(*c)
	change(&note)
	c.Note = note
}

// Catalog reads information_schema, which shows what the user may use. It reads
// one table at a time if names are given, because the engine finds a table
// quickly only by equality with constants. Columns that the user may not read do
// not exist here.
func (f flavor) Catalog(ctx context.Context, q sqlengine.Queryer, schema string, names []string) ([]*sqlengine.Table, []string, error) {
	var current, version string
	if err := q.QueryRowContext(ctx, "SELECT COALESCE(DATABASE(), ''), VERSION()").Scan(&current, &version); err != nil {
		return nil, nil, err
	}
	scope := scope{Queryer: q, schema: cmp.Or(schema, current), server: parseVersion(version)}
	if names == nil {
		return scope.read(ctx)
	}
	var tables []*sqlengine.Table
	for _, name := range names {
		scope.table = &name
		found, _, err := scope.read(ctx)
		if err != nil {
			return nil, nil, err
		}
		tables = append(tables, found...)
	}
	return tables, nil, nil
}

// version is what a server says of itself.
type version struct {
	maria  bool
	number int // 101106 for 10.11.6
}

// parseVersion reads the answer of VERSION(), as 8.0.36 or 10.11.6-MariaDB.
func parseVersion(text string) version {
	v := version{maria: strings.Contains(text, "MariaDB")}
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789."))]
	parts := append(strings.Split(digits, "."), "0", "0")
	for _, part := range parts[:3] {
		n, _ := strconv.Atoi(part)
		v.number = v.number*100 + n
	}
	return v
}

// scope is what one reading of the catalog is about: a schema, or one table
// of it.
type scope struct {
	sqlengine.Queryer
	schema string
	table  *string
	server version
}

// where returns the condition on a view of information_schema whose columns'
// names begin with prefix, and its arguments.
func (s scope) where(prefix string) (where string, args []any) {
	where, args = prefix+"_SCHEMA = ?", []any{s.schema}
	if s.table != nil {
		where += " AND " + strings.Replace(prefix, "CONSTRAINT", "TABLE", 1) + "_NAME = ?"
		args = append(args, *s.table)
	}
	return where, args
}

// read returns all tables of the scope with their columns and keys, and warns of
// those that the user may not read.
func (s scope) read(ctx context.Context) (tables []*sqlengine.Table, warnings []string, err error) {
	list, byName, err := s.tables(ctx)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	for _, add := range []func(context.Context, map[string]*sqlengine.Table) error{s.columns, s.keys, s.foreignKeys, s.checks} {
		if err := add(ctx, byName); err != nil {
			return nil, nil, err
		}
	}
	for _, t := range list {
		if len(t.Columns) == 0 {
			warnings = append(warnings, fmt.Sprintf("The table %s is left out, because the user of the database does not have "+
				"the privilege SELECT on it, or on any of its columns.", terms.QuoteName(t.Name)))
			continue
		}
		tables = append(tables, t)
	}
	return tables, warnings, nil
}

// tables returns the tables, without columns. Names are compared to the letter,
// whatever the server's collation.
func (s scope) tables(ctx context.Context) (list []*sqlengine.Table, byName map[string]*sqlengine.Table, err error) {
	byName = map[string]*sqlengine.Table{}
	where, args := s.where("t.TABLE")
	err = sqlengine.Each(ctx, s, `SELECT t.TABLE_NAME, t.TABLE_TYPE = 'VIEW', COALESCE(t.TABLE_COMMENT, ''), t.TABLE_ROWS
		FROM information_schema.TABLES t
		WHERE `+where+` AND t.TABLE_TYPE IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
		ORDER BY t.TABLE_NAME, CAST(t.TABLE_NAME AS BINARY)`, args, func(scan func(...any) error) error {
		t := &sqlengine.Table{}
		err := scan(&t.Name, &t.View, &t.Comment, &t.Estimate)
		if err != nil || s.table != nil && *s.table != t.Name || byName[t.Name] != nil {
			return err
		}
		if t.View {
			t.Comment, t.Estimate = "", nil // only the word VIEW
		}
		byName[t.Name] = t
		list = append(list, t)
		return nil
	})
	return list, byName, err
}

// columns adds the columns that the user may read.
func (s scope) columns(ctx context.Context, tables map[string]*sqlengine.Table) error {
	where, args := s.where("c.TABLE")
	return sqlengine.Each(ctx, s, `SELECT c.TABLE_NAME, c.COLUMN_NAME, c.COLUMN_COMMENT, c.IS_NULLABLE = 'YES',
		LOWER(c.DATA_TYPE), LOWER(c.COLUMN_TYPE),
		COALESCE(c.NUMERIC_PRECISION, c.CHARACTER_OCTET_LENGTH, 0), COALESCE(c.NUMERIC_SCALE, 0), COALESCE(c.DATETIME_PRECISION, 0),
		COALESCE(c.CHARACTER_SET_NAME, ''), COALESCE(c.COLLATION_NAME, '')
		FROM information_schema.COLUMNS c
		WHERE `+where+` AND FIND_IN_SET('select', c.PRIVILEGES) > 0
		ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`, args, func(scan func(...any) error) error {
		var c sqlengine.CatalogColumn
		var table, columnType, charset, collation string
		var fraction int
		err := scan(&table, &c.Name, &c.Comment, &c.Nullable, &c.DataType, &columnType,
			&c.Precision, &c.Scale, &fraction, &charset, &collation)
		if err != nil {
			return err
		}
		if t := tables[table]; t != nil {
			note := completeType(&c, columnType, charset, collation, fraction)
			note.mixed = t.View && strings.HasSuffix(collation, "_bin") // which the server also says of columns without a collation
			c.Note = note
			t.Columns = append(t.Columns, c)
		}
		return nil
	})
}

// completeType completes a column, and returns what Column must know of its full type.
func completeType(c *sqlengine.CatalogColumn, columnType, charset, collation string, fraction int) (note columnNote) {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "double", "float":
		note.unsigned = strings.Contains(columnType, "unsigned")
		note.zerofill = strings.Contains(columnType, "zerofill")
	case "datetime", "timestamp":
		c.Precision = fraction
	case "binary", "varbinary":
		c.Precision = (c.Precision + 2) / 3 * 4 // as base64
	}
	if charset != "" {
		note.collation = collation
		note.charset, _, _ = strings.Cut(collation, "_")
		note.foreign = !slices.Contains([]string{"utf8mb4", "utf8mb3", "utf8", "ascii"}, charset)
	}
	return note
}
