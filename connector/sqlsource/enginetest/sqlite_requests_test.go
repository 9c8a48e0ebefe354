package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// both is a source that, for one request, asks the source of a database several
// times at once, and as several tenants.
type both struct {
	*sqlsource.Source
}

func (b both) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			tenant := map[string]string{"file": []string{"one", "three"}[i%2]}
			own := &wire.SizeRequest{Table: req.Table, Envelope: wire.Envelope{Credentials: wire.NewCredentials(tenant)}}
			if _, errs[i] = b.Describe(ctx, own.Credentials, req.Table); errs[i] != nil {
				return
			}
			n, err := b.Source.Size(ctx, own)
			if errs[i] = err; err == nil && n.Rows != []int64{1, 3}[i%2] {
				errs[i] = connector.BadRequest("%d rows of tenant %s", n.Rows, tenant)
			}
		})
	}
	all.Wait()
	return &wire.Size{Rows: 1, Exact: true}, errors.Join(errs...)
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
		require.Equal(t, int64(1), testkit.Must(caller.Size("t"))(t).Rows)
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

// TestSQLitePlanShowsNoValue asks every operator with a marker for a value, in every
// column, and looks for it in the plans.
func TestSQLitePlanShowsNoValue(t *testing.T) {
	skipShort(t)
	markers := []wire.Value{
		wire.Text("mark7c1e"), wire.Int(7316007316), wire.Decimal("73160.07316"), wire.Text("7316-07-31"), wire.Bool(true),
	}
	db := newSQLite(t, `
		CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, doc JSON, at DATETIME, f REAL, d DECIMAL, b BOOLEAN, x BLOB);
		INSERT INTO t VALUES (1, 'a', '[1]', '2024-01-01', 1.5, 1, 1, x'00')`)
	var seen plans
	caller := db.caller(t, &sqlsource.Options{Observe: seen.add}).Unverified()
	asked := 0
	for _, field := range []string{"id", "name", "doc", "at", "f", "d", "b", "x"} {
		for _, op := range []wire.Op{
			wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpLte, wire.OpIn, wire.OpIncludes, wire.OpStartsWith, wire.OpContains,
		} {
			for _, v := range markers {
				f := cells.Filter(field, op, v, v)
				_, err := caller.Query(wire.QueryRequest{
					Table: "t", Where: wire.Where{And: []wire.Filter{f}, Or: [][]wire.Filter{{f}, {f}}},
					Sort: []wire.SortKey{{Field: field, Dir: wire.Desc}}, Fields: []string{"id"}, Limit: 7316007316, Offset: 7316007316,
				})
				if err == nil {
					asked++
				}
				_, whole := seen.take()
				for _, marker := range []string{"mark7c1e", "7316"} {
					assert.NotContains(t, whole, marker, "%s %s %v", field, op, v)
				}
			}
		}
	}
	require.Greater(t, asked, 100, "requests that were answered")
}

// TestSQLiteBentTexts stores texts that nearly fit the type of their column, and asks for nulls:
// a value is null to SQL exactly where it is null in an answer. A character 0, which ends a text
// for GLOB, length and substr, is among what bends them.
func TestSQLiteBentTexts(t *testing.T) {
	const alphabet = "0123456789zZtT :.-+ \x00\tabseE{}[]\"\\u"
	for declared, good := range map[string][]string{
		"DATETIME": {"2024-01-31 10:20:58Z", "2024-01-31T10:20:58", "2024-01-31", "2024-01-31 10:20:58.123456789Z",
			"2024-01-31 10:20:58.5+02:00", "2024-01-31 10:20:58 +0200 CEST", "0000-01-01 00:00:00+01:00", "9999-12-31 23:59:59-01:00"},
		"DATE":          {"2024-01-31", "2024-02-29"},
		"DECIMAL(20,4)": {"12345678901234567890.5", "-0.00000000000000000001", "123456789012345678901"},
		"BOOLEAN":       {"true", "false", "0", "1"},
		"JSON":          {`{"a":1}`, "[1,2]", "1.5", `"ab"`, "true", `"\ud83d\ude00"`},
		"INTEGER":       {"12", "1e3", "-7"},
		"REAL":          {"1.5", "-1e-7"},
		"TEXT":          {"a", "1"},
	} {
		t.Run(declared, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			script := "BEGIN; CREATE TABLE d (id INTEGER PRIMARY KEY, v " + declared + ");"
			texts := make([][]byte, 800)
			for i := range texts {
				text := []byte(good[r.IntN(len(good))])
				for n := r.IntN(3); n > 0 && i > 100; n-- { // the first rows tell what the column holds
					p := r.IntN(len(text) + 1)
					insert := alphabet[r.IntN(len(alphabet))]
					cut := p
					if p < len(text) && r.IntN(2) == 0 {
						cut++
					}
					text = append(append(text[:p:p], insert), text[cut:]...)
				}
				texts[i] = text
				script += fmt.Sprintf("INSERT INTO d VALUES (%d, CAST(x'%x' AS TEXT));", i, text)
			}
			tenant := newSQLite(t, script+"COMMIT;").caller(t, nil).Unverified()
			sort := []wire.SortKey{{Field: "id", Dir: wire.Asc}}
			all := testkit.Must(tenant.Query(wire.QueryRequest{Table: "d", Sort: sort, Fields: []string{"id", "v"}}))(t)
			isNull := wire.Where{And: []wire.Filter{{Field: "v", Op: wire.OpIsNull}}}
			nulls := testkit.Must(tenant.Query(wire.QueryRequest{Table: "d", Where: isNull, Sort: sort, Fields: []string{"id"}}))(t)
			var sent, asked []string
			for i, row := range all.Rows {
				if row[1].IsNull() {
					sent = append(sent, fmt.Sprintf("%q", texts[i]))
				}
			}
			for _, row := range nulls.Rows {
				asked = append(asked, fmt.Sprintf("%q", texts[row[0].Int64()]))
			}
			require.Equal(t, strings.Join(sent, "\n"), strings.Join(asked, "\n"))
		})
	}
	const notUTF8 = "CREATE TABLE d (v JSON); INSERT INTO d VALUES ('{}'), (CAST(x'22C322' AS TEXT))" // JSON to json_valid
	answer := ask(t, newSQLite(t, notUTF8).caller(t, nil).Unverified(), `query {"table": "d", "fields": ["v"]}`)
	require.Contains(t, answer, `field "v" of table "d" has a text that is not valid UTF-8`)
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
			return []string{
				"'" + at.In(time.FixedZone("", (rng.IntN(2*1439)-1439)*60)).Format("2006-01-02T15:04:05-07:00") + "'",
				"'2024-02-30 10:00:00'",
				"'" + at.Format("2006-01-02") + "'",
				fmt.Sprint(at.Unix()),
				"CAST('" + at.Format(layout) + "' AS BLOB)",
				"'" + at.Format(layout) + "' || char(0)",
				"NULL",
				"'" + at.In(time.FixedZone("", 3600)).Format("2006-01-02 15:04:05 -0700 CET") + "'",
				"'" + at.Format(layouts[rng.IntN(len(layouts))]) + "'",
			}[rng.IntN(9)]
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
		// To one no page of datetimes can be read by an index.
		noIndex := withColumn(db.flavor, func(_ string, _ sqlengine.CatalogColumn, c *sqlengine.Column) { c.Loose.Alike = nil })
		quick, whole := db.caller(t, nil).Unverified(), db.with(noIndex).caller(t, nil).Unverified()
		for range 30 {
			req := wire.QueryRequest{
				Table: "t", Fields: []string{"id", "at"}, Limit: int64(1 + rng.IntN(60)), Offset: []int64{0, 0, 7}[rng.IntN(3)],
				Sort: []wire.SortKey{{Field: "at", Dir: directions[rng.IntN(2)]}},
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
