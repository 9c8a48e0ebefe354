CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint REFERENCES customers, amount numeric(10,2), placed timestamptz NOT NULL);
INSERT INTO customers SELECT n, 'customer ' || n FROM generate_series(1, 20) n;
INSERT INTO orders SELECT n, nullif(n % 21, 0), n * 1.25, timestamptz '2024-01-01 00:00:00Z' + n * interval '1 hour'
  FROM generate_series(1, 100) n
