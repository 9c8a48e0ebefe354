package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/settings"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// Settings are stated for each transaction, and end with it.
var Settings = []settings.Setting{
	{Name: "client_encoding", Value: "'UTF8'", Why: "texts come in it, whatever the database's own encoding is"},
	{Name: "DateStyle", Value: "'ISO'", Why: "dates within ranges, arrays and records are spelled by it; " +
		"the order in which a view reads 01/02/2024 is left as it is, because it is part of what the view means"},
	{Name: "IntervalStyle", Value: "'postgres'", Why: "intervals are spelled by it"},
	{Name: "TimeZone", Value: "'UTC'", Why: "instants within ranges, arrays and records are spelled in it, and a view may cut days by it"},
	{Name: "extra_float_digits", Value: "'1'", Why: "floats within arrays lose digits below 1"},
	{Name: "bytea_output", Value: "'hex'", Why: "bytes within arrays and records are spelled by it"},
	{Name: "xmlbinary", Value: "'base64'", Why: "a view that makes XML spells bytes by it"},
	{Name: "xmloption", Value: "'content'", Why: "a view fails to read a fragment of XML as a document"},
	{Name: "quote_all_identifiers", Value: "'off'", Why: "names of tables and types, as regclass has, are quoted by it"},
	{Name: "standard_conforming_strings", Value: "'on'", Why: "a backslash in a literal means another character without it"},
	{Name: "transform_null_equals", Value: "'off'", Why: "a function that a view calls finds nulls by = NULL with it"},
	{Name: "array_nulls", Value: "'on'", Why: "a view that reads a text as an array takes NULL for a word without it"},
	{Name: "row_security", Value: "'on'", Why: "a table with policies cannot be read without it"},
	{Name: "gin_fuzzy_search_limit", Value: "'0'", Why: "a search by a GIN index leaves out rows beyond it"},
	{Name: "search_path", Value: ownPath, Why: "functions, operators and types of the same names, " +
		"in schemas before pg_catalog, take the place of the server's own; functions that a view calls need the rest of it"},
	{Name: "zero_damaged_pages", Value: "'off'", Why: "rows in damaged pages are left out"},
	{Name: "ignore_checksum_failure", Value: "'off'", Why: "damaged rows are read as if they were not"},
}

// ownPath is the search path that was set, behind the server's own schema and before that of
// temporary tables, whose types would come first. It may be empty.
const ownPath = "pg_catalog.concat('pg_catalog, ', " +
	"pg_catalog.regexp_replace(pg_catalog.current_setting('search_path'), '^$', 'pg_catalog'), ', pg_temp')"

// ofSuperusers are the settings that only a superuser may change. Where one of them is not as it
// is stated, the server refuses others, and so fails the request.
var ofSuperusers = []string{"zero_damaged_pages", "ignore_checksum_failure"}

// statement states all of Settings. It uses nothing that a schema before pg_catalog could have, too.
var statement = func() string {
	var calls []string
	for _, s := range Settings {
		call := "pg_catalog.set_config('" + s.Name + "', " + s.Value + ", true)"
		if slices.Contains(ofSuperusers, s.Name) {
			call = "CASE WHEN pg_catalog.current_setting('" + s.Name + "') OPERATOR(pg_catalog.<>) " + s.Value + " THEN " + call + " END"
		}
		calls = append(calls, call)
	}
	return "SELECT " + strings.Join(calls, ", ")
}()

// prepare states the settings in one statement, which needs no arguments and so is not prepared.
func prepare(ctx context.Context, q sqlengine.Queryer) error {
	_, err := q.ExecContext(ctx, statement)
	return err
}
