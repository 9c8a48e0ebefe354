package enginetest

import (
	"path/filepath"
	"strings"
	"testing"

	lite "github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
)

func init() {
	sqlite.settings = settingsOf{
		start: startSQLiteSettings, stated: lite.Settings,
		hostile: []setTo{{"case_sensitive_like", "1"}, {"reverse_unordered_selects", "1"}},
		unseen:  map[string]string{"read_uncommitted": "it needs a writer that shares the connection's cache"},
	}
}

// sqliteSettingsTables has something of each setting that is stated.
const sqliteSettingsTables = `
	CREATE TABLE things (id INTEGER PRIMARY KEY, label TEXT, amount NUMERIC, day DATE);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
		INSERT INTO things SELECT i, 'Label ' || (i % 7), i / 4.0, date('2024-01-01', i || ' days') FROM n;
	CREATE VIEW found AS SELECT id AS id, label LIKE 'lab%' AS likes FROM things;
	CREATE VIEW unnamed AS SELECT t.id, t.label FROM things t;
	CREATE VIEW some AS SELECT id AS id FROM (SELECT id FROM things LIMIT 5)`

func startSQLiteSettings(t *testing.T) settable {
	file := "file:" + filepath.Join(t.TempDir(), "settings.sqlite")
	db := openSQLite(t, file, sqliteSettingsTables)
	return settable{
		database: db,
		ways: map[string]func(*testing.T, []setTo) *database{
			connection: func(t *testing.T, values []setTo) *database {
				var list []string
				for _, v := range values {
					list = append(list, "_pragma="+v.name+"("+v.value+")")
				}
				return openSQLite(t, file+"?"+strings.Join(list, "&"), "")
			},
		},
		names: readNames(t, db, "SELECT name FROM pragma_pragma_list"),
		known: true, // go.mod says which version
	}
}
