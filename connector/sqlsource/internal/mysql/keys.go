package mysql

import (
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// keys adds the primary and unique keys of the tables, and what is known of indexes.
func (s scope) keys(ctx context.Context, tables map[string]*sqlengine.Table) error {
	where, args := s.where("k.TABLE")
	return sqlengine.Each(ctx, s, `SELECT k.TABLE_NAME, k.INDEX_NAME,
		k.NON_UNIQUE = 0 AND k.INDEX_TYPE <> 'FULLTEXT', COALESCE(k.COLUMN_NAME, ''),
		k.SEQ_IN_INDEX = 1 AND k.INDEX_TYPE = 'BTREE' AND k.SUB_PART IS NULL AND COALESCE(k.COLLATION, '') = 'A' AND `+s.indexUsed()+`
		FROM information_schema.STATISTICS k
		WHERE `+where+`
		ORDER BY k.TABLE_NAME, k.INDEX_NAME, k.SEQ_IN_INDEX`, args, func(scan func(...any) error) error {
		var table, index, column string
		var unique, ordered bool
		if err := scan(&table, &index, &unique, &column, &ordered); err != nil {
			return err
		}
		t := tables[table]
		if t == nil || !unique && !ordered {
			return nil
		}
		if c := t.Column(column); c != nil && ordered {
			c.Indexed = true
		}
		switch {
		case index == "PRIMARY":
			t.Keys = append(t.Keys, sqlengine.Key{Kind: sqlengine.PrimaryKey, ID: index, Columns: []string{column}})
		case unique:
			t.Keys = append(t.Keys, sqlengine.Key{Kind: sqlengine.UniqueKey, ID: index, Columns: []string{column}})
		}
		return nil
	})
}

// foreignKeys adds the foreign keys of the tables.
func (s scope) foreignKeys(ctx context.Context, tables map[string]*sqlengine.Table) error {
	where, args := s.where("k.TABLE")
	return sqlengine.Each(ctx, s, `SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME,
		CASE k.REFERENCED_TABLE_SCHEMA WHEN k.TABLE_SCHEMA THEN '' ELSE k.REFERENCED_TABLE_SCHEMA END,
		k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME
		FROM information_schema.KEY_COLUMN_USAGE k
		WHERE `+where+` AND k.REFERENCED_TABLE_NAME IS NOT NULL
		ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`, args, func(scan func(...any) error) error {
		k := sqlengine.Key{Kind: sqlengine.ForeignKey, Columns: make([]string, 1), TargetColumns: make([]string, 1)}
		var table string
		if err := scan(&table, &k.ID, &k.Columns[0], &k.TargetSchema, &k.Target, &k.TargetColumns[0]); err != nil {
			return err
		}
		if t := tables[table]; t != nil {
			t.Keys = append(t.Keys, k)
		}
		return nil
	})
}

// indexUsed returns the condition that the optimizer may use an index.
func (s scope) indexUsed() string {
	switch {
	case s.server.maria && s.server.number >= 100600:
		return "k.IGNORED = 'NO'"
	case s.server.maria:
		return "1 = 1"
	}
	return "k.IS_VISIBLE = 'YES'"
}

// checks notes what constraints prove of the columns' values: that a text is JSON,
// as MariaDB's type JSON has it, and that an integer is a boolean. An integer that
// is part of a key stays a number, because those that refer to it may lack the
// constraint.
func (s scope) checks(ctx context.Context, tables map[string]*sqlengine.Table) error {
	may := func(c sqlengine.CatalogColumn) bool { return c.DataType == "longtext" || c.DataType == "tinyint" }
	looked := false
	for _, t := range tables {
		looked = looked || slices.ContainsFunc(t.Columns, may)
	}
	if !looked {
		return nil
	}
	var statement string
	where, args := s.where("k.CONSTRAINT")
	switch {
	case s.server.maria:
		statement = "SELECT k.TABLE_NAME, k.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS k WHERE " + where
	case s.server.number >= 80016:
		statement = `SELECT k.TABLE_NAME, c.CHECK_CLAUSE FROM information_schema.TABLE_CONSTRAINTS k
			JOIN information_schema.CHECK_CONSTRAINTS c ON c.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND c.CONSTRAINT_NAME = k.CONSTRAINT_NAME
			WHERE ` + where + ` AND k.CONSTRAINT_TYPE = 'CHECK' AND k.ENFORCED = 'YES'`
	default:
		return nil
	}
	return sqlengine.Each(ctx, s, statement, args, func(scan func(...any) error) error {
		var table, clause string
		if err := scan(&table, &clause); err != nil {
			return err
		}
		t := tables[table]
		if t == nil {
			return nil
		}
		for i := range t.Columns {
			switch c := &t.Columns[i]; {
			case c.DataType == "longtext" && s.server.maria && clause == "json_valid("+flavor{}.Quote(c.Name)+")":
				setNote(c, func(n *columnNote) { n.json = true })
			case c.DataType == "tinyint" && !inKey(t, c.Name) && keepsBoolean(clause, flavor{}.Quote(c.Name)):
				setNote(c, func(n *columnNote) { n.boolean = true })
			}
		}
		return nil
	})
}

// keepsBoolean reports whether a constraint allows a column 0 and 1 alone, in one
// of the forms that engines give it.
func keepsBoolean(clause, column string) bool {
	if strings.HasPrefix(clause, "(") && strings.HasSuffix(clause, ")") { // MySQL's
		clause = clause[1 : len(clause)-1]
	}
	is := func(n string) string { return column + " = " + n }
	return slices.Contains([]string{
		column + " in (0,1)", column + " in (1,0)", column + " between 0 and 1", is("0") + " or " + is("1"), is("1") + " or " + is("0"),
	}, clause)
}

// inKey reports whether a column is part of a key.
func inKey(t *sqlengine.Table, name string) bool {
	return slices.ContainsFunc(t.Keys, func(k sqlengine.Key) bool { return slices.Contains(k.Columns, name) })
}
