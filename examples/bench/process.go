package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
)

// The servers under measurement, each in a process of its own.

// The kinds of server: the first argument after -serve, and node.
const (
	serverSDK      = "sdk"
	serverMaps     = "maps"
	serverPrebuilt = "prebuilt"
	serverNode     = "node"
)

// serve runs in the child. It listens on a free port of the loopback, prints its
// address and serves until its standard input ends, which it does when the parent
// ends, in whatever way. For each line of the input it prints the bytes of heap and
// stacks that are in use.
func serve(kind, at string, rows int, stdin io.Reader, stdout io.Writer) error {
	var h http.Handler
	var err error
	switch kind {
	case serverSDK:
		h, err = newConnector(rows)
	case serverMaps:
		h = mapsHandler(rows)
	case serverPrebuilt:
		h, err = prebuiltHandler(rows)
	case serverPages:
		h = pagesHandler(rows)
	default:
		var ok bool
		if h, ok, err = sourceHandler(kind, at, rows); !ok {
			err = fmt.Errorf("no server %q", kind)
		}
	}
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, l.Addr()); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- connector.Serve(ctx, l, h, nil) }()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for asked := bufio.NewScanner(stdin); asked.Scan(); {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			_, _ = fmt.Fprintln(stdout, m.HeapInuse+m.StackInuse)
		}
	}()
	select {
	case err := <-served:
		return err
	case <-ended: // the process ends, and with it what is still held
		return nil
	}
}

// server is a child as the parent sees it.
type server struct {
	kind   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	url    string
}

// errNoNode means that a comparison with Node cannot be made here.
var errNoNode = errors.New("node is not installed; install Node 20 to measure this")

// startTimeout bounds the start of a server.
const startTimeout = 30 * time.Second

// start runs a server over a table with this number of rows, and with further flags.
// It is killed when ctx ends.
func start(ctx context.Context, kind string, rows int, flags ...string) (*server, error) {
	cmd, err := command(ctx, kind, rows, flags)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 5 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("server %s: %w", kind, err)
	}
	s := &server{kind: kind, cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}
	late := time.AfterFunc(startTimeout, func() { _ = cmd.Process.Kill() })
	line, err := s.stdout.ReadString('\n')
	if !late.Stop() {
		err = fmt.Errorf("printed no address within %v", startTimeout)
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("server %s did not start: %w", kind, err)
	}
	s.url = "http://" + strings.TrimSpace(line) + "/query"
	return s, nil
}

func command(ctx context.Context, kind string, rows int, flags []string) (*exec.Cmd, error) {
	if kind == serverNode {
		node, err := exec.LookPath("node")
		if err != nil {
			return nil, errNoNode
		}
		script, err := rivalScript()
		if err != nil {
			return nil, err
		}
		return exec.CommandContext(ctx, node, script, strconv.Itoa(rows)), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, self, append([]string{"-serve", kind, "-rows", strconv.Itoa(rows)}, flags...)...), nil
}

// rivalScript finds rival.mjs. `go run -C` and `go test` both run in its folder, a
// built binary may not.
func rivalScript() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	for _, path := range []string{"rival.mjs", filepath.Join(filepath.Dir(here), "rival.mjs")} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errors.New("rival.mjs was not found; run `go run -C examples/bench .` in the repository")
}

// stop ends the server and waits for it.
func (s *server) stop() {
	_ = s.stdin.Close()
	gone := time.AfterFunc(2*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer gone.Stop()
	_ = s.cmd.Wait()
}

// errNoProc means that a process cannot be looked into here.
var errNoProc = errors.New("memory and processor time of a process are read from /proc, which only Linux has")

// peakMemory returns the largest resident size of the server so far, in bytes.
func (s *server) peakMemory() (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, errNoProc
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errNoProc
}

// tick is the unit of processor time in /proc.
const tick = time.Second / 100

// processorTime returns the processor time that the server has used so far.
func (s *server) processorTime() (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, errNoProc
	}
	// pid (command) state ... utime stime: the 14th and 15th field. The
	// command may hold blanks and parentheses.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if len(fields) < 13 {
		return 0, errNoProc
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, errNoProc
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return 0, errNoProc
	}
	return time.Duration(user+system) * tick, nil
}
