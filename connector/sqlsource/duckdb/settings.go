package duckdb

import (
	"cmp"
	"context"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/settings"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// sessionSettings are stated for each transaction where they are something else, and stay with the
// connection.
var sessionSettings = []settings.Setting{
	{Name: "default_collation", Value: "''", Why: "texts without a collation are compared by it"},
	{Name: "default_order", Value: "'ASC'", Why: "a sort that does not say its direction has this one"},
	{Name: "default_null_order", Value: "'NULLS_LAST'", Why: "a view's LIMIT has other rows by it"},
	{Name: "TimeZone", Value: "'UTC'", Why: "instants within lists are spelled in it, and a view may cut days by it"},
	{Name: "Calendar", Value: "'gregorian'", Why: "a view's years and months are of it"},
	{Name: "ieee_floating_point_ops", Value: "true", Why: "a view's division by zero is null without it, and an infinity with it"},
	{Name: "scalar_subquery_error_on_multiple_rows", Value: "true", Why: "a view takes any of several rows without it"},
	{Name: "preserve_insertion_order", Value: "true", Why: "a view's LIMIT has any rows without it"},
	{Name: "binary_as_string", Value: "false", Why: "a view of Parquet reads bytes as texts with it"},
	{Name: "errors_as_json", Value: "false", Why: "the kind of an error is not known with it"},
}

// Macros of the database stand before the engine's functions and operators unless the search path
// says otherwise. Then current_database is no longer the one that was opened, so its name is kept
// in a variable of the connection, and in another what the search path was.
const (
	ownDatabase   = "CASE WHEN current_database() = 'system' THEN getvariable('connector_database') ELSE current_database() END"
	restoreSearch = "SET search_path = system.main.getvariable('connector_search_path'); RESET VARIABLE connector_search_path"
)

// openSession prepares a transaction on a database that may have macros.
func openSession(ctx context.Context, q sqlengine.Queryer) error {
	if err := putFunctionsFirst(ctx, q); err != nil {
		return err
	}
	return prepareSession(ctx, q)
}

// putFunctionsFirst puts the engine's functions before the database's macros. It names all schemas
// of the database, because a table that is named with a schema is looked for in the databases whose
// schema of this name the search path has. Its own statement names what it calls in full.
func putFunctionsFirst(ctx context.Context, q sqlengine.Queryer) error {
	var before, database string
	var schemas strings.Builder
	err := sqlengine.Each(ctx, q, `SELECT system.main.current_setting('search_path'), database_name, schema_name
		FROM system.main.duckdb_schemas() WHERE database_name = system.main.current_database()`, nil,
		func(scan func(...any) error) error {
			var schema string
			err := scan(&before, &database, &schema)
			schemas.WriteString("," + quote(database) + "." + quote(schema))
			return err
		})
	if err != nil {
		return err
	}
	path := "system.main," + cmp.Or(before, quote(database)+"."+quote(defaultSchema)) + schemas.String()
	_, err = q.ExecContext(ctx, "SET VARIABLE connector_search_path = "+literal(before)+
		"; SET VARIABLE connector_database = "+literal(database)+"; SET search_path = "+literal(path))
	return err
}

// prepareSession states the settings that are something else. One query shows which; a database
// whose configuration is locked needs no more if it has them right, and is refused if not.
func prepareSession(ctx context.Context, q sqlengine.Queryer) error {
	now := map[string]string{}
	err := sqlengine.Each(ctx, q, "SELECT name, coalesce(value, '') FROM duckdb_settings() WHERE name IN ("+settingNames+")", nil,
		func(scan func(...any) error) error {
			var name, value string
			err := scan(&name, &value)
			now[name] = value
			return err
		})
	for _, s := range sessionSettings {
		want := strings.Trim(s.Value, "'")
		value, known := now[s.Name]
		if err != nil || !known || value == want || want != "" && strings.HasPrefix(value, want) {
			continue // ASC is spelled ASCENDING where nobody has set it; an extension has its own settings
		}
		_, err = q.ExecContext(ctx, "SET SESSION "+s.Name+" = "+s.Value)
	}
	return err
}

// settingNames are the names of the settings, as a list of literals.
var settingNames = func() string {
	var names []string
	for _, s := range sessionSettings {
		names = append(names, literal(s.Name))
	}
	return strings.Join(names, ", ")
}()
