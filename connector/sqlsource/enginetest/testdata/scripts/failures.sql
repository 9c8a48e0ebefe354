CREATE TABLE parents (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20));
CREATE TABLE children (id INTEGER NOT NULL PRIMARY KEY, parent INTEGER, day DATE, FOREIGN KEY (parent) REFERENCES parents (id));
CREATE VIEW seen AS SELECT id, parent FROM children;
INSERT INTO parents VALUES (1, 'a'), (2, 'b');
INSERT INTO children VALUES (1, 1, '2024-01-01'), (2, NULL, NULL);
