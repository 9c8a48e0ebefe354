CREATE TABLE orders (id bigint PRIMARY KEY, uuid uuid, name text, email text, status text, amount numeric(12,2), qty bigint, price float8,
  active boolean, created_at timestamptz(0), note text, region text);
INSERT INTO orders SELECT i, md5(i::text)::uuid, 'Ada Lovelace ' || i % 64, 'lovelace.' || i * 7919 % 100000 || '@mail.example.com',
  (ARRAY['open', 'paid', 'shipped', 'returned'])[1 + i % 4], (i * 7919 % 10000000) / 100.0, i * 31 % 200,
  (i * 7907 % 10000000) / 100.0, i % 4 <> 0,
  to_timestamp(1704067200 + i * 43), 'Please leave the parcel with the neighbour, number ' || i % 8,
  (ARRAY['north', 'south', 'east', 'west'])[i % 5] FROM generate_series(1::bigint, 1000000) AS i;
ANALYZE orders
