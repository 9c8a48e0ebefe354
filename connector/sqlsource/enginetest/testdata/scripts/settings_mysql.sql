CREATE TABLE texts (id BIGINT AUTO_INCREMENT PRIMARY KEY, wide VARCHAR(40), narrow VARCHAR(40) CHARACTER SET latin1, fixed CHAR(8),
  tail VARCHAR(200), doc JSON, moment TIMESTAMP NULL, amount DECIMAL(10,2)) DEFAULT CHARSET utf8mb4;
INSERT INTO texts SELECT seq, ELT(1 + seq % 3, '😀', '日本', 'é'), 'é', 'ab', CONCAT(REPEAT('x', 100), 1000 - seq), '["paid"]',
  FROM_UNIXTIME(1719800000 + seq * 7200), seq FROM seq_1_to_150;
CREATE TABLE versions (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING;
INSERT INTO versions VALUES (1, 1), (2, 2);
CREATE VIEW quotients AS SELECT id, amount / 3 AS third FROM texts;
CREATE VIEW joined AS SELECT GROUP_CONCAT(wide ORDER BY id) AS everything FROM texts;
CREATE VIEW named AS SELECT id, DATE_FORMAT(moment, '%M %W') AS name, WEEK(moment) AS week, WEEK('2024-12-30') AS last FROM texts;
CREATE VIEW searched AS SELECT id, 'a\nb' REGEXP 'a.b' AS found, CAST(TIME '10:00:00' AS DATETIME) < '0001-01-01' AS bare FROM texts;
CREATE VIEW counted AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n
