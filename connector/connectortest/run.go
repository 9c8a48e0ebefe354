package connectortest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Options configures [Run]. A nil *Options suits a source that needs no
// credentials.
type Options struct {
	// Credentials are those of the tenant whose tables Run tests.
	Credentials map[string]string
	// Other are those of another tenant, whose data differ: Run then tests that the two are kept apart, and the
	// other's tables with fewer requests. Nil tests one tenant.
	Other map[string]string
	// Alike says that both give access to the same data. Without it, Run fails if it cannot tell them apart.
	Alike bool
	// Warnings lets discovery warn of something, such as a path that leads nowhere. Without it, Run fails.
	Warnings bool
	// Connector configures the connector, as in [Start].
	Connector *connector.Options
	// RowBudget is a number of rows: larger tables are not read whole, and are tested
	// less. Zero means 200,000.
	RowBudget int64
	// Requests is the most requests to the connector that Run sends, each of which may cost
	// several of the upstream: a page or a probe each. Zero means 5,000. A smaller number
	// tests fewer fields by fewer operators, and below 400 to 600 it leaves checks out. Run
	// logs what it has tested and what not. For an upstream that limits or bills requests,
	// record its answers: see the package documentation.
	Requests int
	// Seed selects the operands of the requests. Zero means 1: a run asks the same
	// requests every time, as long as the data are the same and Requests suffices. Other
	// seeds find more.
	Seed uint64
}

const defaultRequests = 5_000

// Run grades a source with the conformance program in the mode live (package
// conformance), in this process: it tests what the connector's document declares on
// the tables that it discovers. Each failed check is a failed subtest with the name
// of the check, such as L2. Under go test -v, Run logs every five seconds how far it is,
// and in the end how much it has tested and what it could not test for want of data.
//
// Run also asks several times at once, for the race detector, as the subtest "at once".
//
// The data must not change during Run. Run only reads.
func Run(t *testing.T, def connector.Definition, src connector.Source, opts *Options) {
	t.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	var own connector.Options
	if o.Connector != nil {
		own = *o.Connector
	}
	if own.Logger == nil {
		own.Logger = newLogger(newTerseLog(t), slog.LevelWarn)
	}
	server := Start(t, def, src, &own)
	tenants := []map[string]string{o.Credentials}
	if o.Other != nil {
		tenants = append(tenants, o.Other)
	}
	report, err := server.grade(t.Context(), &conformance.Options{
		RowBudget: int(o.RowBudget), Requests: o.Requests, Seed: o.Seed, Alike: o.Alike, Strict: !o.Warnings,
		Progress: conformancetest.Progress(t),
	}, tenants...)
	if err != nil {
		t.Fatalf("connectortest: %v", err)
	}
	findings := findings(report)
	for _, f := range findings {
		t.Run(f.check, func(t *testing.T) {
			t.Helper()
			t.Error(f.text)
		})
	}
	t.Log(summary(report))
	if len(findings) == 0 {
		t.Run("at once", func(t *testing.T) { server.atOnce(t, o.Credentials) })
	}
}

// grade runs the conformance program on the connector, in the mode live.
func (s *Server) grade(ctx context.Context, opts *conformance.Options, credentials ...map[string]string) (*conformance.Report, error) {
	target, stop := conformance.InProcess(s.Handler, Token)
	defer stop()
	for _, set := range credentials {
		target.Credentials = append(target.Credentials, wire.NewCredentials(set))
	}
	opts.Mode = conformance.ModeLive
	opts.Requests = cmp.Or(opts.Requests, defaultRequests)
	return conformance.Run(ctx, target, opts)
}

// maxInFull limits how many failures are reported in full. One fault can fail several
// checks, and the others then say less than the first.
const maxInFull = 3

// finding is a failure as a test reports it.
type finding struct{ check, text string }

// findings returns what a run found wrong, the first in full.
func findings(r *conformance.Report) (list []finding) {
	failures := r.Failures()
	for i := range failures {
		o := &failures[i]
		text := o.Title + ": " + o.Detail
		if i < maxInFull {
			text = inFull(o, r.Endpoint)
		}
		list = append(list, finding{o.ID, text})
	}
	if err := r.Err(); err != nil && list == nil {
		list = append(list, finding{"run", err.Error()})
	}
	return list
}

// maxShown limits the length of a request in a message.
const maxShown = 2_000

// inFull returns all that there is to say about a failed check.
func inFull(o *conformance.Outcome, endpoint string) string {
	text := o.Detail + labelled("expected:", o.Expected) + labelled("received:", o.Received)
	if r := o.Request; r != nil {
		body := r.Body
		if len(body) > maxShown {
			body = fmt.Sprintf("%s... (%d bytes)", body[:maxShown], len(body))
		}
		text += labelled("request:", r.Method+" "+strings.TrimPrefix(r.URL, endpoint)+" "+body)
	}
	return text + labelled("fix:", o.Fix) + labelled("check:", fmt.Sprintf("%s %s (%s)", o.ID, o.Title, strings.Join(o.Rules, ", ")))
}

// labelled returns a text of one or more lines behind a label, or nothing.
func labelled(label, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("\n\t%-9s %s", label, strings.ReplaceAll(text, "\n", "\n\t          "))
}

// summary returns what a run has tested, what it could not test for want of data, and
// its advice.
func summary(r *conformance.Report) string {
	var b strings.Builder
	s := r.Summary()
	fmt.Fprintf(&b, "connectortest: %d checks passed, %d failed; %s; %d requests, seed %d",
		s.Passed, s.Failed, r.Verdict(), r.Requests, r.Seed)
	for _, o := range r.Advice() {
		fmt.Fprintf(&b, "\n\tadvice: %s %s: %s", o.ID, o.Title, o.Detail)
	}
	for _, o := range r.Outcomes {
		if o.Phase == 4 && o.Reason == conformance.NoData || o.Reason == conformance.DataChanged || o.Reason == conformance.NotReached {
			fmt.Fprintf(&b, "\n\tnot tested: %s %s: %s", o.ID, o.Title, o.Detail)
		}
	}
	return b.String()
}

// atOnce asks as often at once as the document allows. Each must get the same answers.
func (s *Server) atOnce(t testing.TB, credentials map[string]string) {
	doc, err := s.platform(platform.Options{}).Document(t.Context())
	if err != nil {
		t.Fatalf("connectortest: %v", err)
	}
	together([]*repeater{newRepeater(t, s, "the tenant", credentials)}, int(doc.Capabilities.Limits.Concurrency))
}
