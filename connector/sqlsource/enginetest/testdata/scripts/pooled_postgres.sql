CREATE TABLE t (id bigint PRIMARY KEY, label text, amount numeric(10,2), moment timestamptz, day date, length interval,
  body bytea, weight float8, moments timestamptz[]);
INSERT INTO t SELECT i, 'label ' || i % 7, i * 1.25, timestamptz '2024-06-01 12:00:00Z' + i * interval '1 hour', date '2024-06-01' + i,
  i * interval '1 day 1 hour', int4send(i), 1 / i::float8, ARRAY[timestamptz '2024-06-01 12:00:00Z'] FROM generate_series(1, 500) i
