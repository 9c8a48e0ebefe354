package runs_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
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

// against runs a test in virtual time against a handler.
func against(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, c *runs.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Must(runs.New(base, key, &runs.Options{API: api.Options{Transport: exchange.Serve(t, handler)}}))(t)
		test(t, c)
	})
}

func forbidden(t *testing.T) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) { t.Error("requested:", r.URL) }
}

// stream writes parts of an event stream, each at once.
func stream(w http.ResponseWriter, parts ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, part := range parts {
		_, _ = w.Write([]byte(part))
		_ = http.NewResponseController(w).Flush()
	}
}

const (
	stateEvent = "data: {\"type\":\"state\"}\n\n"
	jobEvent   = "data: {\"type\":\"job\"}\n\n"
	doneEvent  = "data: {\"type\":\"done\"}\n\n"
)

// TestReconnect: a stream that breaks is begun again, with a state.
func TestReconnect(t *testing.T) {
	connections := 0
	against(t, func(w http.ResponseWriter, _ *http.Request) {
		switch connections++; connections {
		case 1:
			stream(w, stateEvent, jobEvent, "data: {\"type\":\"job\"") // cut off within a message
		case 2:
			w.WriteHeader(http.StatusInternalServerError)
		case 3:
			stream(w, stateEvent)
			panic(http.ErrAbortHandler)
		default:
			stream(w, stateEvent, doneEvent)
		}
	}, func(t *testing.T, c *runs.Client) {
		begun := time.Now()
		types := testkit.Must(follow(t.Context(), c, "r1"))(t)
		assert.Equal(t, []string{"state", "job", "state", "state", "done"}, types)
		assert.Equal(t, 1+2+4, int(time.Since(begun).Seconds()), "each wait is longer")
	})
}

// TestHeartbeats: a connection without events times out, heartbeats keep it.
func TestHeartbeats(t *testing.T) {
	connections := 0
	against(t, func(w http.ResponseWriter, r *http.Request) {
		if connections++; connections == 2 {
			stream(w, stateEvent, doneEvent)
			return
		}
		stream(w, stateEvent)
		for range 10 {
			time.Sleep(time.Minute)
			stream(w, ": heartbeat\n\n")
		}
		<-r.Context().Done()
	}, func(t *testing.T, c *runs.Client) {
		begun := time.Now()
		types := testkit.Must(follow(t.Context(), c, "r1"))(t)
		assert.Equal(t, []string{"state", "state", "done"}, types)
		assert.Equal(t, 10*time.Minute+91*time.Second, time.Since(begun))
	})
}

// TestSlowReader: the time that the caller takes for an event does not count as idle.
func TestSlowReader(t *testing.T) {
	connections := 0
	against(t, func(w http.ResponseWriter, _ *http.Request) {
		connections++
		stream(w, stateEvent, jobEvent, doneEvent)
	}, func(t *testing.T, c *runs.Client) {
		for _, err := range c.Follow(t.Context(), "r1") {
			require.NoError(t, err)
			time.Sleep(time.Hour)
		}
		assert.Equal(t, 1, connections)
	})
}

// TestBroken: a stream that never gets anywhere ends with an error, and within the
// budget of streams.
func TestBroken(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"ends at once": func(w http.ResponseWriter, _ *http.Request) { stream(w, stateEvent) },
		"says nothing": func(w http.ResponseWriter, _ *http.Request) { stream(w, "") },
		"server error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"breaks":       func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			against(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				handler(w, r)
			}, func(t *testing.T, c *runs.Client) {
				begun := time.Now()
				_, err := follow(t.Context(), c, "r1")
				require.ErrorIs(t, err, runs.ErrBroken)
				assert.LessOrEqual(t, float64(requests), 60*time.Since(begun).Minutes())
			})
		})
	}
}

// TestBrokenAndBusy: waiting for the budget does not make a connection a good one.
func TestBrokenAndBusy(t *testing.T) {
	requests := 0
	against(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests++; requests%2 == 1 {
			w.Header().Set("Retry-After", "15")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		stream(w, stateEvent)
	}, func(t *testing.T, c *runs.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := follow(ctx, c, "r1")
		require.ErrorIs(t, err, runs.ErrBroken)
	})
}

// TestLongPause: a run that waits for a person for hours is followed, though its
// connections are cut.
func TestLongPause(t *testing.T) {
	connections := 0
	against(t, func(w http.ResponseWriter, _ *http.Request) {
		if connections++; connections > 100 {
			stream(w, stateEvent, doneEvent)
			return
		}
		stream(w, stateEvent)
		time.Sleep(time.Minute)
	}, func(t *testing.T, c *runs.Client) {
		types := testkit.Must(follow(t.Context(), c, "r1"))(t)
		assert.Len(t, types, 102)
	})
}

// TestHostileStreams has streams that another connection would not mend.
func TestHostileStreams(t *testing.T) {
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { stream(w, body) }
	}
	const of = "GET /api/v3/workflows/runs/:runId/stream: "
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"HTML", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>" + key))
		}, of + "the answer is no event stream"},
		{"no JSON", text("data: " + key + "\n\n"), of + `a message is not a JSON object with a "type"`},
		{"no type", text("data: {}\n\n"), of + `a message is not a JSON object with a "type"`},
		{"no state first", text(jobEvent), of + "the stream does not begin with the state of the run"},
		{"an endless line", text("data: " + strings.Repeat("x", 2<<20)), of + "a message of the stream is too long"},
		{"endless lines of one message", text(strings.Repeat("data: "+strings.Repeat("x", 40)+"\n", 1<<15)),
			of + "a message of the stream is too long"},
		{"an endless comment", text(":" + strings.Repeat("x", 2<<20)), of + "a message of the stream is too long"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example.net/", http.StatusFound)
		}, of + "the API redirects; the client does not follow, because its token could go elsewhere"},
		{"an expired key", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"code":"UNAUTHORIZED","message":"` + key + ` has expired"}}`))
		}, of + "status 401 UNAUTHORIZED: [redacted] has expired"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			connections := 0
			against(t, func(w http.ResponseWriter, r *http.Request) {
				connections++
				tt.handler(w, r)
			}, func(t *testing.T, c *runs.Client) {
				types, err := follow(t.Context(), c, "r1")
				require.EqualError(t, err, tt.want)
				assert.Empty(t, types)
				assert.Equal(t, 1, connections)
			})
		})
	}
}

// TestStreamBudget: 429 is waited for, and given up if it lasts too long.
func TestStreamBudget(t *testing.T) {
	requests := 0
	against(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests++; requests == 1 {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		stream(w, stateEvent, doneEvent)
	}, func(t *testing.T, c *runs.Client) {
		begun := time.Now()
		testkit.Must(follow(t.Context(), c, "r1"))(t)
		assert.Equal(t, 30*time.Second, time.Since(begun))
	})
	against(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}, func(t *testing.T, c *runs.Client) {
		_, err := follow(t.Context(), c, "r1")
		require.Equal(t, wire.CodeTimeout, wire.CodeOf(err))
	})
}

// TestFollowStops: by its context, or when the caller has seen enough.
func TestFollowStops(t *testing.T) {
	left := make(chan struct{}, 2)
	against(t, func(w http.ResponseWriter, r *http.Request) {
		stream(w, stateEvent)
		<-r.Context().Done()
		left <- struct{}{}
	}, func(t *testing.T, c *runs.Client) {
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
	against(t, forbidden(t), func(t *testing.T, c *runs.Client) {
		_, err := c.Status(t.Context(), runs.Started{RunID: "r1", StatusURL: "https://elsewhere.example.net/api/v3/workflows/runs/r1"})
		require.ErrorIs(t, err, api.ErrForeign)
		err = c.Resume(t.Context(), "https://elsewhere.example.net/resume?sig=0123456789abcdef", runs.Input{})
		require.ErrorIs(t, err, api.ErrForeign)
		assert.NotContains(t, err.Error(), "0123456789abcdef")
		require.Error(t, c.Resume(t.Context(), "", runs.Input{}))
	})
}

// TestRefusedResume: the error does not show the address, which is signed.
func TestRefusedResume(t *testing.T) {
	const signature = "c2lnbmF0dXJlLW9mLXRoZS1saW5r"
	address := base + "/resume/r1?run=r1&sig=" + signature
	against(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"error":{"code":"FORBIDDEN","message":"not paused: %s","details":{"sig":%q}}}`, r.URL, signature)
	}, func(t *testing.T, c *runs.Client) {
		err := c.Resume(t.Context(), address, runs.Input{Text: "Yes"})
		var failure *api.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, 403, failure.Status)
		assert.NotContains(t, fmt.Sprintf("%s %+v %s", err, failure, failure.Details), signature)
	})
	against(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(t *testing.T, c *runs.Client) {
		err := c.Resume(t.Context(), address, runs.Input{Text: "Yes"})
		require.Error(t, err)
		assert.NotContains(t, err.Error(), signature)
	})
}

// TestCallbacks: an address that the service would refuse uses no budget.
func TestCallbacks(t *testing.T) {
	against(t, forbidden(t), func(t *testing.T, c *runs.Client) {
		for _, callback := range []string{
			"http://me.example.com/hook", "https://localhost/hook", "https://LOCALHOST./hook", "https://me.localhost/hook",
			"https://127.0.0.1/hook", "https://10.1.2.3/hook", "https://172.16.0.1/", "https://192.168.1.1/", "https://169.254.169.254/latest",
			"https://[::1]/", "https://[fd00:ec2::254]/", "https://[::ffff:10.0.0.1]/", "https://0.0.0.0/", "https:///hook", "hook", "https://%zz",
		} {
			_, err := c.Trigger(t.Context(), "wf_1", runs.Trigger{CallbackURL: callback})
			assert.ErrorIs(t, err, runs.ErrCallback, callback)
		}
	})
}

func TestAnswersAboutAnotherRun(t *testing.T) {
	against(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = w.Write([]byte(`{"statusUrl":"https://platform.example.com/x"}`))
			return
		}
		_, _ = w.Write([]byte(`{"id":"r2","state":"running"}`))
	}, func(t *testing.T, c *runs.Client) {
		_, err := c.Trigger(t.Context(), "wf_1", runs.Trigger{})
		require.ErrorContains(t, err, "the answer has no runId")
		_, err = c.Status(t.Context(), runs.Started{RunID: "r1"})
		require.ErrorContains(t, err, "the answer is about another run")
	})
}

// TestTriggerOnce: a trigger without an answer is not repeated, because it may have
// started a run.
func TestTriggerOnce(t *testing.T) {
	requests := 0
	against(t, func(http.ResponseWriter, *http.Request) {
		requests++
		panic(http.ErrAbortHandler)
	}, func(t *testing.T, c *runs.Client) {
		_, err := c.Trigger(t.Context(), "wf_1", runs.Trigger{})
		require.ErrorContains(t, err, "the API may have done what was asked")
		assert.Equal(t, 1, requests)
	})
}
