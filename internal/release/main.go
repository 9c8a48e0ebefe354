package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run does what the arguments ask in the repository of the working directory.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	toPrepare := flags.Bool("prepare", false, "date the changelog's section and keep the listing of the API; commit both afterwards")
	toTag := flags.Bool("tag", false, "make the tags in this repository")
	proxy := flags.String("proxy", "", "write a file module proxy of the working tree into this `directory`, an absolute path")
	if err := flags.Parse(args); err != nil {
		return err
	}
	version := flags.Arg(0)
	if flags.NArg() != 1 || semver.Canonical(version) != version || semver.Build(version) != "" {
		return errors.New("expected flags first and then one version, such as v0.1.0")
	}
	if err := module.CheckPathMajor(version, ""); err != nil {
		return fmt.Errorf("%w; from v2 on the module's path needs the suffix first", err)
	}
	root, err := git(".", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	switch {
	case *toPrepare && !*toTag && *proxy == "":
		return prepare(root, version, time.Now())
	case *proxy != "" && !*toPrepare && !*toTag:
		if !filepath.IsAbs(*proxy) {
			return fmt.Errorf("-proxy %s is not an absolute path; give one, because go run -C changes the directory", *proxy)
		}
		return proxyOfTree(root, *proxy, version)
	case *toPrepare || *proxy != "":
		return errors.New("give at most one of -prepare, -proxy and -tag")
	}
	return tag(root, version, *toTag, out)
}

// proxyOfTree writes a file module proxy of the files as they are in the working tree.
func proxyOfTree(root, dir, version string) error {
	staged, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(staged)
	modules, err := stage(root, staged)
	if err != nil {
		return err
	}
	return writeProxy(staged, dir, version, time.Now(), modules)
}
