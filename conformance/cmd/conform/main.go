// Command conform grades an external data connector, written in any language,
// from the outside: the same program that a platform runs after each connect.
//
//	export PLATFORM_CONNECTOR_TOKEN=...
//	conform http://localhost:8080                        # over the fixture corpus
//	conform -mode live -credentials @tenant.json https://connect.example.com/shop
//	conform -report report.html -report report.xml http://localhost:8080
//	conform -fixture ./corpus                            # the corpus, to be loaded
//	conform -list                                        # the checks
//	conform -explain P3.4c                               # one of them
//
// It exits with 0 when no check failed, 1 when one did, and 2 when the run
// could not happen. Package conformance tells what is graded and how a report
// reads; conform -h tells the flags.
//
//	go install github.com/connectorsdk/connector-sdk-go/conformance/cmd/conform@latest
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the command: the report goes to out, the progress and what is wrong to
// errOut. It returns the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, out, errOut io.Writer) int {
	c, err := configure(args, getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(out)
		return conformance.ExitPass
	case err != nil:
		return refuse(errOut, err)
	case c.fixture != "":
		if err := corpus.Write(c.fixture); err != nil {
			return refuse(errOut, fmt.Errorf("-fixture: %w", err))
		}
		fmt.Fprintf(out, "The corpus is in %s, as JSON, CSV and SQL; README.md there says how to load it.\n", c.fixture)
		return conformance.ExitPass
	case c.explain != nil:
		fmt.Fprint(out, c.explain.Explain())
		return conformance.ExitPass
	case c.list:
		list(out, c)
		return conformance.ExitPass
	}
	return grade(ctx, c, getenv, out, errOut)
}

// grade runs the checks and reports.
func grade(ctx context.Context, c *config, getenv func(string) string, out, errOut io.Writer) int {
	files, err := openReports(c.reports)
	if err != nil {
		return refuse(errOut, err)
	}
	p := newProgress(errOut, getenv)
	c.options.Progress = p.event
	quiet := context.AfterFunc(ctx, func() { p.say("interrupted; what was learned is reported, once more ends it at once") })
	report, err := conformance.Run(ctx, c.target, &c.options)
	quiet()
	p.end()
	if err != nil {
		files.discard()
		return refuse(errOut, err)
	}
	fmt.Fprint(out, report.Text(colours(out, getenv)))
	code := report.Exit()
	if err := files.write(report); err != nil {
		fmt.Fprintln(errOut, "conform:", err)
		if code == conformance.ExitPass {
			code = conformance.ExitNotRun
		}
	}
	return code
}

// refuse says why the run could not happen.
func refuse(errOut io.Writer, err error) int {
	fmt.Fprintln(errOut, "conform:", err)
	return conformance.ExitNotRun
}

// list prints the checks of a run with the given options.
func list(out io.Writer, c *config) {
	checks, err := c.options.Checks()
	if err != nil { // it was looked at before
		panic(err)
	}
	for _, check := range checks {
		kind := ""
		if check.Advice {
			kind = " (advice)"
		}
		fmt.Fprintf(out, "%d  %-7s %s%s\n", check.Phase, check.ID, check.Title, kind)
	}
}
