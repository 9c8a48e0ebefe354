package postgres

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

func TestMeasures(t *testing.T) { suite.Measures(t, engine(t), "text") }

func TestMeasureSpeed(t *testing.T) {
	suite.MeasureSpeed(t, engine(t),
		`CREATE TABLE orders (id bigint PRIMARY KEY, uuid uuid, name text, email text, status text, amount numeric(12,2), qty bigint,
			created_at timestamptz(0))`,
		`INSERT INTO orders SELECT i, md5(i::text)::uuid, 'Ada Lovelace ' || i % 64, 'lovelace.' || i * 7919 % 100000 || '@mail.example.com',
			(ARRAY['open', 'paid', 'shipped', 'returned'])[1 + i % 4], (i * 7919 % 10000000) / 100.0, i * 31 % 200,
			to_timestamp(1704067200 + i * 43) FROM generate_series(1::bigint, 1000000) AS i`,
		`CREATE TABLE visits AS SELECT i AS id, (1 + i * 7919 % 1000010)::int AS order_id FROM generate_series(1::bigint, 1000000) AS i`,
		`ANALYZE`)
}
