package testkit

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
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
	if err := json.Unmarshal(Must(os.ReadFile(file))(t), &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			c.Body["credentials"], c.Body["timeoutMs"] = Must(json.Marshal(credentials))(t), json.RawMessage("60000")
			status, answer := post(c.Path, string(Must(json.Marshal(c.Body))(t)))
			var want bytes.Buffer
			for _, line := range c.Want {
				if err := json.Compact(&want, line); err != nil {
					t.Fatal(err)
				}
				want.WriteByte('\n')
			}
			if status != c.Status || strings.TrimSuffix(answer, "\n") != strings.TrimSuffix(want.String(), "\n") {
				t.Errorf("%s\ngot  %d %s\nwant %d %s", c.Why, status, answer, c.Status, want.String())
			}
		})
	}
}
