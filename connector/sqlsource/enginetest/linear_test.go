package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	lite "github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
)

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

// TestLinear counts the statements of a discovery: each table adds as many as the
// one before, and none adds one about all tables.
func TestLinear(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) { discoverLinearly(t, e.create(t), e.discovery.aboutAll) })
}

func discoverLinearly(t *testing.T, db *database, aboutAll string) {
	own, log := db.logged(t)
	made := 0
	discover := func(count int) (all, about int) {
		for ; made < count; made++ {
			db.execute(t, strings.Join(manyTable(made), "; "))
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
}
