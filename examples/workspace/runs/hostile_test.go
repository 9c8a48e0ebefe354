package runs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/internal/exchange"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/runs"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// against runs a test in virtual time against a server that answers as words say.
func against(t *testing.T, words string, test func(t *testing.T, c *runs.Client, requests *atomic.Int64)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		transport, requests := exchange.Answers(t, words, "key", key)
		test(t, testkit.Must(runs.New(base, key, &runs.Options{API: api.Options{Transport: transport}}))(t), requests)
	})
}

// TestFollow has streams that break, pause, end early or are none.
func TestFollow(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/follow.tsv", 6) {
		t.Run(row[0], func(t *testing.T) {
			against(t, row[1], func(t *testing.T, c *runs.Client, requests *atomic.Int64) {
				begun := time.Now()
				types, err := follow(t.Context(), c, "r1")
				if row[5] == "-" {
					require.NoError(t, err)
				} else {
					require.EqualError(t, err, "GET /api/v3/workflows/runs/:runId/stream: "+row[5])
				}
				assert.Equal(t, strings.Contains(row[5], "again and again"), errors.Is(err, runs.ErrBroken))
				assert.Equal(t, strings.Contains(row[5], "no further request"), wire.CodeOf(err) == wire.CodeTimeout)
				want := []string{row[2], row[3], exchange.Expand(row[4])}
				assert.Equal(t, want, []string{
					fmt.Sprint(requests.Load()), time.Since(begun).String(), strings.Join(types, " "),
				})
			})
		})
	}
}

// TestSlowReader: the time that the caller takes for an event does not count as idle.
func TestSlowReader(t *testing.T) {
	against(t, "events state job done", func(t *testing.T, c *runs.Client, requests *atomic.Int64) {
		for _, err := range c.Follow(t.Context(), "r1") {
			require.NoError(t, err)
			time.Sleep(time.Hour)
		}
		assert.EqualValues(t, 1, requests.Load())
	})
}

// TestFollowStops: by its context, or when the caller has seen enough.
func TestFollowStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan struct{}, 2)
		transport := exchange.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: {\"type\":\"state\"}\n\n"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			left <- struct{}{}
		})
		c := testkit.Must(runs.New(base, key, &runs.Options{API: api.Options{Transport: transport}}))(t)
		for range c.Follow(t.Context(), "r1") {
			break
		}
		<-left
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		types, err := follow(ctx, c, "r1")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, []string{"state"}, types)
		<-left
	})
}

// TestForeignAddresses: the key goes neither to a statusUrl nor to a resume_url on
// another host.
func TestForeignAddresses(t *testing.T) {
	against(t, "500", func(t *testing.T, c *runs.Client, requests *atomic.Int64) {
		_, err := c.Status(t.Context(), runs.Started{RunID: "r1", StatusURL: "https://elsewhere.example.net/api/v3/workflows/runs/r1"})
		require.ErrorIs(t, err, api.ErrForeign)
		err = c.Resume(t.Context(), "https://elsewhere.example.net/resume?sig=0123456789abcdef", runs.Input{})
		require.ErrorIs(t, err, api.ErrForeign)
		assert.NotContains(t, err.Error(), "0123456789abcdef")
		require.Error(t, c.Resume(t.Context(), "", runs.Input{}))
		assert.Zero(t, requests.Load())
	})
}

// TestRefusedResume: the error does not show the address, which is signed.
func TestRefusedResume(t *testing.T) {
	const signature = "c2lnbmF0dXJlLW9mLXRoZS1saW5r"
	address := base + "/resume/r1?run=r1&sig=" + signature
	refusal := `403 {"error":{"code":"FORBIDDEN","message":"not paused: /resume/r1?run=r1&sig=` + signature +
		`","details":{"sig":"` + signature + `"}}}`
	against(t, refusal+" ~ break", func(t *testing.T, c *runs.Client, _ *atomic.Int64) {
		err := c.Resume(t.Context(), address, runs.Input{Text: "Yes"})
		var failure *api.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, 403, failure.Status)
		assert.NotContains(t, fmt.Sprintf("%s %+v %s", err, failure, failure.Details), signature)
		err = c.Resume(t.Context(), address, runs.Input{Text: "Yes"})
		require.Error(t, err)
		assert.NotContains(t, err.Error(), signature)
	})
}

// TestCallbacks: an address that the service would refuse uses no budget.
func TestCallbacks(t *testing.T) {
	against(t, "500", func(t *testing.T, c *runs.Client, requests *atomic.Int64) {
		for _, row := range testkit.Table(t, "testdata/callbacks.tsv", 2) {
			_, err := c.Trigger(t.Context(), "wf_1", runs.Trigger{CallbackURL: row[1]})
			assert.ErrorIs(t, err, runs.ErrCallback, "%s: %s", row[1], row[0])
		}
		assert.Zero(t, requests.Load())
	})
}

// TestTrigger: an answer about another run is none, and a trigger without an answer is not repeated,
// because it may have started a run.
func TestTrigger(t *testing.T) {
	const words = `200 {"statusUrl":"https://platform.example.com/x"} ~ 200 {"id":"r2","state":"running"} ~ break`
	against(t, words, func(t *testing.T, c *runs.Client, requests *atomic.Int64) {
		_, err := c.Trigger(t.Context(), "wf_1", runs.Trigger{})
		require.ErrorContains(t, err, "the answer has no runId")
		_, err = c.Status(t.Context(), runs.Started{RunID: "r1"})
		require.ErrorContains(t, err, "the answer is about another run")
		_, err = c.Trigger(t.Context(), "wf_1", runs.Trigger{})
		require.ErrorContains(t, err, "the API may have done what was asked")
		assert.EqualValues(t, 3, requests.Load())
	})
}
