package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// withoutAlike returns SQLite's flavor as if no page of datetimes could be read by an index.
func withoutAlike(f sqlengine.Flavor) sqlengine.Flavor {
	return withColumn(f, func(_ string, _ sqlengine.CatalogColumn, column *sqlengine.Column) { column.Loose.Alike = nil })
}

// TestSQLiteDatetimePages reads pages sorted by an indexed datetime, from tables whose
// values are all spelled alike but for a few. They are the pages that are read from all
// values: wherever a value of another spelling may belong to a page, the index must not
// be trusted.
func TestSQLiteDatetimePages(t *testing.T) {
	skipShort(t)
	t.Parallel()
	layouts := []string{
		"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z", "2006-01-02 15:04:05.000", "2006-01-02T15:04:05.000000Z",
		"2006-01-02T15:04:05+00:00", "2006-01-02",
	}
	first := time.Date(2024, 2, 27, 20, 0, 0, 0, time.UTC)
	rng := rand.New(rand.NewPCG(17, 1))
	const tables = 24
	byIndex := 0
	for table := range tables {
		layout := layouts[table%len(layouts)]
		moment := func() time.Time { // of three days, on whole minutes or a second beside, often alike
			return first.Add(time.Duration(rng.IntN(3*24*60))*time.Minute + time.Duration(rng.IntN(3)/2)*time.Second)
		}
		odd := func() string {
			at := moment()
			switch rng.IntN(9) {
			case 0:
				return "'" + at.In(time.FixedZone("", (rng.IntN(2*1439)-1439)*60)).Format("2006-01-02T15:04:05-07:00") + "'"
			case 1:
				return "'2024-02-30 10:00:00'"
			case 2:
				return "'" + at.Format("2006-01-02") + "'"
			case 3:
				return fmt.Sprint(at.Unix())
			case 4:
				return "CAST('" + at.Format(layout) + "' AS BLOB)"
			case 5:
				return "'" + at.Format(layout) + "' || char(0)"
			case 6:
				return "NULL"
			case 7:
				return "'" + at.In(time.FixedZone("", 3600)).Format("2006-01-02 15:04:05 -0700 CET") + "'"
			}
			return "'" + at.Format(layouts[rng.IntN(len(layouts))]) + "'"
		}
		var rows []string
		for id := range 400 {
			value := "'" + moment().Format(layout) + "'"
			if odds := table / len(layouts); odds > 0 && rng.IntN(300) < odds {
				value = odd()
			}
			rows = append(rows, fmt.Sprintf("(%d, %s, %d)", id, value, id%3))
		}
		db, log := newSQLite(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, at DATETIME, n INTEGER); CREATE INDEX t_at ON t (at); "+
			"INSERT INTO t VALUES "+strings.Join(rows, ", ")).logged(t)
		quick, whole := db.caller(t, nil).Unverified(), db.with(withoutAlike(db.flavor)).caller(t, nil).Unverified()
		for range 30 {
			req := wire.QueryRequest{
				Table: "t", Fields: []string{"id", "at"}, Limit: int64(1 + rng.IntN(60)), Offset: []int64{0, 0, 7}[rng.IntN(3)],
				Sort: []wire.SortKey{{Field: "at", Dir: []wire.Direction{wire.Asc, wire.Desc}[rng.IntN(2)]}},
			}
			for range rng.IntN(3) {
				req.And = append(req.And, wire.Filter{
					Field: "at", Op: []wire.Op{wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte}[rng.IntN(4)],
					Value: wire.Text(moment().Add(time.Duration(rng.IntN(2)) * time.Millisecond).Format("2006-01-02T15:04:05.999Z")),
				})
			}
			if rng.IntN(3) == 0 {
				req.And = append(req.And, wire.Filter{Field: "n", Op: wire.OpEq, Value: wire.Int(1)})
			}
			if rng.IntN(3) == 0 {
				req.Sort = append(req.Sort, wire.SortKey{Field: "n", Dir: wire.Desc})
			}
			want := testkit.Must(whole.Query(req))(t)
			log.take()
			got := testkit.Must(quick.Query(req))(t)
			for _, s := range log.take() {
				if strings.HasPrefix(s.query, "SELECT +t0") && strings.Contains(s.query, `ORDER BY t0."at" COLLATE BINARY`) {
					byIndex++
				}
			}
			require.Equal(t, situation.Lines(want.Rows, true), situation.Lines(got.Rows, true), "table %d, %+v", table, req)
		}
	}
	t.Logf("%d of %d pages were read by the index", byIndex, 30*tables)
	require.Greater(t, byIndex, 3*tables)
}
