package enginetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spider is a server with tables of the engine Spider, whose rows are on two others.
type spider struct {
	front  *mysqlOwn
	shards []*mysqlDatabase // as administrators, to see what they were asked
}

const spiderColumns = `(shop BIGINT NOT NULL, id BIGINT NOT NULL, amount DECIMAL(10,2), day DATE,
	note VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, placed_at DATETIME NOT NULL, PRIMARY KEY (shop, id))`

// newSpider starts three servers, and creates, as the example's SCALING.md says, a table
// orders that is partitioned by shop over two of them, a table whole with the same rows
// on the one in front, and the tables long and short of killOne.
func newSpider(t *testing.T, long int) *spider {
	t.Helper()
	s := &spider{front: newMySQLServer(t)}
	admin := s.front.database(t, "root", "", "")
	if _, err := admin.Exec("INSTALL SONAME 'ha_spider'"); err != nil {
		var refused *mysql.MySQLError
		require.True(t, errors.As(err, &refused), "%v", err)
		missing(t, "MariaDB has no Spider; apt-get install mariadb-plugin-spider enables this test: %v", err)
	}
	tables := map[string]string{"orders": spiderColumns, "long": "(shop BIGINT NOT NULL, id BIGINT NOT NULL, filler VARCHAR(1000))",
		"short": "(shop BIGINT NOT NULL, id BIGINT NOT NULL)"}
	mysqlExecute(t, admin, "CREATE DATABASE shop", "CREATE USER reader IDENTIFIED BY 'typed'", "GRANT SELECT ON shop.* TO reader")
	for i := range 2 {
		server := newMySQLServer(t)
		shard := server.database(t, "root", "", "")
		mysqlExecute(t, shard, "CREATE DATABASE shop", "CREATE USER front IDENTIFIED BY 'typed'", "GRANT ALL ON shop.* TO front")
		for name, columns := range tables {
			mysqlExecute(t, shard, "CREATE TABLE shop."+name+" "+columns)
		}
		mysqlExecute(t, shard,
			fmt.Sprintf("INSERT INTO shop.long SELECT %d, seq, REPEAT('x', 1000) FROM shop.seq_1_to_%d", 3*i+1, long/2),
			"SET GLOBAL log_output = 'TABLE'")
		mysqlExecute(t, admin, fmt.Sprintf("CREATE SERVER shard%d FOREIGN DATA WRAPPER mysql OPTIONS "+
			"(HOST '127.0.0.1', PORT %d, DATABASE 'shop', USER 'front', PASSWORD 'typed')", i, server.port))
		s.shards = append(s.shards, shard)
	}
	for name, columns := range tables {
		mysqlExecute(t, admin, "CREATE TABLE shop."+name+" "+columns+` ENGINE=SPIDER COMMENT='wrapper "mysql", table "`+name+`"'
			PARTITION BY LIST (shop) (PARTITION p0 VALUES IN (1, 2, 3) COMMENT = 'srv "shard0"',
			PARTITION p1 VALUES IN (4, 5) COMMENT = 'srv "shard1"')`)
	}
	mysqlExecute(t, admin, "CREATE TABLE shop.whole "+spiderColumns,
		`INSERT INTO shop.whole SELECT 1 + seq % 5, seq, IF(seq % 11 > 0, seq * 37 % 100000 / 100, NULL),
			'2024-01-01' + INTERVAL seq % 100 DAY, CASE seq % 3 WHEN 0 THEN 'Ä' WHEN 1 THEN 'a' END,
			'2024-01-01' + INTERVAL seq HOUR FROM shop.seq_1_to_5000`,
		"INSERT INTO shop.orders SELECT * FROM shop.whole", "INSERT INTO shop.short VALUES (4, 1)")
	return s
}

func mysqlExecute(t *testing.T, db *mysqlDatabase, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
}

// asked returns the statements about the table orders that the shards were sent while a
// function ran.
func (s *spider) asked(t *testing.T, during func()) []string {
	t.Helper()
	for _, shard := range s.shards {
		mysqlExecute(t, shard, "TRUNCATE mysql.general_log", "SET GLOBAL general_log = 1")
	}
	during()
	var all []string
	for _, shard := range s.shards {
		mysqlExecute(t, shard, "SET GLOBAL general_log = 0")
		rows, err := shard.Query("SELECT argument FROM mysql.general_log " +
			"WHERE command_type IN ('Query', 'Execute') AND argument LIKE '%`shop`.`orders`%' AND argument LIKE 'select %'")
		require.NoError(t, err)
		for rows.Next() {
			var statement string
			require.NoError(t, rows.Scan(&statement))
			all = append(all, statement)
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
	return all
}

// TestMySQLSpider has counts and groups computed by the shards, compares every answer
// with that of the table in one piece, and kills a replica of the connector.
func TestMySQLSpider(t *testing.T) {
	const long = 20_000
	s := newSpider(t, long)
	db := s.front.database(t, "reader", "typed", "shop")
	askShards(t, &db.database, func(t *testing.T, section string, again func()) {
		asked := s.asked(t, again)
		require.NotEmpty(t, asked)
		t.Log(strings.Join(asked, "\n"))
		for _, statement := range asked {
			if section != "others" {
				assert.Contains(t, statement, "count(", "the shard counts")
			}
			if section == "grouped" {
				assert.Contains(t, statement, " group by ", "the shard groups")
			}
		}
	})
	both := replicas(t, 2, "mysql", fmt.Sprintf("127.0.0.1:%d", s.front.port))
	killOne(t, &client{url: behind(t, both[0], both[1]), credentials: db.tenant()}, both, long, func(int) {})
}
