package mysql

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

func TestMeasures(t *testing.T) { suite.Measures(t, engine(t), "VARCHAR(20)") }

func TestMeasureSpeed(t *testing.T) {
	suite.MeasureSpeed(t, engine(t),
		`CREATE TABLE orders (id BIGINT PRIMARY KEY, uuid VARCHAR(36), name VARCHAR(60), email VARCHAR(80), status VARCHAR(20),
			amount DECIMAL(12,2), qty BIGINT, created_at DATETIME)`,
		`INSERT INTO orders SELECT seq, MD5(seq), CONCAT('Ada Lovelace ', seq % 64),
			CONCAT('lovelace.', seq * 7919 % 100000, '@mail.example.com'),
			ELT(1 + seq % 4, 'open', 'paid', 'shipped', 'returned'), (seq * 7919 % 10000000) / 100.0, seq * 31 % 200,
			FROM_UNIXTIME(1704067200 + seq * 43) FROM seq_1_to_1000000`,
		`CREATE TABLE visits (id INT PRIMARY KEY, order_id INT NOT NULL)`,
		`INSERT INTO visits SELECT seq, 1 + seq * 7919 % 1000010 FROM seq_1_to_1000000`,
		`ANALYZE TABLE orders, visits`)
}
