package enginetest

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// TestMySQLCharset asks of texts that few character sets have, by connections that speak others:
// the DSN of a program that was written for latin1, or for what MySQL calls utf8, of three bytes.
func TestMySQLCharset(t *testing.T) {
	plain := plainMySQL(t)
	plain.execute(t, `
		CREATE TABLE texts (id BIGINT PRIMARY KEY, wide VARCHAR(40) CHARACTER SET utf8mb4, narrow VARCHAR(40) CHARACTER SET latin1,
			choice ENUM('\xF0\x9F\x98\x80', 'b'), doc JSON) DEFAULT CHARSET utf8mb4;
		SET NAMES utf8mb4;
		INSERT INTO texts VALUES (1, '😀', 'é', NULL, '["😀"]'), (2, '日本', 'ÿ€', NULL, '["日本"]'), (3, 'é', 'é', 'b', '["é"]')`)
	all := newSurvey(t, &plain.database)
	want := all.answers(t, &plain.database)
	require.Contains(t, want[0], "😀")
	for _, dsn := range []string{
		"charset=utf8", "charset=latin1", "charset=utf8,latin1", "collation=latin1_swedish_ci", "collation=utf8mb3_general_ci",
		"charset=utf8&interpolateParams=true", "charset=ascii", "charset=utf8mb4&collation=utf8mb4_bin", "character_set_results=NULL",
	} {
		t.Run(dsn, func(t *testing.T) {
			own := plain.as(t, func(c *mysql.Config) {
				given, err := mysql.ParseDSN("/?" + dsn)
				require.NoError(t, err)
				given.User, given.Passwd, given.Net, given.Addr, given.DBName = c.User, c.Passwd, c.Net, c.Addr, c.DBName
				*c = *given
			})
			require.Empty(t, all.differences(want, all.answers(t, &own.database)))
		})
	}
}
