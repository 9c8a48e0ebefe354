CREATE TABLE {one}.people (id BIGINT PRIMARY KEY);
INSERT INTO {one}.people VALUES (1);
CREATE TABLE {two}.people (id BIGINT PRIMARY KEY);
CREATE TABLE {two}.orders (id BIGINT PRIMARY KEY, person BIGINT, FOREIGN KEY (person) REFERENCES {one}.people (id));
INSERT INTO {two}.orders VALUES (1, 1)
