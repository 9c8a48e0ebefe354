package enginetest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteSpeltAnew refuses an option of the driver that spells texts anew before anybody else sees them.
func TestSQLiteSpeltAnew(t *testing.T) {
	db := openSQLite(t, "file:"+filepath.Join(t.TempDir(), "types.sqlite")+"?_texttotime=1&_timezone=Asia%2FTokyo",
		"CREATE TABLE types (id INTEGER PRIMARY KEY, moment DATETIME); INSERT INTO types VALUES (1, '2024-03-31 02:30:00.123456')")
	_, err := db.pooled(t, &sqlsource.Options{}).Discover(t.Context(), &wire.DiscoveryRequest{})
	require.ErrorContains(t, err, "the driver returns a time.Time for the text of a time")
}
