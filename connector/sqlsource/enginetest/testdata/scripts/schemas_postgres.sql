CREATE SCHEMA crm; CREATE SCHEMA sales; CREATE SCHEMA "crm.x";
CREATE TABLE crm.people (id bigint PRIMARY KEY);
INSERT INTO crm.people VALUES (1);
CREATE TABLE sales.people (id bigint PRIMARY KEY);
CREATE TABLE sales.orders (id bigint PRIMARY KEY, person bigint REFERENCES crm.people);
INSERT INTO sales.orders VALUES (1, 1)
