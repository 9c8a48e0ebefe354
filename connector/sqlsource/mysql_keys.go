package sqlsource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// dropKeys drops the primary and foreign keys that have a column that the user
// may not read, and returns a warning for each.
func (l *tableList) dropKeys() (warnings []string) {
	for i := range l.tables {
		t := &l.tables[i]
		if len(t.Columns) == 0 {
			continue
		}
		readable := func(t *Table, columns []string) bool {
			return !slices.ContainsFunc(columns, func(name string) bool { return t.column(name) == nil })
		}
		warn := func(key string) {
			warnings = append(warnings, fmt.Sprintf("The table %s is described without its %s, because the user of the database "+
				"does not have the privilege SELECT on all columns of the key.", wire.QuoteName(t.Name), key))
		}
		if !readable(t, t.PrimaryKey) {
			warn("primary key")
			t.PrimaryKey = nil
		}
		t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(k ForeignKey) bool {
			to := l.find(k.Target)
			whole := readable(t, k.Columns) && (to == nil || k.TargetSchema != "" || readable(to, k.TargetColumns))
			if !whole {
				warn("foreign key to " + wire.QuoteName(k.Target))
			}
			return !whole
		})
	}
	return warnings
}

// keys adds the keys of the tables, and what is known of indexes.
func (s mysqlScope) keys(ctx context.Context, list *tableList) error {
	where, args := s.where("k.TABLE")
	err := each(ctx, s, `SELECT k.TABLE_NAME, k.INDEX_NAME, k.NON_UNIQUE = 0 AND k.INDEX_TYPE <> 'FULLTEXT', COALESCE(k.COLUMN_NAME, ''),
		k.SEQ_IN_INDEX = 1 AND k.INDEX_TYPE = 'BTREE' AND k.SUB_PART IS NULL AND COALESCE(k.COLLATION, '') = 'A' AND `+s.indexUsed()+`
		FROM information_schema.STATISTICS k
		WHERE `+where+`
		ORDER BY k.TABLE_NAME, k.INDEX_NAME, k.SEQ_IN_INDEX`, args, func(scan func(...any) error) error {
		var table, index, column string
		var unique, ordered bool
		if err := scan(&table, &index, &unique, &column, &ordered); err != nil {
			return err
		}
		t := list.find(table)
		if t == nil {
			return nil
		}
		if c := t.column(column); c != nil && ordered {
			c.Indexed = true
		}
		switch {
		case index == "PRIMARY":
			t.addKey(primaryKey, index, column, "", "", "")
		case unique:
			t.addKey(uniqueKey, index, column, "", "", "")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(ctx, s, `SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME,
		CASE k.REFERENCED_TABLE_SCHEMA WHEN k.TABLE_SCHEMA THEN '' ELSE k.REFERENCED_TABLE_SCHEMA END,
		k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME
		FROM information_schema.KEY_COLUMN_USAGE k
		WHERE `+where+` AND k.REFERENCED_TABLE_NAME IS NOT NULL
		ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`, args, func(scan func(...any) error) error {
		var table, key, column, schema, target, targetColumn string
		if err := scan(&table, &key, &column, &schema, &target, &targetColumn); err != nil {
			return err
		}
		if t := list.find(table); t != nil {
			t.addKey(foreignKey, key, column, schema, target, targetColumn)
		}
		return nil
	})
}

// indexUsed returns the condition that the optimizer may use an index.
func (s mysqlScope) indexUsed() string {
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
func (s mysqlScope) checks(ctx context.Context, list *tableList) error {
	may := func(c CatalogColumn) bool { return c.DataType == "longtext" || c.DataType == "tinyint" }
	if !slices.ContainsFunc(list.tables, func(t Table) bool { return slices.ContainsFunc(t.Columns, may) }) {
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
	return each(ctx, s, statement, args, func(scan func(...any) error) error {
		var table, clause string
		if err := scan(&table, &clause); err != nil {
			return err
		}
		t := list.find(table)
		if t == nil {
			return nil
		}
		for i := range t.Columns {
			switch c := &t.Columns[i]; {
			case c.DataType == "longtext" && s.server.maria && clause == "json_valid("+mysql{}.Quote(c.Name)+")":
				c.Note += " " + noteJSON
			case c.DataType == "tinyint" && !t.inKey(c.Name) && keepsBoolean(clause, mysql{}.Quote(c.Name)):
				c.Note += " " + noteBoolean
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
func (t *Table) inKey(name string) bool {
	in := func(columns []string) bool { return slices.Contains(columns, name) }
	return in(t.PrimaryKey) || slices.ContainsFunc(t.Unique, in) ||
		slices.ContainsFunc(t.ForeignKeys, func(k ForeignKey) bool { return in(k.Columns) })
}
