package duckdb

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestNested sends what a part of a nested value holds as a cell of its own would be sent.
func TestNested(t *testing.T) {
	db := testkit.Must(sql.Open("duckdb", ""))(t)
	defer func() { _ = db.Close() }()
	for value, want := range map[string]string{
		"{'ts': TIMESTAMP 'infinity', 'd': DATE '-infinity', 'z': TIMESTAMPTZ 'infinity', 's': 'infinity'::TIMESTAMP_S}": "" +
			`{"ts":null,"d":null,"z":null,"s":null}`,
		"{'n': 'infinity'::TIMESTAMP_NS}":                               `{"n":null}`,
		"[DATE '10000-01-01', DATE '2024-02-29']":                       `[null,"2024-02-29"]`,
		"{'ts': TIMESTAMP '10000-01-01'}":                               `{"ts":null}`,
		"[union_value(n := 1.50::DECIMAL(9,2))]":                        `["1.50"]`,
		"row(1.50, 2)":                                                  `["1.50",2]`,
		"[row(1, {'a': TIMESTAMPTZ '2024-02-29 01:00:00+01'})]":         `[[1,{"a":"2024-02-29T00:00:00.000000Z"}]]`,
		"row(TIMESTAMPTZ '2024-02-29 01:00:00+01', row(NULL::INTEGER))": `["2024-02-29T00:00:00.000000Z",[null]]`,
		"{'a': 1, 'when it was': [2]}":                                  `{"a":1,"when it was":[2]}`,
	} {
		var typ, got string
		require.NoError(t, db.QueryRow("SELECT typeof("+value+")").Scan(&typ), value)
		sent := parseType(typ).sendable("x", 0)
		require.NoError(t, db.QueryRow("SELECT CAST(to_json("+sent+") AS VARCHAR) FROM (SELECT "+value+" AS x)").Scan(&got), "%s: %s", typ, sent)
		require.Equal(t, want, got, typ)
	}
}
