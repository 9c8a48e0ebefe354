package sqlsource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Catalog reads the pragmas. They match names without regard to case, so it looks
// names up to the letter first. Of all tables it reads the pragmas first, and then
// looks at rows for as long as the deadline leaves time to answer.
func (f sqlite) Catalog(ctx context.Context, q Queryer, schema string, names []string) ([]Table, []string, error) {
	var encoding string
	if err := q.QueryRowContext(ctx, "PRAGMA encoding").Scan(&encoding); err != nil {
		return nil, nil, err
	}
	scope := &sqliteScope{Queryer: q, schema: or(schema, "main")}
	where, args := "", []any{}
	if names != nil {
		params := make([]string, len(names))
		for i, n := range names {
			args, params[i] = append(args, n), f.Param(i+2)
		}
		where = " AND name COLLATE BINARY IN (" + strings.Join(params, ", ") + ")"
	}
	var tables []*sqliteTable
	err := scope.list(ctx, where, args, func(t *sqliteTable) {
		t.note.utf16 = encoding != "UTF-8"
		tables = append(tables, t)
	})
	if err != nil {
		return nil, nil, err
	}
	looking := ctx
	if names == nil {
		var cancel context.CancelFunc
		looking, cancel = beforeDeadline(ctx)
		defer cancel()
		scope.setTargets(tables)
	}
	var warnings, late []string
	for _, step := range []func(*sqliteTable) error{
		func(t *sqliteTable) error { return t.describe(ctx, looking, scope) },
		func(t *sqliteTable) error { return t.inspect(ctx, looking, q) },
	} {
		var sound []*sqliteTable
		for _, t := range tables {
			err := step(t)
			why := ReasonOther
			if err != nil {
				why = f.Reason(err)
			}
			switch {
			case err == nil:
				sound = append(sound, t)
			case ctx.Err() != nil:
				return nil, nil, ctx.Err()
			case errors.Is(err, errLate):
				late = append(late, t.Name)
			case !why.lasting() || names != nil && why != ReasonNoTable:
				return nil, nil, err // the table is there
			default:
				warnings = append(warnings, fmt.Sprintf("The table %s is left out because it cannot be described. "+
					"It may be a view of a table that no longer exists.", wire.QuoteName(t.Name)))
			}
		}
		tables = sound
	}
	if len(late) > 0 {
		warnings = append(warnings, "The time of this discovery was over before these tables were described, so they are left out: "+
			tableNames(late)+". Allow the discovery more time, or serve fewer tables.")
	}
	described := make([]Table, len(tables))
	for i, t := range tables {
		described[i] = t.Table
	}
	return described, warnings, nil
}

// errLate is the error of a table that there is no time to describe.
var errLate = errors.New("sqlsource: there is no time to describe the table")

// sqliteScope is a schema whose catalog is being read.
type sqliteScope struct {
	Queryer
	schema  string
	targets map[string]string // the names of all tables by sqliteFold; nil: not read yet
}

// list visits the tables that meet a condition.
func (s *sqliteScope) list(ctx context.Context, where string, args []any, visit func(*sqliteTable)) error {
	statement := `SELECT name, type, wr, strict FROM pragma_table_list
		WHERE schema = ?1 AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'` + where + ` ORDER BY name`
	return each(ctx, s, statement, append([]any{s.schema}, args...), func(scan func(...any) error) error {
		t := &sqliteTable{}
		var kind string
		if err := scan(&t.Name, &kind, &t.withoutRowID, &t.note.strict); err != nil {
			return err
		}
		t.View = kind == "view"
		t.note.view, t.note.table = t.View, sqlite{}.Table(s.schema, t.Name)
		visit(t)
		return nil
	})
}

// setTargets notes the names of all tables of the schema.
func (s *sqliteScope) setTargets(tables []*sqliteTable) {
	s.targets = make(map[string]string, len(tables))
	for _, t := range tables {
		s.targets[sqliteFold(t.Name)] = t.Name
	}
}

// target returns the name of a table as it is spelled where it was created; the
// name itself if there is no such table.
func (s *sqliteScope) target(ctx context.Context, name string) (string, error) {
	if s.targets == nil {
		var tables []*sqliteTable
		if err := s.list(ctx, "", nil, func(t *sqliteTable) { tables = append(tables, t) }); err != nil {
			return "", err
		}
		s.setTargets(tables)
	}
	return or(s.targets[sqliteFold(name)], name), nil
}

// sqliteFold returns a name with its ASCII letters in lower case, which is how far
// SQLite disregards case.
func sqliteFold(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
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

// describe adds what the pragmas say: columns and keys.
func (t *sqliteTable) describe(ctx, looking context.Context, s *sqliteScope) error {
	if looking.Err() != nil {
		return errLate
	}
	keys, err := t.columns(ctx, s, s.schema)
	if err != nil || t.View {
		return err
	}
	indexed, err := t.indexes(ctx, s, s.schema)
	if err != nil {
		return err
	}
	t.primaryKey(keys, indexed)
	return t.foreignKeys(ctx, s)
}

// inspect adds what only rows say. After the end of looking, it takes the declared
// types for what the columns hold, and drops a primary key that they do not prove.
func (t *sqliteTable) inspect(ctx, looking context.Context, q Queryer) error {
	if t.unlooked = looking.Err() != nil; !t.unlooked {
		if err := t.look(ctx, looking, q); err != nil {
			return err
		}
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; t.unlooked && undeclared(c.DataType, t.View) {
			c.set(func(n *sqliteNote) { n.seen = sqliteSeenTexts })
		}
	}
	if t.View {
		return nil
	}
	return t.dropLoose(ctx, q)
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
func (t *sqliteTable) foreignKeys(ctx context.Context, s *sqliteScope) error {
	byID := map[int]*ForeignKey{}
	dangling := map[int][]string{} // columns whose other end does not exist
	var order []int
	err := each(ctx, s, `SELECT k.id, k."from", k."table",
		coalesce((SELECT x.name FROM pragma_table_xinfo(k."table", ?2) x
			WHERE x.name = k."to" COLLATE NOCASE OR k."to" IS NULL AND x.pk = k.seq + 1), '')
		FROM pragma_foreign_key_list(?1, ?2) k ORDER BY k.id DESC, k.seq`, []any{t.Name, s.schema}, func(scan func(...any) error) error {
		var id int
		var from, target, to string
		if err := scan(&id, &from, &target, &to); err != nil {
			return err
		}
		k := byID[id]
		if k == nil {
			k = &ForeignKey{Target: target, Unproven: true}
			byID[id] = k
			order = append(order, id)
		}
		named := func(c CatalogColumn) bool { return sqliteFold(c.Name) == sqliteFold(from) }
		if i := slices.IndexFunc(t.Columns, named); i >= 0 && to != "" {
			k.Columns = append(k.Columns, t.Columns[i].Name)
			k.TargetColumns = append(k.TargetColumns, to)
		} else {
			dangling[id] = append(dangling[id], from)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range order {
		if columns := dangling[id]; columns != nil {
			t.Omitted = append(t.Omitted, OmittedKey{Kind: OmittedForeignKey, Columns: columns,
				Reason: "the table or the columns that it leads to do not exist"})
		}
		if k := byID[id]; len(k.Columns) > 0 {
			if k.Target, err = s.target(ctx, k.Target); err != nil {
				return err
			}
			t.ForeignKeys = append(t.ForeignKeys, *k)
		}
	}
	return nil
}
