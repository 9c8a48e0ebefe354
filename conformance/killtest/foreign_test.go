package killtest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestForeign grades a connector in another language, written without this SDK
// as it is, and broken in two ways.
func TestForeign(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault string
		fails []string
		why   string
	}{
		{name: "as it is", why: "it keeps every rule that can be broken from outside"},
		{name: "neq matches nulls", fault: "neq-null", fails: []string{"P2.3"}, why: "a null cell matches no comparator"},
		{name: "forgets the end", fault: "no-end", fails: []string{"P3.6g"}, why: "a stream that closes with neither end nor error is truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := startForeign(t, c.fault)
			r, err := gradeAt(context.Background(),
				conformance.Target{URL: url, Token: wire.NewBearer(testToken)},
				&conformance.Options{Seed: 1})
			require.NoError(t, err)
			if c.fails == nil {
				require.NoError(t, r.Err(), c.why)
				require.Equal(t, check.ExitPass, r.Exit())
				require.Greater(t, r.Summary().Passed, 40, "hardly anything was checked")
				return
			}
			require.Equal(t, check.ExitFail, r.Exit())
			for _, id := range c.fails {
				require.Equal(t, conformance.Fail, r.Outcome(id).Verdict, "%s: %s", id, c.why)
			}
		})
	}
}

// startForeign starts the connector over the corpus, with a fault or without, and returns
// its base URL.
func startForeign(t *testing.T, fault string) (url string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, corpus.Write(dir))
	return startNode(t, "connector.mjs", dir, fault)
}

// startNode starts a program of testdata/foreign that serves on the port it prints, and
// returns its base URL.
func startNode(t *testing.T, program string, args ...string) (url string) {
	t.Helper()
	cmd := node(t, program, args...)
	cmd.Env = append(os.Environ(), check.EnvToken+"="+testToken, "PORT=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "it does not start")
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

// node returns the command that runs a program of testdata/foreign. Without Node.js it
// skips the test, or fails it in CI.
func node(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("node is needed in CI")
		}
		t.Skip("needs Node.js 18 or later: put node on the PATH")
	}
	return exec.CommandContext(t.Context(), path, append([]string{"testdata/foreign/" + program}, args...)...)
}
