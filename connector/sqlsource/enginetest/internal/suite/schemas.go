package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// SchemaNames are the schemas of a database for [Schemas]. One has the table
// people (id), with the row 1. Two has the tables orders (id, person), with the
// row (1, 1), and people, empty. One and Two differ in more than a suffix.
type SchemaNames struct {
	One, Two string
	// Across says that orders.person references One.people.
	Across bool
	// Dotted is One and ".x": One has a table x.y, and Dotted a table y. Empty: the
	// engine has no such names.
	Dotted string
}

// Schemas checks what is served of a database with several schemas, and under
// which names. serve returns the tenant of a connector, whose credential schema
// is the one that is given.
func Schemas(t *testing.T, n SchemaNames, serve func(t *testing.T, o *sqlsource.Options, schema string) *connectortest.Tenant) {
	chosen := func(c wire.Credentials) []string { return strings.Split(c.Get("schema"), ",") }
	one, two := n.One+".people", n.Two+".orders"
	key := one + ".id"
	leftOut := `In table "orders", the foreign key ("person") is left out ` +
		`because the table that it leads to is in a schema that is not served.`
	if !n.Across {
		key, leftOut = "", ""
	}
	for _, c := range []struct {
		why     string
		options sqlsource.Options
		schema  string
		tables  map[string]string // and the foreign key of each
		warning string
	}{
		{"one schema: names as they are, and no key that leads out of it", sqlsource.Options{Schema: n.Two}, "",
			map[string]string{"orders": "", "people": ""}, leftOut},
		{"several: names with their schemas", sqlsource.Options{Schemas: []string{n.One, n.Two}}, "",
			map[string]string{one: "", two: key, n.Two + ".people": ""}, ""},
		{"a credential chooses", sqlsource.Options{SchemasOf: chosen, Only: []string{"people"}}, n.One,
			map[string]string{"people": ""}, ""},
		{"a credential chooses several", sqlsource.Options{SchemasOf: chosen}, n.Two + "," + n.One + "," + n.Two,
			map[string]string{one: "", two: key, n.Two + ".people": ""}, ""},
		{"a credential that is left empty", sqlsource.Options{SchemasOf: chosen, Schema: n.Two}, "",
			map[string]string{"orders": "", "people": ""}, leftOut},
		{"Only and Tables have the schema too", sqlsource.Options{
			Schemas: []string{n.One, n.Two}, Only: []string{one, two},
			Tables: map[string]sqlsource.TableOptions{one: {Name: "persons"}},
		}, "", map[string]string{"persons": "", two: strings.Replace(key, one, "persons", 1)}, ""},
		{"a schema that does not exist", sqlsource.Options{Schemas: []string{n.Two, "no_schema_of_this_name"}}, "",
			map[string]string{two: "", n.Two + ".people": ""}, `There is no schema "no_schema_of_this_name" in this database`},
	} {
		t.Run(c.why, func(t *testing.T) {
			d, err := serve(t, &c.options, c.schema).Discover()
			require.NoError(t, err)
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
		caller := serve(t, &sqlsource.Options{Schemas: []string{n.One, n.Two}}, "")
		a, err := caller.Query(wire.QueryRequest{
			Table: two, Sort: []wire.SortKey{}, Fields: []string{"id"},
			Joins: []wire.JoinHop{{FromTable: two, ToTable: one, FromField: "person", ToField: "id",
				Fields: []wire.JoinField{{Field: "id", As: "who"}}}},
		})
		require.NoError(t, err)
		require.Len(t, a.Rows, 1)
		assert.False(t, a.Column("who")[0].IsNull(), "of the schema that has a row")
		for table, want := range map[string]int64{one: 1, n.Two + ".people": 0} {
			rows, err := caller.Count(wire.CountRequest{Table: table})
			require.NoError(t, err)
			assert.Equal(t, want, rows, table)
		}
		for _, table := range []string{"people", "orders", "no_schema_of_this_name.people", n.One + ".orders", n.One + "."} {
			_, err := caller.Count(wire.CountRequest{Table: table})
			assert.ErrorIs(t, err, connector.ErrUnknownEntity, table)
		}
	})
	t.Run("check", func(t *testing.T) {
		options := &sqlsource.Options{SchemasOf: chosen}
		require.NoError(t, serve(t, options, n.One).Check())
		err := serve(t, options, "no_schema_of_this_name").Check()
		require.ErrorIs(t, err, connector.ErrCheckFailed)
		require.ErrorContains(t, err, `There is no schema "no_schema_of_this_name"`)
	})
	t.Run("dots", func(t *testing.T) {
		if n.Dotted == "" {
			t.Skip("no names with dots here")
		}
		name := n.Dotted + ".y"
		caller := serve(t, &sqlsource.Options{Schemas: []string{n.One, n.Dotted}}, "")
		d, err := caller.Discover()
		require.NoError(t, err)
		assert.Len(t, d.Tables, 1)
		assert.Equal(t, []string{
			"2 tables are named " + wire.QuoteName(name) + ", in schemas whose names have dots: all of them are left out.",
		}, d.Warnings)
		_, err = caller.Count(wire.CountRequest{Table: name})
		require.ErrorIs(t, err, connector.ErrUnsupported)
	})
}
