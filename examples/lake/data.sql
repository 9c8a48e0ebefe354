-- Two tenants: north has a folder of partitions, north and south have stores of their own.
-- Run in an empty folder, by `go run -C examples/lake . -make FOLDER`.
COPY (SELECT range + 1 AS id, 'Store ' || chr(65 + range::INTEGER) AS name, ['Oslo', 'Bergen', 'Tromsø'][1 + range % 3] AS city,
	{'street': 'Storgata', 'number': range + 10} AS address FROM range(6)) TO 'north/stores.parquet';
COPY (SELECT range + 1 AS id, range % 6 + 1 AS store, DATE '2024-01-01' + (range * 7 % 700)::INTEGER AS day,
	(range * 7919 % 100000 / 100)::DECIMAL(10, 2) AS total, CASE WHEN range % 5 <> 0 THEN ['card', 'cash', 'invoice'][1 + range % 3] END AS paid,
	['a', 'b', 'c'][1:range % 4] AS tags, TIMESTAMPTZ '2024-01-01 08:00:00+00' + INTERVAL (range * 97) MINUTE AS updated,
	year(DATE '2024-01-01' + (range * 7 % 700)::INTEGER) AS year FROM range(2000)) TO 'north/orders' (FORMAT parquet, PARTITION_BY (year));
COPY (SELECT range + 1 AS id, 'Product ' || (range + 1) AS name, (range * 37 % 500 / 10)::DECIMAL(8, 2) AS price FROM range(40)) TO 'north/products.csv';
COPY (SELECT range + 1 AS id, 'Store ' || chr(77 + range::INTEGER) AS name, ['Cape Town', 'Durban'][1 + range % 2] AS city FROM range(4)) TO 'south/stores.parquet';
COPY (SELECT range AS id, range % 4 + 1 AS store, 'Note ' || range AS body FROM range(60)) TO 'south/notes.ndjson' (FORMAT json);
