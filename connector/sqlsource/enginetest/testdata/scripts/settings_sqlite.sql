CREATE TABLE things (id INTEGER PRIMARY KEY, label TEXT, amount NUMERIC, day DATE);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
  INSERT INTO things SELECT i, 'Label ' || (i % 7), i / 4.0, date('2024-01-01', i || ' days') FROM n;
CREATE VIEW found AS SELECT id AS id, label LIKE 'lab%' AS likes FROM things;
CREATE VIEW unnamed AS SELECT t.id, t.label FROM things t;
CREATE VIEW some AS SELECT id AS id FROM (SELECT id FROM things LIMIT 5)
