CREATE EXTENSION postgres_fdw;
CREATE TABLE orders (shop bigint NOT NULL, id bigint NOT NULL, amount numeric(10,2), day date, note text COLLATE "C",
  placed_at timestamptz NOT NULL) PARTITION BY LIST (shop);
CREATE SERVER shard0 FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host '{host0}', port '{port0}', dbname '{name0}', fetch_size '5000', async_capable 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER shard0 OPTIONS (user '{user0}', password '{password0}');
CREATE FOREIGN TABLE orders_0 PARTITION OF orders FOR VALUES IN (1, 2, 3) SERVER shard0 OPTIONS (table_name 'orders');
CREATE SERVER shard1 FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host '{host1}', port '{port1}', dbname '{name1}', fetch_size '5000', async_capable 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER shard1 OPTIONS (user '{user1}', password '{password1}');
CREATE FOREIGN TABLE orders_1 PARTITION OF orders FOR VALUES IN (4, 5) SERVER shard1 OPTIONS (table_name 'orders');
CREATE TABLE whole (shop bigint NOT NULL, id bigint NOT NULL, amount numeric(10,2), day date, note text COLLATE "C",
  placed_at timestamptz NOT NULL);
INSERT INTO whole SELECT 1 + n % 5, n, CASE WHEN n % 11 > 0 THEN n * 37 % 100000 / 100.0 END,
  date '2024-01-01' + n % 100, CASE n % 3 WHEN 0 THEN 'Ä' WHEN 1 THEN 'a' END,
  timestamptz '2024-01-01 00:00:00Z' + n * interval '1 hour' FROM generate_series(1, 5000) AS n;
INSERT INTO orders SELECT * FROM whole;
ANALYZE orders
