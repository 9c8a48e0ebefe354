package lifecycle

import (
	"cmp"
	"context"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// State is what the status chip of a connected source shows [rule connect-10].
type State string

// The states of a source.
const (
	Verifying  State = "verifying"
	Conformant State = "conformant"
	Failed     State = "failed conformance"
)

// MaxFailures is how many failures of a conformance run the platform keeps on a source.
const MaxFailures = 10

// Status is what is known of a source at one moment.
type Status struct {
	State State
	// Detail is that of the first failure. The tooltip of the status chip shows it.
	Detail string
	// Progress is the latest step of the run. Its Planned is 0 before the first.
	Progress conformance.Event
	// Report is that of the run that decided the state, and nil while it is under way.
	Report *conformance.Report
	// Previous is the report of the last run before this one with the same form, or nil.
	Previous *conformance.Report
	// Problem says why a run ended without a verdict. The source is then still verifying,
	// because nothing is known of it, until somebody reconnects it.
	Problem string
}

// Grade runs the conformance program, as [conformance.Run] does.
type Grade func(context.Context, conformance.Target, *conformance.Options) (*conformance.Report, error)

// Source is a connected connector through its life: it is verified in the background when
// it is added and each time it is reconnected. Its methods may be used concurrently.
type Source struct {
	grade   Grade
	running sync.WaitGroup

	mu      sync.Mutex
	bound   *binding
	status  Status
	changed chan struct{} // closed at the next change
	cancel  context.CancelFunc
	run     int // counts the runs, so that a late result of an earlier one is dropped
}

// Add connects the source that a form describes. It tries the typed credentials first, as
// [Form.Test] does, so that no connector is graded with wrong ones. The source is then
// [Verifying]: it keeps the document, and a goroutine grades the connector in live mode with the
// typed credentials [rule connect-11]. The caller closes the source in the end.
//
// Add fails if [Form.WhyNotTest] returns a reason. A test passes another grade than
// [conformance.Run] to reach a connector in its own process.
func Add(ctx context.Context, form *Form, grade Grade) (*Source, error) {
	s := &Source{grade: grade, changed: make(chan struct{})}
	if err := s.Rebind(ctx, form); err != nil {
		return nil, err
	}
	return s, nil
}

// Reconnect returns the form of the source, opened again: with its name, its URL and its
// token, but without a document and without credentials, so that the document is read
// again and the credentials are typed again [rule connect-13]. [Source.Rebind] takes it.
func (s *Source) Reconnect() *Form {
	s.mu.Lock()
	bound := s.bound
	s.mu.Unlock()
	f := NewForm(&bound.options)
	f.name, f.url, f.token = bound.name, bound.url, bound.token
	return f
}

// Rebind connects the source with another form, such as that of [Source.Reconnect]: the
// source takes its document and credentials, keeps nothing of the earlier ones, and is
// [Verifying] again. A run that is still under way is cancelled. If the connector rejects the
// credentials, Rebind returns what it says, and the source stays as it was.
func (s *Source) Rebind(ctx context.Context, form *Form) error {
	bound, err := form.bind()
	if err == nil {
		err = bound.check(ctx)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bound = bound
	s.begin(nil)
	return nil
}

// Verify grades the connector again, with the form with which the source was connected. A run that
// is still under way is cancelled.
func (s *Source) Verify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(cmp.Or(s.status.Report, s.status.Previous))
}

// begin begins a run of the conformance program. The caller holds s.mu.
func (s *Source) begin(previous *conformance.Report) {
	if s.cancel != nil {
		s.cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.run++
	s.set(Status{State: Verifying, Previous: previous})
	bound, run := s.bound, s.run
	s.running.Go(func() { s.verify(ctx, bound, run) })
}

// verify runs the conformance program and moves the source to the state that follows.
func (s *Source) verify(ctx context.Context, bound *binding, run int) {
	options := conformance.Options{Mode: conformance.ModeLive, Progress: func(e conformance.Event) {
		s.update(run, func(status *Status) { status.Progress = e })
	}}
	target := conformance.Target{
		URL: bound.url, Token: bound.token, Credentials: bound.accounts, Public: !bound.options.Local,
	}
	report, err := s.grade(ctx, target, &options)
	s.update(run, func(status *Status) {
		if err != nil {
			status.Problem = err.Error()
			return
		}
		ended := verdict(report, len(bound.accounts))
		ended.Progress, ended.Previous = status.Progress, status.Previous
		*status = ended
	})
}

// verdict returns the status that a finished run as one or two accounts leads to [rule connect-12].
func verdict(r *conformance.Report, accounts int) Status {
	status := Status{State: Conformant, Report: r}
	failures := r.Failures()
	switch {
	case len(failures) > 0:
		status.State, status.Detail = Failed, failures[0].Detail
	case r.Problem != "":
		status.State, status.Problem = Verifying, r.Problem
	case accounts > 1 && r.Err() != nil: // both see the same rows
		status.State, status.Problem = Verifying, r.Verdict()
	}
	return status
}

// update changes the status, unless another run has begun since.
func (s *Source) update(run int, change func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run != s.run {
		return
	}
	status := s.status
	change(&status)
	s.set(status)
}

func (s *Source) set(status Status) {
	s.status = status
	close(s.changed)
	s.changed = make(chan struct{})
}

// Name returns the name of the source, which is the connector's slug if the form had none.
func (s *Source) Name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bound.name == "" {
		return s.bound.document.Slug
	}
	return s.bound.name
}

// URL returns the base URL of the connector.
func (s *Source) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound.url
}

// Document returns the document that was read when the source was connected. It is not to
// be changed.
func (s *Source) Document() *wire.Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound.document
}

// Client returns a client of the connector and the credentials of the tenant, as they are
// until the source is reconnected.
func (s *Source) Client() (*platform.Client, wire.Credentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound.client, s.bound.accounts[0]
}

// Clean returns a text of the connector as reports show it: without the token and the
// credentials of the source, in any spelling, and without long pieces of them. Use it before
// you show names, cells or messages.
func (s *Source) Clean(text string) string {
	s.mu.Lock()
	cleaner := s.bound.cleaner
	s.mu.Unlock()
	return cleaner.Clean(text)
}

// Status returns the status of the source, and a channel that is closed when another one
// follows.
func (s *Source) Status() (Status, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status, s.changed
}

// Close cancels a run that is under way and waits for its end.
func (s *Source) Close() {
	s.mu.Lock()
	s.run++ // a result that comes late changes nothing
	s.cancel()
	s.mu.Unlock()
	s.running.Wait()
}
