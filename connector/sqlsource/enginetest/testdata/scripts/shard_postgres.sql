CREATE TABLE orders (shop bigint NOT NULL, id bigint NOT NULL, amount numeric(10,2), day date, note text COLLATE "C",
  placed_at timestamptz NOT NULL)
