//go:build linux

package main

import (
	"bufio"
	"debug/elf"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// instruction is one of the Dockerfile's, without its comments and line breaks.
type instruction struct{ name, args string }

func dockerfile(t *testing.T) (all []instruction) {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	joined := regexp.MustCompile(`\\\n\s*`).ReplaceAllString(string(text), " ")
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, args, _ := strings.Cut(line, " ")
		all = append(all, instruction{name, strings.TrimSpace(args)})
	}
	return all
}

// TestDockerfile checks the file as far as that is possible without docker: the
// instructions and stages, that the program which it builds needs no library, and
// that it answers with nothing around it, as in the image.
func TestDockerfile(t *testing.T) {
	var build, entry, user string
	stages, copied := map[string]bool{}, map[string]string{}
	base := ""
	for _, in := range dockerfile(t) {
		switch in.name {
		case "FROM":
			image, stage, _ := strings.Cut(in.args, " AS ")
			stages[stage], base = true, image
		case "RUN":
			if strings.Contains(in.args, "go build") {
				build = in.args
			}
		case "COPY":
			fields := strings.Fields(in.args)
			if from, ok := strings.CutPrefix(fields[0], "--from="); ok {
				require.True(t, stages[from], "no stage %s before %s", from, in.args)
				require.Len(t, fields, 3, in.args)
				copied[fields[1]] = fields[2]
				continue
			}
			for _, path := range fields[:len(fields)-1] {
				_, err := os.Stat(filepath.Join("..", "..", path))
				require.NoError(t, err, in.args)
			}
		case "ENTRYPOINT":
			var args []string // a shell that would split them is not there
			require.NoError(t, json.Unmarshal([]byte(in.args), &args))
			require.Len(t, args, 1)
			entry = args[0]
		case "USER":
			user = in.args
		case "WORKDIR", "EXPOSE":
		default:
			t.Errorf("unknown instruction %s", in.name)
		}
	}
	require.Equal(t, "scratch", base, "the last stage")
	target := regexp.MustCompile(` -o (\S+) `).FindStringSubmatch(build)
	require.NotNil(t, target, "no program is built")
	require.Equal(t, entry, copied[target[1]], "what is started is what was built")
	id, err := strconv.ParseUint(strings.Split(user, ":")[0], 10, 32)
	require.NoError(t, err, "scratch knows no user by name")
	require.NotZero(t, id, "root")
	if testing.Short() {
		t.Skip("building without cgo takes a while the first time")
	}

	root := t.TempDir()
	program := filepath.Join(root, entry)
	command := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(build, " -o "+target[1], " -o '"+program+"'", 1))
	command.Dir = filepath.Join("..", "..")
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	file, err := elf.Open(program)
	require.NoError(t, err)
	for _, p := range file.Progs {
		require.NotEqual(t, elf.PT_INTERP, p.Type, "the program is not static")
	}
	require.NoError(t, file.Close())

	run := exec.CommandContext(t.Context(), program)
	run.Env = []string{"PORT=0"}
	if os.Geteuid() == 0 { // only root may be in a place with nothing else
		run.Path, run.Args, run.Dir = entry, []string{entry}, "/"
		run.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
	}
	lines, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	url := ""
	scanner := bufio.NewScanner(lines)
	for url == "" && scanner.Scan() {
		url = regexp.MustCompile(`http://localhost:\d+`).FindString(scanner.Text())
	}
	require.NotEmpty(t, url, "it prints no address")
	go func() {
		for scanner.Scan() { // a full pipe would stop the program
		}
	}()
	res, err := http.Get(url + "/healthz")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	require.NoError(t, run.Process.Signal(syscall.SIGTERM))
	state, err := run.Process.Wait()
	require.NoError(t, err)
	require.True(t, state.Success(), "SIGTERM ends it: %s", state)
}
