package sqlsource

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
		{"nothing is given", nil, sqlengine.Flavor{}, nil, []string{"no database", "has no Quote", "has no Param", "has no Table",
			"has no Catalog", "has no Column", "has no Window"}},
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
	testkit.Must(NewPerTenant(open, SQLite(), nil))(t)
}
