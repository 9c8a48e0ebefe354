package enginetest

import (
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLDriverOptions asks by connections whose strings have options of the driver that change
// how values come and go.
func TestMySQLDriverOptions(t *testing.T) {
	plain := plainMySQL(t)
	plain.execute(t, `
		CREATE TABLE types (id BIGINT PRIMARY KEY, day DATE, moment DATETIME(6), stamp TIMESTAMP(3) NULL, span TIME(3), bits BIT(12),
			small FLOAT(7,2), big DOUBLE, amount DECIMAL(30,10), label VARCHAR(40), body BLOB, doc JSON, huge BIGINT UNSIGNED, KEY (moment));
		SET sql_mode = 'ALLOW_INVALID_DATES'; SET time_zone = '+00:00'; SET NAMES utf8mb4;
		INSERT INTO types VALUES
			(1, '2024-02-29', '2024-03-31 02:30:00.123456', '2024-10-27 01:30:00.5', '-25:00:00.5', 5, 999.99, 1e300,
				12345678901234567890.0123456789, 'é\\n''', x'00ff', '{"a":1}', 18446744073709551615),
			(2, '0000-00-00', '0000-00-00', '1970-01-01 00:00:01', '838:59:59', 0, -0.01, -0.0, -1, '', '', '[]', 0),
			(3, '2024-02-31', '2024-02-31 12:00:00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
			(4, '9999-12-31', '9999-12-31 23:59:59.999999', '2037-01-19 03:14:07', '00:00:00', 4095, 1, 0.1, 0.5, 'x', 'x', '1', 1)`)
	all := newSurvey(t, &plain.database)
	want := all.answers(t, &plain.database)
	require.Contains(t, want[0], "2024-03-31T02:30:00.123456Z")
	for _, dsn := range []string{
		"parseTime=true&loc=Asia%2FTokyo", "parseTime=true&loc=America%2FSt_Johns&interpolateParams=true", "loc=Asia%2FTokyo", "timeTruncate=1h",
		"columnsWithAlias=true", "clientFoundRows=true", "compress=true", "sql_mode=%27NO_BACKSLASH_ESCAPES%27&interpolateParams=true",
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

// TestSQLiteDriverOptions asks by connections whose strings have options of the driver that change
// how values come. An option that spells texts anew before anybody else sees them is refused.
func TestSQLiteDriverOptions(t *testing.T) {
	file := "file:" + filepath.Join(t.TempDir(), "types.sqlite")
	plain := openSQLite(t, file, `
		CREATE TABLE types (id INTEGER PRIMARY KEY, day DATE, moment DATETIME, stamp DATETIME_EPOCH, label TEXT, anything);
		CREATE INDEX moments ON types (moment);
		INSERT INTO types VALUES (1, '2024-02-29', '2024-03-31 02:30:00.123456', 1700000000, '2024-10-27T01:30:00+02:00', '12:00'),
			(2, '2024-03-01', '2024-03-31', 1700000001, '2024-01-01', 1.5), (3, NULL, NULL, NULL, NULL, NULL);
		CREATE VIEW seen AS SELECT id, moment AS other, day || '' AS made FROM types`)
	all := newSurvey(t, plain)
	want := all.answers(t, plain)
	for _, dsn := range []string{
		"_inttotime=1", "_time_format=sqlite&_timezone=Asia%2FTokyo", "_time_integer_format=unix_micro&_inttotime=1", "_dqs=0", "_txlock=exclusive",
	} {
		t.Run(dsn, func(t *testing.T) {
			require.Empty(t, all.differences(want, all.answers(t, openSQLite(t, file+"?"+dsn, ""))))
		})
	}
	source := openSQLite(t, file+"?_texttotime=1&_timezone=Asia%2FTokyo", "").pooled(t, &sqlsource.Options{})
	_, err := source.Discover(t.Context(), &wire.DiscoveryRequest{})
	require.ErrorContains(t, err, "the driver returns a time.Time for the text of a time")
}
