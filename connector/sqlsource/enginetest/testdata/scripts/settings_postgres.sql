CREATE TABLE things (id bigint PRIMARY KEY, label text, body bytea, bodies bytea[], weights float8[], span interval, days daterange,
  during tstzrange, moments timestamptz[], moment timestamptz, name regclass, code uuid);
INSERT INTO things SELECT i, 'lábel ' || i % 7, int4send(i), ARRAY[int4send(i)], ARRAY[1 / i::float8], i * interval '1 day -1 hour',
  daterange('2024-01-01', date '2024-01-01' + i), tstzrange('2024-07-01 12:00:00Z', NULL), ARRAY[timestamptz '2024-07-01 12:00:00Z'],
  timestamptz '2024-07-01 00:30:00Z' + i * interval '1 hour', 'things', md5(i::text)::uuid FROM generate_series(1, 120) i;
CREATE TABLE documents (id int PRIMARY KEY, doc jsonb);
INSERT INTO documents SELECT i, to_jsonb(ARRAY[CASE WHEN i % 100 = 0 THEN 'paid' ELSE 'open ' || i END, repeat('x', 400)])
  FROM generate_series(1, 4000) i;
CREATE INDEX ON documents USING gin (doc);
CREATE TABLE policed (id bigint PRIMARY KEY);
INSERT INTO policed VALUES (1), (2), (3);
ALTER TABLE policed ENABLE ROW LEVEL SECURITY; CREATE POLICY others ON policed USING (id > 1);
CREATE FUNCTION is_missing(v text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN (v = NULL) IS NOT NULL; END $$;
CREATE FUNCTION backslash() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN length('a\tb'); END $$;
CREATE VIEW of_xml AS SELECT id, xmlelement(name b, body)::text AS element, ('<a/><b/>' || label)::xml::text AS fragment FROM things;
CREATE VIEW of_functions AS SELECT id, is_missing(label) AS missing, backslash() AS length FROM things;
CREATE VIEW of_session AS SELECT id, moment::date AS day, ('{NULL,' || id || '}')::text[] AS listed FROM things;
ANALYZE;
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.strpos(text, text) RETURNS int LANGUAGE sql AS 'SELECT 0';
CREATE FUNCTION hostile.starts_with(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE FUNCTION hostile.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT $2';
CREATE FUNCTION hostile.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT 'on' $$;
CREATE FUNCTION hostile.never(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.never);
CREATE OPERATOR hostile.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.never);
CREATE DOMAIN hostile.date AS int;
CREATE DOMAIN hostile.float8 AS text;
GRANT USAGE ON SCHEMA hostile TO public;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO public;
