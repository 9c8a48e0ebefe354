package testkit

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// NeedsShell skips a test on a machine without a shell or curl.
func NeedsShell(t testing.TB) {
	t.Helper()
	Needs(t, "bash", "curl")
}

// Needs skips a test on a machine without some commands. CI has all of them.
func Needs(t testing.TB, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if _, err := exec.LookPath(command); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is missing; install it", command)
			}
			t.Skipf("%s is missing; install it to run this test", command)
		}
	}
}

// Paste runs a line as a person does who pastes it: the shell reads it from its input, not as
// an argument. It returns what the line prints.
func Paste(t testing.TB, line string, environment ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--norc", "-s")
	cmd.Stdin = strings.NewReader(line + "\n")
	cmd.Env = append(append(os.Environ(), "LC_ALL=C.UTF-8"), environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %.500s\n%s", err, line, out)
	}
	return string(out)
}
