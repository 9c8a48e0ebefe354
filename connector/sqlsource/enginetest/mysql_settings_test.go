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
	mariadb.settings = settingsOf{
		start: startMySQLSettings, stated: mysql.AllSettings(true),
		hostile: []setTo{
			{"character_set_client", "latin1"}, {"character_set_results", "latin1"}, {"collation_connection", "latin1_swedish_ci"},
			{"time_zone", "'-03:30'"}, {"sql_mode", "'PAD_CHAR_TO_FULL_LENGTH,ANSI_QUOTES'"}, {"sql_select_limit", "100"},
			{"max_sort_length", "64"}, {"group_concat_max_len", "16"}, {"div_precision_increment", "0"}, {"lc_time_names", "'de_DE'"},
			{"default_week_format", "3"}, {"sql_big_selects", "0"}, {"sql_quote_show_create", "0"}, {"completion_type", "1"},
			{"max_recursive_iterations", "100"}, {"system_versioning_asof", "'2020-01-01 00:00:00'"}, {"default_regex_flags", "'DOTALL'"},
			{"old_mode", "'ZERO_DATE_TIME_CAST'"}, {"big_tables", "1"}, {"tmp_table_size", "0"},
		},
		beside: map[string][]setTo{"sql_big_selects": {{"max_join_size", "10"}}},
		unseen: map[string]string{"sql_auto_is_null": "it needs a row that the session has inserted, and a connector's sessions insert none"},
	}
}

// mysqlSettingsTables has something of each setting that is stated. Its long texts begin alike.
const mysqlSettingsTables = `
	CREATE TABLE texts (id BIGINT AUTO_INCREMENT PRIMARY KEY, wide VARCHAR(40), narrow VARCHAR(40) CHARACTER SET latin1, fixed CHAR(8),
		tail VARCHAR(200), doc JSON, moment TIMESTAMP NULL, amount DECIMAL(10,2)) DEFAULT CHARSET utf8mb4;
	INSERT INTO texts SELECT seq, ELT(1 + seq % 3, '😀', '日本', 'é'), 'é', 'ab', CONCAT(REPEAT('x', 100), 1000 - seq), '["paid"]',
		FROM_UNIXTIME(1719800000 + seq * 7200), seq FROM seq_1_to_150;
	CREATE TABLE versions (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING;
	INSERT INTO versions VALUES (1, 1), (2, 2);
	CREATE VIEW quotients AS SELECT id, amount / 3 AS third FROM texts;
	CREATE VIEW joined AS SELECT GROUP_CONCAT(wide ORDER BY id) AS everything FROM texts;
	CREATE VIEW named AS SELECT id, DATE_FORMAT(moment, '%M %W') AS name, WEEK(moment) AS week, WEEK('2024-12-30') AS last FROM texts;
	CREATE VIEW searched AS SELECT id, 'a\nb' REGEXP 'a.b' AS found, CAST(TIME '10:00:00' AS DATETIME) < '0001-01-01' AS bare FROM texts;
	CREATE VIEW counted AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n`

func startMySQLSettings(t *testing.T) settable {
	own := newMySQLServer(t)
	admin := own.database(t, "root", "", "")
	admin.execute(t, "SET NAMES utf8mb4; CREATE DATABASE shop DEFAULT CHARSET utf8mb4; USE shop;"+mysqlSettingsTables+
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
						c.Params[v.name] = v.value
					}
				})
			},
			"for whoever connects": func(t *testing.T, values []setTo) *database {
				var list []string
				for _, v := range values {
					list = append(list, v.name+" = "+v.value)
				}
				setGlobal(t, "init_connect", `"SET `+strings.Join(list, ", ")+`"`)
				return reader(plain)
			},
			"for the server": func(t *testing.T, values []setTo) *database {
				for _, v := range values {
					setGlobal(t, v.name, v.value)
				}
				return reader(plain)
			},
		},
		names: readNames(t, &admin.database, `SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES
			WHERE VARIABLE_SCOPE IN ('SESSION', 'SESSION ONLY') AND READ_ONLY = 'NO'`),
		known: strings.HasPrefix(fmt.Sprint(readNames(t, &admin.database, "SELECT VERSION()")), "[10.11."),
	}
}
