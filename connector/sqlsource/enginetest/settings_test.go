package enginetest

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/mysql"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/settings"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	lite "github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
)

// setTo is a setting and a value of it, as SQL.
type setTo = situation.Setting

// settingsOf is what TestSettings asks of an engine.
type settingsOf struct {
	// start returns a database, which may be a server's of its own, with a table or a view for
	// each setting that is stated.
	start func(t *testing.T) settable
	// stated are the settings that the flavor states.
	stated []settings.Setting
}

// listedSettings are those of testdata/settings_NAME.txt. A reason says hostile of values that change an answer unless
// they are stated, beside NAME of what is set with one, without which it changes nothing, and unseen of what is stated
// though no request of the survey can show it. The others change no answer; they stand by the reason why.
type listedSettings struct {
	hostile, unseen []setTo
	beside, others  map[string][]setTo
}

func (e *engine) listedSettings(t *testing.T) *listedSettings {
	t.Helper()
	listed := &listedSettings{beside: map[string][]setTo{}, others: map[string][]setTo{}}
	for why, values := range situation.Settings(t, "testdata/settings_"+e.name+".txt") {
		kind, _, _ := strings.Cut(why, ": ")
		switch word, of, _ := strings.Cut(kind, " "); word {
		case "hostile":
			listed.hostile = values
		case "beside":
			listed.beside[of] = values
		case "unseen":
			listed.unseen = append(listed.unseen, values...)
		default:
			listed.others[why] = values
		}
	}
	return listed
}

// settable is a database whose settings can be set.
type settable struct {
	*database
	// ways set values for all sessions that come, each in another way, and return the
	// database as it is reached then. What they do ends with t.
	ways map[string]func(t *testing.T, values []setTo) *database
	// names are the settings that a session may change, in lower case.
	names []string
	// known reports that the server is of the version that the list of settings was made for.
	known bool
}

// connection is the way by which the connection itself says the values.
const connection = "by the connection"

// TestSettings asks a survey of a database while settings have values that spoil answers: for the
// whole server, for the user, and in the connection string. The answers are as without. It shows
// that the survey sees each of them, by the flavor without its statements, and that no setting
// is forgotten: each is stated, or listed as one that changes no answer, and why.
func TestSettings(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		if e.settings.start == nil {
			t.Skip("no settings are described here")
		}
		db, listed := e.settings.start(t), e.listedSettings(t)
		all := situation.NewSurvey(t, db.database.asked(t, nil))
		want := all.Answers(t, db.asked(t, nil))
		for i, q := range all {
			require.Regexp(t, "^20[04] ", want[i], q.What)
		}
		for way, set := range db.ways {
			t.Run(way, func(t *testing.T) {
				values := slices.Clone(listed.hostile)
				for _, more := range listed.beside {
					values = append(values, more...)
				}
				assert.Empty(t, all.Differences(want, all.Answers(t, set(t, values).asked(t, nil))))
			})
		}
		t.Run("each is seen", func(t *testing.T) {
			unstated := func(d *database) *database {
				f := d.flavor
				f.Session = nil
				return d.with(f)
			}
			want := all.Answers(t, unstated(db.database).asked(t, nil))
			for _, v := range listed.hostile {
				spoiled := unstated(db.ways[connection](t, append(slices.Clone(listed.beside[v.Name]), v)))
				assert.False(t, all.Same(t, spoiled.asked(t, nil), want), "%s = %s is not seen by the survey", v.Name, v.Value)
			}
			for _, stated := range e.settings.stated {
				own := func(v setTo) bool { return strings.EqualFold(v.Name, stated.Name) }
				assert.NotEqual(t, slices.ContainsFunc(listed.hostile, own), slices.ContainsFunc(listed.unseen, own),
					"%s is shown, or cannot be", stated.Name)
				assert.NotEmpty(t, stated.Why, stated.Name)
			}
		})
		t.Run("none is forgotten", func(t *testing.T) { // another version than the list was made for may have others, which are only told
			known := map[string]bool{}
			for _, stated := range e.settings.stated {
				known[strings.ToLower(stated.Name)] = true
			}
			for _, values := range listed.others {
				for _, v := range values {
					assert.False(t, known[v.Name], "%s is both stated and listed, or listed twice", v.Name)
					known[v.Name] = true
				}
			}
			unknown := slices.DeleteFunc(slices.Clone(db.names), func(name string) bool { return known[name] })
			switch {
			case db.known:
				assert.Empty(t, unknown, "state them, or list them in testdata/settings_%s.txt with the reason why they change no answer", e.name)
			case len(unknown) > 0:
				t.Logf("this server has settings that nobody has looked at: %q", unknown)
			}
			if db.known {
				gone := slices.Sorted(maps.Keys(known))
				gone = slices.DeleteFunc(gone, func(name string) bool { return slices.Contains(db.names, name) })
				t.Logf("settings of other versions: %q", gone)
			}
		})
		t.Run("others change nothing", func(t *testing.T) {
			skipShort(t)
			tried := func(values []setTo) []setTo {
				return slices.DeleteFunc(slices.Clone(values), func(v setTo) bool { return v.Value == "" || !slices.Contains(db.names, v.Name) })
			}
			every := tried(slices.Concat(slices.Collect(maps.Values(listed.others))...))
			if all.Same(t, db.ways[connection](t, every).asked(t, nil), want) {
				return
			}
			for why, values := range listed.others { // which of them is it?
				got := all.Answers(t, db.ways[connection](t, tried(values)).asked(t, nil))
				assert.Empty(t, all.Differences(want, got), why)
			}
			assert.True(t, t.Failed(), "all of them together change an answer, and no part of them does")
		})
	})
}

func init() {
	sqlite.settings = settingsOf{start: startSQLiteSettings, stated: lite.Settings}
	mariadb.settings = settingsOf{start: startMySQLSettings, stated: mysql.AllSettings(true)}
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

func startMySQLSettings(t *testing.T) settable {
	own := newMySQLServer(t)
	admin := own.database(t, "root", "", "")
	admin.execute(t, "SET NAMES utf8mb4; CREATE DATABASE shop DEFAULT CHARSET utf8mb4; USE shop;"+script(t, "settings_mysql")+
		"; CREATE USER reader IDENTIFIED BY 'secret'; GRANT SELECT ON shop.* TO reader")
	reader := func(change func(*driver.Config)) *database {
		d := own.database(t, "reader", "secret", "shop").as(t, change)
		d.credentials = nil // a pool of the host
		return &d.database
	}
	// setGlobal sets a value for the whole server until the test ends.
	setGlobal := func(t *testing.T, name, value string) {
		var before string
		require.NoError(t, admin.QueryRow("SELECT @@global."+name).Scan(&before))
		admin.execute(t, "SET GLOBAL "+name+" = "+value)
		t.Cleanup(func() {
			if name == "system_versioning_asof" {
				before = "DEFAULT"
			} else if strings.Trim(before, "0123456789") != "" || before == "" {
				before = "'" + before + "'"
			}
			admin.execute(t, "SET GLOBAL "+name+" = "+before)
		})
	}
	plain := func(*driver.Config) {}
	return settable{
		database: reader(plain),
		ways: map[string]func(*testing.T, []setTo) *database{
			connection: func(t *testing.T, values []setTo) *database {
				return reader(func(c *driver.Config) {
					c.Params = map[string]string{}
					for _, v := range values {
						c.Params[v.Name] = v.Value
					}
				})
			},
			"for whoever connects": func(t *testing.T, values []setTo) *database {
				var list []string
				for _, v := range values {
					list = append(list, v.Name+" = "+v.Value)
				}
				setGlobal(t, "init_connect", `"SET `+strings.Join(list, ", ")+`"`)
				return reader(plain)
			},
			"for the server": func(t *testing.T, values []setTo) *database {
				for _, v := range values {
					setGlobal(t, v.Name, v.Value)
				}
				return reader(plain)
			},
		},
		names: linesOf(t, admin, "", `SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES
			WHERE VARIABLE_SCOPE IN ('SESSION', 'SESSION ONLY') AND READ_ONLY = 'NO'`),
		known: strings.HasPrefix(fmt.Sprint(linesOf(t, admin, "", "SELECT VERSION()")), "[10.11."),
	}
}
