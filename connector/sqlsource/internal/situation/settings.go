package situation

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Setting is a setting of an engine and a value of it, as SQL.
type Setting struct{ Name, Value string }

// Settings returns the settings of a file, which change no answer, by the reason why: a line that begins
// with # says it of the lines that follow, which have a setting each, and a value to try if it can be.
func Settings(t testing.TB, path string) map[string][]Setting {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	all, why := map[string][]Setting{}, ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if reason, is := strings.CutPrefix(line, "# "); is {
			why = reason
		} else if line != "" {
			require.NotEmpty(t, why)
			name, value, _ := strings.Cut(line, " ")
			all[why] = append(all[why], Setting{strings.ToLower(name), strings.TrimSpace(value)})
		}
	}
	return all
}
