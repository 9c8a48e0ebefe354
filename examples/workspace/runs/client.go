package runs

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
)

// Options are what a user of the client may set. Nil, and every zero member, is the
// default.
type Options struct {
	API api.Options
	// Quiet is how long an event stream may send nothing, not even a heartbeat, before
	// Follow connects again. The document does not show how often heartbeats come.
	// Default: 90 seconds.
	Quiet time.Duration
}

// Client runs one workflow with a key made for it. It is safe for concurrent use.
type Client struct {
	api   *api.Client
	quiet time.Duration
}

// New returns a client with a key. The document does not show which credential
// manages keys and reads a status: if the service wants another one there, make
// another client with it.
func New(base, key string, options *Options) (*Client, error) {
	if options == nil {
		options = &Options{}
	}
	client, err := api.New(base, key, &options.API)
	if err != nil {
		return nil, err
	}
	c := &Client{client, options.Quiet}
	if c.quiet <= 0 {
		c.quiet = defaultQuiet
	}
	return c, nil
}

// Input is what a person answers at a Human Input step.
type Input struct {
	Text string
	// Files are the files of the answer. The document does not show their form.
	Files []json.RawMessage
}

// MarshalJSON writes both members, because the service expects a list of files.
func (i Input) MarshalJSON() ([]byte, error) {
	files := i.Files
	if files == nil {
		files = []json.RawMessage{}
	}
	return json.Marshal(struct {
		Text  string            `json:"text"`
		Files []json.RawMessage `json:"files"`
	}{i.Text, files})
}

// Trigger is what a run starts with. Both members may be empty.
type Trigger struct {
	// CallbackURL is where webhooks go: an https address that the service can reach.
	CallbackURL string `json:"callbackUrl,omitempty"`
	// Inputs answers Human Input steps in advance, by the id of the node. The run does
	// not pause there.
	Inputs map[string]Input `json:"inputs,omitempty"`
}

// Started is a run that was started.
type Started struct {
	RunID string `json:"runId"`
	// StatusURL is the address of the run's status, as the service gave it.
	StatusURL string `json:"statusUrl"`
}

// ErrCallback is the error of a callback address that the service would refuse.
var ErrCallback = errors.New("runs: the callback address must be https, and must not lead to localhost or a private network")

// Trigger starts a run of a published workflow. If no answer comes, the run may have
// started nevertheless: Trigger is then not repeated.
func (c *Client) Trigger(ctx context.Context, workflow string, t Trigger) (Started, error) {
	const endpoint = "POST /api/v3/workflows/:workflowId/trigger"
	if !reachable(t.CallbackURL) {
		return Started{}, ErrCallback
	}
	run, err := api.Call[Started](ctx, c.api, endpoint, &api.Args{Path: api.Path{"workflowId": workflow}, Body: t})
	if err == nil && run.RunID == "" {
		err = &api.AnswerError{Endpoint: endpoint, Problem: "the answer has no runId"}
	}
	return run, err
}

// reachable reports whether the service would take a callback address, as far as its
// text shows. The service also looks where a name leads.
func reachable(callback string) bool {
	if callback == "" {
		return true
	}
	u, err := url.Parse(callback)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if a, err := netip.ParseAddr(host); err == nil {
		// Link-local addresses are those of metadata services too.
		return !a.IsPrivate() && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsUnspecified() && !a.IsMulticast()
	}
	return host != "localhost" && !strings.HasSuffix(host, ".localhost")
}

// Run is the status of a run.
type Run struct {
	ID         string  `json:"id"`
	WorkflowID string  `json:"workflowId"`
	State      string  `json:"state"` // such as "running" or "completed"; other names are not shown
	Summary    string  `json:"summary"`
	Duration   float64 `json:"duration"` // in a unit that is not shown; 0 right after the start
	Trigger    string  `json:"trigger"`
	Jobs       []Job   `json:"jobs"` // one for each step
}

// Job is one step of a run.
type Job struct {
	ID      string          `json:"id"`
	NodeID  string          `json:"nodeId"`
	State   string          `json:"state"` // such as "pending" or "running"
	Summary string          `json:"summary"`
	Result  json.RawMessage `json:"result"` // null while the step has not finished
}

// Status returns the status of a run. Without a StatusURL, it asks at the address
// that the RunID implies. A StatusURL on another host is refused with
// [api.ErrForeign].
func (c *Client) Status(ctx context.Context, run Started) (Run, error) {
	const endpoint = "GET /api/v3/workflows/runs/:runId"
	args := &api.Args{URL: run.StatusURL}
	if run.StatusURL == "" {
		args.Path = api.Path{"runId": run.RunID}
	}
	status, err := api.Call[Run](ctx, c.api, endpoint, args)
	switch {
	case err != nil:
		return Run{}, err
	case status.ID == "" || run.RunID != "" && status.ID != run.RunID:
		return Run{}, &api.AnswerError{Endpoint: endpoint, Problem: "the answer is about another run"}
	}
	return status, nil
}

// Resume answers a run that is paused at a Human Input step. The address is that of
// the webhook. It is signed against the client's key: the service refuses it with
// another key, when it was changed, and when the run is no longer paused.
func (c *Client) Resume(ctx context.Context, resumeURL string, input Input) error {
	if resumeURL == "" {
		return errors.New("runs: Resume needs the resume_url of a webhook")
	}
	return c.api.Do(ctx, "POST {resume_url}", &api.Args{URL: resumeURL, Body: map[string]Input{"input": input}})
}
