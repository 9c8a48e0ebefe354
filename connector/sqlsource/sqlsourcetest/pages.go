package sqlsourcetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// checkPages puts an answer together from pages, whose ties must not move.
func (f *fixture) checkPages(tenant *connectortest.Tenant, req *wire.QueryRequest, size int64) *wrong {
	page := *req
	page.Limit, page.Offset = 0, 0
	want, err := oracle.Query(f.known, &page)
	if err != nil {
		return &wrong{detail: "the reference cannot answer: " + err.Error()}
	}
	page.Limit = size
	var got []string
	for ; page.Offset < int64(len(want.Rows)); page.Offset += size {
		answer, err := tenant.Query(page)
		if err != nil {
			return refused(err)
		}
		got = append(got, spellAll(answer.Rows)...)
	}
	expected := spellAll(want.Rows)
	missing, extra := without(expected, got), without(got, expected)
	if len(missing) > 0 || len(extra) > 0 {
		return &wrong{detail: fmt.Sprintf("pages of %d rows do not add up; missing:%s\nextra:%s", size, some(missing), some(extra))}
	}
	return nil
}

// pages puts each table together from pages: without a sort, and sorted by each
// column. With -short it is one table, from larger pages.
func (f *fixture) pages(t *testing.T) {
	tenant := f.server.As(nil).Unverified().In(t)
	names, size := f.names, int64(7)
	if testing.Short() {
		names, size = names[:1], 31
	}
	for _, name := range names {
		table := f.known[name]
		req := wire.QueryRequest{Table: name, Where: wire.Where{And: []wire.Filter{}}, Sort: []wire.SortKey{}, Fields: fields(table)}
		check := func() {
			if found := f.checkPages(tenant, &req, size); found != nil {
				t.Errorf("table %s, sorted by %v: %s", name, req.Sort, found.detail)
			}
		}
		check()
		for _, c := range table.Columns {
			for _, dir := range []wire.Direction{wire.Asc, wire.Desc} {
				req.Sort = []wire.SortKey{{Field: c.Name, Dir: dir}}
				check()
			}
		}
	}
}

// The rows of the tables that changingPages makes, and how it reads them.
const (
	pagedRows = 400
	owners    = 40
	pageCount = 12
)

// pagedTables have the same rows, numbered in the column code, under different
// keys. Their column part is indexed, and changes between two pages.
var pagedTables = []struct{ name, code, constraint string }{
	{"paged by number", "%s NOT NULL", ", PRIMARY KEY (%s)"},
	{"paged by text", "VARCHAR(20) NOT NULL", ", PRIMARY KEY (%s)"},
	{"paged by unique text", "VARCHAR(20) NOT NULL", ", UNIQUE (%s)"},
}

// ownersTable has several equal rows for each owner, and no key.
const ownersTable = "owners of pages"

// pagedCode returns the code of row i, which is not in the order of the rows.
func pagedCode(i int) int { return 1000 + i*7919%pagedRows }

func (f *fixture) makePaged(t *testing.T) {
	e := f.engine
	quote := e.Flavor.Quote
	for _, table := range pagedTables {
		code := strings.ReplaceAll(table.code, "%s", e.Key)
		execute(t, e.DB, "CREATE TABLE "+quote(table.name)+" ("+quote("code")+" "+code+", "+quote("part")+" "+e.Key+", "+
			quote("owner")+" "+e.Key+", "+quote("weight")+" DOUBLE PRECISION"+strings.ReplaceAll(table.constraint, "%s", quote("code"))+
			")"+e.TableOptions)
		execute(t, e.DB, "CREATE INDEX "+quote("index of "+table.name)+" ON "+quote(table.name)+" ("+quote("part")+")")
		var rows []string
		for i := range pagedRows {
			rows = append(rows, fmt.Sprintf("('%d', %d, %d, %d)", pagedCode(i), i*31%100, i%owners, i%owners))
		}
		e.insert(t, table.name, rows)
	}
	execute(t, e.DB, "CREATE TABLE "+quote(ownersTable)+" ("+quote("owner")+" "+e.Key+", "+quote("weight")+" DECIMAL(10,2), "+
		quote("name")+" VARCHAR(20))"+e.TableOptions)
	var rows []string
	for i := range 3 * owners {
		rows = append(rows, fmt.Sprintf("(%d, %d, 'name %d')", i%owners, i%owners, i%7))
	}
	e.insert(t, ownersTable, rows)
}

// pagedRequest returns a query of a paged table without a sort, filtered by the
// indexed column, and its rows as texts. With a key it is joined with the owners.
func pagedRequest(table, key string) (req wire.QueryRequest, want []string) {
	least := wire.Filter{Field: "part", Op: wire.OpGte, Value: wire.Int(0)}
	req = wire.QueryRequest{
		Table: table, Where: wire.Where{And: []wire.Filter{least}}, Sort: []wire.SortKey{}, Fields: []string{"code"},
	}
	if key == "" {
		for i := range pagedRows {
			want = append(want, fmt.Sprint(pagedCode(i)))
		}
		return req, want
	}
	req.Joins = []wire.JoinHop{{
		FromTable: table, ToTable: ownersTable, FromField: key, ToField: key,
		Fields: []wire.JoinField{{Field: "name", As: "name"}},
	}}
	for i := range pagedRows {
		for n := i % owners; n < 3*owners; n += owners {
			want = append(want, fmt.Sprintf("%d name %d", pagedCode(i), n%7))
		}
	}
	return req, want
}

// movePart changes the column part of the rows whose part has a remainder by 3. It
// names their parts one by one, because engines spell the operator in different ways.
func (f *fixture) movePart(t *testing.T, table string, remainder int) {
	t.Helper()
	var parts []string
	for part := remainder; part < 100+2*7*pageCount; part += 3 {
		parts = append(parts, fmt.Sprint(part))
	}
	part := f.engine.Flavor.Quote("part")
	execute(t, f.engine.DB, fmt.Sprintf("UPDATE %s SET %s = %s + 7 WHERE %s IN (%s)",
		f.engine.Flavor.Quote(table), part, part, part, strings.Join(parts, ", ")))
}

// changingPages reads pages without a sort while the rows change between two
// pages: in the indexed column, but never so that a row enters or leaves the
// answer. It reads the tables alone and joined, by the engine and in memory,
// because an engine cannot compare a float with a decimal exactly.
func (f *fixture) changingPages(t *testing.T) {
	f.makePaged(t)
	tenant := f.server.As(nil).Unverified().In(t)
	for _, table := range pagedTables {
		for _, key := range []string{"", "owner", "weight"} {
			t.Run(strings.TrimSpace(table.name+" "+key), func(t *testing.T) {
				req, want := pagedRequest(table.name, key)
				req.Limit = int64(len(want) / pageCount)
				var got []string
				for page := 0; len(got) < len(want) && page < 2*pageCount; page++ {
					answer, err := tenant.Query(req)
					require.NoError(t, err)
					require.True(t, answer.Served.Window)
					for _, row := range answer.Rows {
						cells := make([]string, len(row))
						for i, v := range row {
							cells[i] = v.String()
						}
						got = append(got, strings.Join(cells, " "))
					}
					req.Offset += req.Limit
					f.movePart(t, table.name, page%3)
				}
				slices.Sort(want)
				slices.Sort(got)
				require.Equal(t, want, got)
			})
		}
	}
}
