package firebird_test

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// textNote is the Note of a text: the numbers of its character set and its collation.
type textNote struct{ charset, collation int }

// Catalog implements [sqlengine.Flavor]. It reads the whole catalog and picks the named
// tables itself, because the engine's names are padded with blanks.
func (flavor) Catalog(ctx context.Context, q sqlengine.Queryer, schema string, names []string) ([]*sqlengine.Table, []string, error) {
	if schema != "" {
		return nil, nil, nil
	}
	c := catalog{ctx: ctx, q: q, tables: map[string]*sqlengine.Table{}}
	c.each(`SELECT TRIM(TRAILING FROM RDB$RELATION_NAME), COALESCE(CAST(RDB$DESCRIPTION AS VARCHAR(2000)), ''),
		CASE WHEN RDB$VIEW_BLR IS NULL THEN 0 ELSE 1 END
		FROM RDB$RELATIONS WHERE COALESCE(RDB$SYSTEM_FLAG, 0) = 0 ORDER BY RDB$RELATION_NAME`,
		func(scan func(...any) error) error {
			t := &sqlengine.Table{}
			var view int64
			err := scan(&t.Name, &t.Comment, &view)
			t.View = view == 1
			if err == nil && (names == nil || slices.Contains(names, t.Name)) {
				c.list, c.tables[t.Name] = append(c.list, t), t
			}
			return err
		})
	c.columns()
	c.indexes()
	c.keys()
	return c.list, nil, c.err
}

// catalog is what has been read of the catalog, until the first error.
type catalog struct {
	ctx    context.Context
	q      sqlengine.Queryer
	list   []*sqlengine.Table
	tables map[string]*sqlengine.Table
	err    error
}

// each reads the rows of a statement, unless something has failed before.
func (c *catalog) each(statement string, row func(scan func(...any) error) error) {
	if c.err == nil {
		c.err = sqlengine.Each(c.ctx, c.q, statement, nil, row)
	}
}

// The engine's numbers of types. A type of numbers with a scale is a decimal.
var types = map[int]string{
	7: "SMALLINT", 8: "INTEGER", 10: "FLOAT", 12: "DATE", 13: "TIME", 14: "CHAR", 16: "BIGINT", 23: "BOOLEAN", 27: "DOUBLE",
	35: "TIMESTAMP", 37: "VARCHAR", 261: "BLOB",
}

// columns adds the columns of the tables.
func (c *catalog) columns() {
	c.each(`SELECT TRIM(TRAILING FROM r.RDB$RELATION_NAME), TRIM(TRAILING FROM r.RDB$FIELD_NAME),
		COALESCE(CAST(r.RDB$DESCRIPTION AS VARCHAR(2000)), ''),
		f.RDB$FIELD_TYPE, COALESCE(f.RDB$FIELD_SUB_TYPE, 0), -COALESCE(f.RDB$FIELD_SCALE, 0),
		COALESCE(f.RDB$FIELD_PRECISION, 0), f.RDB$FIELD_LENGTH, COALESCE(f.RDB$CHARACTER_LENGTH, 0), COALESCE(f.RDB$CHARACTER_SET_ID, 0),
		COALESCE(r.RDB$COLLATION_ID, f.RDB$COLLATION_ID, 0),
		CASE WHEN COALESCE(r.RDB$NULL_FLAG, f.RDB$NULL_FLAG, 0) = 1 THEN 0 ELSE 1 END
		FROM RDB$RELATION_FIELDS r JOIN RDB$FIELDS f ON f.RDB$FIELD_NAME = r.RDB$FIELD_SOURCE
		ORDER BY r.RDB$RELATION_NAME, r.RDB$FIELD_POSITION`,
		func(scan func(...any) error) error {
			var table string
			var kind, subtype, bytes, characters, charset, collation, nullable int
			own := sqlengine.CatalogColumn{}
			if err := scan(&table, &own.Name, &own.Comment, &kind, &subtype, &own.Scale, &own.Precision, &bytes, &characters, &charset,
				&collation, &nullable); err != nil {
				return err
			}
			own.DataType, own.Nullable = types[kind], nullable == 1
			switch t := own.DataType; {
			case own.Scale > 0 || subtype > 0 && (t == "SMALLINT" || t == "INTEGER" || t == "BIGINT"):
				own.DataType = "DECIMAL"
			case (t == "CHAR" || t == "VARCHAR") && charset == 1:
				own.DataType, own.Precision = "OCTETS", bytes
			case t == "CHAR" || t == "VARCHAR":
				own.Precision, own.Note = 4*characters, textNote{charset, collation}
			case t == "BLOB" && subtype == 1:
				own.DataType = "BLOB TEXT"
			}
			if t := c.tables[table]; t != nil {
				t.Columns = append(t.Columns, own)
			}
			return nil
		})
}

// indexes marks the columns that an ascending index begins with.
func (c *catalog) indexes() {
	c.each(`SELECT TRIM(TRAILING FROM i.RDB$RELATION_NAME), TRIM(TRAILING FROM s.RDB$FIELD_NAME)
		FROM RDB$INDICES i JOIN RDB$INDEX_SEGMENTS s ON s.RDB$INDEX_NAME = i.RDB$INDEX_NAME
		WHERE s.RDB$FIELD_POSITION = 0 AND COALESCE(i.RDB$INDEX_INACTIVE, 0) = 0 AND COALESCE(i.RDB$INDEX_TYPE, 0) = 0`,
		func(scan func(...any) error) error {
			var table, column string
			err := scan(&table, &column)
			if t := c.tables[table]; t != nil && t.Column(column) != nil {
				t.Column(column).Indexed = true
			}
			return err
		})
}

// keys adds the keys of the tables, all of which the engine enforces. A row for each
// column of a key.
func (c *catalog) keys() {
	kinds := map[string]string{"PRIMARY KEY": sqlengine.PrimaryKey, "UNIQUE": sqlengine.UniqueKey, "FOREIGN KEY": sqlengine.ForeignKey}
	c.each(`SELECT TRIM(TRAILING FROM k.RDB$RELATION_NAME), TRIM(TRAILING FROM k.RDB$CONSTRAINT_TYPE),
		TRIM(TRAILING FROM k.RDB$CONSTRAINT_NAME), TRIM(TRAILING FROM s.RDB$FIELD_NAME),
		COALESCE(TRIM(TRAILING FROM target.RDB$RELATION_NAME), ''), COALESCE(TRIM(TRAILING FROM ts.RDB$FIELD_NAME), '')
		FROM RDB$RELATION_CONSTRAINTS k
		JOIN RDB$INDEX_SEGMENTS s ON s.RDB$INDEX_NAME = k.RDB$INDEX_NAME
		LEFT JOIN RDB$REF_CONSTRAINTS f ON f.RDB$CONSTRAINT_NAME = k.RDB$CONSTRAINT_NAME
		LEFT JOIN RDB$RELATION_CONSTRAINTS target ON target.RDB$CONSTRAINT_NAME = f.RDB$CONST_NAME_UQ
		LEFT JOIN RDB$INDEX_SEGMENTS ts ON ts.RDB$INDEX_NAME = target.RDB$INDEX_NAME AND ts.RDB$FIELD_POSITION = s.RDB$FIELD_POSITION
		WHERE k.RDB$CONSTRAINT_TYPE IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
		ORDER BY k.RDB$RELATION_NAME, k.RDB$CONSTRAINT_NAME, s.RDB$FIELD_POSITION`,
		func(scan func(...any) error) error {
			k := sqlengine.Key{Columns: make([]string, 1)}
			var table, kind, targetColumn string
			if err := scan(&table, &kind, &k.ID, &k.Columns[0], &k.Target, &targetColumn); err != nil {
				return err
			}
			if k.Kind = kinds[kind]; k.Kind == sqlengine.ForeignKey {
				k.TargetColumns = []string{targetColumn}
			}
			if t := c.tables[table]; t != nil {
				t.Keys = append(t.Keys, k)
			}
			return nil
		})
}
