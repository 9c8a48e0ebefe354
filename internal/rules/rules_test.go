package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/docs"
)

func TestRulebook(t *testing.T) {
	list, err := parse(docs.Protocol)
	require.NoError(t, err)
	require.Equal(t, strings.Count(docs.Protocol, "\n### "), len(list))
	require.Equal(t, list, All())
	prefixes := map[string]string{} // section -> first part of its rules' ids
	for _, r := range list {
		prefix, _, _ := strings.Cut(r.ID, "-")
		if prefixes[r.Section] == "" {
			prefixes[r.Section] = prefix
		}
		require.Equal(t, prefixes[r.Section], prefix, "%s is in the wrong section", r.ID)
		require.NotEmpty(t, r.Section, r.ID)
		require.True(t, strings.HasSuffix(r.Text, "."), "%s: the text is not a sentence: %s", r.ID, r.Text)
		require.LessOrEqual(t, len(r.Text), 400, "%s is too long for one rule", r.ID)
	}
}

// TestSubRules requires filter-6 where there is a filter-6a.
func TestSubRules(t *testing.T) {
	for _, r := range All() {
		main := strings.TrimRight(r.ID, "abcdefghijklmnopqrstuvwxyz")
		_, ok := Lookup(main)
		require.True(t, ok, "%s has no main rule %s", r.ID, main)
	}
}

func TestLookup(t *testing.T) {
	r, ok := Lookup("filter-3a")
	require.True(t, ok)
	require.Equal(t, "filter-3a", r.ID)
	require.Equal(t, "Filters", r.Section)
	require.Equal(t, Binds, r.Status)
	require.True(t, strings.HasPrefix(r.Text, "`nin` drops"), r.Text)
	require.NotContains(t, r.Text, "\n")

	r, ok = Lookup("filter-4")
	require.True(t, ok)
	require.Equal(t, "the text `red` does not contain `re`.", r.Example)

	_, ok = Lookup("filter-99")
	require.False(t, ok)
	_, ok = Lookup("A6")
	require.False(t, ok)
}

func TestStatus(t *testing.T) {
	require.Equal(t, "Binds", Binds.String())
	require.Equal(t, "Binds the platform", BindsPlatform.String())
	require.Equal(t, "Our decision", Decision.String())
	for id, want := range map[string]Status{"tenant-4": Binds, "connect-1": BindsPlatform, "filter-9": Decision} {
		r, ok := Lookup(id)
		require.True(t, ok, id)
		require.Equal(t, want, r.Status, id)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"an id of another form": "## S\n### Filter 6\n**Binds.** A.\n",
		"a repeated id":         "## S\n### a-1\n**Binds.** A.\n\n### a-1\n**Binds.** B.\n",
		"no status":             "## S\n### a-1\nA.\n",
		"an unknown status":     "## S\n### a-1\n**Perhaps.** A.\n",
		"no text":               "## S\n### a-1\n",
	} {
		_, err := parse(text)
		require.Error(t, err, name)
	}
}
