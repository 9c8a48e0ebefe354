package sqlsource

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestNewRefuses(t *testing.T) {
	open := func(context.Context, wire.Credentials) (*sql.DB, error) { return nil, nil }
	for _, c := range []struct {
		why    string
		config Config
		want   []string
	}{
		{"nothing is given", Config{}, []string{"give either Open", "give the Flavor"}},
		{"two databases", Config{Open: open, DB: new(sql.DB), Flavor: SQLite()}, []string{"give either Open"}},
		{"a tenant's catalog may not be kept", Config{Open: open, Flavor: SQLite(), Remember: time.Second}, []string{"Remember is for a database of the host's own"}},
		{"two tables of one name", Config{DB: new(sql.DB), Flavor: SQLite(), Tables: map[string]TableConfig{"a": {Name: "b"}, "b": {}}}, []string{`tables "a" and "b" are both to be named "b"`}},
		{"two columns of one name", Config{DB: new(sql.DB), Flavor: SQLite(), Tables: map[string]TableConfig{"a": {Columns: map[string]ColumnConfig{"x": {Name: "y"}, "y": {}}}}}, []string{`columns "x" and "y"`}},
		{"no such type", Config{DB: new(sql.DB), Flavor: SQLite(), Tables: map[string]TableConfig{"a": {Columns: map[string]ColumnConfig{"x": {Type: "money"}}}}}, []string{"not one of the protocol's nine"}},
	} {
		_, err := New(c.config)
		require.Error(t, err, c.why)
		for _, want := range c.want {
			assert.ErrorContains(t, err, want, c.why)
		}
	}
}

// TestNames finds the table that a request means, and no table that is not
// served.
func TestNames(t *testing.T) {
	c := Config{Only: []string{"tbl_orders", "customers", "x"}, Tables: map[string]TableConfig{"tbl_orders": {Name: "orders"}, "orders": {Name: "old orders"}, "x": {Hidden: true}}}
	for _, n := range []struct {
		why, name, own string
		served         bool
	}{
		{"by its own name", "customers", "customers", true},
		{"by the name it is given", "orders", "tbl_orders", true},
		{"not by the name it has in the database", "tbl_orders", "", false},
		{"not one that is not listed", "old orders", "", false},
		{"not one that is hidden", "x", "", false},
		{"not one that nobody speaks of", "secrets", "", false},
	} {
		own, served := c.inDatabase(n.name)
		assert.Equal(t, n.served, served, n.why)
		if n.served {
			assert.Equal(t, n.own, own, n.why)
		}
	}
}

// TestChoose keeps statements within what engines take, and leaves the rest to
// the SDK.
func TestChoose(t *testing.T) {
	c := &Column{name: "c", Class: ClassInteger, Raw: "c", Type: wire.TypeNumber}
	column := func(string) *Column { return c }
	eq := wire.Filter{Field: "c", Op: wire.OpEq, Value: wire.Int(1)}
	var many []wire.Filter
	for range maxFilters + 1 {
		many = append(many, eq)
	}
	s := choose(SQLite(), many, nil, column)
	assert.Len(t, s.and, maxFilters)
	assert.False(t, s.all)

	list := wire.Filter{Field: "c", Op: wire.OpIn}
	for i := range maxMembers {
		list.Values = append(list.Values, wire.Int(int64(i)))
	}
	s = choose(SQLite(), []wire.Filter{list}, nil, column)
	assert.True(t, s.all)
	s = choose(SQLite(), []wire.Filter{list, list, list, list, list, list}, nil, column)
	assert.Len(t, s.and, maxValues/maxMembers)
	list.Values = append(list.Values, wire.Int(-1))
	s = choose(SQLite(), []wire.Filter{list, eq}, nil, column)
	assert.Len(t, s.and, 1, "a list that is too long is left, the rest is not")

	contains := wire.Filter{Field: "c", Op: wire.OpIncludes, Value: wire.Text("1")}
	s = choose(SQLite(), []wire.Filter{eq}, [][]wire.Filter{{eq}, {contains}}, column)
	assert.Len(t, s.and, 1)
	assert.Empty(t, s.or, "a part of an or would drop rows")
	assert.False(t, s.all)
}
