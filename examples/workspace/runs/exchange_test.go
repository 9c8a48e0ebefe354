package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/internal/exchange"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/runs"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

const (
	base  = "https://platform.example.com"
	key   = "svc_wf_0123456789abcdef"
	runID = "6f1f7e0a-5c0c-4d0e-9f59-0d8e1f2a3b4c"
)

// play runs a test against exchanges that were written from the document.
func play(t *testing.T, file string, test func(t *testing.T, ctx context.Context, c *runs.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Must(runs.New(base, key, &runs.Options{API: api.Options{Transport: exchange.Play(t, "testdata/"+file)}}))(t)
		test(t, t.Context(), c)
	})
}

// follow returns the types of a run's events, and the error at their end.
func follow(ctx context.Context, c *runs.Client, run string) (types []string, err error) {
	for event, failure := range c.Follow(ctx, run) {
		if err = failure; err == nil {
			types = append(types, event.Type)
		}
	}
	return types, err
}

func TestRun(t *testing.T) {
	play(t, "run.http", func(t *testing.T, ctx context.Context, c *runs.Client) {
		run := testkit.Must(c.Trigger(ctx, "wf_1", runs.Trigger{
			CallbackURL: "https://me.example.com/hook",
			Inputs:      map[string]runs.Input{"node_2": {Text: "Go ahead"}},
		}))(t)
		assert.Equal(t, runs.Started{RunID: runID, StatusURL: base + "/api/v3/workflows/runs/" + runID}, run)
		status := testkit.Must(c.Status(ctx, run))(t)
		null := json.RawMessage("null")
		assert.Equal(t, runs.Run{ID: runID, WorkflowID: "wf_1", State: "running", Summary: "Started", Trigger: "api", Jobs: []runs.Job{
			{ID: "job_1", NodeID: "node_1", State: "running", Summary: "Reading", Result: null},
			{ID: "job_2", NodeID: "node_2", State: "pending", Result: null},
		}}, status)
		types := testkit.Must(follow(ctx, c, runID))(t)
		assert.Equal(t, []string{runs.State, runs.StepJob, runs.Workflow, runs.Done}, types)
		require.NoError(t, c.Resume(ctx, base+"/api/v3/workflows/runs/resume/tok?sig=0a1b2c3d4e5f", runs.Input{Text: "Yes"}))
		status = testkit.Must(c.Status(ctx, runs.Started{RunID: runID}))(t)
		assert.Equal(t, "completed", status.State)
		assert.InDelta(t, 4.5, status.Duration, 0)
		assert.JSONEq(t, `{"text":"x"}`, string(status.Jobs[0].Result))
	})
}

func TestFinishedRun(t *testing.T) {
	play(t, "finished.http", func(t *testing.T, ctx context.Context, c *runs.Client) {
		begun := time.Now()
		assert.Equal(t, []string{runs.State, runs.Done}, testkit.Must(follow(ctx, c, "run_1"))(t))
		assert.Zero(t, time.Since(begun))
	})
}

func TestKeys(t *testing.T) {
	play(t, "keys.http", func(t *testing.T, ctx context.Context, c *runs.Client) {
		expires := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
		created := testkit.Must(c.CreateKey(ctx, "wf_1", runs.NewKey{Label: "nightly", ExpiresAt: &expires}))(t)
		assert.Equal(t, "svc_wf_fedcba9876543210", created.Reveal())
		assert.NotContains(t, fmt.Sprintf("%+v %#v %s", created, created, created.Record), created.Reveal())
		assert.JSONEq(t, `"key_1"`, string(created.Record["anId"]))
		keys := testkit.Must(c.Keys(ctx, "wf_1"))(t)
		assert.Len(t, keys, 2)
		keys = testkit.Must(c.Keys(ctx, "wf_1"))(t)
		assert.Len(t, keys, 1, "with the envelope of the general API")
		require.NoError(t, c.RevokeKey(ctx, "wf_1", "key_1"))
		_, err := c.CreateKey(ctx, "wf_1", runs.NewKey{Label: "no secret comes back"})
		assert.ErrorContains(t, err, "the key was created, but the answer does not show it")
	})
}
