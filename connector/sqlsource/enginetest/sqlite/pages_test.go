package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

func TestSortedPages(t *testing.T) {
	suite.SkipShort(t)
	db := open(t, filepath.Join(t.TempDir(), "pages.sqlite"), "")
	source, err := sqlsource.New(db, sqlsource.SQLite(), nil)
	require.NoError(t, err)
	suite.SortedPages(t, connectortest.Start(t, definition, source, nil).As(nil).Unverified(), db)
}
