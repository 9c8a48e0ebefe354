CREATE TABLE events (id INTEGER PRIMARY KEY, day DATE, moment DATETIME, amount NUMERIC, label TEXT, rank INTEGER,
  a INTEGER, b INTEGER, c TEXT, d TEXT, e REAL, f INTEGER, g TEXT, h INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
INSERT INTO events SELECT i, date('2000-01-01', (i * 7919 % 9000) || ' days'),
  strftime('%Y-%m-%d %H:%M:%S', 1704067200 + i * 7919 % 31000000, 'unixepoch'), i * 7919 % 10000000 / 100.0,
  printf('label %06d', i * 7919 % 1000000), CASE WHEN i % 5 > 0 THEN i * 31 % 1000003 END,
  i % 7, i % 1009, 'text ' || i % 13, 'text ' || i % 50021, i % 997 / 8.0, i, 'text ' || i, i % 2 FROM n;
CREATE INDEX events_day ON events (day);
CREATE INDEX events_moment ON events (moment);
CREATE INDEX events_amount ON events (amount);
CREATE INDEX events_label ON events (label);
CREATE INDEX events_rank ON events (rank);
CREATE TABLE places (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < LINKS)
INSERT INTO places SELECT i, 'place ' || i, 'name ' || i FROM n;
CREATE TABLE visits (id INTEGER PRIMARY KEY, code TEXT, place INTEGER REFERENCES places (id));
INSERT INTO visits SELECT id, 'place ' || (id * 31 % LINKS + 1), id * 31 % LINKS + 1 FROM places;
CREATE TABLE files (id INTEGER PRIMARY KEY, body BLOB);
INSERT INTO files VALUES (1, randomblob(5000000));
ANALYZE
