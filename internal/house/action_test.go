package house

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

// actionDir is the folder of the action that grades a connector on GitHub.
const actionDir = "../../.github/actions/conform"

// action is what GitHub's schema of an action in steps allows.
type action struct {
	Name, Description string
	Inputs            map[string]struct {
		Description string
		Required    *bool
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Name, If, Uses, Run, Shell string
			Env                            map[string]string
			With                           map[string]any
		}
	}
}

// keys are the members that the schema has at each place.
var keys = map[string][]string{
	"":         {"name", "description", "author", "inputs", "outputs", "runs", "branding"},
	"runs":     {"using", "steps"},
	"step":     {"id", "name", "if", "uses", "with", "run", "shell", "env", "working-directory", "continue-on-error"},
	"input":    {"description", "required", "default", "deprecationMessage"},
	"branding": {"icon", "color"},
}

// TestAction checks action.yml against what GitHub demands of a composite action, and
// that each expression names something that exists.
func TestAction(t *testing.T) {
	text := testkit.Must(os.ReadFile(filepath.Join(actionDir, "action.yml")))(t)
	var a action
	require.NoError(t, yaml.Unmarshal(text, &a))
	var raw map[string]any
	require.NoError(t, yaml.Unmarshal(text, &raw))
	known := func(place string, members any) {
		for member := range members.(map[string]any) {
			require.Contains(t, keys[place], member, "%q has no such member", place)
		}
	}
	known("", raw)
	known("runs", raw["runs"])
	known("branding", raw["branding"])
	for _, input := range raw["inputs"].(map[string]any) {
		known("input", input)
	}
	for _, step := range raw["runs"].(map[string]any)["steps"].([]any) {
		known("step", step)
	}

	require.NotEmpty(t, a.Name)
	require.LessOrEqual(t, len(a.Description), 200)
	require.NotEmpty(t, a.Description)
	require.Equal(t, "composite", a.Runs.Using)
	for name, input := range a.Inputs {
		require.Regexp(t, `^[a-z]+$`, name)
		require.NotEmpty(t, input.Description, name)
		require.True(t, input.Default != nil || *input.Required, "the input %s has no default", name)
		require.Contains(t, string(text), "inputs."+name, "the input %s is read by nothing", name)
	}
	var ids []string
	for _, step := range a.Runs.Steps {
		require.NotEqual(t, step.Uses == "", step.Run == "", "a step has either: %+v", step)
		if step.Run != "" {
			require.Equal(t, "bash", step.Shell, "a step of an action names its shell")
			require.NotContains(t, step.Run, "${{", "what is typed elsewhere is no part of a script: hand it over in env")
		} else {
			require.Regexp(t, `^actions/[a-z-]+@v\d+$`, step.Uses)
		}
		for _, script := range regexp.MustCompile(`\w+\.sh`).FindAllString(step.Run, -1) {
			require.FileExists(t, filepath.Join(actionDir, script))
		}
		if step.ID != "" {
			require.NotContains(t, ids, step.ID)
			ids = append(ids, step.ID)
		}
	}
	for name, output := range a.Outputs {
		require.NotEmpty(t, output.Description, name)
		require.Regexp(t, `^\$\{\{ steps\.`, output.Value, name)
	}
	script := testkit.Must(os.ReadFile(filepath.Join(actionDir, "grade.sh")))(t)
	for _, use := range regexp.MustCompile(`(inputs|steps)\.(\w+)(?:\.outputs\.(\w+))?`).FindAllStringSubmatch(string(text), -1) {
		if use[1] == "inputs" {
			require.Contains(t, a.Inputs, use[2])
			continue
		}
		require.Contains(t, ids, use[2])
		require.Contains(t, string(script), `echo "`+use[3]+`=`, "grade.sh tells no %s", use[3])
	}
}

// TestActionSteps runs the action's scripts as far as they go without the service: a
// connector that passes, one that lets nobody in, a command that ends, and the comment
// by a gh that notes what it is given.
func TestActionSteps(t *testing.T) {
	for _, program := range []string{"bash", "curl", "tac"} {
		if _, err := exec.LookPath(program); err != nil || runtime.GOOS == "windows" {
			t.Skip("the steps are for GitHub's Linux machines; here is no " + program)
		}
	}
	testrun.Long(t)
	bin := t.TempDir()
	for _, program := range []string{"conformance/cmd/conform", "examples/hello"} {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", bin+string(filepath.Separator), "./"+program)
		build.Dir = "../.."
		text, err := build.CombinedOutput()
		require.NoError(t, err, string(text))
	}
	for _, c := range []struct {
		why, command  string
		exit          string // of the program, as the following steps learn it
		verdict, says string
	}{
		{"a connector that is conformant", "exec " + bin + "/hello", "0", "CONFORMANT", "0 failed"},
		{"a connector whose token is another", "PLATFORM_CONNECTOR_TOKEN=0123456789abcdef0123456789abcdef exec " + bin + "/hello",
			"1", "NOT GRADED", "[P1.6]"},
		{"a command that ends", "echo broken", "2", "", "the command ended before the connector answered: echo broken"},
	} {
		t.Run(c.why, func(t *testing.T) {
			temp := t.TempDir()
			free := testkit.Must(net.Listen("tcp", "localhost:0"))(t)
			port := free.Addr().(*net.TCPAddr).Port
			require.NoError(t, free.Close())
			told := filepath.Join(temp, "told")
			cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(actionDir, "grade.sh"))
			cmd.Env = append(os.Environ(), "CONFORM="+bin+"/conform", "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+told,
				"GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary"), fmt.Sprintf("PORT=%d", port), "INPUT_COMMAND="+c.command,
				fmt.Sprintf("INPUT_URL=http://localhost:%d/", port), "INPUT_FLAGS=-requests 300", "INPUT_TOKEN=", "INPUT_CREDENTIALS=")
			out, err := cmd.CombinedOutput()
			require.Equal(t, c.exit == "2", err != nil, string(out))
			require.Contains(t, string(out), c.says)
			text := testkit.Must(os.ReadFile(told))(t)
			lines := strings.Split(string(text), "\n")
			require.Contains(t, lines, "exit="+c.exit)
			at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "reports=") })
			if c.verdict == "" {
				require.Negative(t, at, "there is nothing to keep")
				return
			}
			require.Contains(t, string(text), "verdict="+c.verdict)
			reports := strings.TrimPrefix(lines[at], "reports=")
			for _, name := range []string{"conformance.xml", "conformance.html", "conformance.json", "conformance.txt"} {
				assert.NotZero(t, testkit.Must(os.Stat(filepath.Join(reports, name)))(t).Size(), name)
			}
			_, err = net.Dial("tcp", fmt.Sprintf("localhost:%d", port))
			assert.Error(t, err, "the connector still runs")
			// The step that writes a comment, by a gh that notes its arguments and the body, and by one that may not.
			for _, refuses := range []bool{false, true} {
				bin := t.TempDir()
				noted := filepath.Join(bin, "noted")
				code := map[bool]string{false: "0", true: "1"}[refuses]
				gh := "#!/bin/sh\necho \"$@\" >" + noted + "\ncat \"$5\" >>" + noted + "\nexit " + code + "\n"
				require.NoError(t, os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o755))
				cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(actionDir, "comment.sh"))
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"),
					"PULL_REQUEST=https://github.com/acme/orders/pull/7", "REPORTS="+reports)
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "a run of a fork may not comment, and is no failure: %s", out)
				require.Equal(t, refuses, strings.Contains(string(out), "::warning::"))
				text := testkit.Must(os.ReadFile(noted))(t)
				require.Contains(t, string(text), "pr comment https://github.com/acme/orders/pull/7 --body-file ")
				require.Contains(t, string(text), "### "+c.verdict)
			}
		})
	}
}
