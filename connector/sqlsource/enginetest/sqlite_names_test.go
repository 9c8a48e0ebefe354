package enginetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestSQLiteNamesNotUTF8 leaves out tables and columns whose names are not UTF-8.
func TestSQLiteNamesNotUTF8(t *testing.T) {
	db := newSQLite(t, "CREATE TABLE \"caf\xe9\" (id INTEGER PRIMARY KEY); "+
		"CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, \"caf\xe9\" INTEGER REFERENCES t (id))")
	tables, warnings := db.discover(t, nil, time.Minute)
	assert.Len(t, tables, 2)
	assert.Len(t, tables["c"].Fields, 1)
	assert.Empty(t, tables["c"].ForeignKeys)
	const why = ` because its name is not valid UTF-8: rename it in the database.`
	assert.Equal(t, `In table "c", the field "caf\xe9" is left out, with the keys that have it,`+why+"\n"+
		`The table "caf\xe9" is left out`+why, warnings)
}
