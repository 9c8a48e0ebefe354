package enginetest

import (
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

// TestWide discovers, reads and measures tables of as many columns as the engine allows.
func TestWide(t *testing.T) {
	skipShort(t)
	onEach(t, func(t *testing.T, e *engine) { discoverWide(t, e.create(t), e.discovery.wide) })
}

func discoverWide(t *testing.T, db *database, counts []int) {
	source, caller := db.pooled(t, nil), db.caller(t, nil).Unverified()
	for _, n := range counts {
		name := fmt.Sprintf("wide%d", n)
		columns, values := []string{"id INTEGER PRIMARY KEY"}, []string{"1"}
		fields := []string{"id"}
		for i := 1; i < n; i++ {
			field := fmt.Sprintf("c%d", i)
			fields = append(fields, field)
			columns, values = append(columns, field+" "+[]string{"INTEGER", "VARCHAR(3)", "DATE"}[i%3]), append(values, "NULL")
		}
		db.execute(t, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+");"+
			"INSERT INTO "+name+" VALUES ("+strings.Join(values, ", ")+");"+
			"INSERT INTO "+name+" (id, c3) VALUES (2, 7), (3, 7), (4, 8)")
		counted, err := source.Cardinality(t.Context(), &wire.CardinalityRequest{Table: name, Columns: fields})
		require.NoError(t, err, name)
		require.Len(t, counted, n)
		require.Equal(t, wire.Cardinality{NonNull: 4, Distinct: 4}, *counted["id"])
		require.Equal(t, wire.Cardinality{NonNull: 3, Distinct: 2}, *counted["c3"])
		require.Equal(t, wire.Cardinality{}, *counted[fields[n-1]])
		row, err := caller.Query(wire.QueryRequest{Table: name, Fields: fields, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}}, Envelope: slow})
		require.NoError(t, err, name)
		require.Len(t, row.Rows, 4)
		require.Equal(t, []wire.Value{wire.Int(2), wire.Int(7)}, []wire.Value{row.Column("id")[1], row.Column("c3")[1]})
	}
	tables, warnings := db.discover(t, nil, time.Hour)
	require.Empty(t, warnings)
	for _, n := range counts {
		table := tables[fmt.Sprintf("wide%d", n)]
		require.NotNil(t, table, n)
		require.Len(t, table.Fields, n)
		require.EqualValues(t, 4, *table.RowCount)
		require.Equal(t, []wire.Value{wire.Int(7), wire.Int(8)}, table.Field("c3").Samples)
		for _, f := range table.Fields {
			require.NotNil(t, f.Stats, f.Name)
		}
	}
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
		discoverInTime(t, db)
	})
}

func discoverInTime(t *testing.T, db *database) {
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
}
