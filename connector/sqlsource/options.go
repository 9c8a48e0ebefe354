package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	// ("public" for PostgreSQL, the database itself for MySQL, "main" for SQLite,
	// where attached databases are schemas too).
	Schema string
	// Schemas are the schemas whose tables are served, in place of Schema. If there
	// are several, a table's name is "schema.table", in the protocol and in Only
	// and Tables, and foreign keys between the schemas are listed. Tables whose
	// names would then be the same, because names have dots, are not served.
	Schemas []string
	// SchemasOf returns the schemas that a tenant's credentials choose, in place of
	// Schema and Schemas; none leaves these. It is no fence: what a tenant may read
	// is for the database to decide.
	SchemasOf func(wire.Credentials) []string
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

// settings are a source's options, and what is looked up in them.
type settings struct {
	Options
	only    map[string]bool   // Only
	renamed map[string]string // the names in the database of the tables that have another in the protocol
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
const defaultProfile = 10 * time.Second

// newSource returns a source, or every fault of its arguments at once.
func newSource(s *Source, options *Options) (*Source, error) {
	if options != nil {
		s.options.Options = *options
	}
	faults := append(s.options.faults(), s.options.schemaFaults()...)
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
	s.options.index()
	if reader, ok := s.flavor.(RowReader); ok {
		s.flavor, s.rows = reader.Engine(), reader
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

// index makes the maps of names, because a discovery looks thousands of them up.
func (o *settings) index() {
	o.only, o.renamed = map[string]bool{}, map[string]string{}
	for _, name := range o.Only {
		o.only[name] = true
	}
	for own, t := range o.Tables {
		if t.Name != "" {
			o.renamed[t.Name] = own
		}
	}
}

// inDatabase returns the name that a table of the protocol has in the database,
// and reports whether the table is served. One without a name is not.
func (o *settings) inDatabase(public string) (name string, served bool) {
	if public == "" {
		return "", false
	}
	if own, renamed := o.renamed[public]; renamed {
		return own, o.serves(own)
	}
	if renamed := o.Tables[public].Name; renamed != "" && renamed != public {
		return "", false // it is served under another name
	}
	return public, o.serves(public)
}

// serves reports whether a table of the database is served.
func (o *settings) serves(name string) bool {
	return !o.Tables[name].Hidden && (o.Only == nil || o.only[name])
}

// publicTable returns the protocol's name of a table of the database.
func (o *settings) publicTable(name string) string { return or(o.Tables[name].Name, name) }

// publicColumn returns the protocol's name of a column of the database, and
// reports whether the column is served.
func (o *settings) publicColumn(table, column string) (public string, served bool) {
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
