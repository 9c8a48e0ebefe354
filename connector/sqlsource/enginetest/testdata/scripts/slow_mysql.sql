CREATE VIEW {slow} AS SELECT words.id, words.name
  FROM (SELECT 1 AS id, 'one' AS name UNION ALL SELECT 2, 'two' UNION ALL SELECT 3, 'three') AS words
  JOIN (SELECT SLEEP(25) AS waited) AS stall ON stall.waited = 0
