package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// config is what the command line and the environment ask for.
type config struct {
	target      conformance.Target
	options     conformance.Options
	checks      []conformance.Check // of the options
	token       string
	credentials []string
	reports     []string
	fixture     string
	list        bool
	verbose     bool
	version     bool
	watch       bool
	preview     int // rows of each table to print
	explain     *conformance.Check

	describe []string // files to describe the connector in
	diff     string   // the file to compare it with
}

// configure reads the command line.
func configure(args []string, getenv func(string) string) (*config, error) {
	c := &config{}
	fs := flags(c)
	fs.SetOutput(io.Discard) // the caller prints
	urls, err := parse(fs, args)
	if err != nil {
		return nil, err
	}
	if c.preview > 0 {
		c.options.Mode = conformance.ModeLive // in which tables may be chosen
	}
	if c.preview < 0 || c.preview > maxPreview {
		return nil, fmt.Errorf("-preview takes a number of rows up to %d", maxPreview)
	}
	for _, name := range c.describe {
		if descriptionForms[extension(name)] == nil {
			return nil, fmt.Errorf("-describe %s: the extension tells the form: .md or .json", name)
		}
	}
	unjudged := c.preview > 0 || len(c.describe) > 0 || c.diff != ""
	switch {
	case c.watch && unjudged:
		return nil, errors.New("-watch grades again; -preview, -describe and -diff judge nothing, so leave one out")
	case len(c.reports) > 0 && unjudged:
		return nil, errors.New("-report is about a run that grades; -preview, -describe and -diff judge nothing, so leave one out")
	case c.preview > 0 && (len(c.describe) > 0 || c.diff != ""):
		return nil, errors.New("-preview prints rows, and -describe and -diff are about tables and fields, so leave one out")
	}
	if c.checks, err = c.options.Checks(); err != nil {
		return nil, err
	}
	if c.version || c.fixture != "" || c.explain != nil || c.list {
		return c, nil
	}
	switch len(urls) {
	case 0:
		return nil, errors.New("no endpoint URL; give the connector's base URL: conform https://connect.example.com/shop")
	case 1:
		c.target.URL = urls[0]
	default: // not quoted: one may be a secret that lost its flag
		return nil, fmt.Errorf("%d arguments that are no flags; give one endpoint URL", len(urls))
	}
	token := cmp.Or(c.token, getenv(check.EnvToken))
	if token == "" {
		return nil, fmt.Errorf("no token; set %s to the bearer token that the connector's host issued", check.EnvToken)
	}
	c.target.Token = wire.NewBearer(token)
	return c, c.tenants(getenv)
}

// parse reads flags that may stand before and after other arguments, which it returns.
func parse(fs *flag.FlagSet, args []string) (others []string, err error) {
	for {
		if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("%w; %s -h tells the flags", err, fs.Name())
		}
		if fs.NArg() == 0 {
			return others, nil
		}
		others, args = append(others, fs.Arg(0)), fs.Args()[1:]
	}
}

// tenants sets the credentials: those of the flags or, without any, those of the
// variables that the curl lines of a report read.
func (c *config) tenants(getenv func(string) string) error {
	add := func(from, text string) error {
		set, err := credentials(from, text)
		c.target.Credentials = append(c.target.Credentials, wire.NewCredentials(set))
		return err
	}
	for _, text := range c.credentials {
		if err := add("-credentials", text); err != nil {
			return err
		}
	}
	if len(c.credentials) > 0 {
		return nil
	}
	first, second := getenv(check.EnvCredentials), getenv(check.EnvCredentials2)
	switch {
	case first == "" && second == "":
		return nil
	case first == "":
		return fmt.Errorf("%s is set, and %s is not", check.EnvCredentials2, check.EnvCredentials)
	}
	if err := add(check.EnvCredentials, first); err != nil || second == "" {
		return err
	}
	return add(check.EnvCredentials2, second)
}

// maxCredentials is how long a file of credentials may be.
const maxCredentials = 1 << 20

// credentials reads one set from what is called so: a JSON object, or @ and the name of
// a file that holds one. No error quotes what was read.
func credentials(what, text string) (map[string]string, error) {
	from := what
	body := []byte(text)
	if name, ok := strings.CutPrefix(text, "@"); ok {
		what += " @" + name
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		body, err = io.ReadAll(io.LimitReader(f, maxCredentials+1))
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		if len(body) > maxCredentials {
			return nil, fmt.Errorf("%s: longer than a set of credentials can be", what)
		}
	} else if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil, fmt.Errorf(`%s takes a JSON object such as {"apiKey":"..."}, or @ and the name of a file that holds one`, what)
	}
	var set map[string]string
	if json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &set) != nil || set == nil {
		return nil, fmt.Errorf("%s: not one flat JSON object of strings", what)
	}
	return set, nil
}

// maxPreview is the largest number of rows of a table that a preview prints.
const maxPreview = 1000

// parts returns the members of a list with commas.
func parts(text string) (list []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

func flags(c *config) *flag.FlagSet {
	fs := flag.NewFlagSet("conform", flag.ContinueOnError)
	// texts adds a flag that may stand several times. It refuses nothing, because package flag
	// quotes what is refused, and a credential must not be.
	texts := func(to *[]string, name, usage string) {
		fs.Func(name, usage, func(text string) error {
			*to = append(*to, text)
			return nil
		})
	}
	fs.StringVar(&c.token, "token", "", "the bearer `token`; rather set "+check.EnvToken+": a flag is seen in the list of processes")
	texts(&c.credentials, "credentials",
		"upstream credentials: a JSON `object` of strings, or @file; given twice, two tenants must be kept apart (default: "+
			check.EnvCredentials+" and "+check.EnvCredentials2+")")
	fs.StringVar((*string)(&c.options.Mode), "mode", string(conformance.ModeFixture),
		"`fixture` (over the corpus), live (read-only over real data) or both")
	fs.Func("phases", "only these `phases`, such as 0,1,3", func(text string) error {
		c.options.Phases = nil
		for _, part := range parts(text) {
			n, err := strconv.Atoi(part)
			if err != nil {
				return errors.New("give a list of phases such as 0,1,3")
			}
			c.options.Phases = append(c.options.Phases, n)
		}
		return nil
	})
	fs.StringVar(&c.options.Match, "run", "", "only checks whose id matches this regular `expression`, such as '^P3'")
	fs.Func("tables", "judge only these `tables`, such as orders,customers (mode live)", func(text string) error {
		c.options.Tables = parts(text)
		return nil
	})
	fs.IntVar(&c.options.RowBudget, "rows", defaults.RowBudget, "row budget: tables of more `rows` are not read whole")
	fs.IntVar(&c.options.Requests, "requests", 0, fmt.Sprintf(
		"send at most this number of `requests`, which the checks share, a quarter of them as a second account; if they are too few for "+
			"all checks (400 to 600 in mode live), some are left out or not judged and the run is not whole (default: no limit, but in "+
			"mode live %d and a third more with a second account, or fewer if so many would take longer than %s, but not fewer than %d)",
		defaults.Requests, defaults.Timeout, defaults.FewRequests))
	fs.Func("pace", "most `requests` in a time, such as 60/min, or the least time between two, such as 100ms", func(text string) (err error) {
		c.options.Pace, err = pace(text)
		return err
	})
	fs.Uint64Var(&c.options.Seed, "seed", defaults.Seed,
		"the `number` that makes the generated queries; the same number asks the same, unless time cuts a run short")
	fs.BoolVar(&c.options.WrongCredentials, "wrong-credentials", false,
		"ask with many wrong credentials, and not only with a mistyped secret; a real account may be locked because of them")
	fs.BoolVar(&c.options.Alike, "alike", false, "two -credentials give access to the same data, so that no check can tell tenants apart")
	fs.BoolVar(&c.options.Strict, "strict", false, "fail if discovery warns of something")
	fs.DurationVar(&c.options.Timeout, "timeout", 0,
		fmt.Sprintf("ask as much as fits into this `time`, then end and report what was learned (default: after its requests, "+
			"in mode live after about %s, at the latest after %s)", defaults.Timeout, defaults.MaxTimeout))
	fs.BoolVar(&c.watch, "watch", false, "grade again whenever the connector has been restarted: first what failed, then all of it")
	texts(&c.reports, "report", "write a report to this `file`: .json, .xml (JUnit) or .html; may be given several times")
	fs.BoolVar(&c.verbose, "v", false, "leave nothing out: a line for each check, and every finding, skip and field in full")
	fs.BoolVar(&c.list, "list", false, "list the checks of the mode, the phases and the expression, and end")
	fs.BoolVar(&c.version, "version", false, "print the program's version, and end")
	fs.IntVar(&c.preview, "preview", 0, "print this `number` of rows of each table, or of -tables, and end: nothing is judged")
	texts(&c.describe, "describe",
		"write tables and fields to this `file`, .md or .json, and end: nothing is judged; may be given several times")
	fs.StringVar(&c.diff, "diff", "", "print what changed since -describe wrote this `file`, a .json, and end")
	fs.Func("explain", "explain the check with this `id`, and end", func(id string) error {
		found, err := (&conformance.Options{Mode: conformance.ModeBoth, Match: "(?i)^" + regexp.QuoteMeta(id) + "$"}).Checks()
		if err != nil || len(found) != 1 {
			return fmt.Errorf("there is no check %q; conform -mode both -list names them", id)
		}
		c.explain = &found[0]
		return nil
	})
	fs.StringVar(&c.fixture, "fixture", "", "write the fixture corpus into this `folder`, as JSON, CSV and SQL, and end")
	return fs
}

func usage(out io.Writer) {
	fmt.Fprint(out, "conform grades an external data connector.\n\n  conform [flags] URL\n"+
		"  conform new DIR -kind KIND    makes a new connector; conform new -h tells the flags\n\n")
	fmt.Fprintf(out, "URL is the connector's base URL. The token is read from %s, and credentials from %s\n"+
		"unless -credentials gives them.\n\n",
		check.EnvToken, check.EnvCredentials)
	fs := flags(&config{})
	fs.SetOutput(out)
	fs.PrintDefaults()
	fmt.Fprintln(out, "\nExit codes: 0 no check failed, 1 a check failed, 2 the run could not happen or judged nothing.\n"+
		"A token or credentials that the connector refuses fail a check: the code is 1, and the verdict NOT GRADED.")
}
