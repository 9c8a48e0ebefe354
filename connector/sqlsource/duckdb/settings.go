package duckdb

import (
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
