// Package situation reads the files of testdata/situations, and asks what they say. A file is a
// database, or a folder of files, what is asked of it, and what is answered. Only the tests of
// engines import it, which are modules of their own.
package situation

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what is answered into the files of situations, to be read before it is committed")

// Updating reports whether answers are written into the files: then no two tests may play one file at once.
func Updating() bool { return *update }

// Situation is a file in the format of txtar.
type Situation struct {
	path     string
	comment  string // before the first section
	Sections []*Section
	written  map[*Section]bool // another variant or engine must answer the same
}

// Section is a part of a file, below a line with its name.
type Section struct{ Name, Text string }

// marker is the line before a section.
var marker = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// All returns the situations of testdata/situations.
func All(t *testing.T) []*Situation {
	t.Helper()
	paths, err := filepath.Glob("testdata/situations/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := make([]*Situation, len(paths))
	for i, path := range paths {
		all[i] = Open(t, path)
	}
	return all
}

// Open reads a file.
func Open(t testing.TB, path string) *Situation {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	text := string(content)
	s := &Situation{path: path, written: map[*Section]bool{}}
	at := marker.FindAllStringSubmatchIndex(text, -1)
	require.NotEmpty(t, at, "%s has no section", path)
	s.comment = text[:at[0][0]]
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		own := &Section{Name: text[m[2]:m[3]], Text: text[m[1]:end]}
		require.Nil(t, s.Section(own.Name), "%s has two sections %s", path, own.Name)
		s.Sections = append(s.Sections, own)
	}
	return s
}

// Name returns the name of the file, without its extension.
func (s *Situation) Name() string { return strings.TrimSuffix(filepath.Base(s.path), ".txtar") }

// Section returns a section by its name, or nil.
func (s *Situation) Section(name string) *Section {
	at := slices.IndexFunc(s.Sections, func(own *Section) bool { return own.Name == name })
	if at < 0 {
		return nil
	}
	return s.Sections[at]
}

// For returns the sections of a name for an engine: that of every engine, and its own, which has the name
// of the engine behind the first word.
func (s *Situation) For(engine, name string) (all []*Section) {
	base, ext, dotted := strings.Cut(name, ".")
	if dotted {
		ext = "." + ext
	}
	for _, name := range []string{name, base + "." + engine + ext} {
		if own := s.Section(name); own != nil {
			all = append(all, own)
		}
	}
	return all
}

// Text returns the text of the sections of a name for an engine.
func (s *Situation) Text(engine, name string) (text string) {
	for _, own := range s.For(engine, name) {
		text += own.Text
	}
	return text
}

// Options reads the section options.json for an engine into v, if there is one, and refuses a member that v does not have.
func (s *Situation) Options(t testing.TB, engine string, v any) {
	t.Helper()
	Decode(t, s.Text(engine, "options.json"), v)
}

// Decode reads JSON, if there is any, and refuses a member that v does not have.
func Decode(t testing.TB, text string, v any) {
	t.Helper()
	if text != "" {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(v))
	}
}

// Expect requires that a section has a text. With -update it gets it.
func (s *Situation) Expect(t testing.TB, own *Section, got string) {
	t.Helper()
	if *update && !s.written[own] {
		own.Text, s.written[own] = got, true
		content := s.comment
		for _, each := range s.Sections {
			content += "-- " + each.Name + " --\n" + each.Text
		}
		require.NoError(t, os.WriteFile(s.path, []byte(content), 0o644))
	}
	require.Equal(t, own.Text, got, "section %s of %s", own.Name, s.path)
}
