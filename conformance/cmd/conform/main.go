// Command conform grades an external data connector, written in any language,
// from the outside: the same program that a platform runs after each connect.
//
//	export PLATFORM_CONNECTOR_TOKEN=...
//	conform http://localhost:8080                        # over the fixture corpus
//	conform -mode live -credentials @tenant.json https://connect.example.com/shop
//	conform -report report.html -report report.xml http://localhost:8080
//	conform -mode live -requests 400 -pace 60/min https://connect.example.com/shop
//	conform -mode live -watch http://localhost:8080      # again whenever the connector is restarted
//	conform -preview 5 http://localhost:8080             # rows of each table; judges nothing
//	conform -describe tables.md -describe tables.json http://localhost:8080
//	conform -diff tables.json http://localhost:8080      # what changed since then
//	conform -fixture ./corpus                            # the corpus, to be loaded
//	conform new orders -kind rest                        # a new connector, to begin with
//	conform -list                                        # the checks
//	conform -explain P3.4c                               # one of them
//
// It exits with 0 when no check failed, 1 when one did, and 2 when the run
// could not happen or judged nothing; with -diff, it exits with 1 when something changed.
// Package conformance tells what is graded and how a report reads; conform -h tells the flags.
//
//	go install github.com/connectorsdk/connector-sdk-go/conformance/cmd/conform@latest
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run runs the command. It writes the report to out, and the progress and errors to
// errOut, and returns the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, out, errOut io.Writer) int {
	if len(args) > 0 && args[0] == "new" {
		return create(ctx, args[1:], out, errOut)
	}
	c, err := configure(args, getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(out)
		return check.ExitPass
	case err != nil:
		return refuse(errOut, err)
	case c.fixture != "":
		if err := writeFixture(c.fixture); err != nil {
			return refuse(errOut, fmt.Errorf("-fixture: %w", err))
		}
		fmt.Fprintf(out, "The corpus is in %s, as JSON, CSV and SQL; README.md there says how to load it.\n", c.fixture)
		return check.ExitPass
	case c.version:
		fmt.Fprintf(out, "conform %s, protocol version %d, %s\n", version(debug.ReadBuildInfo()), wire.ProtocolVersion, runtime.Version())
		return check.ExitPass
	case c.explain != nil:
		fmt.Fprint(out, c.explain.Explain())
		return check.ExitPass
	case c.list:
		list(out, c.checks)
		return check.ExitPass
	case c.preview > 0:
		return preview(ctx, c, out, errOut)
	case len(c.describe) > 0 || c.diff != "":
		return describe(ctx, c, out, errOut)
	case c.watch:
		return watch(ctx, c, restarts(ctx, http.DefaultTransport, c.target.URL), func(c config) (int, []string) {
			return grade(ctx, &c, getenv, out, errOut)
		}, errOut)
	}
	code, _ := grade(ctx, c, getenv, out, errOut)
	return code
}

// writeFixture writes the corpus into a folder that is empty, or that has another version of it:
// README.md and data of the folder's owner would be replaced.
func writeFixture(dir string) error {
	files, err := os.ReadDir(dir)
	if readme, _ := os.ReadFile(filepath.Join(dir, "README.md")); err == nil && len(files) > 0 &&
		!strings.HasPrefix(string(readme), "# connector-sdk-corpus") {
		return fmt.Errorf("the folder %s has other files; name one that is not there yet", dir)
	}
	return corpus.Write(dir)
}

// grade runs the checks and reports. It returns the exit code and the ids of the checks that failed.
func grade(ctx context.Context, c *config, getenv func(string) string, out, errOut io.Writer) (code int, failed []string) {
	files, err := openReports(c.reports)
	if err != nil {
		return refuse(errOut, err), nil
	}
	p := newProgress(errOut, getenv, c.verbose)
	c.options.Progress = p.event
	said := make(chan struct{})
	quiet := context.AfterFunc(ctx, func() {
		defer close(said)
		p.say("interrupted; what was learned is reported, once more ends it at once")
	})
	report, err := conformance.Run(ctx, c.target, &c.options)
	if !quiet() {
		<-said
	}
	p.end()
	if err != nil {
		files.discard()
		return refuse(errOut, err), nil
	}
	fmt.Fprint(out, report.Text(colours(out, getenv), c.verbose))
	code = report.Exit()
	for _, o := range report.Failures() {
		failed = append(failed, o.ID)
	}
	if err := files.write(report); err != nil {
		fmt.Fprintln(errOut, "conform:", err)
		if code == check.ExitPass {
			code = check.ExitNotRun
		}
	}
	return code, failed
}

// refuse writes why the run could not happen.
func refuse(errOut io.Writer, err error) int {
	fmt.Fprintln(errOut, "conform:", err)
	return check.ExitNotRun
}

// version returns the module's version or, of a build in a clone, its commit.
func version(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return "of an unknown version"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(text, s.Value[:min(len(s.Value), 12)]) {
			text += " " + s.Value
		}
	}
	return text
}

// list prints checks.
func list(out io.Writer, checks []conformance.Check) {
	for _, check := range checks {
		kind := ""
		if check.Advice {
			kind = " (advice)"
		}
		fmt.Fprintf(out, "%d  %-7s %s%s\n", check.Phase, check.ID, check.Title, kind)
	}
}
