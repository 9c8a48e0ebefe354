CREATE TABLE events (id BIGINT PRIMARY KEY, day DATE, moment DATETIME, amount DECIMAL(12,2),
  label VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, rank INT,
  a INT, b INT, c VARCHAR(40), d VARCHAR(40), e DOUBLE, f BIGINT, g VARCHAR(40), h INT);
INSERT INTO events SELECT seq, DATE '2000-01-01' + INTERVAL seq * 7919 % 9000 DAY,
  TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq * 7919 % 31000000 SECOND, seq * 7919 % 10000000 / 100,
  CONCAT('label ', LPAD(seq * 7919 % 1000000, 6, '0')), CASE WHEN seq % 5 > 0 THEN seq * 31 % 1000003 END,
  seq % 7, seq % 1009, CONCAT('text ', seq % 13), CONCAT('text ', seq % 50021), seq % 997 / 8, seq, CONCAT('text ', seq), seq % 2
  FROM seq_1_to_ROWS;
ALTER TABLE events ADD INDEX (day), ADD INDEX (moment), ADD INDEX (amount), ADD INDEX (label), ADD INDEX (rank);
CREATE TABLE places (id INT PRIMARY KEY, code VARCHAR(40) NOT NULL UNIQUE, name VARCHAR(40));
INSERT INTO places SELECT seq, CONCAT('place ', seq), CONCAT('name ', seq) FROM seq_1_to_LINKS;
CREATE TABLE visits (id INT PRIMARY KEY, code VARCHAR(40), place INT REFERENCES places (id));
INSERT INTO visits SELECT id, CONCAT('place ', id * 31 % LINKS + 1), id * 31 % LINKS + 1 FROM places;
CREATE TABLE files (id INT PRIMARY KEY, body LONGBLOB);
INSERT INTO files VALUES (1, REPEAT('0123456789', 500000));
ANALYZE TABLE events, places, visits
