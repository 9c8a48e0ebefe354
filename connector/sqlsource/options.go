package sqlsource

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Options say which tables are served, and how. A nil *Options and every zero
// field mean the default.
type Options struct {
	// Schemas returns the schemas whose tables are served to a tenant, by its
	// credentials or the same to all. If there are several, a table's name is
	// "schema.table", in the protocol and in Only and Tables, and foreign keys between
	// the schemas are listed. Tables whose names would then be the same, because names
	// have dots, are not served. It is no fence: what a tenant may read is for the
	// database to decide. Nil, or an answer without names: the engine's default
	// ("public" for PostgreSQL, the database itself for MySQL, "main" for SQLite, where
	// attached databases are schemas too).
	Schemas func(wire.Credentials) []string
	// Only lists the tables that are served, by their names in the database.
	// Nil: all that the credentials may read.
	Only []string
	// Tables overrides what the catalog says, by the table's name in the
	// database.
	Tables map[string]TableOptions

	// CatalogTTL is how long the description of a table may be kept rather than
	// read again by each request. Zero: not at all. [NewPerTenant] refuses it,
	// because nothing of a tenant is kept.
	CatalogTTL time.Duration
	// EstimateSizes makes /size answer the engine's estimate, with exact false,
	// where the engine has one. Counting a large table is slow in some engines.
	EstimateSizes bool
	// Profile limits how long a discovery spends on the samples of one table, and
	// how long on its row count and statistics. It is a last resort, for views whose
	// queries are slow: what is read of a table is limited by its rows and cells, so
	// that the answer does not depend on the load of the server. A warning says what
	// was left out. Tables of more than 200,000 rows, or of more than 2,000,000
	// cells, have no statistics; tables of more than 2,000,000 rows are not counted.
	// Default: 10 seconds. Negative: samples, counts and statistics are left out; keys
	// that only the rows prove are looked at all the same.
	//
	// A discovery keeps its request's deadline too: if it comes near, the remaining
	// tables are listed as the catalog has them, without keys that it does not prove,
	// and a warning names the first of them.
	Profile time.Duration

	// Observe is told how each call of the library was answered, when it ends: by
	// which statements, and what the engine did not do. It is not told of calls that
	// only read the catalog. It is called in the goroutine of the call, so it must be
	// quick, and for several requests at once.
	Observe func(ctx context.Context, plan Plan)
}

// TableOptions overrides what the catalog says of a table.
type TableOptions struct {
	Name        string // in the protocol; empty: the same. Another table of this name is not served.
	Description string // empty: the catalog's comment
	Hidden      bool   // the table is not served
	// PrimaryKey names, by their names in the database, columns that are unique
	// together and never null although no constraint says so, as in a view. It
	// saves sorting by all columns. The definition's KeysEnforced is then false.
	PrimaryKey []string
	// Columns overrides columns, by their names in the database.
	Columns map[string]ColumnOptions
}

// ColumnOptions overrides what the catalog says of a column.
type ColumnOptions struct {
	Name        string // in the protocol; empty: the same. Another column of this name is not served.
	Description string // empty: the catalog's comment
	// Type replaces the type that the flavor reads the column as. A value that the type does not hold
	// fails the requests that meet it, and discovery warns of one; in SQLite it is null. There, datetime
	// also says that numbers are instants: seconds since 1970, or Julian days.
	Type   wire.Type
	Hidden bool // the column is not served
}

// settings returns the options as the parts of the source have them.
func (o *Options) settings() session.Settings {
	s := session.Settings{
		Schemas: o.Schemas, Only: o.Only, Tables: make(map[string]session.TableSettings, len(o.Tables)),
		CatalogTTL: o.CatalogTTL, EstimateSizes: o.EstimateSizes, Profile: o.Profile,
	}
	for name, t := range o.Tables {
		own := session.TableSettings{
			Name: t.Name, Description: t.Description, Hidden: t.Hidden, PrimaryKey: t.PrimaryKey,
			Columns: make(map[string]session.ColumnSettings, len(t.Columns)),
		}
		for column, c := range t.Columns {
			own.Columns[column] = session.ColumnSettings(c)
		}
		s.Tables[name] = own
	}
	if s.Profile == 0 {
		s.Profile = session.DefaultProfile
	}
	if o.Observe != nil {
		s.Observe = func(ctx context.Context, r session.Report) { o.Observe(ctx, Plan(r)) }
	}
	return s
}

// faults returns what is wrong with the overrides of tables and columns.
func (o *Options) faults() []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("sqlsource: "+format, args...)) }
	tables := map[string]string{}
	for name, t := range o.Tables {
		public := cmp.Or(t.Name, name)
		if other, taken := tables[public]; taken && !t.Hidden {
			fault("tables %q and %q would both be named %q", min(name, other), max(name, other), public)
		}
		if !t.Hidden { // else another table may have its name
			tables[public] = name
		}
		columns := map[string]string{}
		for column, c := range t.Columns {
			if c.Type != "" && !terms.IsType(c.Type) {
				fault("table %q, column %q: unknown type %q; use one of the wire.Type constants", name, column, c.Type)
			}
			public := cmp.Or(c.Name, column)
			if other, taken := columns[public]; taken && !c.Hidden {
				fault("table %q: columns %q and %q would both be named %q", name, min(column, other), max(column, other), public)
			}
			if !c.Hidden {
				columns[public] = column
			}
		}
	}
	return faults
}
