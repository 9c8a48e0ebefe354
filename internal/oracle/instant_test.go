package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestUsualInstants requires that the usual spelling of an instant, which is parsed
// by a way of its own, reads as the same instant with another offset does.
func TestUsualInstants(t *testing.T) {
	same := func(a, b string) {
		require.Equal(t, oracle.IsInstant(a), oracle.IsInstant(b), "%s and %s", a, b)
		order, ok := oracle.Compare(wire.Text(a), wire.Text(b), wire.TypeDatetime)
		require.True(t, ok)
		require.Equal(t, oracle.IsInstant(a), order == 0, "%s and %s", a, b)
	}
	for _, text := range []string{
		"2024-02-29T22:30:00", "2024-02-29T22:30:00.123456", "2024-02-29T22:30:00.5000", "2024-02-29T22:30:00.", "2024-02-29T22:30:00.5x",
		"2024-02-30T22:30:00", "2024-12-31T23:59:60", "2024-02-29T24:00:00", "2024-02-29T24:00:01", "2024-02-29T1:30:00.5", "0000-01-01T00:00:00",
		"2023-02-29T00:00:00", "1900-02-29T00:00:00", "2000-02-29T00:00:00", "2024-04-31T00:00:00", "2024-01-31T00:00:00",
		"2024-13-01T00:00:00", "2024-00-01T00:00:00", "2024-01-00T00:00:00", "2024-01-01T00:60:00", "20x4-01-01T00:00:00",
		"2024-01-01T00:00:0x", "9999-12-31T23:59:59",
		"2024-02.29T22:30:00", "2024-02-29T22.30:00", "2024-02-29T22:30.00", "2024-02-29T22:30", "2024-02-29T22:30:00,5",
		"2024-02-29t22:30:00", "2024-02-29 22:30:00", "1969-12-31T23:59:59.9", "2024-02-29",
	} {
		same(text+"Z", text+"+00:00")
	}
	same("2024-02-29", "2024-02-29T00:00:00+00:00")
	require.True(t, oracle.IsInstant("2024-02-29"))
	require.True(t, oracle.IsInstant("2024-02-29T22:30:00.123456Z"))
	require.False(t, oracle.IsInstant("2024-02-30"))
}
