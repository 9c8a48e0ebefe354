package suite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Execute runs statements one after the other.
func Execute(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := db.Exec(statement)
		require.NoError(t, err, "%.200s", statement)
	}
}

// Discover returns the tables that a source over db describes, by their names, and
// all warnings as one text. The request ends after the timeout.
func Discover(
	t *testing.T, db *sql.DB, flavor sqlsource.Flavor, options *sqlsource.Options, timeout time.Duration,
) (map[string]*wire.Table, string) {
	t.Helper()
	source, err := sqlsource.New(db, flavor, options)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	d, err := source.Discover(ctx, &wire.DiscoveryRequest{})
	require.NoError(t, err)
	tables := map[string]*wire.Table{}
	for i := range d.Tables {
		tables[d.Tables[i].Name] = &d.Tables[i]
	}
	return tables, strings.Join(d.Warnings, "\n")
}

// Wide discovers and measures tables of so many columns.
func Wide(t *testing.T, db *sql.DB, flavor sqlsource.Flavor, counts ...int) {
	t.Helper()
	SkipShort(t)
	source, err := sqlsource.New(db, flavor, nil)
	require.NoError(t, err)
	for _, n := range counts {
		name := fmt.Sprintf("wide%d", n)
		columns, values := []string{"id INTEGER PRIMARY KEY"}, []string{"1"}
		fields := []string{"id"}
		for i := 1; i < n; i++ {
			field := fmt.Sprintf("c%d", i)
			fields = append(fields, field)
			columns, values = append(columns, field+" "+[]string{"INTEGER", "VARCHAR(3)", "DATE"}[i%3]), append(values, "NULL")
		}
		Execute(t, db, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+")",
			"INSERT INTO "+name+" VALUES ("+strings.Join(values, ", ")+")",
			"INSERT INTO "+name+" (id, c3) VALUES (2, 7), (3, 7), (4, 8)")
		counted, err := source.Cardinality(t.Context(), &wire.CardinalityRequest{Table: name, Columns: fields})
		require.NoError(t, err, name)
		require.Len(t, counted, n)
		require.Equal(t, wire.Cardinality{NonNull: 4, Distinct: 4}, *counted["id"])
		require.Equal(t, wire.Cardinality{NonNull: 3, Distinct: 2}, *counted["c3"])
		require.Equal(t, wire.Cardinality{}, *counted[fields[n-1]])
	}
	tables, warnings := Discover(t, db, flavor, nil, time.Hour)
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

// Budgets requires that a view whose rows never come, and one whose statistics
// fail, change nothing of what is said about the table after them. slow and broken
// are the queries of the views.
func Budgets(t *testing.T, db *sql.DB, flavor sqlsource.Flavor, slow, broken string) {
	t.Helper()
	Execute(t, db, "CREATE VIEW a_slow AS "+slow, "CREATE VIEW b_broken AS "+broken,
		"CREATE TABLE c (id INTEGER PRIMARY KEY, n INTEGER)", "INSERT INTO c VALUES (1, 7), (2, 7), (3, NULL)")
	t.Run("a limit for each table", func(t *testing.T) {
		tables, warnings := Discover(t, db, flavor, &sqlsource.Options{Profile: 700 * time.Millisecond}, time.Hour)
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
			Execute(t, db, fmt.Sprintf("CREATE TABLE d%02d (id INTEGER PRIMARY KEY, day DATE)", i))
		}
		tables, warnings := Discover(t, db, flavor, &sqlsource.Options{Profile: time.Hour}, 2500*time.Millisecond)
		require.Subset(t, slices.Collect(maps.Keys(tables)), []string{"a_slow", "b_broken", "c"}, "an answer, not a timeout")
		assert.Equal(t, wire.TypeDate, tables["d11"].Field("day").Type, "a table that nobody looked at is as the catalog has it")
		assert.Regexp(t, `(?m)^The time of this discovery was over before these tables were read in full, .*: ("\w+", ){9}"\w+" and \d more\. `,
			warnings, "ten are named")
		assert.Contains(t, warnings, `"c"`)
		assert.Equal(t, 1, strings.Count(warnings, "d00"), "one warning says it")
	})
}

// Nullability describes fields by what their values are on the wire. The table
// clean has values that can be sent, the table dirty has in every column one that
// cannot, and the table keyed has one in its primary key.
func Nullability(t *testing.T, db *sql.DB, flavor sqlsource.Flavor) {
	t.Helper()
	tables, warnings := Discover(t, db, flavor, nil, time.Hour)
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

	tables, warnings = Discover(t, db, flavor, &sqlsource.Options{Profile: -1}, time.Hour)
	assert.NotEmpty(t, tables["clean"].PrimaryKey, "without statistics a key is looked at all the same")
	for _, name := range tables["clean"].PrimaryKey {
		assert.False(t, tables["clean"].Field(name).Nullable, "a primary key never is null")
	}
	assert.Empty(t, tables["keyed"].PrimaryKey)
	assert.Contains(t, warnings, `the primary key ("k") is left out`)
}

// Counts discovers views of 200,001 rows and of 2,000,001: the first is counted,
// the second is not.
func Counts(t *testing.T, db *sql.DB, flavor sqlsource.Flavor, rows func(n int) string) {
	t.Helper()
	SkipShort(t)
	Execute(t, db, "CREATE VIEW counted AS "+rows(200_001), "CREATE VIEW uncounted AS "+rows(2_000_001))
	tables, warnings := Discover(t, db, flavor, &sqlsource.Options{Profile: time.Hour}, time.Hour)
	require.NotNil(t, tables["counted"].RowCount)
	assert.EqualValues(t, 200_001, *tables["counted"].RowCount)
	assert.Nil(t, tables["counted"].Fields[0].Stats, "too many rows")
	assert.Nil(t, tables["uncounted"].RowCount)
	assert.Contains(t, warnings, `The rows of the table "uncounted" are not counted, because there are more than 2000000.`)
	assert.NotContains(t, warnings, `"counted"`)
}

// manyTable returns the statements that make the table of a number: three rows,
// and a foreign key to the table before.
func manyTable(number int) []string {
	name := fmt.Sprintf("many%04d", number)
	key := ""
	if number > 0 {
		key = fmt.Sprintf(", FOREIGN KEY (before_id) REFERENCES many%04d (id)", number-1)
	}
	return []string{
		"CREATE TABLE " + name + " (id INTEGER NOT NULL PRIMARY KEY, before_id INTEGER, name VARCHAR(40) NOT NULL UNIQUE, " +
			"amount DECIMAL(12,2), day DATE, note VARCHAR(200)" + key + ")",
		"INSERT INTO " + name + " VALUES " + strings.Join([]string{
			"(1, 1, 'one', 1.50, '2024-01-01', NULL)", "(2, 1, 'two', 2.50, '2024-01-02', 'x')", "(3, NULL, 'three', NULL, NULL, 'y')",
		}, ", "),
	}
}

// Linear counts the statements of a discovery: each table adds as many as the one
// before, and none adds one about all tables.
func Linear(t *testing.T, c driver.Connector, flavor sqlsource.Flavor, aboutAll string) {
	t.Helper()
	db, statements := sqlsourcetest.Record(c)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	made := 0
	discover := func(count int) (all, about int) {
		for ; made < count; made++ {
			Execute(t, db, manyTable(made)...)
		}
		before := len(statements.All())
		tables, warnings := Discover(t, db, flavor, nil, time.Hour)
		require.Empty(t, warnings)
		require.Len(t, tables, count)
		require.Len(t, tables["many0001"].ForeignKeys, 1)
		for _, statement := range statements.All()[before:] {
			switch {
			case strings.Contains(statement, "set_config"), strings.HasPrefix(statement, "SET SESSION"):
				continue // of a transaction, which tables share
			case strings.Contains(statement, aboutAll):
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
}
