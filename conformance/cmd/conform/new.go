package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/conform/internal/project"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/release"
)

// newFlags are the flags of conform new.
type newFlags struct{ kind, module, replace, base string }

func (n *newFlags) set() *flag.FlagSet {
	fs := flag.NewFlagSet("conform new", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // the caller prints
	fs.StringVar(&n.kind, "kind", "", "what the data comes from: `one` of "+project.Names())
	fs.StringVar(&n.module, "module", "", "the `path` of the new module, such as example.com/acme/orders (default: the name of the folder)")
	fs.StringVar(&n.base, "base", "", "the `address` of the API, of the kinds rest and graphql")
	fs.StringVar(&n.replace, "replace", "", "take the library from this `folder`, a clone, instead of its released version")
	return fs
}

// create writes the folder of a new connector, and fetches what it requires.
func create(ctx context.Context, args []string, out, errOut io.Writer) int {
	var n newFlags
	if len(args) == 0 && terminal(os.Stdin) {
		var err error
		if args, err = ask(os.Stdin, errOut); err != nil {
			return refuse(errOut, fmt.Errorf("new: %w", err))
		}
	}
	dirs, err := parse(n.set(), args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		newUsage(out)
		return check.ExitPass
	case err != nil:
		return refuse(errOut, fmt.Errorf("new: %w", err))
	case len(dirs) != 1:
		return refuse(errOut, fmt.Errorf("new: expected the name of one folder, got %d: conform new DIR -kind %s",
			len(dirs), project.Kinds[0].Name))
	}
	p := project.Project{Dir: dirs[0], Module: n.module, Base: n.base}
	if p.Kind, err = project.KindOf(n.kind); err != nil {
		return refuse(errOut, fmt.Errorf("new: %w", err))
	}
	if p.Library, err = project.LibraryOf(release.Current(), n.replace); err != nil {
		return refuse(errOut, fmt.Errorf("new: %w", err))
	}
	if err := p.Make(); err != nil {
		return refuse(errOut, fmt.Errorf("new: %w", err))
	}
	fmt.Fprintln(errOut, "fetching what it requires ...")
	tidy := exec.CommandContext(ctx, "go", "mod", "tidy")
	tidy.Dir = p.Dir
	if text, err := tidy.CombinedOutput(); err != nil {
		return refuse(errOut, fmt.Errorf("new: the files are in %s, but go mod tidy failed there; run it again: %w\n%s", p.Dir, err, text))
	}
	fmt.Fprintf(out, "%s has a connector of the kind %s. It works as it is:\n\n"+
		"  cd %[1]s\n  go test .    # grades it\n  go run .     # serves it, and prints requests to paste\n\n"+
		"README.md there names the next three things to change.\n", p.Dir, n.kind)
	return check.ExitPass
}

// ask asks for what a new connector needs, and returns it as the arguments that say so.
func ask(in io.Reader, out io.Writer) (args []string, err error) {
	lines := bufio.NewScanner(in)
	answer := func(question string) string {
		fmt.Fprint(out, question+": ")
		lines.Scan()
		return strings.TrimSpace(lines.Text())
	}
	name := answer("What does the data come from (" + project.Names() + ")")
	kind, err := project.KindOf(name)
	if err != nil {
		return nil, errors.Join(err, lines.Err())
	}
	args = []string{"-kind", name}
	if kind.Base != "" {
		if base := answer("The address of its API (empty: " + kind.Base + ")"); base != "" {
			args = append(args, "-base", base)
		}
	}
	return append(args, answer("The name of the connector, and of its folder")), lines.Err()
}

func newUsage(out io.Writer) {
	fmt.Fprint(out, "conform new makes a folder with a connector that is conformant as it comes.\n\n  conform new DIR -kind KIND\n"+
		"  conform new    asks, on a terminal\n\n")
	fs := new(newFlags).set()
	fs.SetOutput(out)
	fs.PrintDefaults()
}
