//go:build plantedbugs

package sqlsourcetest

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Planted plants every bug of the SQL builder in turn, and fails for each that
// Run's requests do not find. It exists in builds with the tag plantedbugs.
func Planted(t *testing.T, e Engine, config Config) {
	f := fill(t, e, config.Seed)
	defer sqlsource.Plant("")
	for i, name := range sqlsource.Bugs() {
		t.Run(name, func(t *testing.T) {
			sqlsource.Plant(name)
			defer sqlsource.Plant("")
			tried, found := f.hunt(t, newGenerator(f, config.Seed, uint64(1000+i), newReport()), config.Queries)
			if found == "" {
				t.Errorf("not found in %d requests", tried)
				return
			}
			t.Logf("found by request %d: %.200s", tried, found)
		})
	}
}

// hunt is requests that tells what is found rather than failing for it.
func (f *fixture) hunt(t *testing.T, g *generator, n int) (tried int, found string) {
	tenant := f.server.As(nil).Unverified().In(t)
	for tried = 1; tried <= n; tried++ {
		own := f.tables[f.names[[]int{0, 0, 0, 1, 2}[g.rng.IntN(5)]]]
		switch g.rng.IntN(10) {
		case 0, 1:
			req, _ := g.joined()
			found, _ = f.checkQuery(tenant, req)
		case 2:
			req, _ := g.query(own)
			found = f.checkCount(tenant, req)
		case 3, 4:
			req, _ := g.aggregate(own)
			found, _ = f.checkAggregate(tenant, req)
		case 5:
			from, to := f.tables[f.names[g.rng.IntN(3)]], f.tables[f.names[g.rng.IntN(3)]]
			column := g.column(from)
			if hasColumn(to, column) {
				found = f.checkLink(tenant, wire.LinkHitRateRequest{FromTable: from.name, ToTable: to.name, FromColumn: column, ToColumn: column})
			}
		case 6:
			found = f.checkPages(tenant, own, wire.SortKey{Field: g.column(own), Dir: wire.Asc}, int64(1+g.rng.IntN(9)))
		default:
			req, _ := g.query(own)
			found, _ = f.checkQuery(tenant, req)
		}
		if found != "" {
			return tried, found
		}
	}
	return n, ""
}
