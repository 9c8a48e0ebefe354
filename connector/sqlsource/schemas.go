package sqlsource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// chosenSchemas returns the schemas that are served to a tenant: those that the options
// name, each once, or the default one. It reports whether the options name any.
func (o *settings) chosenSchemas(creds wire.Credentials) (schemas []string, named bool) {
	if o.schemas != nil {
		for _, s := range o.schemas(creds) {
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
func (x *session) qualify(schema, name string) string {
	if len(x.schemas) == 1 {
		return name
	}
	return schema + "." + name
}

// inSchema returns the name that a table of the options would have in a schema.
// It reports false if it cannot be in that schema.
func (x *session) inSchema(schema, name string) (own string, ok bool) {
	if len(x.schemas) == 1 {
		return name, true
	}
	return strings.CutPrefix(name, schema+".")
}

// place returns a table of a schema's catalog as it is served. It drops foreign keys to
// schemas that are not served, and what cannot be named, of which it warns.
func (x *session) place(entry *sqlengine.Table, schema string) (t *table, warnings []string) {
	t = newTable(entry, schema)
	t.Name = x.qualify(schema, t.Name)
	t.foreign = slices.DeleteFunc(t.foreign, func(k sqlengine.Key) bool {
		if slices.Contains(x.schemas, cmp.Or(k.TargetSchema, schema)) {
			return false
		}
		k.Omitted = "the table that it leads to is in a schema that is not served"
		t.omitted = append(t.omitted, k)
		return true
	})
	for i := range t.foreign {
		k := &t.foreign[i]
		k.Target = x.qualify(cmp.Or(k.TargetSchema, schema), k.Target)
	}
	return t, x.database.options.dropNameless(t)
}

// readTables reads tables of the catalog by their names in the options.
func (x *session) readTables(ctx context.Context, names []string) ([]*table, error) {
	var found []*table
	for _, schema := range x.schemas {
		var own []string
		for _, name := range names {
			if n, ok := x.inSchema(schema, name); ok {
				own = append(own, n)
			}
		}
		if len(own) == 0 {
			continue
		}
		tables, _, err := x.database.flavor.Catalog(ctx, x.tx.Queryer, schema, own)
		if err != nil {
			return nil, err
		}
		for _, entry := range tables {
			t, _ := x.place(entry, schema)
			if slices.ContainsFunc(found, func(other *table) bool { return other.Name == t.Name }) {
				return nil, connector.Unsupported("two tables are named %s, in schemas whose names have dots; rename a schema, or serve one of them",
					wire.QuoteName(t.Name))
			}
			found = append(found, t)
		}
	}
	return found, nil
}

// readSchemas reads all tables of the schemas that are served. It warns of
// schemas that do not exist, and leaves out tables whose names are the same, or
// cannot be sent.
func (x *session) readSchemas(ctx context.Context) (tables []*table, warnings []string, err error) {
	count := map[string]int{}
	var late []string
	for _, schema := range x.schemas {
		read, said, err := x.database.flavor.Catalog(ctx, x.tx.Queryer, schema, nil)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, said...)
		if len(read) == 0 {
			found, err := x.hasSchema(ctx, schema)
			if err != nil {
				return nil, nil, err
			}
			if !found {
				warnings = append(warnings, noSchema(schema))
			}
		}
		for _, entry := range read {
			t, said := x.place(entry, schema)
			options := &x.database.options
			if !options.serves(t.Name) {
				continue
			}
			if why := nameless(t.Name, options.publicTable(t.Name)); why != "" {
				warnings = append(warnings, fmt.Sprintf("The table %s is left out because %s.", wire.QuoteName(t.Name), why))
				continue
			}
			if t.Late && len(t.Columns) == 0 {
				late = append(late, options.publicTable(t.Name))
				continue
			}
			warnings = append(warnings, said...)
			count[t.Name]++
			tables = append(tables, t)
		}
	}
	if len(late) > 0 {
		warnings = append(warnings, "The time of this discovery was over before these tables were described, so they are left out: "+
			tableNames(late)+". Allow the discovery more time, or serve fewer tables.")
	}
	for _, t := range tables {
		if n := count[t.Name]; n > 1 {
			count[t.Name] = -1 // say it once
			warnings = append(warnings, fmt.Sprintf("%d tables are named %s, in schemas whose names have dots: all of them are left out.",
				n, wire.QuoteName(t.Name)))
		}
	}
	return slices.DeleteFunc(tables, func(t *table) bool { return count[t.Name] < 0 }), warnings, nil
}

// hasSchema reports whether a schema exists, as far as the flavor can tell.
func (x *session) hasSchema(ctx context.Context, schema string) (bool, error) {
	if x.database.capabilities.HasSchema == nil {
		return true, nil
	}
	return x.database.capabilities.HasSchema(ctx, x.tx.Queryer, schema)
}

func noSchema(schema string) string {
	if schema == "" {
		return "The default schema does not exist in this database. Choose another one."
	}
	return fmt.Sprintf("There is no schema %s in this database, or its user may not use it. Check the name of the schema.",
		wire.QuoteName(schema))
}

// catalog returns tables by their names in the options: those that the request
// has asked for before, those of the cache, and others from the catalog. It leaves
// out those that do not exist.
func (x *session) catalog(ctx context.Context, names []string) ([]*table, error) {
	var tables []*table
	var rest []string
	for _, name := range names {
		if t, ok := x.known[name]; ok {
			tables = append(tables, t)
		} else {
			rest = append(rest, name)
		}
	}
	if len(rest) == 0 {
		return tables, nil
	}
	s := x.database
	now := time.Now()
	found, unknown := s.cache.lookup(x.schemas, rest, now)
	if len(unknown) > 0 {
		read, err := x.readTables(ctx, unknown)
		if err != nil {
			return nil, err
		}
		if s.options.catalogTTL > 0 {
			s.cache.store(x.schemas, read, now.Add(s.options.catalogTTL))
		}
		found = append(found, read...)
	}
	for _, t := range found {
		x.known[t.Name] = t
	}
	return append(tables, found...), nil
}
