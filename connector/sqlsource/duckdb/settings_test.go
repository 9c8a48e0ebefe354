package duckdb_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hostile are values of all settings that are stated, with which answers are other ones.
var hostile = []string{
	"default_collation = 'NOCASE'", "default_order = 'DESC'", "default_null_order = 'NULLS_FIRST'", "TimeZone = 'America/St_Johns'",
	"Calendar = 'buddhist'", "ieee_floating_point_ops = false",
	"scalar_subquery_error_on_multiple_rows = false", "preserve_insertion_order = false", "binary_as_string = true", "errors_as_json = true",
}

// hostileSession sets all of them.
var hostileSession = func() (statements []string) {
	for _, s := range hostile {
		statements = append(statements, "SET SESSION "+s)
	}
	return statements
}()

// settingsViews are views that answer something else for each of them that the requests of the kit do not see.
const settingsViews = `
	CREATE TABLE settled AS SELECT i, i / 4 AS part, TIMESTAMPTZ '2024-07-01 00:30:00+00' + to_hours(i::INT) AS moment,
		[TIMESTAMPTZ '2024-07-01 00:30:00+00'] AS moments FROM range(1, 20) r(i);
	CREATE VIEW settling AS SELECT i, 7 / i AS quotient, 1.0::DOUBLE / (i - 1) AS zero, date_trunc('day', moment) AS day, year(moment) AS year,
		moments, (SELECT i FROM (SELECT i FROM settled ORDER BY nullif(i, 3) LIMIT 1)) AS first,
		isinf(1.0::DOUBLE / (i - 1)) AS infinite FROM settled;
	CREATE VIEW several AS SELECT i, (SELECT s.i FROM settled s WHERE s.i > settled.i) AS any_of FROM settled;
	CREATE VIEW comparing AS SELECT 'a' = 'A' AS same`

// unprepared returns the flavor without the settings that it states.
func unprepared(f sqlengine.Flavor) sqlengine.Flavor {
	f.Session = nil
	return f
}

// TestSettings asks of a database whose settings spoil answers: by the differential test, and by
// views. The answers are those of a database where nobody has set them.
func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.duckdb")
	reach := func(statements ...string) *sql.DB {
		own := testkit.Must(driver.NewConnector(file, func(c sqldriver.ExecerContext) error {
			for _, s := range statements {
				if _, err := c.ExecContext(context.Background(), s, nil); err != nil {
					return err
				}
			}
			return nil
		}))(t)
		db := sql.OpenDB(own)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	plain := reach()
	testkit.Must(plain.ExecContext(t.Context(), settingsViews))(t)
	read := func(db *sql.DB, flavor sqlengine.Flavor) (answers []string) {
		source := testkit.Must(sqlsource.New(db, flavor, nil))(t)
		tenant := connectortest.Start(t, connector.Definition{Slug: "settings"}, source, nil).As(nil).Unverified()
		found, err := tenant.Discover()
		if err != nil {
			return []string{err.Error()}
		}
		for _, table := range found.Tables {
			var fields []string
			for _, f := range table.Fields {
				fields = append(fields, f.Name)
				answers = append(answers, fmt.Sprint(table.Name, f.Name, f.Type, f.Samples))
			}
			rows, err := tenant.Query(wire.QueryRequest{Table: table.Name, Fields: fields, Sort: []wire.SortKey{{Field: fields[0], Dir: wire.Asc}}})
			if err != nil {
				return append(answers, err.Error())
			}
			answers = append(answers, fmt.Sprint(rows.Rows))
		}
		return answers
	}
	want := read(plain, duckdb.Flavor())
	require.Greater(t, len(want), 10, "%q", want)
	require.NoError(t, plain.Close())
	var unseen []string
	for _, s := range hostile {
		db := reach("SET SESSION " + s)
		require.Equal(t, want, read(db, duckdb.Flavor()), s)
		require.NoError(t, db.Close())
		db = reach("SET SESSION " + s)
		if slices.Equal(want, read(db, unprepared(duckdb.Flavor()))) {
			unseen = append(unseen, s)
		}
		require.NoError(t, db.Close())
	}
	require.Equal(t, []string{
		"preserve_insertion_order = false", // needs more rows than a thread reads at once
		"binary_as_string = true",          // needs a file of Parquet that says of no text that it is one
	}, unseen)
	if testing.Short() {
		return
	}
	e := kit(t)
	e.DB = reach(hostileSession...)
	sqlsourcetest.Run(t, e, &sqlsourcetest.Options{Queries: 60, Without: []string{"pages", "changing pages", "large joins"}})
}

// harmless are the settings that change no answer, by the reason why.
var harmless = map[string]string{
	"how a statement is planned and carried out, and with how much memory": `allocator_background_threads
		allocator_bulk_deallocation_flush_threshold allocator_flush_threshold asof_loop_join_threshold debug_asof_iejoin
		debug_force_external debug_force_no_cross_product debug_verify_blocks debug_verify_vector debug_window_mode
		disable_parquet_prefetching disabled_optimizers dynamic_or_filter_threshold enable_external_file_cache enable_fsst_vectors
		enable_http_metadata_cache enable_object_cache external_threads index_scan_max_count index_scan_percentage
		late_materialization_max_rows max_memory max_temp_directory_size memory_limit merge_join_threshold nested_loop_join_threshold
		ordered_aggregate_threshold parquet_metadata_cache perfect_ht_threshold pin_threads pivot_filter_threshold prefer_range_joins
		prefetch_all_parquet_files scheduler_process_partial streaming_buffer_size temp_directory temp_file_encryption threads
		worker_threads`,
	"what is written, maintained or defined, which a connector does not do": `checkpoint_threshold debug_checkpoint_abort
		debug_skip_checkpoint_on_commit default_block_size disabled_compression_methods enable_macro_dependencies
		enable_view_dependencies experimental_metadata_reuse force_bitpacking_mode force_compression immediate_transaction_mode
		integer_division max_vacuum_tasks partitioned_write_flush_threshold partitioned_write_max_open_files preserve_identifier_case
		storage_compatibility_version variant_legacy_encoding wal_autocheckpoint zstd_min_string_length`,
	"what is opened, and may be: another file, or none, is an error": `access_mode allow_community_extensions
		allow_extensions_metadata_mismatch allow_persistent_secrets allow_unredacted_secrets allow_unsigned_extensions
		allowed_directories allowed_paths autoinstall_extension_repository autoinstall_known_extensions autoload_known_extensions
		custom_extension_repository default_secret_storage disable_database_invalidation disabled_filesystems enable_external_access
		extension_directory file_search_path home_directory http_proxy http_proxy_password http_proxy_username lock_configuration
		secret_directory password user username`,
	"what the engine says of itself, and in other forms than rows": `arrow_large_buffer_size arrow_lossless_conversion
		arrow_output_list_view arrow_output_version catalog_error_max_schemas custom_profiling_settings custom_user_agent
		disabled_log_types duckdb_api enable_http_logging enable_logging enable_profiling enable_progress_bar
		enable_progress_bar_print enabled_log_types explain_output http_logging_output log_query_path logging_level logging_mode
		logging_storage produce_arrow_string_view profile_output profiling_coverage profiling_mode profiling_output
		progress_bar_time`,
	"a limit: beyond it, or where it forbids, is an error": `disable_timestamptz_casts lambda_syntax max_expression_depth
		old_implicit_casting order_by_non_integer_literal pivot_limit`,
	"of the connection: tables are named with their schema, and files are as their views read them": `enable_geoparquet_conversion
		schema`,
	"put behind the engine's functions for each transaction, and put back: see TestMacros": "search_path",
	"another name of one that is stated":                                                   "null_order",
}

// TestSettingsKnown notices a setting of the engine that nobody has looked at.
func TestSettingsKnown(t *testing.T) {
	known := map[string]bool{}
	for _, s := range hostile {
		name, _, _ := strings.Cut(s, " ")
		known[name] = true
	}
	for _, names := range harmless {
		for name := range strings.FieldsSeq(names) {
			require.False(t, known[name], name)
			known[name] = true
		}
	}
	rows := testkit.Must(open(t, "SELECT 1").QueryContext(t.Context(), "SELECT name FROM duckdb_settings()"))(t)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		assert.True(t, known[name], "%s: state it, or list it here with the reason why it changes no answer", name)
	}
	require.NoError(t, rows.Err())
}
