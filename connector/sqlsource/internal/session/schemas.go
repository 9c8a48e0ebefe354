package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// chosenSchemas returns the schemas that are served to a tenant: those that the options
// name, each once, or the default one. It reports whether the options name any.
func (o *Settings) chosenSchemas(creds wire.Credentials) (schemas []string, named bool) {
	if o.Schemas != nil {
		for _, s := range o.Schemas(creds) {
			if s != "" && !slices.Contains(schemas, s) {
				schemas = append(schemas, s)
			}
		}
	}
	if len(schemas) == 0 {
		return []string{""}, false
	}
	return schemas, true
}

// qualify returns the name of a table as the options have it: with its schema if
// several are served.
func (x *Session) qualify(schema, name string) string {
	if len(x.Schemas) == 1 {
		return name
	}
	return schema + "." + name
}

// inSchema returns the name that a table of the options would have in a schema.
// It reports false if it cannot be in that schema.
func (x *Session) inSchema(schema, name string) (own string, ok bool) {
	if len(x.Schemas) == 1 {
		return name, true
	}
	return strings.CutPrefix(name, schema+".")
}

// place returns a table of a schema's catalog as it is served. It drops foreign keys to
// schemas that are not served, and what cannot be named, of which it warns.
func (x *Session) place(entry *sqlengine.Table, schema string) (t *Table, warnings []string) {
	t = newTable(entry, schema)
	t.Name = x.qualify(schema, t.Name)
	t.Foreign = slices.DeleteFunc(t.Foreign, func(k sqlengine.Key) bool {
		if slices.Contains(x.Schemas, cmp.Or(k.TargetSchema, schema)) {
			return false
		}
		k.Omitted = "the table that it leads to is in a schema that is not served"
		t.Omitted = append(t.Omitted, k)
		return true
	})
	for i := range t.Foreign {
		k := &t.Foreign[i]
		k.Target = x.qualify(cmp.Or(k.TargetSchema, schema), k.Target)
	}
	return t, x.Database.Options.dropNameless(t)
}

// readTables reads tables of the catalog by their names in the options.
func (x *Session) readTables(ctx context.Context, names []string) ([]*Table, error) {
	var found []*Table
	for _, schema := range x.Schemas {
		var own []string
		for _, name := range names {
			if n, ok := x.inSchema(schema, name); ok {
				own = append(own, n)
			}
		}
		if len(own) == 0 {
			continue
		}
		tables, _, err := x.Database.Flavor.Catalog(ctx, x.Tx.Queryer, schema, own)
		if err != nil {
			return nil, err
		}
		for _, entry := range tables {
			t, _ := x.place(entry, schema)
			if slices.ContainsFunc(found, func(other *Table) bool { return other.Name == t.Name }) {
				return nil, connector.Unsupported("two tables are named %s, in schemas whose names have dots; rename a schema, or serve one of them",
					terms.QuoteName(t.Name))
			}
			found = append(found, t)
		}
	}
	return found, nil
}

// AskAgain asks the catalog for the known tables on a new connection, if its answer was
// the other connection's own. A table that it does not have any more is found missing
// when it is read.
func (x *Session) AskAgain(ctx context.Context) error {
	if !x.Database.Flavor.OwnCatalog {
		return nil
	}
	for name := range x.Known {
		if _, err := x.readTables(ctx, []string{name}); err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// ReadSchemas reads all tables of the schemas that are served. It warns of
// schemas that do not exist, and leaves out tables whose names are the same, or
// cannot be sent.
func (x *Session) ReadSchemas(ctx context.Context) (tables []*Table, warnings []string, err error) {
	count := map[string]int{}
	var late []string
	for _, schema := range x.Schemas {
		read, said, err := x.Database.Flavor.Catalog(ctx, x.Tx.Queryer, schema, nil)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, said...)
		if len(read) == 0 {
			found, err := x.hasSchema(ctx, schema)
			if err != nil {
				return nil, nil, err
			}
			switch {
			case !found:
				warnings = append(warnings, noSchema(schema))
			case x.Database.Flavor.Audit == nil && len(said) == 0:
				warnings = append(warnings, "The database has no tables.")
			}
		}
		for _, entry := range read {
			t, said := x.place(entry, schema)
			options := &x.Database.Options
			if !options.Serves(t.Name) {
				if options.chosen(t.Name) {
					warnings = append(warnings, fmt.Sprintf("The table %s is left out, with the keys that lead to it, because the options "+
						"of this connector give its name to another table.", terms.QuoteName(t.Name)))
				}
				continue
			}
			if why := nameless(t.Name, options.PublicTable(t.Name)); why != "" {
				warnings = append(warnings, fmt.Sprintf("The table %s is left out because %s.", terms.QuoteName(t.Name), why))
				continue
			}
			if t.Late && len(t.Columns) == 0 {
				late = append(late, options.PublicTable(t.Name))
				continue
			}
			warnings = append(warnings, said...)
			count[t.Name]++
			tables = append(tables, t)
		}
	}
	if len(late) > 0 {
		warnings = append(warnings, "The time of this discovery was over before these tables were described, so they are left out: "+
			TableNames(late)+". Allow the discovery more time, or serve fewer tables.")
	}
	for _, t := range tables {
		if n := count[t.Name]; n > 1 {
			count[t.Name] = -1 // say it once
			warnings = append(warnings, fmt.Sprintf("%d tables are named %s, in schemas whose names have dots: all of them are left out.",
				n, terms.QuoteName(t.Name)))
		}
	}
	return slices.DeleteFunc(tables, func(t *Table) bool { return count[t.Name] < 0 }), warnings, nil
}

// hasSchema reports whether a schema exists, as far as the flavor can tell.
func (x *Session) hasSchema(ctx context.Context, schema string) (bool, error) {
	if x.Database.Flavor.HasSchema == nil {
		return true, nil
	}
	return x.Database.Flavor.HasSchema(ctx, x.Tx.Queryer, schema)
}

func noSchema(schema string) string {
	if schema == "" {
		return "The default schema does not exist in this database. Choose another one."
	}
	return fmt.Sprintf("There is no schema %s in this database, or its user may not use it. Check the name of the schema.",
		terms.QuoteName(schema))
}

// catalog returns tables by their names in the options: those that the request
// has asked for before, those of the cache, and others from the catalog. It leaves
// out those that do not exist.
func (x *Session) catalog(ctx context.Context, names []string) ([]*Table, error) {
	var tables []*Table
	var rest []string
	for _, name := range names {
		if t, ok := x.Known[name]; ok {
			tables = append(tables, t)
		} else {
			rest = append(rest, name)
		}
	}
	if len(rest) == 0 {
		return tables, nil
	}
	s := x.Database
	now := time.Now()
	found, unknown := s.cache.lookup(x.Schemas, rest, now)
	if len(unknown) > 0 {
		read, err := x.readTables(ctx, unknown)
		if err != nil {
			return nil, err
		}
		if s.Options.CatalogTTL > 0 {
			s.cache.store(x.Schemas, read, now.Add(s.Options.CatalogTTL))
		}
		found = append(found, read...)
	}
	for _, t := range found {
		x.Known[t.Name] = t
	}
	return append(tables, found...), nil
}
