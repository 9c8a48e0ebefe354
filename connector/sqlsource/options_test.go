package sqlsource

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestNewReportsFaults(t *testing.T) {
	columns := func(c map[string]ColumnOptions) *Options {
		return &Options{Tables: map[string]TableOptions{"a": {Columns: c}}}
	}
	for _, c := range []struct {
		why     string
		db      *sql.DB
		flavor  sqlengine.Flavor
		options *Options
		want    []string
	}{
		{"nothing is given", nil, nil, nil, []string{"no database", "no flavor"}},
		{"two tables of one name", new(sql.DB), SQLite(),
			&Options{Tables: map[string]TableOptions{"a": {Name: "b"}, "b": {}}},
			[]string{`tables "a" and "b" would both be named "b"`}},
		{"two columns of one name", new(sql.DB), SQLite(),
			columns(map[string]ColumnOptions{"x": {Name: "y"}, "y": {}}),
			[]string{`table "a": columns "x" and "y" would both be named "y"`}},
		{"no such type", new(sql.DB), SQLite(),
			columns(map[string]ColumnOptions{"x": {Type: "money"}}),
			[]string{`table "a", column "x": unknown type "money"`}},
	} {
		_, err := New(c.db, c.flavor, c.options)
		require.Error(t, err, c.why)
		for _, want := range c.want {
			assert.ErrorContains(t, err, want, c.why)
		}
	}
	_, err := NewPerTenant(nil, SQLite(), nil)
	require.ErrorContains(t, err, "no database")
	open := func(context.Context, wire.Credentials) (*sql.DB, error) { return nil, nil }
	_, err = NewPerTenant(open, SQLite(), &Options{CatalogTTL: time.Second})
	require.ErrorContains(t, err, "CatalogTTL needs a database of the host", "a tenant's catalog may not be kept")
	_, err = NewPerTenant(open, SQLite(), nil)
	require.NoError(t, err)
}

// TestNames finds the table that a request names, and no table that is not
// served.
func TestNames(t *testing.T) {
	o := settings{
		only:   []string{"tbl_orders", "customers", "x"},
		tables: map[string]tableSettings{"tbl_orders": {Name: "orders"}, "orders": {Name: "old orders"}, "x": {Hidden: true}},
	}
	o.index()
	for _, n := range []struct {
		why, name, own string
		served         bool
	}{
		{"by its own name", "customers", "customers", true},
		{"by the name it is given", "orders", "tbl_orders", true},
		{"not by the name it has in the database", "tbl_orders", "", false},
		{"not one that is not listed", "old orders", "", false},
		{"not one that is hidden", "x", "", false},
		{"not one that the options do not name", "secrets", "", false},
	} {
		own, served := o.inDatabase(n.name)
		assert.Equal(t, n.served, served, n.why)
		if n.served {
			assert.Equal(t, n.own, own, n.why)
		}
	}
}

// TestChoose keeps statements within what engines take, and leaves the rest to
// the library.
func TestChoose(t *testing.T) {
	c := &column{name: "c", Column: sqlengine.Column{Class: sqlengine.ClassInteger, Raw: "c", Type: wire.TypeNumber}}
	split := func(and []wire.Filter, or ...[]wire.Filter) pushdown {
		return choose(SQLite(), wire.Where{And: and, Or: or}, func(string) *column { return c })
	}
	eq := wire.Filter{Field: "c", Op: wire.OpEq, Value: wire.Int(1)}
	var many []wire.Filter
	for range maxFilters + 1 {
		many = append(many, eq)
	}
	p := split(many)
	assert.Len(t, p.pushed.And, maxFilters)
	assert.False(t, p.all)

	list := wire.Filter{Field: "c", Op: wire.OpIn}
	for i := range maxMembers {
		list.Values = append(list.Values, wire.Int(int64(i)))
	}
	p = split([]wire.Filter{list})
	assert.True(t, p.all)
	p = split([]wire.Filter{list, list, list, list, list, list})
	assert.Len(t, p.pushed.And, maxValues/maxMembers)
	list.Values = append(list.Values, wire.Int(-1))
	p = split([]wire.Filter{list, eq})
	assert.Len(t, p.pushed.And, 1, "a list that is too long is left, the rest is not")

	contains := wire.Filter{Field: "c", Op: wire.OpIncludes, Value: wire.Text("1")}
	p = split([]wire.Filter{eq}, []wire.Filter{eq}, []wire.Filter{contains})
	assert.Len(t, p.pushed.And, 1)
	assert.Empty(t, p.pushed.Or, "a part of an or would drop rows")
	assert.False(t, p.all)
}
