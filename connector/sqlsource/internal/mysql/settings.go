package mysql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/settings"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// Settings are stated for each transaction. The value DEFAULT of most would be that of the whole
// server, which anybody may have set.
var Settings = []settings.Setting{
	{Name: "character_set_client", Value: "utf8mb4", Why: "texts that are bound come in it"},
	{Name: "character_set_results", Value: "utf8mb4", Why: "characters that another has not are answered as question marks"},
	{Name: "collation_connection", Value: "utf8mb4_general_ci", Why: "literals are compared by it, and have the character set of it"},
	{Name: "time_zone", Value: "'+00:00'", Why: "a TIMESTAMP is read in it"},
	{Name: "sql_mode", Value: "''", Why: "quotes, padding, unsigned differences and more mean something else by it"},
	{Name: "sql_select_limit", Value: "18446744073709551615", Why: "rows beyond it are left out"},
	{Name: "max_sort_length", Value: fmt.Sprint(sortLength), Why: "longer values are sorted by their beginning"},
	{Name: "group_concat_max_len", Value: "GREATEST(@@group_concat_max_len, 1073741824)", Why: "a view's GROUP_CONCAT is " +
		"cut to it; the number is the most that MariaDB takes"},
	{Name: "div_precision_increment", Value: "4", Why: "a view's quotients have so many more digits"},
	{Name: "lc_time_names", Value: "'en_US'", Why: "a view spells months and days by it"},
	{Name: "default_week_format", Value: "0", Why: "a view counts weeks by it"},
	{Name: "sql_auto_is_null", Value: "0", Why: "IS NULL finds the row that the session has inserted last"},
	{Name: "sql_big_selects", Value: "1", Why: "the server refuses a statement by an estimate of its rows without it"},
	{Name: "sql_quote_show_create", Value: "1", Why: "the catalog spells the checks of columns by it, by which JSON is known"},
	{Name: "completion_type", Value: "0", Why: "another transaction begins at the end of one, and the next request fails"},
}

// mariaSettings are stated on MariaDB, which alone executes what stands in its comments.
var mariaSettings = []settings.Setting{
	{Name: "max_recursive_iterations", Value: "4294967295", Why: "a view's recursion ends there, and the rows beyond it are left out"},
	{Name: "system_versioning_asof", Value: "DEFAULT", Why: "rows are read as of another time; " +
		"DEFAULT is none here, whatever the server's is"},
	{Name: "default_regex_flags", Value: "''", Why: "a view's regular expressions mean something else by it"},
	{Name: "big_tables", Value: "0", Why: "COUNT(DISTINCT) of a constant, which a view may have, is the number of rows with it"},
	{Name: "tmp_table_size", Value: "GREATEST(@@tmp_table_size, 16384)", Why: "so it is below some kilobytes; " +
		"above, it is the server's own"},
	{Name: "old_mode", Value: "''", Why: "a view's times become other datetimes by it"},
}

// AllSettings returns all settings that are stated on a server.
func AllSettings(maria bool) []settings.Setting {
	if !maria {
		return Settings
	}
	return append(Settings[:len(Settings):len(Settings)], mariaSettings...)
}

// assignments returns settings as SET has them.
func assignments(all []settings.Setting) string {
	var list []string
	for _, s := range all {
		list = append(list, s.Name+" = "+s.Value)
	}
	return strings.Join(list, ", ")
}

// statement states the settings, and the timeout of a statement, which has another name on each
// server: whole seconds and milliseconds for one, milliseconds for the other.
var statement = "SET SESSION " + assignments(Settings) + " /*M!100100 , " + assignments(mariaSettings) +
	", max_statement_time = %d.%03d */ /*!80000 , max_execution_time = %d */"

// prepare states the settings in one statement. The timeout is the deadline of the request.
func prepare(ctx context.Context, q sqlengine.Queryer) error {
	limit := int64(0) // none
	if deadline, ok := ctx.Deadline(); ok {
		limit = max(1, time.Until(deadline).Milliseconds())
	}
	_, err := q.ExecContext(ctx, fmt.Sprintf(statement, limit/1000, limit%1000, limit))
	return err
}

// sortLength is how many bytes of a key the engine compares when it sorts.
// More would take more memory than a server gives a session. The engine does not
// sort by a column with longer values.
const sortLength = 3072
