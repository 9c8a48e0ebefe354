CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'Zany');
CREATE DOMAIN cents AS numeric(8,2);
CREATE DOMAIN price AS cents
