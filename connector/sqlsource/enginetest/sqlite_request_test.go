package enginetest

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// both is a source that, for one request, asks the source of a database several
// times at once, and as several tenants.
type both struct {
	*sqlsource.Source
}

func (b both) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	sizes := make([]*wire.Size, 8)
	errs := make([]error, len(sizes))
	var all sync.WaitGroup
	for i := range sizes {
		all.Go(func() {
			tenant := map[string]string{"file": []string{"one", "three"}[i%2]}
			own := &wire.SizeRequest{Table: req.Table, Envelope: wire.Envelope{Credentials: wire.NewCredentials(tenant)}}
			if _, errs[i] = b.Describe(ctx, own.Credentials, req.Table); errs[i] == nil {
				sizes[i], errs[i] = b.Source.Size(ctx, own)
			}
		})
	}
	all.Wait()
	for i, n := range sizes {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if want := []int64{1, 3}[i%2]; n.Rows != want {
			return nil, connector.BadRequest("%d rows, want %d", n.Rows, want)
		}
	}
	return sizes[0], nil
}

// TestSQLiteSharedRequest gives each call of one request a session of its tenant that
// no other call uses at the time.
func TestSQLiteSharedRequest(t *testing.T) {
	dir := t.TempDir()
	for name, rows := range map[string]string{"one": "(1)", "three": "(1), (2), (3)"} {
		openSQLite(t, filepath.Join(dir, name), "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES "+rows)
	}
	src := testkit.Must(sqlsource.NewPerTenant(func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		return sql.Open("sqlite", filepath.Join(dir, c.Get("file")))
	}, sqlsource.SQLite(), nil))(t)
	d := connector.Definition{Slug: "both", Credentials: []wire.CredentialField{{Key: "file", Label: "File", Type: wire.CredentialText}}}
	caller := connectortest.Start(t, d, both{src}, nil).As(map[string]string{"file": "three"}).Unverified()
	for range 20 {
		n := testkit.Must(caller.Size("t"))(t)
		require.Equal(t, int64(1), n.Rows)
	}
}

// TestSQLiteCatalogKept asks twice, and looks whether the second request reads the
// catalog.
func TestSQLiteCatalogKept(t *testing.T) {
	db, log := newSQLite(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)").logged(t)
	for ttl, reads := range map[time.Duration]bool{0: true, time.Hour: false, time.Nanosecond: true} {
		caller := db.caller(t, &sqlsource.Options{CatalogTTL: ttl}).Unverified()
		for range 2 {
			log.take()
			testkit.Must(caller.Count(wire.CountRequest{Table: "t"}))(t)
		}
		of := func(s loggedStatement) bool { return strings.Contains(s.query, "pragma_table_xinfo") }
		require.Equal(t, reads, slices.ContainsFunc(log.take(), of), ttl)
	}
}
