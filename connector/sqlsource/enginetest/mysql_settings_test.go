package enginetest

import (
	"fmt"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/mysql"
)

func init() {
	mariadb.settings = settingsOf{start: startMySQLSettings, stated: mysql.AllSettings(true)}
}

func startMySQLSettings(t *testing.T) settable {
	own := newMySQLServer(t)
	admin := own.database(t, "root", "", "")
	admin.execute(t, "SET NAMES utf8mb4; CREATE DATABASE shop DEFAULT CHARSET utf8mb4; USE shop;"+script(t, "settings_mysql")+
		"; CREATE USER reader IDENTIFIED BY 'secret'; GRANT SELECT ON shop.* TO reader")
	reader := func(change func(*driver.Config)) *database {
		d := own.database(t, "reader", "secret", "shop").as(t, change)
		d.credentials = nil // a pool of the host
		return &d.database
	}
	// setGlobal sets a value for the whole server until the test ends.
	setGlobal := func(t *testing.T, name, value string) {
		var before string
		require.NoError(t, admin.QueryRow("SELECT @@global."+name).Scan(&before))
		admin.execute(t, "SET GLOBAL "+name+" = "+value)
		t.Cleanup(func() {
			if name == "system_versioning_asof" {
				before = "DEFAULT"
			} else if strings.Trim(before, "0123456789") != "" || before == "" {
				before = "'" + before + "'"
			}
			admin.execute(t, "SET GLOBAL "+name+" = "+before)
		})
	}
	plain := func(*driver.Config) {}
	return settable{
		database: reader(plain),
		ways: map[string]func(*testing.T, []setTo) *database{
			connection: func(t *testing.T, values []setTo) *database {
				return reader(func(c *driver.Config) {
					c.Params = map[string]string{}
					for _, v := range values {
						c.Params[v.Name] = v.Value
					}
				})
			},
			"for whoever connects": func(t *testing.T, values []setTo) *database {
				var list []string
				for _, v := range values {
					list = append(list, v.Name+" = "+v.Value)
				}
				setGlobal(t, "init_connect", `"SET `+strings.Join(list, ", ")+`"`)
				return reader(plain)
			},
			"for the server": func(t *testing.T, values []setTo) *database {
				for _, v := range values {
					setGlobal(t, v.Name, v.Value)
				}
				return reader(plain)
			},
		},
		names: linesOf(t, admin, "", `SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES
			WHERE VARIABLE_SCOPE IN ('SESSION', 'SESSION ONLY') AND READ_ONLY = 'NO'`),
		known: strings.HasPrefix(fmt.Sprint(linesOf(t, admin, "", "SELECT VERSION()")), "[10.11."),
	}
}
