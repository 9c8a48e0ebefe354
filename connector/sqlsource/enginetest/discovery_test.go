package enginetest

import (
	"database/sql/driver"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	lite "github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// discoveryOf is what tests of discovery need to know of an engine.
type discoveryOf struct {
	wide []int // numbers of columns that a table may have
	// Views: slow is one whose rows never come, broken one whose statistics fail.
	slow, broken string
	// aboutAll is part of the statements that list all tables.
	aboutAll string
}

// slow leaves time to a machine that does much else.
var slow = wire.Envelope{TimeoutMS: 600_000}

// TestWide discovers, reads and measures tables of as many columns as the engine allows. SQLite has to look at the values
// of those that declare no type.
func TestWide(t *testing.T) {
	skipShort(t)
	onEach(t, func(t *testing.T, e *engine) {
		db, counts := e.create(t), e.discovery.wide
		source, caller := db.pooled(t, nil), db.caller(t, nil).Unverified()
		types := []string{"INTEGER", "VARCHAR(3)", "DATE"}
		if e == &sqlite {
			types[0] = ""
		}
		for _, n := range counts {
			name := fmt.Sprintf("wide%d", n)
			columns, fields, values := []string{"id INTEGER PRIMARY KEY"}, []string{"id"}, []string{"1"}
			for i := 1; i < n; i++ {
				fields = append(fields, fmt.Sprintf("c%d", i))
				columns = append(columns, fields[i]+" "+types[i%3])
				values = append(values, []string{fmt.Sprint(i), fmt.Sprintf("'x%d'", i%90), fmt.Sprintf("'%d-01-31'", 1000+i)}[i%3])
			}
			db.execute(t, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+");"+
				"INSERT INTO "+name+" VALUES ("+strings.Join(values, ", ")+");"+
				"INSERT INTO "+name+" (id, c3) VALUES (2, 7), (3, 7), (4, 8)")
			counted, err := source.Cardinality(t.Context(), &wire.CardinalityRequest{Table: name, Columns: fields})
			require.NoError(t, err, name)
			require.Len(t, counted, n)
			require.Equal(t, wire.Cardinality{NonNull: 4, Distinct: 4}, *counted["id"])
			require.Equal(t, wire.Cardinality{NonNull: 4, Distinct: 3}, *counted["c3"])
			require.Equal(t, wire.Cardinality{NonNull: 1, Distinct: 1}, *counted[fields[n-1]])
			row, err := caller.Query(wire.QueryRequest{
				Table: name, Fields: fields, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}}, Envelope: slow,
			})
			require.NoError(t, err, name)
			require.Len(t, row.Rows, 4)
			require.Equal(t, []wire.Value{wire.Int(2), wire.Int(7)}, []wire.Value{row.Column("id")[1], row.Column("c3")[1]})
			for i, v := range row.Rows[0] {
				require.Equal(t, strings.Trim(values[i], "'"), v.String(), fields[i])
			}
		}
		tables, warnings := db.discover(t, nil, time.Hour)
		require.Empty(t, warnings)
		for _, n := range counts {
			table := tables[fmt.Sprintf("wide%d", n)]
			require.NotNil(t, table, n)
			require.Len(t, table.Fields, n)
			require.EqualValues(t, 4, *table.RowCount)
			require.Equal(t, []wire.Value{wire.Int(3), wire.Int(7), wire.Int(8)}, table.Field("c3").Samples)
			for i, f := range table.Fields {
				require.NotNil(t, f.Stats, f.Name)
				require.True(t, i == 0 || f.Type == []wire.Type{wire.TypeNumber, wire.TypeString, wire.TypeDate}[i%3], "%s %s", f.Name, f.Type)
			}
		}
	})
}

// TestBudgets requires that a view whose rows never come, and one whose statistics
// fail, change nothing of what is said about the table after them.
func TestBudgets(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		if e == &sqlite {
			skipShort(t)
		}
		db := e.create(t)
		db.execute(t, "CREATE VIEW a_slow AS "+e.discovery.slow+"; CREATE VIEW b_broken AS "+e.discovery.broken+
			"; CREATE TABLE c (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO c VALUES (1, 7), (2, 7), (3, NULL)")
		t.Run("a limit for each table", func(t *testing.T) {
			tables, warnings := db.discover(t, &sqlsource.Options{Profile: 700 * time.Millisecond}, time.Hour)
			require.Contains(t, tables, "a_slow", "it is listed")
			assert.Empty(t, tables["a_slow"].Fields[0].Samples)
			assert.Contains(t, warnings, `The table "a_slow" is listed without samples and statistics, because reading its first rows took longer`)
			require.Contains(t, tables, "b_broken", "its first rows can be read")
			assert.NotEmpty(t, tables["b_broken"].Fields[0].Samples)
			assert.Nil(t, tables["b_broken"].Fields[0].Stats)
			assert.Contains(t, warnings, `The table "b_broken" is listed without `)
			assert.Contains(t, warnings, `the database failed to compute it`)
			c := tables["c"]
			require.NotNil(t, c)
			require.NotNil(t, c.RowCount, "what the others cost is not its fault")
			assert.EqualValues(t, 3, *c.RowCount)
			assert.Equal(t, []wire.Value{wire.Int(7)}, c.Field("n").Samples)
			require.NotNil(t, c.Field("n").Stats)
			assert.EqualValues(t, 1, c.Field("n").Stats.DistinctCount)
		})
		t.Run("the deadline of the request", func(t *testing.T) {
			for i := range 60 { // a few may be read in time
				db.execute(t, fmt.Sprintf("CREATE TABLE d%02d (id INTEGER PRIMARY KEY, day DATE)", i))
			}
			tables, warnings := db.discover(t, &sqlsource.Options{Profile: time.Hour}, 2500*time.Millisecond)
			require.Subset(t, slices.Collect(maps.Keys(tables)), []string{"a_slow", "b_broken", "c"}, "an answer, not a timeout")
			assert.Equal(t, wire.TypeDate, tables["d59"].Field("day").Type, "a table that nobody looked at is as the catalog has it")
			late := regexp.MustCompile(`(?m)^The time of this discovery was over before these tables were read in full, ` +
				`.*: ("\w+", ){9}"\w+" and (\d+) more\. `)
			more := late.FindAllStringSubmatch(warnings, -1)
			require.Len(t, more, 1, "one warning says it, and ten are named: %s", warnings)
			unread := 0
			for name, table := range tables {
				if table.Fields[0].Stats == nil && !strings.Contains(warnings, fmt.Sprintf("The table %q is listed without samples", name)) {
					unread++
				}
			}
			assert.Equal(t, strconv.Itoa(unread-10), more[0][2], "each table that was not read is told of")
		})
	})
}

// TestLinear counts the statements of a discovery: each table adds as many as the
// one before, and none adds one about all tables.
func TestLinear(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db, aboutAll := e.create(t), e.discovery.aboutAll
		own, log := db.logged(t)
		made := 0
		discover := func(count int) (all, about int) {
			for ; made < count; made++ {
				before := ""
				if made > 0 {
					before = fmt.Sprintf(", FOREIGN KEY (before_id) REFERENCES many%04d (id)", made-1)
				}
				db.execute(t, fmt.Sprintf(`CREATE TABLE many%04[1]d (id INTEGER NOT NULL PRIMARY KEY, before_id INTEGER,
					name VARCHAR(40) NOT NULL UNIQUE, amount DECIMAL(12,2), day DATE, note VARCHAR(200)%[2]s);
					INSERT INTO many%04[1]d VALUES (1, 1, 'one', 1.50, '2024-01-01', NULL), (2, 1, 'two', 2.50, '2024-01-02', 'x'),
						(3, NULL, 'three', NULL, NULL, 'y')`, made, before))
			}
			log.take()
			tables, warnings := own.discover(t, nil, time.Hour)
			require.Empty(t, warnings)
			require.Len(t, tables, count)
			require.Len(t, tables["many0001"].ForeignKeys, 1)
			for _, statement := range log.take() {
				switch {
				case strings.Contains(statement.query, "set_config"), strings.HasPrefix(statement.query, "SET SESSION"),
					strings.HasPrefix(statement.query, "PRAGMA ") && strings.Contains(statement.query, " = "), statement.query == lite.Probe:
					continue // of a transaction or a connection, which tables share
				case strings.Contains(statement.query, aboutAll):
					about++
				}
				all++
			}
			return all, about
		}
		first, aboutFirst := discover(10)
		second, aboutSecond := discover(20)
		third, aboutThird := discover(30)
		assert.Equal(t, second-first, third-second)
		assert.LessOrEqual(t, second-first, 10*9, "statements of ten tables")
		assert.Equal(t, [2]int{aboutFirst, aboutFirst}, [2]int{aboutSecond, aboutThird}, "statements that list all tables")
	})
}

// TestSQLiteLate answers a discovery whose time is over while it reads the catalog: what it
// has read is listed, and one warning names the rest.
func TestSQLiteLate(t *testing.T) {
	const over = "The time of this discovery was over before these tables were "
	for _, c := range []struct {
		why, statement string // the 16th that has this text takes all the time
		tables, looked int
		warning        string
	}{
		{"the pragmas", "pragma_table_xinfo(?1, ?2) WHERE hidden", 16, 0,
			over + `described, so they are left out: "t16", "t17", "t18", "t19", "t20", "t21", "t22", "t23", "t24", "t25" and 4 more. `},
		{"the first rows", "WHEN 'blob' THEN x'00'", 30, 15,
			over + `read in full, so they are listed as the catalog of the database has them, without statistics, ` +
				`without keys that only their rows prove, and perhaps without samples: ` +
				`"t00", "t01", "t02", "t03", "t04", "t05", "t06", "t07", "t08", "t09" and 20 more. `},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			db := newSQLite(t, "")
			for i := range 30 {
				db.execute(t, fmt.Sprintf("CREATE TABLE t%02d (id INT NOT NULL PRIMARY KEY, day DATE, t00 INT REFERENCES t00)", i)+
					fmt.Sprintf("; INSERT INTO t%02d VALUES (1, '2024-01-01 10:00:00', 1)", i))
			}
			seen := 0
			slow := db.intercepted(t, func(text string, _ []driver.NamedValue) error {
				if strings.Contains(text, c.statement) {
					if seen++; seen == 16 {
						time.Sleep(9100 * time.Millisecond) // of ten seconds, one is kept for the answer
					}
				}
				return nil
			})
			tables, warnings := slow.discover(t, nil, 10*time.Second)
			require.Len(t, tables, c.tables)
			assert.Equal(t, c.warning+"Allow the discovery more time, or serve fewer tables.", strings.Split(warnings, "\n")[0])
			for i := range c.tables {
				table := tables[fmt.Sprintf("t%02d", i)]
				want := wire.TypeDatetime // as the rows have it
				if i >= c.looked {
					want = wire.TypeDate
				}
				assert.Equal(t, want, table.Field("day").Type, table.Name)
				assert.Empty(t, table.PrimaryKey, "a key whose values nobody looked at")
				assert.Empty(t, table.ForeignKeys, "a key that was not checked")
			}
			assert.NotContains(t, warnings, "foreign key", "the one warning says it")
		})
	}
}
