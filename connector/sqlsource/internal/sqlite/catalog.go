package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// Catalog reads the pragmas. They match names without regard to case, so it looks
// names up to the letter first. Of all tables it reads the pragmas first, and then
// looks at rows for as long as the deadline leaves time to answer.
func (f flavor) Catalog(ctx context.Context, q sqlengine.Queryer, schema string, names []string) ([]*sqlengine.Table, []string, error) {
	s := &scope{Queryer: q, schema: cmp.Or(schema, "main")}
	var encoding string
	var known bool
	if err := q.QueryRowContext(ctx, "SELECT encoding, ?1 COLLATE NOCASE IN (SELECT name FROM pragma_database_list) FROM pragma_encoding",
		s.schema).Scan(&encoding, &known); err != nil || !known {
		return nil, nil, err
	}
	where, args := "", []any{}
	if names != nil {
		params := make([]string, len(names))
		for i, n := range names {
			args, params[i] = append(args, n), f.Param(i+2)
		}
		where = " AND name COLLATE BINARY IN (" + strings.Join(params, ", ") + ")"
	}
	var tables []*table
	err := s.list(ctx, where, args, func(t *table) {
		t.note.utf16 = encoding != "UTF-8"
		tables = append(tables, t)
	})
	if err != nil {
		return nil, nil, err
	}
	looking := ctx
	if names == nil {
		var cancel context.CancelFunc
		looking, cancel = beforeDeadline(ctx, len(tables))
		defer cancel()
		s.setTargets(tables)
	}
	var warnings []string
	var late []*sqlengine.Table
	for _, step := range []func(*table) error{
		func(t *table) error { return t.describe(ctx, looking, s) },
		func(t *table) error { return t.inspect(ctx, looking, q) },
	} {
		var sound []*table
		for _, t := range tables {
			err := step(t)
			switch {
			case err == nil:
				sound = append(sound, t)
			case ctx.Err() != nil:
				return nil, nil, ctx.Err()
			case errors.Is(err, errLate):
				t.Columns, t.Late = nil, true
				late = append(late, &t.Table)
			case !f.lasting(err) || names != nil && f.State(err) != "42P01":
				return nil, nil, err // the table is there
			default:
				warnings = append(warnings, fmt.Sprintf("The table %s is left out because it cannot be described. "+
					"It may be a view of a table that no longer exists.", terms.QuoteName(t.Name)))
			}
		}
		tables = sound
	}
	described := make([]*sqlengine.Table, len(tables), len(tables)+len(late))
	for i, t := range tables {
		t.declareKeys()
		described[i] = &t.Table
	}
	return append(described, late...), warnings, nil
}

// lasting reports whether a table can never be described: it is gone, or SQLite cannot
// compute it.
func (f flavor) lasting(err error) bool {
	class := f.State(err)
	return strings.HasPrefix(class, "42") || strings.HasPrefix(class, "22") || strings.HasPrefix(class, "54")
}

// tableReserve is the time that is kept to list one table as the pragmas have it.
const tableReserve = 500 * time.Microsecond

// beforeDeadline returns a context that ends so long before the deadline of ctx that
// there is time to answer, with so many tables, without what is still missing.
func beforeDeadline(ctx context.Context, tables int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := time.Until(deadline)
	return context.WithDeadline(ctx, deadline.Add(-min(left/2, max(left/10, 500*time.Millisecond, time.Duration(tables)*tableReserve))))
}

// errLate is the error of a table that there is no time to describe.
var errLate = errors.New("sqlite: there is no time to describe the table")

// scope is a schema whose catalog is being read.
type scope struct {
	sqlengine.Queryer
	schema  string
	targets map[string]string // the names of all tables by fold; nil: not read yet
}

// list visits the tables that meet a condition.
func (s *scope) list(ctx context.Context, where string, args []any, visit func(*table)) error {
	statement := `SELECT name, type, wr, strict FROM pragma_table_list
		WHERE schema = ?1 AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND name COLLATE NOCASE NOT IN (` + s.shadows() + `)` + where + ` ORDER BY name`
	return sqlengine.Each(ctx, s, statement, append([]any{s.schema}, args...), func(scan func(...any) error) error {
		t := &table{}
		var kind string
		if err := scan(&t.Name, &kind, &t.withoutRowID, &t.note.strict); err != nil {
			return err
		}
		t.View = kind == "view"
		t.note.view, t.note.table = t.View, flavor{}.Table(s.schema, t.Name)
		visit(t)
		return nil
	})
}

// shadows returns a SELECT of the names of the tables in which virtual tables keep what they
// hold. SQLite knows them, but not where the driver lacks the module.
func (s *scope) shadows() string {
	var suffixes []string
	for module, own := range map[string]string{
		"fts3": "content segments segdir", "fts4": "content segments segdir docsize stat",
		"fts5": "data idx content docsize config", "rtree": "node parent rowid",
	} {
		for suffix := range strings.FieldsSeq(own) {
			suffixes = append(suffixes, "('"+module+"', '"+suffix+"')")
		}
	}
	slices.Sort(suffixes) // one text of the statement
	return `WITH own (module, suffix) AS (VALUES ` + strings.Join(suffixes, ", ") + `)
		SELECT v.name || '_' || own.suffix FROM ` + flavor{}.Table(s.schema, "sqlite_schema") + ` v, own
		WHERE v.sql LIKE 'CREATE VIRTUAL TABLE%USING%' || own.module || '%' AND v.rootpage = 0`
}

// setTargets notes the names of all tables of the schema.
func (s *scope) setTargets(tables []*table) {
	s.targets = make(map[string]string, len(tables))
	for _, t := range tables {
		s.targets[fold(t.Name)] = t.Name
	}
}

// target returns the name of a table as it is spelled where it was created; the
// name itself if there is no such table.
func (s *scope) target(ctx context.Context, name string) (string, error) {
	if s.targets == nil {
		var tables []*table
		if err := s.list(ctx, "", nil, func(t *table) { tables = append(tables, t) }); err != nil {
			return "", err
		}
		s.setTargets(tables)
	}
	return cmp.Or(s.targets[fold(name)], name), nil
}

// fold returns a name with its ASCII letters in lower case, which is how far
// SQLite disregards case.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}

// table is a table that is being described.
type table struct {
	sqlengine.Table
	note         columnNote // of its columns
	withoutRowID bool
	primary      []string   // the columns of the primary key
	unique       [][]string // those of the unique keys
}

// omit adds a key that is not declared.
func (t *table) omit(kind string, columns []string, reason string) {
	t.Keys = append(t.Keys, sqlengine.Key{Kind: kind, ID: strconv.Itoa(len(t.Keys)), Columns: columns, Omitted: reason})
}

// declareKeys adds the keys that rows have been looked at for.
func (t *table) declareKeys() {
	if t.primary != nil {
		t.Keys = append(t.Keys, sqlengine.Key{Kind: sqlengine.PrimaryKey, Columns: t.primary})
	}
	for i, columns := range t.unique {
		t.Keys = append(t.Keys, sqlengine.Key{Kind: sqlengine.UniqueKey, ID: strconv.Itoa(i), Columns: columns})
	}
}

// setNote changes what the Note of a column says.
func setNote(c *sqlengine.CatalogColumn, change func(*columnNote)) {
	note := noteOf(*c)
	change(&note)
	c.Note = note
}

// describe adds what the pragmas say: columns and keys.
func (t *table) describe(ctx, looking context.Context, s *scope) error {
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
func (t *table) inspect(ctx, looking context.Context, q sqlengine.Queryer) error {
	if t.Late = looking.Err() != nil; !t.Late {
		if err := t.look(ctx, looking, q); err != nil {
			return err
		}
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; t.Late && undeclared(c.DataType, t.View) {
			setNote(c, func(n *columnNote) { n.seen = seenTexts })
		}
	}
	if t.View {
		return nil
	}
	return t.dropLoose(ctx, q)
}

// columns adds the columns, and returns those of the primary key in its order.
func (t *table) columns(ctx context.Context, q sqlengine.Queryer, schema string) (keys []string, err error) {
	at := map[int]string{}
	const statement = `SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?1, ?2) WHERE hidden <> 1 ORDER BY cid`
	err = sqlengine.Each(ctx, q, statement, []any{t.Name, schema}, func(scan func(...any) error) error {
		c := sqlengine.CatalogColumn{Note: t.note}
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
func (t *table) indexes(ctx context.Context, q sqlengine.Queryer, schema string) (primary bool, err error) {
	type index struct {
		unique  bool
		columns []string
	}
	byName := map[string]*index{}
	var list []*index
	const statement = `SELECT l.name, l."unique", l.origin = 'pk', coalesce(x.name, ''), x.coll = 'BINARY'
		FROM pragma_index_list(?1, ?2) l, pragma_index_xinfo(l.name, ?2) x WHERE l.partial = 0 AND x.key = 1 ORDER BY l.seq, x.seqno`
	err = sqlengine.Each(ctx, q, statement, []any{t.Name, schema}, func(scan func(...any) error) error {
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
			if c := t.Column(column); c != nil && binary {
				c.Indexed = true
			}
		}
		i.columns = append(i.columns, column)
		return nil
	})
	for _, i := range list {
		if i.unique && !slices.Contains(i.columns, "") { // an index on an expression proves nothing
			t.unique = append(t.unique, i.columns)
		}
	}
	return primary, err
}

// primaryKey sets the primary key if it holds no nulls. SQLite lets them in,
// unless the key is the row's number or the table has none.
func (t *table) primaryKey(keys []string, indexed bool) {
	if len(keys) == 0 {
		return
	}
	first := t.Column(keys[0])
	switch {
	case t.withoutRowID:
		for _, name := range keys {
			t.Column(name).Nullable = false
		}
	case len(keys) == 1 && strings.EqualFold(first.DataType, "INTEGER") && !indexed:
		first.Nullable = false
		first.Indexed = true
		setNote(first, func(n *columnNote) { n.rowID = true })
	case slices.ContainsFunc(keys, func(name string) bool { return t.Column(name).Nullable }):
		t.omit(sqlengine.PrimaryKey, keys,
			"SQLite lets nulls into it; declare its columns NOT NULL, or name the key in the options of this connector")
		return
	}
	t.primary = keys
}

// foreignKeys adds the declared keys. SQLite enforces them only where a
// connection asks for it, and names tables and columns without regard to case.
func (t *table) foreignKeys(ctx context.Context, s *scope) error {
	byID := map[int]*sqlengine.Key{}
	dangling := map[int][]string{} // columns whose other end does not exist
	var order []int
	err := sqlengine.Each(ctx, s, `SELECT k.id, k."from", k."table",
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
			k = &sqlengine.Key{Kind: sqlengine.ForeignKey, ID: strconv.Itoa(id), Target: target, Unproven: true}
			byID[id] = k
			order = append(order, id)
		}
		named := func(c sqlengine.CatalogColumn) bool { return fold(c.Name) == fold(from) }
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
			t.omit(sqlengine.ForeignKey, columns, "the table or the columns that it leads to do not exist")
		}
		if k := byID[id]; len(k.Columns) > 0 {
			if k.Target, err = s.target(ctx, k.Target); err != nil {
				return err
			}
			t.Keys = append(t.Keys, *k)
		}
	}
	return nil
}
