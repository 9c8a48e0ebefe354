// Command describe-api drafts a connector from the description of an API. It reads an
// OpenAPI description, 3.0 or 3.1, as JSON or YAML, and prints the Go source of a
// program with one restsource table for each endpoint that lists rows:
//
//	go run . [-paths REGEXP] openapi.yaml > main.go
//
// A minus sign as the file name reads the standard input. The README says what it
// guesses, and what it leaves to you.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "describe-api:", err)
		os.Exit(1)
	}
}

// run reads the arguments and the description. It prints the source to out, and what is left to do to notes.
func run(args []string, in io.Reader, out, notes io.Writer) error {
	flags := flag.NewFlagSet("describe-api", flag.ContinueOnError)
	flags.SetOutput(notes)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(notes, "usage: describe-api [-paths REGEXP] openapi.yaml > main.go")
		flags.PrintDefaults()
	}
	paths := flags.String("paths", "", "only endpoints whose path `REGEXP` matches")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("expected one description, got %d arguments", flags.NArg())
	}
	match, err := regexp.Compile(*paths)
	if err != nil {
		return fmt.Errorf("-paths: %w", err)
	}
	data, err := load(flags.Arg(0), in)
	if err != nil {
		return err
	}
	d, err := read(data)
	if err != nil {
		return err
	}
	source, summary, err := newDraft(d, match).source()
	if err != nil {
		return err
	}
	if _, err := out.Write(source); err != nil {
		return err
	}
	_, err = fmt.Fprintln(notes, summary)
	return err
}

// maxDescription is the largest description that is read. The largest known has 12 MB.
const maxDescription = 64 << 20

// load returns the bytes of a file, or of in if its name is a minus sign.
func load(name string, in io.Reader) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxDescription+1))
	if err == nil && len(data) > maxDescription {
		err = fmt.Errorf("the description has more than %d MB", maxDescription>>20)
	}
	return data, err
}
