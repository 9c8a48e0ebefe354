-- macros that the bodies of the views in macros.sql do not call
CREATE MACRO sum(x) AS 42; CREATE MACRO count(x) AS 42; CREATE MACRO count_star() AS 42;
CREATE MACRO contains(x, y) AS false;
CREATE MACRO lower(x) AS 'low'; CREATE MACRO epoch_ms(x) AS 42; CREATE MACRO "+"(x, y) AS 42;
CREATE MACRO "||"(x, y) AS 42; CREATE MACRO row_number() AS 42; CREATE MACRO to_json(x) AS '42'; CREATE MACRO list_value(x) AS 42;
CREATE MACRO current_database() AS 'none'; CREATE MACRO current_setting(x) AS 'none'; CREATE MACRO getvariable(x) AS 'none';
CREATE MACRO duckdb_settings() AS TABLE SELECT 42; CREATE MACRO duckdb_schemas() AS TABLE SELECT 42;
CREATE MACRO duckdb_tables() AS TABLE SELECT 42; CREATE MACRO duckdb_columns() AS TABLE SELECT 42;
