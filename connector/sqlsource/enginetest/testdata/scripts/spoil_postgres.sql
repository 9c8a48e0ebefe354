BEGIN;
SET datestyle = 'German, DMY'; SET timezone = 'Asia/Tokyo'; SET bytea_output = 'escape';
SET extra_float_digits = -15; SET intervalstyle = 'sql_standard'; SET search_path = '';
CREATE TEMP TABLE IF NOT EXISTS float8 (n int); CREATE TEMP TABLE IF NOT EXISTS date (n int);
SELECT pg_sleep(0.1);
COMMIT
