package standin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	exchanges "github.com/connectorsdk/connector-sdk-go/examples/workspace/internal/exchange"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// open requests the stream of a run over a connection in memory. It returns the
// lines with the second in which each arrived, and a function that hangs up.
func (w *world) open(run string) (lines chan string, hangUp func()) {
	w.t.Helper()
	transport := exchanges.Serve(w.t, func(out http.ResponseWriter, r *http.Request) {
		w.streams.Add(1)
		defer w.streams.Add(-1)
		w.ServeHTTP(out, r)
	})
	ctx, hangUp := context.WithCancel(w.t.Context())
	w.t.Cleanup(hangUp)
	url := "http://platform.example/api/v3/workflows/runs/" + run + "/stream"
	request := testkit.Must(http.NewRequestWithContext(ctx, "GET", url, nil))(w.t)
	request.Header.Set("Authorization", "Bearer "+w.key)
	opened := time.Now()
	response := testkit.Must(transport.RoundTrip(request))(w.t)
	require.Equal(w.t, 200, response.StatusCode)
	assert.Equal(w.t, "text/event-stream", response.Header.Get("Content-Type"))
	assert.NotEmpty(w.t, response.Header.Get("X-RateLimit-Limit"))
	lines = make(chan string, 1000)
	go func() {
		defer close(lines)
		defer response.Body.Close()
		scanner := bufio.NewScanner(response.Body)
		for scanner.Scan() {
			lines <- fmt.Sprintf("%ds %s", int(time.Since(opened).Seconds()), scanner.Text())
		}
	}()
	return lines, hangUp
}

// readEvents reads a stream to its end: the type of each message and, where it has
// them, its node and state. Lines other than data are returned as they are.
func readEvents(t *testing.T, lines chan string) []string {
	t.Helper()
	seen := []string{}
	for line := range lines {
		at, text, _ := strings.Cut(line, " ")
		data, isData := strings.CutPrefix(text, "data: ")
		switch {
		case isData:
			var m struct{ Type, NodeID, State string }
			require.NoError(t, json.Unmarshal([]byte(data), &m))
			seen = append(seen, strings.Join(strings.Fields(strings.Join([]string{at, m.Type, m.NodeID, m.State}, " ")), " "))
		case text != "":
			seen = append(seen, line)
		}
	}
	return seen
}

// TestStream follows the runs of testdata/streams.tsv. Each stream ends.
func TestStream(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/streams.tsv", 3) {
		t.Run(row[0], func(t *testing.T) {
			inWorld(t, func(w *world) {
				var run string
				var lines chan string
				for step := range strings.SplitSeq(row[1], "; ") {
					switch word, body, _ := strings.Cut(step, " "); word {
					case "hook":
						run = w.trigger()
					case "trigger":
						run = w.triggerWith(body)
					case "open":
						lines, _ = w.open(run)
					case "resume":
						w.resume()
					case "cancel":
						require.NoError(t, w.Cancel(run))
					case "fail":
						require.NoError(t, w.Fail(run))
					default:
						w.pass(testkit.Must(time.ParseDuration(step))(t))
					}
				}
				assert.Equal(t, strings.Split(row[2], "; "), readEvents(t, lines))
			})
		})
	}
}

// TestStreamState requires that the first message is the whole run.
func TestStreamState(t *testing.T) {
	inWorld(t, func(w *world) {
		run := w.trigger()
		lines, _ := w.open(run)
		first := strings.TrimPrefix(<-lines, "0s data: ")
		var state, status map[string]any
		require.NoError(t, json.Unmarshal([]byte(first), &state))
		_, status = w.do("GET", "/api/v3/workflows/runs/"+run, w.key, "")
		status["type"] = "state"
		assert.Equal(t, status, state)
	})
}

// TestStreamEnds requires that a stream ends at once when its reader has left or
// the service closes.
func TestStreamEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		run := w.trigger()
		lines, hangUp := w.open(run)
		other, _ := w.open(run)
		w.pass(5 * time.Second)
		hangUp()
		assert.NotEmpty(t, readEvents(t, lines))
		synctest.Wait()
		assert.EqualValues(t, 1, w.streams.Load(), "one reader has left")
		w.Close()
		synctest.Wait()
		assert.Zero(t, w.streams.Load())
		assert.NotContains(t, readEvents(t, other), "5s done", "a run that has not ended is not done")
	})
}
