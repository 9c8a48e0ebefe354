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

func startSQLiteSettings(t *testing.T) settable {
	file := "file:" + filepath.Join(t.TempDir(), "settings.sqlite")
	db := openSQLite(t, file, script(t, "settings_sqlite"))
	return settable{
		database: db,
		ways: map[string]func(*testing.T, []setTo) *database{
			connection: func(t *testing.T, values []setTo) *database {
				var list []string
				for _, v := range values {
					list = append(list, "_pragma="+v.Name+"("+v.Value+")")
				}
				return openSQLite(t, file+"?"+strings.Join(list, "&"), "")
			},
		},
		names: linesOf(t, db, "", "SELECT name FROM pragma_pragma_list"),
		known: true, // go.mod says which version
	}
}
