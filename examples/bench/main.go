// Bench measures the speed of the library as ratios against what one would use
// instead. This command compares whole processes over loopback HTTP:
//
//	go run -C examples/bench .
//	go run -C examples/bench . -only S3,S12 -rounds 9
//
// and prints a table. The figures that need no second process are benchmarks:
//
//	go test -C examples/bench -run '^$' -bench .
//
// See README.md for how the figures are measured and what the rivals are.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// runTimeout bounds a whole run, whatever the flags.
const runTimeout = time.Hour

// The largest run that the flags can ask for.
const (
	mostRows   = 10_000_000
	mostRounds = 100
)

// run runs the command. It returns 0 if it measured every figure that can be
// measured here, 1 if a server failed, 2 for wrong flags. A missed goal is no
// failure.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rows := flags.Int("rows", 1_000_000, "rows of the table; S8 also measures a quarter and four times as many")
	rounds := flags.Int("rounds", 7, "rounds, in each of which every server answers once")
	only := flags.String("only", "", "the goals to measure, such as S3,S12 (default all of "+strings.Join(goalIDs(), ",")+")")
	file := flags.String("figures", "", "keep the figures of this run, and those of the benchmarks, in this file, such as FIGURES.md")
	kind := flags.String("serve", "", "for internal use: run as one of the servers")
	at := flags.String("at", "", "for internal use: where the server finds its rows")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "%q: the command takes flags only; see -help\n", flags.Arg(0))
		return 2
	}
	if *rows < 1 || *rows > 4*mostRows || *kind == "" && *rows > mostRows {
		fmt.Fprintf(stderr, "-rows must be 1 to %d\n", mostRows)
		return 2
	}
	if *kind != "" {
		if err := serve(*kind, *at, *rows, stdin, stdout); err != nil {
			fmt.Fprintf(stderr, "server %s: %v\n", *kind, err)
			return 1
		}
		return 0
	}
	if *rounds < 1 || *rounds > mostRounds {
		fmt.Fprintf(stderr, "-rounds must be 1 to %d\n", mostRounds)
		return 2
	}
	if *file != "" && *only != "" {
		fmt.Fprintln(stderr, "-figures keeps a whole run; leave -only out")
		return 2
	}
	wanted := goalIDs()
	if *only != "" {
		wanted = strings.Split(*only, ",")
		for _, id := range wanted {
			if !slices.Contains(goalIDs(), id) {
				fmt.Fprintf(stderr, "-only: no goal %q here; the command measures %s, the benchmarks the others\n", id, strings.Join(goalIDs(), ", "))
				return 2
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	e := &experiment{rows: *rows, rounds: *rounds, wanted: wanted, client: newClient(), progress: stderr}
	defer e.client.close()
	about := machine(ctx, args)
	results, err := e.all(ctx)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	err = printTable(stdout, results)
	if err == nil && *file != "" {
		err = keepFigures(ctx, *file, about, results, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
