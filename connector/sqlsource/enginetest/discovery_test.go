package enginetest

import (
	"fmt"
	"maps"
	"slices"
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
	// Views: slow is one whose rows never come, broken one whose statistics fail,
	// rows one of so many rows.
	slow, broken string
	rows         func(n int) string
	// nullability makes the tables of TestNullability.
	nullability string
	// aboutAll is part of the statements that list all tables.
	aboutAll string
}

// TestWide discovers and measures tables of as many columns as the engine allows.
func TestWide(t *testing.T) {
	skipShort(t)
	onEach(t, func(t *testing.T, e *engine) { discoverWide(t, e.create(t), e.discovery.wide) })
}

func discoverWide(t *testing.T, db *database, counts []int) {
	source := db.pooled(t, nil)
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
		for i := range 12 {
			db.execute(t, fmt.Sprintf("CREATE TABLE d%02d (id INTEGER PRIMARY KEY, day DATE)", i))
		}
		tables, warnings := db.discover(t, &sqlsource.Options{Profile: time.Hour}, 2500*time.Millisecond)
		require.Subset(t, slices.Collect(maps.Keys(tables)), []string{"a_slow", "b_broken", "c"}, "an answer, not a timeout")
		assert.Equal(t, wire.TypeDate, tables["d11"].Field("day").Type, "a table that nobody looked at is as the catalog has it")
		assert.Regexp(t, `(?m)^The time of this discovery was over before these tables were read in full, .*: ("\w+", ){9}"\w+" and \d more\. `,
			warnings, "ten are named")
		assert.Contains(t, warnings, `"c"`)
		assert.Equal(t, 1, strings.Count(warnings, "d00"), "one warning says it")
	})
}

// TestNullability describes fields by what their values are on the wire. The table
// clean has values that can be sent, the table dirty has in every column one that
// cannot, and the table keyed has one in its primary key.
func TestNullability(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, e.discovery.nullability)
		describeNulls(t, db)
	})
}

func describeNulls(t *testing.T, db *database) {
	tables, warnings := db.discover(t, nil, time.Hour)
	for _, f := range tables["clean"].Fields {
		assert.False(t, f.Nullable, "clean.%s", f.Name)
	}
	require.NotEmpty(t, tables["clean"].PrimaryKey)
	for _, f := range tables["dirty"].Fields {
		assert.Equal(t, f.Name != "id", f.Nullable, "dirty.%s", f.Name)
	}
	assert.Equal(t, []string{"id"}, tables["dirty"].PrimaryKey)
	assert.Empty(t, tables["keyed"].PrimaryKey)
	assert.Contains(t, warnings, `In table "keyed", the primary key ("k") is left out because it has values that cannot be sent`)
	assert.True(t, tables["keyed"].Field("k").Nullable)

	tables, warnings = db.discover(t, &sqlsource.Options{Profile: -1}, time.Hour)
	assert.NotEmpty(t, tables["clean"].PrimaryKey, "without statistics a key is looked at all the same")
	for _, name := range tables["clean"].PrimaryKey {
		assert.False(t, tables["clean"].Field(name).Nullable, "a primary key never is null")
	}
	assert.Empty(t, tables["keyed"].PrimaryKey)
	assert.Contains(t, warnings, `the primary key ("k") is left out`)
}

// TestCounts discovers views of 200,001 rows and of 2,000,001: the first is counted,
// the second is not.
func TestCounts(t *testing.T) {
	skipShort(t)
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, "CREATE VIEW counted AS "+e.discovery.rows(200_001)+"; CREATE VIEW uncounted AS "+e.discovery.rows(2_000_001))
		countRows(t, db)
	})
}

func countRows(t *testing.T, db *database) {
	tables, warnings := db.discover(t, &sqlsource.Options{Profile: time.Hour}, time.Hour)
	require.NotNil(t, tables["counted"].RowCount)
	assert.EqualValues(t, 200_001, *tables["counted"].RowCount)
	assert.Nil(t, tables["counted"].Fields[0].Stats, "too many rows")
	assert.Nil(t, tables["uncounted"].RowCount)
	assert.Contains(t, warnings, `The rows of the table "uncounted" are not counted, because there are more than 2000000.`)
	assert.NotContains(t, warnings, `"counted"`)
}

// A keyCase is a foreign key of one table, and what discovery makes of it.
type keyCase struct {
	why     string
	table   string
	keys    []string // each as "field>table.field"; none: no key is declared
	warning string   // empty: there is none for the table
}

// TestForeignKeys counts the values that break keys which the engine does not vouch
// for. With and without statistics they are the same.
func TestForeignKeys(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db, cases := e.foreignKeys(t)
		for _, profile := range []time.Duration{0, -1} {
			tables, warnings := db.discover(t, &sqlsource.Options{Profile: profile}, time.Hour)
			for _, c := range cases {
				if assert.Contains(t, tables, c.table, c.why) {
					assert.Equal(t, c.keys, foreignKeys(tables[c.table]), c.why)
				}
				if c.warning == "" {
					assert.NotContains(t, warnings, fmt.Sprintf("table %q", c.table), c.why)
				}
				assert.Contains(t, warnings, c.warning, c.why)
			}
		}
	})
}

// foreignKeys returns the foreign keys of a table, each as "field>table.field".
func foreignKeys(table *wire.Table) (keys []string) {
	for _, k := range table.ForeignKeys {
		keys = append(keys, k.Field+">"+k.TargetTable+"."+k.TargetField)
	}
	return keys
}

// brokenKey is the warning of a foreign key that some of so many values break.
func brokenKey(table, field, count string) string {
	return fmt.Sprintf(`In table %q, the foreign key (%q) is broken: %s values are not in the table "target".`, table, field, count)
}
