package house

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestPromise compares the listing of the API with that of the last release: what was
// removed or changed since then stands in the changelog, by name.
func TestPromise(t *testing.T) {
	promised, err := os.ReadFile("../../docs/api-released.txt")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("nothing is promised before the first release, which writes docs/api-released.txt")
	}
	require.NoError(t, err)
	version, listing, found := strings.Cut(string(promised), "\n")
	require.True(t, found, "the first line of docs/api-released.txt is the version")
	now := testkit.Must(os.ReadFile("../../docs/api.txt"))(t)
	changelog := testkit.Must(os.ReadFile("../../CHANGELOG.md"))(t)
	for _, name := range broken(t, listing, string(now), sinceRelease(t, string(changelog), version)) {
		t.Errorf("%s is not what %s promised; restore it, or name `%s` in CHANGELOG.md above %s, with before and after",
			name, version, name, version)
	}
}

// TestPromiseBroken gives two listings and what the changelog says since the release.
func TestPromiseBroken(t *testing.T) {
	const released = `# package shop

const (
    First Kind = iota
    Second
)
var ErrGone = errors.New("gone")
func Open(name string) (*Shop, error)
type Kind int
type Shop struct {
    Name string ` + "`json:\"name\"`" + `
    Rows, Limit int
    // contains filtered or unexported fields
}
func (s *Shop) Close() error
type Source interface {
    Query(text string) error
}

# package shop/cart

func Open()

`
	broke := func(t *testing.T, old, new, changelog, want string) {
		require.Contains(t, released, old)
		assert.Equal(t, want, strings.Join(broken(t, released, strings.Replace(released, old, new, 1), changelog), " "))
	}
	for _, c := range testkit.Table(t, "testdata/promise.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			var words [3]string
			for i := range words {
				words[i] = testkit.Must(strconv.Unquote(c[i]))(t)
			}
			broke(t, words[0], words[1], words[2], strings.TrimPrefix(c[3], "-"))
		})
	}
	gone := released[strings.Index(released, "type Shop struct"):strings.Index(released, "type Source")]
	broke(t, gone, "", "", "shop.Shop") // instead of its members
}

// TestPromiseOfTheListing reads the listing that there is: each declaration of it would
// be missed.
func TestPromiseOfTheListing(t *testing.T) {
	listing := testkit.Must(os.ReadFile("../../docs/api.txt"))(t)
	all := declarations(t, string(listing))
	require.Greater(t, len(all), 800)
	assert.Contains(t, all, "connector Source")
	assert.Contains(t, all, "connector Options.WriteStall")
	members := 0
	for name := range all {
		if strings.Contains(name, ".") {
			members++
		}
	}
	assert.Empty(t, broken(t, string(listing), string(listing), ""))
	assert.Len(t, broken(t, string(listing), "", ""), len(all)-members)
}

// TestSinceRelease finds the part of a changelog that no release has.
func TestSinceRelease(t *testing.T) {
	const changelog = "# Changelog\n\n## Unreleased\n\n- new\n\n## v0.1.0 - 2026-11-23\n\n- old\n"
	assert.Equal(t, "# Changelog\n\n## Unreleased\n\n- new\n", sinceRelease(t, changelog, "v0.1.0"))
}

// sinceRelease returns what the changelog says above the section of a version.
func sinceRelease(t *testing.T, changelog, version string) string {
	t.Helper()
	above, _, found := strings.Cut(changelog, "\n## "+version+" - ")
	require.True(t, found, "CHANGELOG.md has no section %s", version)
	return above
}

// broken returns what a listing has removed or changed of an earlier one, as far as the
// changelog does not name it.
func broken(t *testing.T, before, after, changelog string) []string {
	t.Helper()
	old, now := declarations(t, before), declarations(t, after)
	var names []string
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if now[key] == old[key] {
			continue
		}
		pkg, name, _ := strings.Cut(key, " ")
		owner, _, member := strings.Cut(name, ".")
		if _, stands := now[pkg+" "+owner]; member && !stands {
			continue // with its type
		}
		name = path.Base(pkg) + "." + name
		if !regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(name) + `($|\W)`).MatchString(changelog) {
			names = append(names, name)
		}
	}
	return names
}

var (
	// A line of a listing is one of these, with single blanks between its words.
	aBlock    = regexp.MustCompile(`^(const|var|type) ?(\w*).* ?[({]$`)
	aFunction = regexp.MustCompile(`^func (?:\((?:\w+ )?\*?(\w+).*?\) )?(\w+)`)
	aSingle   = regexp.MustCompile(`^(const|var|type) (\w+)(.*)`)
	aMember   = regexp.MustCompile(`^((?:\w+, )*\w+)(?: (.*))?$`)
	anEmbed   = regexp.MustCompile("^\\*?(?:\\w+\\.)?(\\w+)(?:\\[.*\\])?(?: `.*`)?$")
	smallType = regexp.MustCompile(`(?m)^(type \S+ struct)\{ (.*) \}$`)
)

// declarations returns the text of each declaration of a listing, under the package's
// path and the name. The fields of a struct are declarations of their own, as their
// number may grow; the methods of an interface are not.
func declarations(t *testing.T, listing string) map[string]string {
	t.Helper()
	found := map[string]string{}
	var pkg, kind, owner, last string // kind and owner are of the block around a line, last is what a constant repeats
	at := 0                           // of a constant in its block
	declare := func(name, text string) {
		require.NotContains(t, found, pkg+" "+name)
		found[pkg+" "+name] = text
	}
	for line := range strings.Lines(smallType.ReplaceAllString(listing, "$1 {\n    $2\n}")) {
		text := strings.Join(strings.Fields(line), " ")
		path, begins := strings.CutPrefix(text, "# package ")
		block, member := aBlock.FindStringSubmatch(text), aMember.FindStringSubmatch(text)
		switch {
		case begins:
			pkg = path
		case text == "", text == ")", strings.HasPrefix(text, "}"), strings.HasPrefix(text, "// "):
		case strings.HasPrefix(line, " ") && strings.HasSuffix(kind, "interface {"):
			found[pkg+" "+owner] += "\n" + text
		case strings.HasPrefix(line, " ") && owner != "" && anEmbed.MatchString(text):
			declare(owner+"."+anEmbed.FindStringSubmatch(text)[1], "embedded "+text)
		case strings.HasPrefix(line, " "):
			require.NotNil(t, member, line)
			if owner == "" && member[2] == "" {
				member[2] = last
			}
			last = member[2]
			for j, name := range strings.Split(member[1], ", ") {
				if owner != "" {
					declare(owner+"."+name, last)
				} else if declare(name, fmt.Sprint(kind, j, last)); strings.Contains(last, "iota") {
					found[pkg+" "+name] += fmt.Sprint(" ", at)
				}
			}
			at++
		case block != nil:
			kind, owner, last, at = text, block[2], "", 0
			if owner != "" {
				declare(owner, text)
			}
		case aFunction.MatchString(text):
			f := aFunction.FindStringSubmatch(text)
			declare(strings.TrimPrefix(f[1]+"."+f[2], "."), text)
		default:
			single := aSingle.FindStringSubmatch(text)
			require.NotNil(t, single, line)
			declare(single[2], single[1]+single[3])
		}
	}
	return found
}
