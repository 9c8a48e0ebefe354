-- The database of the demonstration and of the test. FILL IN a schema like yours, with a few rows.
CREATE TABLE customers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
) STRICT;
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER REFERENCES customers(id),
  status TEXT NOT NULL
) STRICT;
INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace');
INSERT INTO orders VALUES (1, 1, 'open'), (2, 2, 'paid'), (3, 1, 'paid'), (4, NULL, 'open');
