-- views that answer something else under each hostile setting that the requests of the kit do not see
CREATE TABLE settled AS SELECT i, i / 4 AS part, TIMESTAMPTZ '2024-07-01 00:30:00+00' + to_hours(i::INT) AS moment,
  [TIMESTAMPTZ '2024-07-01 00:30:00+00'] AS moments FROM range(1, 20) r(i);
CREATE VIEW settling AS SELECT i, 7 / i AS quotient, 1.0::DOUBLE / (i - 1) AS zero, date_trunc('day', moment) AS day, year(moment) AS year,
  moments, (SELECT i FROM (SELECT i FROM settled ORDER BY nullif(i, 3) LIMIT 1)) AS first,
  isinf(1.0::DOUBLE / (i - 1)) AS infinite FROM settled;
CREATE VIEW several AS SELECT i, (SELECT s.i FROM settled s WHERE s.i > settled.i) AS any_of FROM settled;
CREATE VIEW comparing AS SELECT 'a' = 'A' AS same
