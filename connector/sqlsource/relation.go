package sqlsource

import (
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// relation is a table as one statement uses it, under an alias.
type relation struct {
	catalog Table
	name    string // in the protocol
	from    string // the table and its alias, as FROM has them
	alias   string
	columns []*Column // those that are served, in order
	byName  map[string]*Column
}

// relations finds tables of the catalog by their protocol names, once each.
func (x *session) relations(ctx context.Context, names ...string) (map[string]Table, error) {
	config := &x.source.config
	own := map[string]string{}
	var ask []string
	for _, name := range names {
		n, served := config.inDatabase(name)
		if !served {
			return nil, unknownTable(name)
		}
		if _, known := own[name]; !known {
			own[name] = n
			ask = append(ask, n)
		}
	}
	tables, err := x.catalog(ctx, ask)
	if err != nil {
		return nil, x.source.failure(ctx, err, "")
	}
	found := make(map[string]Table, len(own))
	for public, n := range own {
		i := slices.IndexFunc(tables, func(t Table) bool { return t.Name == n })
		if i < 0 {
			return nil, unknownTable(public)
		}
		found[public] = tables[i]
	}
	return found, nil
}

func unknownTable(name string) error {
	return connector.UnknownEntity("there is no table %s", wire.QuoteName(name))
}

// use makes a relation of a table under an alias, which is a word of ours.
func (s *Source) use(t Table, name, alias string) *relation {
	flavor := s.config.Flavor
	r := &relation{catalog: t, name: name, alias: alias, byName: map[string]*Column{}}
	r.from = flavor.Table(s.config.Schema, t.Name) + " " + alias
	if key := s.config.Tables[t.Name].PrimaryKey; key != nil {
		r.catalog.PrimaryKey = key
	}
	overrides := s.config.Tables[t.Name].Columns
	for _, c := range t.Columns {
		o := overrides[c.Name]
		if o.Hidden {
			continue
		}
		c.Want = o.Type
		column := flavor.Column(alias+"."+flavor.Quote(c.Name), c)
		column.name, column.nullable = or(o.Name, c.Name), c.Nullable || column.Valid != ""
		r.columns = append(r.columns, &column)
		r.byName[column.name] = &column
	}
	return r
}

// one is the relation of a request for a single table.
func (x *session) one(ctx context.Context, name string) (*relation, error) {
	tables, err := x.relations(ctx, name)
	if err != nil {
		return nil, err
	}
	return x.source.use(tables[name], name, "t0"), nil
}

// public is the name in the protocol of a column of the catalog; false when it
// is not served.
func (s *Source) public(table, column string) (string, bool) {
	o := s.config.Tables[table].Columns[column]
	return or(o.Name, column), !o.Hidden
}

// column finds a column by its name in the protocol.
func (r *relation) column(name string) *Column { return r.byName[name] }

func (r *relation) unknownField(name string) error {
	return connector.UnknownEntity("table %s has no field %s", wire.QuoteName(r.name), wire.QuoteName(name))
}

// check refuses filters on fields that the table does not have (A11).
func (r *relation) check(and []wire.Filter, or [][]wire.Filter) error {
	for _, group := range append([][]wire.Filter{and}, or...) {
		for _, f := range group {
			if r.column(f.Field) == nil {
				return connector.Unsupported("table %s has no field %s to filter by", wire.QuoteName(r.name), wire.QuoteName(f.Field))
			}
		}
	}
	return nil
}

// primary are the columns of the primary key; nil when it is not known, or not
// served in full.
func (s *Source) primary(r *relation) []*Column {
	var key []*Column
	for _, name := range r.catalog.PrimaryKey {
		public, served := s.public(r.catalog.Name, name)
		c := r.column(public)
		if !served || c == nil {
			return nil
		}
		key = append(key, c)
	}
	return key
}

// sound looks for values that the expressions of these columns would misjudge,
// and reports that there are none.
func (x *session) sound(ctx context.Context, r *relation, columns []*Column) (bool, error) {
	var guards []string
	for _, c := range columns {
		if c.Guard != "" && !slices.Contains(guards, c.Guard) {
			guards = append(guards, c.Guard)
		}
	}
	if len(guards) == 0 {
		return true, nil
	}
	slices.Sort(guards) // so that statements are few
	b := &builder{flavor: x.source.config.Flavor}
	statement := "SELECT 1 FROM " + r.from + " WHERE " + strings.Join(guards, " OR ") + b.flavor.Window(b.bind(int64(1)), "")
	rows, err := x.tx.QueryContext(ctx, statement, b.args...)
	if err != nil {
		return false, x.source.failure(ctx, err, r.name)
	}
	defer func() { _ = rows.Close() }()
	found := rows.Next()
	return !found, x.source.failure(ctx, rows.Err(), r.name)
}
