package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Open opens the database that a tenant's credentials lead to. It is called once
// for every request, and the source closes what it returns when the request
// ends: nothing of a tenant is kept. Fill a driver's own configuration with the
// credentials rather than writing them into a connection string, where they
// could say more than they should. Opening need not connect. An error that Open
// makes itself should be connector.CheckFailed.
type Open func(ctx context.Context, credentials wire.Credentials) (*sql.DB, error)

// Options say which tables are served, and how. A nil *Options and every zero
// field mean the default.
type Options struct {
	// Schema is the schema whose tables are served. Default: the engine's
	// ("public" for PostgreSQL, the database itself for MySQL).
	Schema string
	// Only lists the tables that are served, by their names in the database.
	// Nil: all that the credentials may read.
	Only []string
	// Tables overrides what the catalog says, by the table's name in the
	// database.
	Tables map[string]TableOptions

	// Remember is how long the description of a table may be kept rather than
	// read again by each request. Zero: not at all. [NewPerTenant] refuses it,
	// because nothing of a tenant is kept.
	Remember time.Duration
	// EstimateSizes makes /size answer the engine's estimate, with exact false,
	// where the engine has one. Counting a large table is slow in some engines.
	EstimateSizes bool
	// Profile limits how long a discovery spends on samples and statistics, all
	// tables together. Default: 2 seconds. Negative: they are left out.
	Profile time.Duration
}

// TableOptions overrides what the catalog says of a table.
type TableOptions struct {
	Name        string // in the protocol; empty: the same
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
	Name        string    // in the protocol; empty: the same
	Description string    // empty: the catalog's comment
	Type        wire.Type // empty: the type that the flavor reads it as
	Hidden      bool      // the column is not served
}

// defaultProfile is the default of Options.Profile.
const defaultProfile = 2 * time.Second

// newSource returns a source, or every fault of its arguments at once.
func newSource(s *Source, options *Options) (*Source, error) {
	if options != nil {
		s.options = *options
	}
	faults := s.options.faults()
	if s.flavor == nil {
		faults = append(faults, errors.New("sqlsource: no flavor; pass the one of the engine, such as sqlsource.PostgreSQL()"))
	}
	switch {
	case s.db == nil && s.openTenant == nil:
		faults = append(faults, errors.New("sqlsource: no database; pass a *sql.DB to New, or a function that opens one to NewPerTenant"))
	case s.openTenant != nil && s.options.Remember != 0:
		faults = append(faults, errors.New("sqlsource: Remember needs a database of the host; nothing of a tenant may be kept"))
	}
	if s.options.Profile == 0 {
		s.options.Profile = defaultProfile
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return s, nil
}

// faults returns what is wrong with the overrides of tables and columns.
func (o *Options) faults() []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("sqlsource: "+format, args...)) }
	tables := map[string]string{}
	for name, t := range o.Tables {
		public := or(t.Name, name)
		if other, taken := tables[public]; taken {
			fault("tables %q and %q would both be named %q", min(name, other), max(name, other), public)
		}
		tables[public] = name
		columns := map[string]string{}
		for column, c := range t.Columns {
			if c.Type != "" && !c.Type.Known() {
				fault("table %q, column %q: unknown type %q; use one of the wire.Type constants", name, column, c.Type)
			}
			public := or(c.Name, column)
			if other, taken := columns[public]; taken {
				fault("table %q: columns %q and %q would both be named %q", name, min(column, other), max(column, other), public)
			}
			columns[public] = column
		}
	}
	return faults
}

// inDatabase returns the name that a table of the protocol has in the database,
// and reports whether the table is served.
func (o *Options) inDatabase(public string) (name string, served bool) {
	for own, t := range o.Tables {
		if t.Name == public {
			return own, o.serves(own)
		}
	}
	if renamed := o.Tables[public].Name; renamed != "" && renamed != public {
		return "", false // it is served under another name
	}
	return public, o.serves(public)
}

// serves reports whether a table of the database is served.
func (o *Options) serves(name string) bool {
	return !o.Tables[name].Hidden && (o.Only == nil || slices.Contains(o.Only, name))
}

// publicTable returns the protocol's name of a table of the database.
func (o *Options) publicTable(name string) string { return or(o.Tables[name].Name, name) }

// publicColumn returns the protocol's name of a column of the database, and
// reports whether the column is served.
func (o *Options) publicColumn(table, column string) (public string, served bool) {
	c := o.Tables[table].Columns[column]
	return or(c.Name, column), !c.Hidden
}

// or returns a, or b if a is empty.
func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
