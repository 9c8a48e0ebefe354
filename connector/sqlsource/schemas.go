package sqlsource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// SchemaFinder is implemented by a flavor that can tell whether a schema exists.
// A source then says so where one does not.
type SchemaFinder interface {
	// HasSchema reports whether there is a schema of this name, to the letter. The
	// empty name is the default schema, as for [Flavor].Catalog.
	HasSchema(ctx context.Context, q Queryer, schema string) (bool, error)
}

// schemas returns the schemas that are served to a tenant.
func (o *Options) schemas(creds wire.Credentials) []string {
	var chosen []string
	if o.SchemasOf != nil {
		for _, s := range o.SchemasOf(creds) {
			if s != "" && !slices.Contains(chosen, s) {
				chosen = append(chosen, s)
			}
		}
	}
	switch {
	case len(chosen) > 0:
		return chosen
	case len(o.Schemas) > 0:
		return o.Schemas
	}
	return []string{o.Schema}
}

// schemaFaults returns what is wrong with the schemas of the options.
func (o *Options) schemaFaults() []error {
	var faults []error
	if o.Schema != "" && len(o.Schemas) > 0 {
		faults = append(faults, errors.New("sqlsource: Schema and Schemas are both set; set one of them"))
	}
	for i, s := range o.Schemas {
		switch {
		case s == "":
			faults = append(faults, fmt.Errorf("sqlsource: Schemas[%d] is empty; name the schema", i))
		case slices.Contains(o.Schemas[:i], s):
			faults = append(faults, fmt.Errorf("sqlsource: Schemas names %q twice", s))
		}
	}
	return faults
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

// place completes a table of a schema's catalog. Foreign keys to schemas that are
// not served are dropped, and what cannot be named, of which it warns.
func (x *session) place(t *Table, schema string) (warnings []string) {
	t.Schema, t.own = schema, t.Name
	t.Name = x.qualify(schema, t.Name)
	t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(k ForeignKey) bool {
		if slices.Contains(x.schemas, or(k.TargetSchema, schema)) {
			return false
		}
		t.Omitted = append(t.Omitted, OmittedKey{
			Kind: OmittedForeignKey, Columns: k.Columns, Reason: "the table that it leads to is in a schema that is not served",
		})
		return true
	})
	for i := range t.ForeignKeys {
		k := &t.ForeignKeys[i]
		k.Target = x.qualify(or(k.TargetSchema, schema), k.Target)
	}
	return x.source.options.dropNameless(t)
}

// readTables reads tables of the catalog by their names in the options.
func (x *session) readTables(ctx context.Context, names []string) ([]Table, error) {
	var found []Table
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
		tables, _, err := x.source.flavor.Catalog(ctx, x.tx.Tx, schema, own)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			x.place(&t, schema)
			if slices.ContainsFunc(found, func(other Table) bool { return other.Name == t.Name }) {
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
func (x *session) readSchemas(ctx context.Context) (tables []Table, warnings []string, err error) {
	count := map[string]int{}
	for _, schema := range x.schemas {
		read, said, err := x.source.flavor.Catalog(ctx, x.tx.Tx, schema, nil)
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
		for _, t := range read {
			said := x.place(&t, schema)
			options := &x.source.options
			if !options.serves(t.Name) {
				continue
			}
			if why := nameless(t.Name, options.publicTable(t.Name)); why != "" {
				warnings = append(warnings, fmt.Sprintf("The table %s is left out because %s.", wire.QuoteName(t.Name), why))
				continue
			}
			warnings = append(warnings, said...)
			count[t.Name]++
			tables = append(tables, t)
		}
	}
	for _, t := range tables {
		if n := count[t.Name]; n > 1 {
			count[t.Name] = -1 // say it once
			warnings = append(warnings, fmt.Sprintf("%d tables are named %s, in schemas whose names have dots: all of them are left out.",
				n, wire.QuoteName(t.Name)))
		}
	}
	return slices.DeleteFunc(tables, func(t Table) bool { return count[t.Name] < 0 }), warnings, nil
}

// hasSchema reports whether a schema exists, as far as the flavor can tell.
func (x *session) hasSchema(ctx context.Context, schema string) (bool, error) {
	finder, ok := x.source.flavor.(SchemaFinder)
	if !ok {
		return true, nil
	}
	return finder.HasSchema(ctx, x.tx.Tx, schema)
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
func (x *session) catalog(ctx context.Context, names []string) ([]Table, error) {
	var tables []Table
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
	s := x.source
	now := time.Now()
	found, unknown := s.cache.lookup(x.schemas, rest, now)
	if len(unknown) > 0 {
		read, err := x.readTables(ctx, unknown)
		if err != nil {
			return nil, err
		}
		if s.options.Remember > 0 {
			s.cache.store(x.schemas, read, now.Add(s.options.Remember))
		}
		found = append(found, read...)
	}
	for _, t := range found {
		x.known[t.Name] = t
	}
	return append(tables, found...), nil
}
