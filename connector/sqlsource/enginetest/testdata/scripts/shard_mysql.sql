CREATE DATABASE shop;
CREATE USER front IDENTIFIED BY 'typed';
GRANT ALL ON shop.* TO front;
CREATE TABLE shop.orders (shop BIGINT NOT NULL, id BIGINT NOT NULL, amount DECIMAL(10,2), day DATE,
  note VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, placed_at DATETIME NOT NULL, PRIMARY KEY (shop, id));
CREATE TABLE shop.long (shop BIGINT NOT NULL, id BIGINT NOT NULL, filler VARCHAR(1000));
CREATE TABLE shop.short (shop BIGINT NOT NULL, id BIGINT NOT NULL);
INSERT INTO shop.long SELECT {shop}, seq, REPEAT('x', 1000) FROM shop.seq_1_to_{rows};
SET GLOBAL log_output = 'TABLE'
