SET NAMES utf8mb4;
CREATE DATABASE shop;
CREATE USER reader IDENTIFIED BY 'typed';
GRANT SELECT ON shop.* TO reader;
CREATE SERVER shard0
  FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1', PORT {port0}, DATABASE 'shop', USER 'front', PASSWORD 'typed');
CREATE SERVER shard1
  FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1', PORT {port1}, DATABASE 'shop', USER 'front', PASSWORD 'typed');
CREATE TABLE shop.orders (shop BIGINT NOT NULL, id BIGINT NOT NULL, amount DECIMAL(10,2), day DATE,
  note VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, placed_at DATETIME NOT NULL, PRIMARY KEY (shop, id))
  ENGINE=SPIDER COMMENT='wrapper "mysql", table "orders"'
  PARTITION BY LIST (shop) (PARTITION p0 VALUES IN (1, 2, 3) COMMENT = 'srv "shard0"',
    PARTITION p1 VALUES IN (4, 5) COMMENT = 'srv "shard1"');
CREATE TABLE shop.long (shop BIGINT NOT NULL, id BIGINT NOT NULL, filler VARCHAR(1000))
  ENGINE=SPIDER COMMENT='wrapper "mysql", table "long"'
  PARTITION BY LIST (shop) (PARTITION p0 VALUES IN (1, 2, 3) COMMENT = 'srv "shard0"',
    PARTITION p1 VALUES IN (4, 5) COMMENT = 'srv "shard1"');
CREATE TABLE shop.short (shop BIGINT NOT NULL, id BIGINT NOT NULL)
  ENGINE=SPIDER COMMENT='wrapper "mysql", table "short"'
  PARTITION BY LIST (shop) (PARTITION p0 VALUES IN (1, 2, 3) COMMENT = 'srv "shard0"',
    PARTITION p1 VALUES IN (4, 5) COMMENT = 'srv "shard1"');
CREATE TABLE shop.whole (shop BIGINT NOT NULL, id BIGINT NOT NULL, amount DECIMAL(10,2), day DATE,
  note VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, placed_at DATETIME NOT NULL, PRIMARY KEY (shop, id));
INSERT INTO shop.whole SELECT 1 + seq % 5, seq, IF(seq % 11 > 0, seq * 37 % 100000 / 100, NULL),
  '2024-01-01' + INTERVAL seq % 100 DAY, CASE seq % 3 WHEN 0 THEN 'Ä' WHEN 1 THEN 'a' END,
  '2024-01-01' + INTERVAL seq HOUR FROM shop.seq_1_to_5000;
INSERT INTO shop.orders SELECT * FROM shop.whole;
INSERT INTO shop.short VALUES (4, 1)
