package enginetest

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var mariadb = engine{
	name: "mysql", key: "BIGINT", text: "VARCHAR(20)",
	create: func(t testing.TB) *database { return &newMySQL(t).database },
	plain:  func(t testing.TB) *database { return &plainMySQL(t).database },
	by:     mysqlWith, reader: mysqlReader,
	schemas: mysqlSchemas, plans: mysqlPlans, server: mysqlServer,
	month: "DATE_FORMAT(moment, '%Y-%m')",
	conformance: conformanceOf{
		mayAdvise: map[string]string{"A.6": "MySQL gives all decimals of a column one scale, and has no minus zero"},
		casesOf:   10,
		slow: func(t *testing.T, db *database) wire.Credentials {
			db.execute(t, `CREATE VIEW `+corpus.Slow().Name+` AS SELECT words.id, words.name
				FROM (SELECT 1 AS id, 'one' AS name UNION ALL SELECT 2, 'two' UNION ALL SELECT 3, 'three') AS words
				JOIN (SELECT SLEEP(25) AS waited) AS stall ON stall.waited = 0`)
			return db.tenant()
		},
		lingering: `CREATE VIEW lingering AS SELECT words.id, words.name
			FROM (SELECT 1 AS id, 'one' AS name UNION ALL SELECT 2, 'two') AS words JOIN (SELECT SLEEP(1) AS waited) AS stall ON stall.waited = 0`,
	},
	discovery: discoveryOf{
		wide:     []int{350, 700, 900},
		slow:     "SELECT 1 AS n, SLEEP(600) AS s",
		broken:   "SELECT seq AS i, CASE WHEN seq >= 150 THEN (SELECT 1 UNION SELECT 2) END AS x FROM seq_1_to_152",
		aboutAll: "information_schema",
	},
}

// plainMySQL creates an empty database, whose sessions are as the server has them.
func plainMySQL(t testing.TB) *mysqlDatabase {
	return newMySQL(t).as(t, func(c *mysql.Config) { c.Params = nil })
}

// mysqlSchemas returns a database beside another one.
func mysqlSchemas(t *testing.T) (*database, schemaNames) {
	db := newMySQL(t)
	names := schemaNames{one: db.config.DBName, two: newMySQL(t).config.DBName, across: true}
	db.execute(t, strings.NewReplacer("{1}", names.one, "{2}", names.two).Replace(`
		CREATE TABLE {1}.people (id BIGINT PRIMARY KEY); INSERT INTO {1}.people VALUES (1);
		CREATE TABLE {2}.people (id BIGINT PRIMARY KEY);
		CREATE TABLE {2}.orders (id BIGINT PRIMARY KEY, person BIGINT, FOREIGN KEY (person) REFERENCES {1}.people (id));
		INSERT INTO {2}.orders VALUES (1, 1)`))
	return &db.database, names
}

var mysqlPlans = plansOf{
	explain:  "EXPLAIN ",
	searched: `table=t0 .*key=%s `,
	ordered:  `table=t0 .*key=%s `,
	scans:    []string{`table=t0 type=ALL`, `type=index .*Using where`},
	sorts:    []string{`filesort`},
}
