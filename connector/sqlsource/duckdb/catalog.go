package duckdb

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// defaultSchema is where DuckDB makes a table whose schema is not named.
const defaultSchema = "main"

// relations are the tables and views of the database that was opened.
const relations = `SELECT schema_name, table_name AS name, coalesce(comment, '') AS comment, false AS is_view,
		estimated_size AS estimate, table_oid AS oid
		FROM duckdb_tables() WHERE database_name = ` + ownDatabase + ` AND NOT internal
	UNION ALL SELECT schema_name, view_name, coalesce(comment, ''), true, NULL, view_oid
		FROM duckdb_views() WHERE database_name = ` + ownDatabase + ` AND NOT internal`

// engineName finds names that a view of the engine may have. A statement that names such a table of
// the schema main reads the engine's view; isEngineView tells, at a cost that few databases have.
var engineName = regexp.MustCompile(`(?i)^(duckdb|pragma|sqlite)_`)

const isEngineView = `SELECT count(*) > 0 FROM duckdb_views()
	WHERE database_name = 'system' AND schema_name = 'main' AND lower(view_name) = lower(CAST($1 AS VARCHAR))`

// within returns the condition that selects a schema's rows of the catalog and, if names
// are given, those of these tables, with the values of its placeholders.
func within(schema, table string, names []string) (condition string, args []any) {
	condition, args = "schema_name = CAST($1 AS VARCHAR)", []any{cmp.Or(schema, defaultSchema)}
	if names == nil {
		return condition, args
	}
	params := make([]string, len(names))
	for i, name := range names {
		args = append(args, name)
		params[i] = "CAST(" + flavor{}.Param(len(args)) + " AS VARCHAR)"
	}
	return condition + " AND " + table + " IN (" + strings.Join(params, ", ") + ")", args
}

// Catalog implements [sqlengine.Flavor].
func (flavor) Catalog(ctx context.Context, q sqlengine.Queryer, schema string, names []string) ([]*sqlengine.Table, []string, error) {
	if names != nil {
		if names = named(names); len(names) == 0 {
			return nil, nil, nil
		}
	}
	var tables []*sqlengine.Table
	byName := map[string]*sqlengine.Table{}
	var suspects, warnings []string
	condition, args := within(schema, "name", names)
	err := sqlengine.Each(ctx, q, "SELECT name, comment, is_view, estimate FROM ("+relations+") t WHERE "+condition+" ORDER BY name",
		args, func(scan func(...any) error) error {
			var t sqlengine.Table
			err := scan(&t.Name, &t.Comment, &t.View, &t.Estimate)
			if cmp.Or(schema, defaultSchema) == defaultSchema && engineName.MatchString(t.Name) {
				suspects = append(suspects, t.Name)
			}
			tables, byName[t.Name] = append(tables, &t), &t
			return err
		})
	for _, name := range suspects {
		var hidden bool
		if err == nil {
			err = q.QueryRowContext(ctx, isEngineView, name).Scan(&hidden)
		}
		if hidden {
			delete(byName, name)
			tables = slices.DeleteFunc(tables, func(t *sqlengine.Table) bool { return t.Name == name })
			warnings = append(warnings, name+" is left out because a view of the engine has the same name.")
		}
	}
	if err == nil {
		err = columns(ctx, q, schema, names, byName)
	}
	if err == nil {
		err = keys(ctx, q, schema, names, byName)
	}
	return tables, warnings, err
}

// named returns the names that a table can have: the driver would cut a text with a NUL
// there, and so find another table.
func named(names []string) []string {
	var list []string
	for _, name := range names {
		if !strings.Contains(name, "\x00") {
			list = append(list, name)
		}
	}
	return list
}

// columns adds the columns of the tables.
func columns(ctx context.Context, q sqlengine.Queryer, schema string, names []string, tables map[string]*sqlengine.Table) error {
	condition, args := within(schema, "table_name", names)
	statement := `SELECT table_name, column_name, coalesce(comment, ''), data_type, is_nullable,
		coalesce(numeric_precision, 0), coalesce(numeric_scale, 0)
		FROM duckdb_columns() WHERE database_name = ` + ownDatabase + ` AND ` + condition + ` ORDER BY table_name, column_index`
	return sqlengine.Each(ctx, q, statement, args, func(scan func(...any) error) error {
		var table string
		var c sqlengine.CatalogColumn
		if err := scan(&table, &c.Name, &c.Comment, &c.DataType, &c.Nullable, &c.Precision, &c.Scale); err != nil {
			return err
		}
		if t := tables[table]; t != nil {
			t.Columns = append(t.Columns, c)
		}
		return nil
	})
}

// keys adds the keys of the tables, all of which DuckDB enforces. A row for each
// column of a key.
func keys(ctx context.Context, q sqlengine.Queryer, schema string, names []string, tables map[string]*sqlengine.Table) error {
	condition, args := within(schema, "table_name", names)
	statement := `SELECT table_name, constraint_type, CAST(constraint_index AS VARCHAR), coalesce(referenced_table, ''),
		constraint_column_names[i], coalesce(referenced_column_names[i], '')
		FROM (SELECT *, unnest(range(1, len(constraint_column_names) + 1)) AS i FROM duckdb_constraints())
		WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') AND database_name = ` + ownDatabase + ` AND ` + condition + `
		ORDER BY table_name, constraint_index, i`
	kinds := map[string]string{"PRIMARY KEY": sqlengine.PrimaryKey, "UNIQUE": sqlengine.UniqueKey, "FOREIGN KEY": sqlengine.ForeignKey}
	return sqlengine.Each(ctx, q, statement, args, func(scan func(...any) error) error {
		k := sqlengine.Key{Columns: make([]string, 1)}
		var table, kind, targetColumn string
		if err := scan(&table, &kind, &k.ID, &k.Target, &k.Columns[0], &targetColumn); err != nil {
			return err
		}
		k.Kind = kinds[kind]
		if k.Kind == sqlengine.ForeignKey {
			k.TargetColumns = []string{targetColumn}
		}
		if t := tables[table]; t != nil {
			t.Keys = append(t.Keys, k)
		}
		return nil
	})
}
