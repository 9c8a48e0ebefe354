package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// config is what the command line and the environment ask for.
type config struct {
	target  conformance.Target
	options conformance.Options
	reports []string
	fixture string
	list    bool
	explain *conformance.Check
}

// texts are the values of a flag that may stand several times. It refuses
// nothing, because package flag quotes what is refused, and a credential must
// not be.
type texts []string

func (t *texts) String() string { return "" }

func (t *texts) Set(value string) error {
	*t = append(*t, value)
	return nil
}

// raw are the flags as they were given.
type raw struct {
	token, mode, phases, explain string
	credentials                  texts
}

// configure reads the command line. Flags may stand before and after the URL.
func configure(args []string, getenv func(string) string) (*config, error) {
	c, r := &config{}, &raw{}
	fs := flags(c, r)
	fs.SetOutput(io.Discard) // the caller prints
	var urls []string
	for {
		if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("%w; conform -h tells the flags", err)
		}
		if fs.NArg() == 0 {
			break
		}
		urls, args = append(urls, fs.Arg(0)), fs.Args()[1:]
	}
	if err := c.plan(r); err != nil {
		return nil, err
	}
	if c.fixture != "" || c.explain != nil || c.list {
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
	token := r.token
	if token == "" {
		token = getenv(conformance.EnvToken)
	}
	if token == "" {
		return nil, fmt.Errorf("no token; set %s to the bearer token that the connector's host issued", conformance.EnvToken)
	}
	c.target.Token = conformance.NewSecret(token)
	for _, text := range r.credentials {
		set, err := credentials(text)
		if err != nil {
			return nil, err
		}
		c.target.Credentials = append(c.target.Credentials, wire.NewCredentials(set))
	}
	return c, nil
}

// plan checks what the run is asked to do, before anything is asked of the
// connector.
func (c *config) plan(r *raw) error {
	c.options.Mode = conformance.Mode(r.mode)
	for part := range strings.SplitSeq(r.phases, ",") {
		if r.phases == "" {
			break
		}
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return fmt.Errorf("-phases %q is not a list of phases such as 0,1,3", r.phases)
		}
		c.options.Phases = append(c.options.Phases, n)
	}
	if r.explain != "" {
		c.explain = conformance.Find(r.explain)
		if c.explain == nil {
			return fmt.Errorf("there is no check %q; conform -mode both -list names them", r.explain)
		}
	}
	_, err := c.options.Checks()
	return err
}

// maxCredentials is how long a file of credentials may be.
const maxCredentials = 1 << 20

// credentials reads one set: a JSON object, or @ and the name of a file that
// holds one. No error quotes what was read.
func credentials(text string) (map[string]string, error) {
	what := "-credentials"
	body := []byte(text)
	if name, ok := strings.CutPrefix(text, "@"); ok {
		what = "-credentials @" + name
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("-credentials: %w", err)
		}
		body, err = io.ReadAll(io.LimitReader(f, maxCredentials+1))
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("-credentials: %w", err)
		}
		if len(body) > maxCredentials {
			return nil, fmt.Errorf("%s: longer than a set of credentials can be", what)
		}
	} else if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil, errors.New(`-credentials takes a JSON object such as {"apiKey":"..."}, or @ and the name of a file that holds one`)
	}
	var set map[string]string
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff"))))
	if d.Decode(&set) != nil || set == nil || d.More() {
		return nil, fmt.Errorf("%s: not one flat JSON object of strings", what)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: not one flat JSON object of strings", what)
	}
	return set, nil
}

func flags(c *config, r *raw) *flag.FlagSet {
	fs := flag.NewFlagSet("conform", flag.ContinueOnError)
	fs.StringVar(&r.token, "token", "", "the bearer `token`; rather set "+conformance.EnvToken+": a flag is seen in the list of processes")
	fs.Var(&r.credentials, "credentials",
		"upstream credentials: a JSON `object` of strings, or @file; given twice, two tenants must be kept apart")
	fs.StringVar(&r.mode, "mode", string(conformance.ModeFixture), "`fixture` (over the corpus), live (read-only over real data) or both")
	fs.StringVar(&r.phases, "phases", "", "only these `phases`, such as 0,1,3")
	fs.StringVar(&c.options.Run, "run", "", "only checks whose id matches this regular `expression`, such as '^P3'")
	fs.IntVar(&c.options.RowBudget, "rows", conformance.DefaultRowBudget, "row budget: tables of more `rows` are not read whole")
	fs.Uint64Var(&c.options.Seed, "seed", 0, "the `number` that makes the generated queries; the report states it (default: random)")
	fs.DurationVar(&c.options.Timeout, "timeout", conformance.DefaultTimeout, "end the run after this `time` and report what was learned")
	fs.Var((*texts)(&c.reports), "report", "write a report to this `file`: .json, .xml (JUnit) or .html; may be given several times")
	fs.BoolVar(&c.list, "list", false, "list the checks of the mode, the phases and the expression, and end")
	fs.StringVar(&r.explain, "explain", "", "explain the check with this `id`, and end")
	fs.StringVar(&c.fixture, "fixture", "", "write the fixture corpus into this `folder`, as JSON, CSV and SQL, and end")
	return fs
}

func usage(out io.Writer) {
	fmt.Fprint(out, "conform grades an external data connector.\n\n  conform [flags] URL\n\n")
	fmt.Fprintf(out, "URL is the connector's base URL. The token is read from %s.\n\n", conformance.EnvToken)
	fs := flags(&config{}, &raw{})
	fs.SetOutput(out)
	fs.PrintDefaults()
	fmt.Fprintln(out, "\nExit codes: 0 no check failed, 1 a check failed, 2 the run could not happen.")
}
