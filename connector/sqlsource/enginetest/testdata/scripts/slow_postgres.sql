CREATE TABLE {slow} (id bigint PRIMARY KEY, name text NOT NULL);
INSERT INTO {slow} VALUES (1, 'one'), (2, 'two'), (3, 'three');
ALTER TABLE {slow} ENABLE ROW LEVEL SECURITY;
CREATE POLICY waiting ON {slow} USING ((SELECT pg_sleep({seconds})::text) IS NOT NULL);
GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}
