-- tables, and views that see macros of their author's
CREATE TABLE item AS SELECT i, 'A' || i AS name, i + 0.5 AS price, DATE '2024-01-31' + i::INT AS day, [name] AS tags,
  {'a': price} AS record FROM range(20) r(i);
ALTER TABLE item ADD PRIMARY KEY (i);
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE SEQUENCE ticket;
CREATE TABLE duckdb_trips AS SELECT 'mine' AS x;
CREATE TABLE "range" AS SELECT 'mine' AS x;
CREATE TABLE Duckdb_Tables AS SELECT 'mine' AS x;
CREATE SCHEMA "a.b""c,d";
CREATE TABLE "a.b""c,d".far AS SELECT 7 AS n, 'x' AS label;
CREATE MACRO twice(x) AS x * 2;
CREATE MACRO few(n) AS TABLE SELECT i FROM item WHERE i < n;
CREATE MACRO "a.b""c,d".thrice(x) AS x * 3;
CREATE VIEW doubled AS SELECT twice(i) AS i, 'glad'::mood AS mood, nextval('ticket') > 0 AS drawn FROM item;
CREATE VIEW chosen AS SELECT * FROM few(3);
CREATE VIEW "a.b""c,d".tripled AS SELECT thrice(n) AS n, twice(n) AS m FROM "a.b""c,d".far;
