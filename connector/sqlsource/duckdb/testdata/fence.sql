SELECT * FROM read_csv('{out}/a.csv')
SELECT * FROM '{out}/a.csv'
SELECT * FROM '{in}/../inside out/a.csv'
SELECT * FROM '{dir}/i*/*.csv'
SELECT * FROM glob('{dir}/*')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/proc/self/environ')
SELECT * FROM 'https://example.com/a.parquet'
COPY (SELECT 1) TO '{out}/b.csv'
ATTACH '{out}/b.duckdb'
EXPORT DATABASE '{out}'
INSTALL httpfs
LOAD httpfs
LOAD '{in}/a.csv'
SET enable_external_access = true
SET lock_configuration = false
SET allowed_directories = ['/']
RESET enable_external_access
SET memory_limit = '10GB'
SET temp_directory = '/tmp'
PRAGMA enable_profiling = 'json'
SET GLOBAL autoload_known_extensions = true
