package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLUnread warns if the user may read nothing, and of keys that are left out.
func TestMySQLUnread(t *testing.T) {
	db, other := newMySQL(t), newMySQL(t)
	own := db.config.DBName
	db.execute(t, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
	other.execute(t, "CREATE TABLE u (id BIGINT PRIMARY KEY, t BIGINT, FOREIGN KEY (t) REFERENCES "+own+".t (id))")
	_, warnings := other.discover(t, nil, time.Hour)
	assert.Equal(t, `In table "u", the foreign key ("t") is left out `+
		`because the table that it leads to is in a schema that is not served.`, warnings)
	other.execute(t, "DROP TABLE u")

	user, _ := mysqlReader(t, &other.database)
	reader := other.as(t, func(c *mysql.Config) { c.User, c.Passwd, c.DBName = user, "secret", "" })
	tables, warnings := reader.discover(t, &sqlsource.Options{Schemas: func(wire.Credentials) []string { return []string{own} }}, time.Hour)
	assert.Empty(t, tables)
	assert.Contains(t, warnings,
		fmt.Sprintf(`The user may read no table of the database %q, or it has none: GRANT SELECT ON %[1]q.* to the user.`, own))
	_, warnings = reader.discover(t, nil, time.Hour)
	assert.Contains(t, warnings, "No database is chosen, so there are no tables: name one.")
}
