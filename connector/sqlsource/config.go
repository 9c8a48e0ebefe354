package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Config says which database is served, and how. Flavor, and Open or DB, are
// needed; every other zero member is a default.
type Config struct {
	// Open opens the database that a tenant's credentials lead to. It is called
	// for every call, and what it answers is closed after it (G11). Fill a
	// driver's own configuration with the credentials rather than writing them
	// into a text, where they could say more than they should. Opening need not
	// connect; an error that Open makes itself should be connector.CheckFailed.
	Open func(ctx context.Context, credentials wire.Credentials) (*sql.DB, error)
	// DB is a database that belongs to the host, in place of Open. All tenants
	// see the same tables, so the definition asks for no credentials. The
	// source does not close it. Give the source a pool of its own: it sets up
	// the sessions it uses.
	DB *sql.DB

	// Flavor is the engine: SQLite, PostgreSQL, MySQL, or your own.
	Flavor Flavor
	// Schema is the schema whose tables are served. Default: the engine's
	// ("public" for PostgreSQL, the database itself for MySQL).
	Schema string

	// Only lists the tables that are served, by their names in the database.
	// Nil: all that the credentials may read.
	Only []string
	// Tables overrides what the catalog says, by the table's name in the
	// database.
	Tables map[string]TableConfig

	// Remember is how long the description of a table of DB may be kept rather
	// than read again by each request. Zero: not at all. With Open it must be
	// zero, as nothing of a tenant is kept (G11).
	Remember time.Duration
	// EstimateSizes makes /size answer the engine's estimate, with exact false,
	// where the engine has one. Counting a large table is slow in some engines.
	EstimateSizes bool
	// Profile is how long a discovery may spend on samples and statistics, all
	// tables together. Default: 2 seconds; negative: they are left out.
	Profile time.Duration
}

// TableConfig overrides what the catalog says of a table.
type TableConfig struct {
	Name        string // in the protocol; empty: the same
	Description string // empty: the catalog's comment
	Hidden      bool   // the table is not served
	// PrimaryKey names, by their names in the database, columns that are unique
	// together and never null although no constraint says so, as of a view. It
	// spares sorts of all columns. The definition's KeysEnforced is then false.
	PrimaryKey []string
	// Columns overrides columns, by their names in the database.
	Columns map[string]ColumnConfig
}

// ColumnConfig overrides what the catalog says of a column.
type ColumnConfig struct {
	Name        string    // in the protocol; empty: the same
	Description string    // empty: the catalog's comment
	Type        wire.Type // empty: what the engine's type is read as
	Hidden      bool      // the column is not served
}

// defaultProfile is how long a discovery looks at rows.
const defaultProfile = 2 * time.Second

func (c *Config) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("sqlsource: "+format, args...)) }
	if (c.Open == nil) == (c.DB == nil) {
		fault("give either Open, for a database per tenant, or DB, for one of the host's own")
	}
	if c.Open != nil && c.Remember != 0 {
		fault("Remember is for a database of the host's own: nothing of a tenant may be kept")
	}
	if c.Flavor == nil {
		fault("give the Flavor of the engine, such as sqlsource.PostgreSQL()")
	}
	names := map[string]string{}
	for name, t := range c.Tables {
		public := or(t.Name, name)
		if other, taken := names[public]; taken {
			fault("tables %q and %q are both to be named %q", min(name, other), max(name, other), public)
		}
		names[public] = name
		fields := map[string]string{}
		for column, f := range t.Columns {
			if f.Type != "" && !f.Type.Known() {
				fault("table %q, column %q: its type is not one of the protocol's nine", name, column)
			}
			public := or(f.Name, column)
			if other, taken := fields[public]; taken {
				fault("table %q: columns %q and %q are both to be named %q", name, min(column, other), max(column, other), public)
			}
			fields[public] = column
		}
	}
	return errors.Join(faults...)
}

// inDatabase is the name a table of the protocol has in the database; false
// when it is not served.
func (c *Config) inDatabase(name string) (string, bool) {
	own, known := name, true
	if t, ok := c.Tables[name]; ok && t.Name != "" && t.Name != name {
		known = false // it is served by another name
	}
	for n, t := range c.Tables {
		if t.Name == name {
			own, known = n, true
		}
	}
	return own, known && c.serves(own)
}

// serves reports whether a table of the database is served.
func (c *Config) serves(own string) bool {
	if c.Tables[own].Hidden {
		return false
	}
	if c.Only == nil {
		return true
	}
	for _, n := range c.Only {
		if n == own {
			return true
		}
	}
	return false
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
