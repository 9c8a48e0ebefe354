package enginetest

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// schemaNames are the schemas of a database for TestSchemas. One has the table
// people (id), with the row 1. Two has the tables orders (id, person), with the
// row (1, 1), and people, empty. One and two differ in more than a suffix.
type schemaNames struct {
	one, two string
	// across says that orders.person references one.people.
	across bool
	// dotted is one and ".x": one has a table x.y, and dotted a table y. Empty: the
	// engine has no such names.
	dotted string
}

// TestSchemas checks what is served of a database with several schemas, and under
// which names.
func TestSchemas(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db, names := e.schemas(t)
		serveSchemas(t, names, func(t *testing.T, o *sqlsource.Options, schema string) *connectortest.Tenant {
			tenant := map[string]string{"schema": schema}
			maps.Copy(tenant, db.credentials)
			return connectortest.Start(t, db.definition("schema"), db.source(t, o), nil).As(tenant).Unverified()
		})
	})
}

// serveSchemas asks the tenants that serve returns of a connector, whose credential
// schema is the one that is given.
func serveSchemas(t *testing.T, n schemaNames, serve func(t *testing.T, o *sqlsource.Options, schema string) *connectortest.Tenant) {
	fixed := func(schemas ...string) func(wire.Credentials) []string {
		return func(wire.Credentials) []string { return schemas }
	}
	chosen := func(c wire.Credentials) []string { return strings.Split(c.Get("schema"), ",") }
	one, two := n.one+".people", n.two+".orders"
	key := one + ".id"
	leftOut := `In table "orders", the foreign key ("person") is left out ` +
		`because the table that it leads to is in a schema that is not served.`
	if !n.across {
		key, leftOut = "", ""
	}
	for _, c := range []struct {
		why     string
		options sqlsource.Options
		schema  string
		tables  map[string]string // and the foreign key of each
		warning string
	}{
		{"one schema: names as they are, and no key that leads out of it", sqlsource.Options{Schemas: fixed(n.two)}, "",
			map[string]string{"orders": "", "people": ""}, leftOut},
		{"several: names with their schemas", sqlsource.Options{Schemas: fixed(n.one, n.two)}, "",
			map[string]string{one: "", two: key, n.two + ".people": ""}, ""},
		{"a credential chooses", sqlsource.Options{Schemas: chosen, Only: []string{"people"}}, n.one,
			map[string]string{"people": ""}, ""},
		{"a credential chooses several", sqlsource.Options{Schemas: chosen}, n.two + "," + n.one + "," + n.two,
			map[string]string{one: "", two: key, n.two + ".people": ""}, ""},
		{"a credential that is left empty", sqlsource.Options{Schemas: func(c wire.Credentials) []string {
			return append(chosen(c), n.two)
		}}, "", map[string]string{"orders": "", "people": ""}, leftOut},
		{"Only and Tables have the schema too", sqlsource.Options{
			Schemas: fixed(n.one, n.two), Only: []string{one, two},
			Tables: map[string]sqlsource.TableOptions{one: {Name: "persons"}},
		}, "", map[string]string{"persons": "", two: strings.Replace(key, one, "persons", 1)}, ""},
		{"a schema that does not exist", sqlsource.Options{Schemas: fixed(n.two, "no_schema_of_this_name")}, "",
			map[string]string{two: "", n.two + ".people": ""}, `There is no schema "no_schema_of_this_name" in this database`},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := testkit.Must(serve(t, &c.options, c.schema).Discover())(t)
			tables := map[string]string{}
			for _, table := range d.Tables {
				if strings.Contains(table.Name, "x.y") || table.Name == "y" {
					continue
				}
				tables[table.Name] = ""
				for _, k := range table.ForeignKeys {
					tables[table.Name] += k.TargetTable + "." + k.TargetField
				}
			}
			assert.Equal(t, c.tables, tables)
			assert.Contains(t, strings.Join(d.Warnings, "\n"), c.warning)
			assert.Equal(t, c.warning == "", len(d.Warnings) == 0, d.Warnings)
		})
	}
	t.Run("requests", func(t *testing.T) {
		caller := serve(t, &sqlsource.Options{Schemas: fixed(n.one, n.two)}, "")
		a := testkit.Must(caller.Query(wire.QueryRequest{
			Table: two, Sort: []wire.SortKey{}, Fields: []string{"id"},
			Joins: []wire.JoinHop{{FromTable: two, ToTable: one, FromField: "person", ToField: "id",
				Fields: []wire.JoinField{{Field: "id", As: "who"}}}},
		}))(t)
		require.Len(t, a.Rows, 1)
		assert.False(t, a.Column("who")[0].IsNull(), "of the schema that has a row")
		for table, want := range map[string]int64{one: 1, n.two + ".people": 0} {
			rows := testkit.Must(caller.Count(wire.CountRequest{Table: table}))(t)
			assert.Equal(t, want, rows, table)
		}
		for _, table := range []string{"people", "orders", "no_schema_of_this_name.people", n.one + ".orders", n.one + "."} {
			_, err := caller.Count(wire.CountRequest{Table: table})
			assert.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err), table)
		}
	})
	t.Run("check", func(t *testing.T) {
		options := &sqlsource.Options{Schemas: chosen}
		require.NoError(t, serve(t, options, n.one).Check())
		require.NoError(t, serve(t, options, "").Check(), "the default schema")
		err := serve(t, options, "no_schema_of_this_name").Check()
		require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err))
		require.ErrorContains(t, err, `There is no schema "no_schema_of_this_name"`)
	})
	t.Run("dots", func(t *testing.T) {
		if n.dotted == "" {
			t.Skip("no names with dots here")
		}
		name := n.dotted + ".y"
		caller := serve(t, &sqlsource.Options{Schemas: fixed(n.one, n.dotted)}, "")
		d := testkit.Must(caller.Discover())(t)
		assert.Len(t, d.Tables, 1)
		assert.Equal(t, []string{
			"2 tables are named " + terms.QuoteName(name) + ", in schemas whose names have dots: all of them are left out.",
		}, d.Warnings)
		_, err := caller.Count(wire.CountRequest{Table: name})
		require.Equal(t, wire.CodeUnsupported, wire.CodeOf(err))
	})
}
