CREATE TABLE events (id bigint PRIMARY KEY, day date, moment timestamp, amount numeric(12,2), label text COLLATE "C", rank int,
  a int, b int, c text, d text, e float8, f bigint, g text, h int);
INSERT INTO events SELECT i, date '2000-01-01' + (i * 7919 % 9000)::int, timestamp '2024-01-01' + (i * 7919 % 31000000) * interval '1 second',
  i * 7919 % 10000000 / 100.0, 'label ' || lpad((i * 7919 % 1000000)::text, 6, '0'), CASE WHEN i % 5 > 0 THEN i * 31 % 1000003 END,
  i % 7, i % 1009, 'text ' || i % 13, 'text ' || i % 50021, i % 997 / 8.0, i, 'text ' || i, i % 2 FROM generate_series(1::bigint, ROWS) AS i;
CREATE INDEX ON events (day);
CREATE INDEX ON events (moment);
CREATE INDEX ON events (amount);
CREATE INDEX ON events (label);
CREATE INDEX ON events (rank);
CREATE TABLE places (id int PRIMARY KEY, code text NOT NULL UNIQUE, name text);
INSERT INTO places SELECT i, 'place ' || i, 'name ' || i FROM generate_series(1, LINKS) AS i;
CREATE TABLE visits (id int PRIMARY KEY, code text, place int REFERENCES places (id));
INSERT INTO visits SELECT id, 'place ' || (id::bigint * 31 % LINKS + 1), id::bigint * 31 % LINKS + 1 FROM places;
CREATE TABLE files (id int PRIMARY KEY, body bytea);
INSERT INTO files SELECT 1, decode(repeat('0123456789abcdef', 625000), 'hex');
ANALYZE
