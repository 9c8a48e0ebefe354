package duckdb_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSituations serves the folders of testdata/situations. README.md there says which sections there are.
func TestSituations(t *testing.T) {
	for _, s := range situation.All(t) {
		t.Run(s.Name(), func(t *testing.T) {
			t.Parallel()
			var own struct {
				duckdb.FolderOptions
				Folder string
			}
			s.Options(t, "", &own)
			dir := makeFolder(t, s)
			tenant := serve(t, filepath.Join(dir, own.Folder), &own.FolderOptions).As(nil)
			if s.Section("ask") != nil {
				tenant = tenant.Unverified()
			}
			s.Discovered(t, "", func() *wire.Discovery { return testkit.Must(tenant.In(t).Discover())(t) })
			a := &situation.Asking{Tenant: tenant, Ordered: true}
			if f := s.Section("ask"); f != nil {
				s.Expect(t, f, situation.Blocks(f.Text, func(r situation.Request) string { return a.Answer(t, r) }))
			}
			if f := s.Section("rows"); f != nil {
				s.Expect(t, f, a.WholeTables(t))
			}
		})
	}
}

// makeFolder writes the files of a situation below a new folder.
func makeFolder(t *testing.T, s *situation.Situation) string {
	t.Helper()
	made := map[string]string{}
	for _, f := range s.Sections {
		if name, is := strings.CutSuffix(f.Name, ".sql"); is {
			made[name] = f.Text
		}
	}
	dir := makeFiles(t, made)
	for _, f := range s.Sections {
		name, kind := f.Name, filepath.Ext(f.Name)
		content := []byte(f.Text)
		switch kind {
		case ".sql":
			continue
		case ".quoted", ".link", ".copy":
			name = strings.TrimSuffix(name, kind)
		case "":
			if !strings.Contains(name, "/") { // what is asked, and answered
				continue
			}
		}
		if name == "options.json" {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		switch kind {
		case ".link":
			require.NoError(t, os.Symlink(strings.TrimSpace(f.Text), file))
			continue
		case ".copy":
			content = testkit.Must(os.ReadFile(filepath.Join("testdata", strings.TrimSpace(f.Text))))(t)
		case ".quoted":
			content = []byte(unquoted(t, f.Text))
		}
		require.NoError(t, os.WriteFile(file, content, 0o600))
	}
	return dir
}

// unquoted returns texts that are quoted as in Go, each in a line. A number before one says how often it stands there.
func unquoted(t *testing.T, lines string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(lines) {
		times, quoted, _ := strings.Cut(strings.TrimSpace(line), `"`)
		n := 1
		if times != "" {
			n = testkit.Must(strconv.Atoi(strings.TrimSpace(times)))(t, line)
		}
		b.WriteString(strings.Repeat(testkit.Must(strconv.Unquote(`"`+quoted))(t, line), n))
	}
	return b.String()
}
