package faulttest

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"

	_ "modernc.org/sqlite"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// database is a connector whose author writes SQL by hand. The tables keep instants as
// milliseconds, money in its smallest unit and booleans as 0 and 1.
type database struct {
	source
	db *sql.DB
}

// newSQL returns the connector over a database that load has filled.
func newSQL(set *Set, file string, p planted) (h http.Handler, release func()) {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro&immutable=1")
	if err != nil {
		panic(err)
	}
	return handler(&database{source{set, p}, db}, connector.Omit{}), func() { db.Close() }
}

// load writes a set to a file of SQLite.
func load(set *Set, file string) error {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	for _, t := range set.Tables {
		var names []string
		for _, f := range t.Fields {
			names = append(names, quoted(f.Name))
		}
		if _, err := tx.Exec("CREATE TABLE " + quoted(t.Name) + " (" + strings.Join(names, ", ") + ")"); err != nil {
			return err
		}
		insert := "INSERT INTO " + quoted(t.Name) + " VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
		for _, row := range t.Rows {
			args := make([]any, len(row))
			for i, v := range row {
				args[i], _ = set.storage(t.Name, t.Fields[i].Name).store(v)
			}
			if _, err := tx.Exec(insert, args...); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// from returns what a query reads from.
func (c *database) from(table string) string {
	return apply(c.sqlFrom, table == c.Table, quoted(table))
}

// statement is SQL with its arguments.
type statement struct {
	strings.Builder
	args []any
}

func (s *statement) add(sql string, args ...any) {
	s.WriteString(sql)
	s.args = append(s.args, args...)
}

func (c *database) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	s, columns := &statement{}, t.Columns()
	s.add("SELECT " + c.selected(t, "b") + " FROM " + c.from(t.Name) + " b")
	return c.run(ctx, t, req, out, s, columns)
}

// run completes a SELECT by the filters, the sort and the window of a query, and
// offers its rows.
func (c *database) run(
	ctx context.Context, t *wire.Table, req *connector.QueryRequest, out *connector.Rows,
	s *statement, columns []wire.Column,
) error {
	all, order := c.filtered(s, t, req.Where), c.ordered(t, req.Sort)
	claim := out.Claim(connector.Served{Filters: all, Sort: order != ""})
	if order != "" {
		s.add(" ORDER BY " + order)
	}
	if offset, limit, ok := claim.TakeWindow(); ok {
		offset, limit = c.windowed(t.Name, len(req.Sort) > 0, offset, limit)
		if limit == 0 {
			limit = -1
		}
		s.add(" LIMIT ? OFFSET ?", limit, offset)
	}
	return out.Begin(columns).All(c.rows(ctx, s, c.storages(req.Table, columns, req.Joins)))
}

// storages returns how the columns of an answer are stored.
func (c *database) storages(table string, columns []wire.Column, hops []wire.JoinHop) (list []storage) {
	for _, column := range columns {
		if column.Hop == 0 {
			list = append(list, c.set.storage(table, column.Name))
			continue
		}
		hop := hops[column.Hop-1]
		for _, f := range hop.Fields {
			if f.As == column.Name {
				list = append(list, c.set.storage(hop.ToTable, f.Field))
			}
		}
	}
	return list
}

func (c *database) selected(t *wire.Table, alias string) string {
	var list []string
	for _, f := range t.Fields {
		list = append(list, apply(c.sqlColumn, c.is(t.Name, f.Name), alias+"."+quoted(f.Name)))
	}
	return strings.Join(list, ", ")
}

func (c *database) rows(ctx context.Context, s *statement, stored []storage) relation.Rows {
	return func(yield func([]wire.Value, error) bool) {
		rows, err := c.db.QueryContext(ctx, s.String(), s.args...)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		cells, into := make([]any, len(stored)), make([]any, len(stored))
		for i := range cells {
			into[i] = &cells[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				yield(nil, err)
				return
			}
			row := make([]wire.Value, len(cells))
			for i, s := range stored {
				row[i] = s.load(cells[i])
			}
			if !yield(row, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// filtered adds the filters that the database evaluates exactly, and reports whether
// these are all.
func (c *database) filtered(s *statement, t *wire.Table, where wire.Where) bool {
	pushed, all := filter.Split(where, func(f wire.Filter) bool {
		_, _, can := c.compared(t, f)
		return can
	})
	pushed = apply(c.where, t.Name == c.Table, pushed)
	s.add(" WHERE 1")
	for _, f := range pushed.And {
		condition, args, _ := c.compared(t, f)
		s.add(" AND "+condition, args...)
	}
	for i, group := range pushed.Or {
		s.add([]string{" AND (", " OR "}[min(i, 1)] + "(1")
		for _, f := range group {
			condition, args, _ := c.compared(t, f)
			s.add(" AND "+condition, args...)
		}
		s.add(")")
	}
	if len(pushed.Or) > 0 {
		s.add(")")
	}
	return all
}

var sqlOps = map[wire.Op]string{
	wire.OpEq: "=", wire.OpNeq: "<>", wire.OpGt: ">", wire.OpGte: ">=", wire.OpLt: "<", wire.OpLte: "<=",
}

// compared returns a filter as SQL, and reports whether the database evaluates it as
// the platform does.
func (c *database) compared(t *wire.Table, f wire.Filter) (condition string, args []any, can bool) {
	if t.Field(f.Field) == nil {
		return "", nil, false
	}
	condition, args, can = c.exactly("b."+quoted(f.Field), c.set.storage(t.Name, f.Field), f)
	if c.condition != nil && c.is(t.Name, f.Field) {
		condition, args = c.condition(f, condition, args)
	}
	return condition, args, can
}

func (c *database) exactly(name string, stored storage, f wire.Filter) (string, []any, bool) {
	switch f.Op {
	case wire.OpIsNull:
		return name + " IS NULL", nil, true
	case wire.OpNotNull:
		return name + " IS NOT NULL", nil, true
	case wire.OpIn, wire.OpNin:
		var args []any
		for _, v := range f.Values {
			bound, ok := stored.store(v)
			if !ok {
				return "1", nil, false
			}
			if bound != nil {
				args = append(args, bound)
			}
		}
		members := strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", ")
		if f.Op == wire.OpNin {
			return fmt.Sprintf("(%s IS NULL OR %s NOT IN (%s))", name, name, members), args, true
		}
		return name + " IN (" + members + ")", args, true
	case wire.OpContains:
		text := f.Value.Kind() == wire.KindText && !wire.IsDecimal(f.Value.Text())
		member := "EXISTS (SELECT 1 FROM json_each(" + name + ") WHERE value = ?)"
		return member, []any{f.Value.String()}, text && stored.trait == Tags
	case wire.OpIncludes:
		return "instr(" + name + ", ?) > 0", []any{f.Value.String()}, stored.text() && !f.Value.IsNull()
	case wire.OpStartsWith:
		text := f.Value.String()
		return "substr(" + name + ", 1, ?) = ?", []any{len([]rune(text)), text}, stored.text() && !f.Value.IsNull()
	}
	bound, ok := stored.store(f.Value)
	return name + " " + sqlOps[f.Op] + " ?", []any{bound}, ok
}

// ordered returns the sort with what makes it total, or "" if the database cannot sort so.
func (c *database) ordered(t *wire.Table, keys []wire.SortKey) string {
	var list []string
	for _, key := range keys {
		if t.Field(key.Field) == nil || !c.set.storage(t.Name, key.Field).ordered() {
			return ""
		}
		name := "b." + quoted(key.Field)
		term := name + " IS NULL, " + name
		if key.Dir == wire.Desc {
			term += " DESC"
		}
		list = append(list, apply(c.sqlOrder, c.is(t.Name, key.Field), term))
	}
	for _, name := range t.PrimaryKey {
		list = append(list, "b."+quoted(name))
	}
	return strings.Join(list, ", ")
}

// QueryJoined joins in the database. Keys that are stored in different ways are
// compared by the library.
func (c *database) QueryJoined(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	columns := t.Columns()
	expressions, tables := c.selected(t, "b"), c.from(t.Name)+" b"
	for i, hop := range req.Joins {
		to, err := c.Describe(ctx, req.Credentials, hop.ToTable)
		if err != nil {
			return err
		}
		if hop.FromTable != t.Name || to.Field(hop.ToField) == nil || t.Field(hop.FromField) == nil ||
			c.set.storage(t.Name, hop.FromField).kind() != c.set.storage(to.Name, hop.ToField).kind() {
			return c.joinInMemory(ctx, req, out)
		}
		alias := fmt.Sprintf("h%d", i+1)
		for _, f := range hop.Fields {
			field := to.Field(f.Field)
			if field == nil {
				return connector.UnknownEntity("table %s has no field %s", to.Name, terms.QuoteName(f.Field))
			}
			expressions += ", " + alias + "." + quoted(f.Field)
			columns = append(columns, wire.Column{Name: f.As, Type: field.Type, Hop: i + 1})
		}
		join := fmt.Sprintf(" LEFT JOIN %s %s ON b.%s = %s.%s",
			c.from(to.Name), alias, quoted(hop.FromField), alias, quoted(hop.ToField))
		tables += apply(c.sqlJoin, c.is(hop.FromTable, hop.FromField), join)
	}
	s := &statement{}
	s.add("SELECT " + expressions + " FROM " + tables)
	return c.run(ctx, t, req, out, s, columns)
}

func (c *database) joinInMemory(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	request := relation.JoinRequest{Table: req.Table, Joins: req.Joins, Fields: req.Fields, FieldTypes: req.FieldTypes}
	base, err := c.whole(ctx, req.Table)
	if err != nil {
		return err
	}
	var hops []relation.Relation
	for _, hop := range req.Joins {
		relation, err := c.whole(ctx, hop.ToTable)
		if err != nil {
			return err
		}
		hops = append(hops, relation)
	}
	joined, err := measures.Join(base, request, hops, 0)
	if err != nil {
		return err
	}
	return out.Begin(joined.Columns).All(joined.Rows)
}

func (c *database) whole(ctx context.Context, table string) (relation.Relation, error) {
	t, err := c.Describe(ctx, wire.Credentials{}, table)
	if err != nil {
		return relation.Relation{}, err
	}
	s, columns := &statement{}, t.Columns()
	s.add("SELECT " + c.selected(t, "b") + " FROM " + c.from(t.Name) + " b")
	return relation.Relation{Columns: columns, Rows: c.rows(ctx, s, c.storages(table, columns, nil))}, nil
}
