package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var mariadb = engine{
	name: "mysql", key: "BIGINT", text: "VARCHAR(20)", types: mysqlTypes,
	create:  func(t testing.TB) *database { return &newMySQL(t).database },
	plain:   func(t testing.TB) *database { return &plainMySQL(t).database },
	schemas: mysqlSchemas, foreignKeys: mysqlForeignKeys, plans: mysqlPlans, server: mysqlServer, speedTables: mysqlSpeed,
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
		wide:   []int{350, 700, 900},
		slow:   "SELECT 1 AS n, SLEEP(600) AS s",
		broken: "SELECT seq AS i, CASE WHEN seq >= 150 THEN (SELECT 1 UNION SELECT 2) END AS x FROM seq_1_to_152",
		rows:   func(n int) string { return fmt.Sprintf("SELECT seq AS i FROM seq_1_to_%d", n) },
		nullability: `
			CREATE TABLE clean (d DATE, i BIGINT, t DATETIME(3) NOT NULL, s TIMESTAMP NOT NULL, n DECIMAL(8,2) NOT NULL, f DOUBLE NOT NULL,
				PRIMARY KEY (d, i));
			INSERT INTO clean VALUES ('2024-01-01', 1, '2024-01-01', '2024-01-01', 1, 2);
			CREATE TABLE dirty (id BIGINT PRIMARY KEY, d DATE NOT NULL, t DATETIME(3) NOT NULL, s TIMESTAMP NOT NULL);
			INSERT INTO dirty VALUES (1, '0000-00-00', '2024-00-01', '0000-00-00');
			CREATE TABLE keyed (k DATE PRIMARY KEY);
			INSERT INTO keyed VALUES ('0000-00-00'), ('2024-01-00'), ('2024-01-01')`,
		aboutAll: "information_schema",
	},
	uncomputed: uncomputedOf{
		script: `
			CREATE TABLE t (i BIGINT UNSIGNED PRIMARY KEY);
			INSERT INTO t SELECT seq FROM seq_1_to_30000;
			CREATE FUNCTION refuses(i INT) RETURNS INT NO SQL BEGIN IF i < 20000 THEN RETURN i; END IF;
				SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret'; RETURN 1; END;
			CREATE FUNCTION deadlocks(i INT) RETURNS INT NO SQL BEGIN IF i < 20000 THEN RETURN i; END IF;
				SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'secret'; RETURN 1; END;
			CREATE FUNCTION ends(i INT) RETURNS INT NO SQL BEGIN IF i < 20000 THEN RETURN i; END IF; END;
			CREATE VIEW ranged AS SELECT 18446744073709531616 + i AS n FROM t;
			CREATE VIEW several AS SELECT IF(i < 20000, i, (SELECT u.i FROM t u WHERE u.i > t.i - 2)) AS n FROM t;
			CREATE VIEW refused AS SELECT refuses(i) AS n FROM t;
			CREATE VIEW ended AS SELECT ends(i) AS n FROM t;
			CREATE FUNCTION chooses(i INT) RETURNS INT NO SQL BEGIN CASE i < 20000 WHEN 1 THEN RETURN i; END CASE; END;
			CREATE FUNCTION picks(v INT) RETURNS INT READS SQL DATA BEGIN DECLARE x INT; IF v < 20000 THEN RETURN v; END IF;
				SELECT i INTO x FROM t WHERE i < 3; RETURN x; END;
			CREATE VIEW chosen AS SELECT chooses(i) AS n FROM t;
			CREATE VIEW picked AS SELECT picks(i) AS n FROM t;
			CREATE VIEW deadlocked AS SELECT deadlocks(i) AS n FROM t;
			CREATE VIEW large AS SELECT IF(i < 20000, 'x', REPEAT('"', 9000000)) AS n FROM t WHERE i < 20002`,
		views: []uncomputed{
			{view: "ranged", why: "a number out of range", says: "out of range (SQLSTATE 22003)"},
			{view: "several", why: "a subquery of several rows", says: "several rows"},
			{view: "refused", why: "a function that refuses", says: "a function refuses"},
			{view: "ended", why: "a function that ends without a value", says: "leads to an error"},
			{view: "chosen", why: "a function without a case for a value", says: "leads to an error"},
			{view: "picked", why: "a function that reads several rows", says: "leads to an error"},
			{view: "large", why: "a row over 16 MiB", says: "16 MiB", sent: true},
		},
		passes: []string{"deadlocked"},
	},
	pages: pagesOf{
		script: `
			SET sql_mode = '';
			CREATE TABLE booleans (id TINYINT(1) PRIMARY KEY, n BIGINT); -- none is lost, as among two booleans
			INSERT INTO booleans SELECT seq, seq FROM seq_1_to_60;
			CREATE TABLE longs (body LONGTEXT, n BIGINT); -- longer than the server compares
			INSERT INTO longs SELECT CONCAT(REPEAT('x', 4000), seq), seq FROM seq_1_to_40;
			CREATE TABLE days (d DATE, n BIGINT, doc JSON); -- all dates are null
			INSERT INTO days SELECT '2024-00-00', seq, CONCAT('[', seq, ']') FROM seq_1_to_40`,
		tables: []pagedTable{{"booleans", 60, []string{"id", "n"}}, {"longs", 40, []string{"body"}}, {"days", 40, []string{"d", "doc"}}},
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

// mysqlForeignKeys returns keys which the server does not vouch for.
func mysqlForeignKeys(t *testing.T) (*database, []keyCase) {
	db := newMySQL(t)
	db.execute(t, `
		CREATE TABLE target (id BIGINT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), UNIQUE (a, b), INDEX (b));
		INSERT INTO target VALUES (1, 'a1', 'b1');
		CREATE TABLE enforced (t BIGINT, FOREIGN KEY (t) REFERENCES target (id)); INSERT INTO enforced VALUES (1), (NULL);
		CREATE TABLE pairs (a VARCHAR(9), b VARCHAR(9), FOREIGN KEY (a, b) REFERENCES target (a, b));
		INSERT INTO pairs VALUES ('a1', 'b1'), ('none', NULL)`)
	return &db.database, []keyCase{
		{"the server enforces it", "enforced", []string{"t>target.id"}, ""},
		{"a key of which one column is null is not checked", "pairs", []string{"a>target.a", "b>target.b"}, brokenKey("pairs", "a", "1 of 2")},
	}
}

var mysqlPlans = plansOf{
	explain: "EXPLAIN ",
	script: "CREATE TABLE events (id INT PRIMARY KEY, day DATE, moment DATETIME, amount DECIMAL(12,2)," +
		" label VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL, `rank` INT, whole INT NOT NULL);" +
		"INSERT INTO events SELECT seq, DATE '2000-01-01' + INTERVAL seq * 7919 % 9000 DAY," +
		" TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq * 7919 % 31000000 SECOND, seq * 7919 % 1000000 / 100," +
		" CONCAT('label ', LPAD(seq * 7919 % 1000000, 6, '0')), CASE WHEN seq % 5 > 0 THEN seq * 31 % 1000003 END, seq FROM seq_1_to_50000;" +
		"ALTER TABLE events ADD INDEX (day), ADD INDEX (moment), ADD INDEX (amount), ADD INDEX (label), ADD INDEX (`rank`), ADD INDEX (whole);" + `
		CREATE TABLE places (id INT PRIMARY KEY, code VARCHAR(40) NOT NULL UNIQUE);
		INSERT INTO places SELECT seq, CONCAT('place ', seq) FROM seq_1_to_20000;
		CREATE TABLE visits (id INT PRIMARY KEY, code VARCHAR(40), place INT);
		INSERT INTO visits SELECT id, CONCAT('place ', id * 31 % 20000), id * 31 % 20000 FROM places;
		ANALYZE TABLE events, places, visits`,
	searched:   mysqlKey,
	ordered:    mysqlKey,
	scans:      []string{`table=t0 type=ALL`, `type=index .*Using where`},
	sorts:      []string{`filesort`, `table=t0 type=ALL`},
	tiesSorted: []string{"first texts", "last texts"},
	more: []plan{
		{why: "a join on text", ask: joinOn("code", "code"), want: []string{`table=t1 .*type=(eq_)?ref .*key=code `}},
		{why: "a join on an integer", ask: joinOn("place", "id"), want: []string{`table=t1 .*type=eq_ref .*key=PRIMARY `}},
		{why: "a page of a join", ask: pageOf(joinOn("place", "id")),
			want: []string{`select_type=DERIVED table=t0 type=index .*key=PRIMARY .*Extra= $`}},
		{why: "a link of an integer", ask: linkOn("place", "id"), never: []string{`Block Nested Loop|join buffer`}},
	},
}

// mysqlKey matches a plan that uses the index of a column.
func mysqlKey(column string) string { return `table=t0 .*key=` + column + ` ` }

const mysqlSpeed = `
CREATE TABLE events (id BIGINT PRIMARY KEY, day DATE, moment DATETIME, amount DECIMAL(12,2),
  label VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, rank INT,
  a INT, b INT, c VARCHAR(40), d VARCHAR(40), e DOUBLE, f BIGINT, g VARCHAR(40), h INT);
INSERT INTO events SELECT seq, DATE '2000-01-01' + INTERVAL seq * 7919 % 9000 DAY,
  TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq * 7919 % 31000000 SECOND, seq * 7919 % 10000000 / 100,
  CONCAT('label ', LPAD(seq * 7919 % 1000000, 6, '0')), CASE WHEN seq % 5 > 0 THEN seq * 31 % 1000003 END,
  seq % 7, seq % 1009, CONCAT('text ', seq % 13), CONCAT('text ', seq % 50021), seq % 997 / 8, seq, CONCAT('text ', seq), seq % 2
  FROM seq_1_to_ROWS;
ALTER TABLE events ADD INDEX (day), ADD INDEX (moment), ADD INDEX (amount), ADD INDEX (label), ADD INDEX (rank);
CREATE TABLE places (id INT PRIMARY KEY, code VARCHAR(40) NOT NULL UNIQUE, name VARCHAR(40));
INSERT INTO places SELECT seq, CONCAT('place ', seq), CONCAT('name ', seq) FROM seq_1_to_LINKS;
CREATE TABLE visits (id INT PRIMARY KEY, code VARCHAR(40), place INT REFERENCES places (id));
INSERT INTO visits SELECT id, CONCAT('place ', id * 31 % LINKS + 1), id * 31 % LINKS + 1 FROM places;
CREATE TABLE files (id INT PRIMARY KEY, body LONGBLOB);
INSERT INTO files VALUES (1, REPEAT('0123456789', 500000));
ANALYZE TABLE events, places, visits`
