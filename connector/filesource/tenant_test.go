package filesource

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func credentials(tenant, password string) wire.Credentials {
	return wire.NewCredentials(map[string]string{CredentialTenant: tenant, CredentialPassword: password})
}

// attacked makes a served folder beside another one, with everything in it that
// an attack could aim at.
func attacked(t *testing.T) (dir string, r *root) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "served")
	put(t, top, map[string]string{
		"outside/data.csv":        "secret\noutside\n",
		"served/acme/data.csv":    "a\n1\n",
		"served/locked/data.csv":  "a\n2\n",
		"served/locked/.password": "correct horse\n",
		"served/caf\u00e9/x.csv":  "a\n3\n",
		"served/.hidden/x.csv":    "a\n4\n",
		"served/loose.csv":        "a\n5\n",
	})
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink("acme", filepath.Join(dir, "linked")))
		require.NoError(t, os.Symlink(filepath.Join(top, "outside"), filepath.Join(dir, "escape")))
	}
	return dir, testkit.Must(openRoot(dir))(t)
}

func TestAdmit(t *testing.T) {
	_, r := attacked(t)
	for _, c := range testkit.Cases[struct {
		Tenant, Password string
		Admitted         bool
		Why              string
	}](t, "testdata/admitted.json") {
		f, err := r.admit(credentials(c.Tenant, c.Password))
		if c.Admitted {
			require.NoError(t, err, c.Why)
			assert.Equal(t, c.Tenant, f.name)
			require.NoError(t, f.close())
			continue
		}
		var refused *refusal
		require.ErrorAs(t, err, &refused, c.Why)
		assert.Equal(t, refusalText, err.Error())
		assert.NoError(t, refused.cause, "nothing is wrong with the host's folders")
	}
}

// TestAWrongTenantAndAWrongPasswordAnswerTheSame asks as a tenant with a wrong password, and by every other spelling of a
// name that some file system might take for a tenant's.
func TestAWrongTenantAndAWrongPasswordAnswerTheSame(t *testing.T) {
	dir, r := attacked(t)
	spelled := strings.NewReplacer("DIR", dir, "BASE", filepath.Base(dir), "LONG", strings.Repeat("a", 5000),
		"STEPS", strings.Repeat("../", 90))
	attacks := map[string]string{}
	for _, c := range testkit.Cases[struct{ Name, Why string }](t, "testdata/hostile.json") {
		attacks[spelled.Replace(c.Name)] = c.Why
	}
	require.GreaterOrEqual(t, len(attacks), 30)
	s, _ := start(t, r, nil)
	for path, members := range map[string]string{
		wire.PathCheck:       "",
		wire.PathDiscovery:   "",
		wire.PathQuery:       `"table":"data","and":[],"sort":[],"fields":["a"]`,
		wire.PathCount:       `"table":"data","and":[]`,
		wire.PathAggregate:   `"table":"data","and":[],"groupBy":[],"measures":[{"fn":"count","as":"n"}],"limit":1001`,
		wire.PathSize:        `"table":"data"`,
		wire.PathCardinality: `"table":"data","columns":["a"]`,
		wire.PathLinkHitRate: `"fromTable":"data","fromColumn":"a","toTable":"data","toColumn":"a"`,
	} {
		status, wrongPassword := s.Post(path, body("locked", "zzzzzz", members))
		require.Equal(t, 400, status)
		code := "bad_request" // [rule http-8b]
		if path == wire.PathCheck {
			code = "check_failed"
		}
		assert.Equal(t, fmt.Sprintf(`{"error":{"code":%q,"message":%q}}`, code, refusalText), wrongPassword)
		for name, why := range attacks {
			for _, password := range []string{"zzzzzz", "", "correct horse"} {
				status, answer := s.Post(path, body(name, password, members))
				require.Equal(t, 400, status, "%s %q: %s", path, name, why)
				// The library cuts credential values out of texts [rule credential-9], and some
				// names typed here are words of the sentence.
				if !strings.Contains(answer, "[redacted]") {
					assert.Equal(t, wrongPassword, answer, "%s %q: %s", path, name, why)
				}
			}
		}
		status, answer := s.Post(path, body("locked", "correct horse", members))
		require.Equal(t, 200, status, "the right credentials are not refused by accident: %s", answer)
	}
}

func TestARefusalDoesTheSameWork(t *testing.T) {
	_, r := attacked(t)
	var entered []string
	enter := r.enter
	r.enter = func(name string) (*folder, error) {
		entered = append(entered, name)
		return enter(name)
	}
	_, err := r.admit(credentials("nobody", "x"))
	require.Error(t, err)
	entered = nil
	_, err = r.admit(credentials("nobody", "x"))
	require.Error(t, err)
	assert.Equal(t, []string{"locked"}, entered, "a stranger is judged against a folder with a password")
	entered = nil
	_, err = r.admit(credentials("locked", "x"))
	require.Error(t, err)
	assert.Equal(t, []string{"locked"}, entered)
}

func TestPasswordFilesThatCannotBeReadLockTheFolder(t *testing.T) {
	for _, c := range []struct {
		why   string
		spoil func(t *testing.T, path string)
	}{
		{"an empty one would be opened by an empty password",
			func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) }},
		{"a line end is no password", func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("\n"), 0o600)) }},
		{"a folder is no file", func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }},
		{"a link that leads nowhere", func(t *testing.T, path string) { require.NoError(t, os.Symlink("gone", path)) }},
		{"a link out of the folder", func(t *testing.T, path string) { require.NoError(t, os.Symlink("../../outside/data.csv", path)) }},
		{"a novel", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 5000)), 0o600))
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			dir, r := attacked(t)
			c.spoil(t, filepath.Join(dir, "acme", passwordFile))
			for _, password := range []string{"", "\n", "x", strings.Repeat("x", 5000)} {
				_, err := r.admit(credentials("acme", password))
				var refused *refusal
				require.ErrorAs(t, err, &refused)
				assert.Error(t, refused.cause, "the host's log says why")
				assert.Equal(t, refusalText, err.Error(), "and the tenant is told nothing else")
			}
		})
	}
}

func TestAPasswordCountsFromTheNextRequestOn(t *testing.T) {
	dir, r := attacked(t)
	f := testkit.Must(r.admit(credentials("acme", "")))(t)
	require.NoError(t, f.close())
	put(t, dir, map[string]string{"acme/.password": "new\r\n"})
	_, err := r.admit(credentials("acme", ""))
	require.Error(t, err)
	f = testkit.Must(r.admit(credentials("acme", "new")))(t)
	require.NoError(t, f.close())
}

// TestALinkOutOfTheFolderIsNotServed links to files out of the folder, and to none: such a table is left
// out by name, which is no fault of the host, and the others are served.
func TestALinkOutOfTheFolderIsNotServed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege on Windows")
	}
	dir, r := attacked(t)
	acme := filepath.Join(dir, "acme")
	links := map[string]string{
		"neighbour": "../locked/data.csv", "absolute": filepath.Join(dir, "..", "outside", "data.csv"),
		"outside": "../../outside/data.csv", "dangling": "gone.csv", "sub": "../locked",
		"loop": "loop.csv", "through": "data.csv/x", "long": strings.Repeat("x", 300),
	}
	for name, target := range links {
		require.NoError(t, os.Symlink(target, filepath.Join(acme, name+".csv")))
	}
	require.NoError(t, os.Symlink("data.csv", filepath.Join(acme, "inside.csv")))
	s, _ := start(t, r, nil)
	d := discovered(t, s, "acme")
	var names []string
	for _, table := range d.Tables {
		names = append(names, table.Name)
	}
	assert.Equal(t, []string{"data", "inside"}, names, "a link within the folder is as good as a file")
	assert.Len(t, d.Warnings, len(links))
	for _, w := range d.Warnings {
		assert.Contains(t, w, ".csv: a link that leads nowhere, or out of the folder; the file is left out")
		assert.NotContains(t, w, dir, "a warning tells nothing about the host's disk")
	}
	for table := range links {
		status, answer := s.Post(wire.PathQuery, body("acme", "", `"table":"`+table+`","and":[],"sort":[],"fields":[]`))
		assert.Equal(t, 404, status, "discovery left it out: %s: %s", table, answer)
		assert.NotContains(t, answer, "secret")
	}
}

// TestALinkIsNoTenant enters folders by the names of links, as would happen if
// one took a folder's place after it was listed.
func TestALinkIsNoTenant(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege on Windows")
	}
	_, r := attacked(t)
	for _, name := range []string{"linked", "escape", "loose.csv", "gone"} {
		_, err := r.enter(name)
		assert.Error(t, err, name)
	}
	require.NoError(t, testkit.Must(r.enter("acme"))(t).close())
}

func TestTableNamesAreNoPaths(t *testing.T) {
	dir, r := attacked(t)
	s, _ := start(t, r, nil)
	for _, table := range []string{
		"../locked/data", "../locked/data.csv", "data.csv", "./data", "/data", "DATA", "data\\u0000", "..", ".", "data/", ".password",
		strings.ReplaceAll(dir, "\\", "/") + "/locked/data", "sub/data", " data", "data.", "loose", strings.Repeat("d", 300),
	} {
		status, answer := s.Post(wire.PathQuery, body("acme", "", `"table":"`+table+`","and":[],"sort":[],"fields":[]`))
		assert.Equal(t, 404, status, table)
		assert.Contains(t, answer, `"unknown_entity"`)
		assert.Less(t, len(answer), 400, "no more of a body than a name comes back")
	}
}
