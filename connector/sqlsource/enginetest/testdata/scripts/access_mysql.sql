CREATE DATABASE shop;
CREATE TABLE shop.t (id INT PRIMARY KEY);
INSERT INTO shop.t VALUES (1), (2), (3);
CREATE USER ada IDENTIFIED BY 'typed-by-hand';
CREATE USER eve IDENTIFIED VIA ed25519 USING PASSWORD('typed-by-hand');
CREATE USER tls IDENTIFIED BY 'typed-by-hand' REQUIRE SSL;
CREATE USER one IDENTIFIED BY 'typed-by-hand' WITH MAX_USER_CONNECTIONS 1;
CREATE USER locked IDENTIFIED BY 'typed-by-hand' ACCOUNT LOCK;
CREATE USER stale IDENTIFIED BY 'typed-by-hand' PASSWORD EXPIRE;
GRANT SELECT ON shop.* TO ada, eve, tls, one, locked, stale;
SET GLOBAL disconnect_on_expired_password = 1
