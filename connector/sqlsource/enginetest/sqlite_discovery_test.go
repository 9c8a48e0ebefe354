package enginetest

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteOmitted warns of each key that is left out, and of nothing that the host
// hides.
func TestSQLiteOmitted(t *testing.T) {
	db := newSQLite(t, `
		CREATE TABLE named (name TEXT PRIMARY KEY, gone INTEGER REFERENCES nowhere (id), shy INTEGER REFERENCES hidden (id));
		CREATE TABLE hidden (id INTEGER PRIMARY KEY)`)
	tables, warnings := db.discover(t, &sqlsource.Options{
		Tables: map[string]sqlsource.TableOptions{"hidden": {Hidden: true}},
	}, time.Hour)
	assert.Len(t, tables, 1)
	assert.Equal(t, `In table "named", the primary key ("name") is left out because SQLite lets nulls into it; `+
		`declare its columns NOT NULL, or name the key in the options of this connector.`+"\n"+
		`In table "named", the foreign key ("gone") is left out because the table or the columns that it leads to do not exist.`, warnings)
	_, warnings = newSQLite(t, "CREATE TABLE flags (flag BOOLEAN NOT NULL PRIMARY KEY, code UNIQUE)").discover(t, nil, time.Hour)
	const loose = " is left out because values that the database tells apart are equal in an answer."
	assert.Equal(t, `In table "flags", the unique key ("code")`+loose+"\n"+`In table "flags", the primary key ("flag")`+loose, warnings)
	tables, warnings = newSQLite(t, "CREATE TABLE moments (at DATETIME UNIQUE)").discover(t, nil, time.Hour)
	assert.False(t, tables["moments"].Field("at").Unique)
	assert.Equal(t, `In table "moments", the field "at" is not declared unique, although the database keeps it so, `+
		`because values that are equal here may be stored in several ways.`, warnings)
	_, warnings = newSQLite(t, "").discover(t, nil, time.Hour)
	assert.Equal(t, "The database has no tables.", warnings)
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
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := newSQLite(t, "")
				for i := range 30 {
					db.execute(t, fmt.Sprintf("CREATE TABLE t%02d (id INT NOT NULL PRIMARY KEY, day DATE, t00 INT REFERENCES t00)", i)+
						fmt.Sprintf("; INSERT INTO t%02d VALUES (1, '2024-01-01 10:00:00', 1)", i))
				}
				seen := 0
				slow := *db
				slow.DB = sqlsourcetest.Intercept(db.driver, func(text string, _ []driver.NamedValue) error {
					if strings.Contains(text, c.statement) {
						if seen++; seen == 16 {
							time.Sleep(9100 * time.Millisecond) // of ten seconds, one is kept for the answer
						}
					}
					return nil
				})
				defer func() { require.NoError(t, slow.Close()) }()
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
		})
	}
}

// TestSQLiteUnsentWords warns of values that do not fit their column as what they are: a
// text in a column of numbers is neither NaN nor a date.
func TestSQLiteUnsentWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ declared, fitting, other, words string }{
		{"INTEGER", "1", "'n/a'", "a text, a blob or an infinity in a column of numbers"},
		{"REAL", "1.5", "9e999", "a text, a blob or an infinity in a column of numbers"},
		{"BOOLEAN", "1", "'true'", "no integer"},
		{"DATE", "'2024-02-29'", "'2024-02-30'", "no text YYYY-MM-DD of a day that exists"},
		{"DATETIME", "'2024-02-29'", "20240229", "no text of a date and a time, YYYY-MM-DD HH:MM:SS, that exists"},
		{"JSON", "'{}'", "'{'", "no JSON"},
		{"ARRAY", "'[]'", "'{}'", "no JSON of an array"},
		{"TEXT", "'a'", "x'61'", "a blob in a column of texts"},
		{"BLOB", "x'61'", "'a'", "no blob in a column of blobs"},
		{"DECIMAL_TEXT", "'1.50'", "'1,50'", "no text of a decimal's digits"},
	} {
		_, warnings := newSQLite(t, "CREATE TABLE t (c "+c.declared+"); INSERT INTO t VALUES ("+c.fitting+"), ("+c.other+")").discover(t, nil, time.Minute)
		assert.Contains(t, warnings, `In table "t", 1 values of the field "c" cannot be sent, because each is `+c.words+": they are null everywhere.")
	}
}
