package testkit

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// AskRoutes asks the questions of a file, each in a subtest, and compares the answers to the byte. Each
// has a name, why it is asked, a path, the members of its body but for credentials and timeout, the
// status, and the lines of the answer.
func AskRoutes(t *testing.T, file string, credentials map[string]string, post func(path, body string) (int, string)) {
	t.Helper()
	var cases []struct {
		Name, Why, Path string
		Body            map[string]json.RawMessage
		Status          int
		Want            []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(Must(os.ReadFile(file))(t), &cases))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			c.Body["credentials"], c.Body["timeoutMs"] = Must(json.Marshal(credentials))(t), json.RawMessage("60000")
			status, answer := post(c.Path, string(Must(json.Marshal(c.Body))(t)))
			require.Equal(t, c.Status, status, "%s: %s", c.Why, answer)
			lines := slices.DeleteFunc(bytes.Split([]byte(answer), []byte("\n")), func(line []byte) bool { return len(line) == 0 })
			require.Len(t, lines, len(c.Want), "%s: %s", c.Why, answer)
			for i, want := range c.Want {
				var line bytes.Buffer
				require.NoError(t, json.Compact(&line, want))
				assert.Equal(t, line.String(), string(lines[i]), c.Why)
			}
		})
	}
}
