CREATE TABLE orders (id INTEGER PRIMARY KEY, uuid UUID, name TEXT, email TEXT, status TEXT, amount DECIMAL_TEXT, qty INTEGER, price REAL,
  active BOOLEAN, created_at DATETIME, note TEXT, region TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
INSERT INTO orders SELECT i, printf('%08x-%04x-4%03x-8%03x-%012x', i * 2654435761 % 4294967296, i % 65536, i % 4096, i % 4096, i * 7919),
  'Ada Lovelace ' || i % 64, 'lovelace.' || i * 7919 % 100000 || '@mail.example.com',
  rtrim(substr('open    paid    shippedreturned', 1 + 8 * (i % 4), 8)),
  printf('%d.%02d', i * 7919 % 100000, i % 100), i * 31 % 200, (i * 7907 % 10000000) / 100.0, i % 4 <> 0,
  strftime('%Y-%m-%dT%H:%M:%SZ', 1704067200 + i * 43, 'unixepoch'), 'Please leave the parcel with the neighbour, number ' || i % 8,
  CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN 'north' WHEN 2 THEN 'south' WHEN 3 THEN 'east' ELSE 'west' END FROM n
