BEGIN;
CREATE TABLE customers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT UNIQUE,
  joined DATE NOT NULL,
  tags JSON
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER REFERENCES customers(id),
  status TEXT NOT NULL,
  amount DECIMAL_TEXT NOT NULL,
  paid BOOLEAN NOT NULL DEFAULT 0,
  placed_at DATETIME NOT NULL
);
CREATE INDEX orders_customer ON orders(customer_id);
CREATE INDEX orders_status ON orders(status);
CREATE VIEW open_orders AS SELECT * FROM orders WHERE status = 'open';
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
INSERT INTO customers
SELECT i, substr('Ada Ben Cleo Dan Eva Finn Gus Hana', 1 + 4 * (i % 8), 4) || i,
  CASE WHEN i % 10 THEN 'c' || i || '@example.org' END,
  date('2020-01-01', '+' || (i * 7) || ' days'),
  CASE i % 3 WHEN 0 THEN '["new","vip"]' WHEN 1 THEN '["new"]' END
FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO orders
SELECT i, CASE WHEN i % 17 THEN 1 + i * 37 % 100 END,
  CASE i % 4 WHEN 0 THEN 'open' WHEN 1 THEN 'paid' WHEN 2 THEN 'shipped' ELSE 'returned' END,
  printf('%d.%02d', i * 7919 % 5000, i * 31 % 100), i % 4 <> 0,
  strftime('%Y-%m-%dT%H:%M:%SZ', 1577836800 + i * 360000, 'unixepoch')
FROM n;
COMMIT;
