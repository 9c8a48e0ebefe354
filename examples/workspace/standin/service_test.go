package standin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// world is a service in a bubble of its own time, with one workflow key, and the
// receiver of its webhooks.
type world struct {
	*Service
	t        *testing.T
	receiver *receiver
	key      string
	streams  atomic.Int32 // that the service is answering
}

const workflowPath = "/api/v3/workflows/workflow_1"

// inWorld calls f in a bubble. The steps of workflow_1 take two seconds each:
// ai_task, human_input, human_input, ai_task.
func inWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, receiver: &receiver{}}
		w.Service = New(Options{Callbacks: w.receiver})
		defer w.Close()
		w.key = w.newKey()
		f(w)
	})
}

func (w *world) newKey() string {
	_, answer := w.do("POST", workflowPath+"/api-keys", DefaultAccounts()[0].Token, `{"label":"test"}`)
	return answer["secret"].(string)
}

// do sends a request in the name of a token or key, and returns the answer.
func (w *world) do(method, url, token, body string) (status int, answer map[string]any) {
	w.t.Helper()
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	recorder := httptest.NewRecorder()
	w.ServeHTTP(recorder, r)
	if recorder.Body.Len() > 0 {
		require.NoError(w.t, json.Unmarshal(recorder.Body.Bytes(), &answer))
	}
	return recorder.Code, answer
}

// trigger starts a run with the receiver's URL and returns its id.
func (w *world) trigger() string {
	return w.triggerWith(`{"callbackUrl":"https://receiver.example/hook"}`)
}

func (w *world) triggerWith(body string) string {
	w.t.Helper()
	status, answer := w.do("POST", workflowPath+"/trigger", w.key, body)
	require.Equal(w.t, 200, status, answer)
	return answer["runId"].(string)
}

// resume answers the latest pause, and requires that this is taken.
func (w *world) resume() {
	w.t.Helper()
	status, answer := w.do("POST", w.receiver.last(w.t)["resume_url"].(string), w.key, `{"input":{"text":"Yes","files":[]}}`)
	require.Equal(w.t, 200, status, answer)
}

func (w *world) state(run string) any {
	_, answer := w.do("GET", "/api/v3/workflows/runs/"+run, w.key, "")
	return answer["state"]
}

func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// receiver records the webhooks that it gets.
type receiver struct {
	mu       sync.Mutex
	answer   func(attempt int) int // the status; 0 hangs until the attempt is cut off, -1 is a broken connection
	received []delivery
}

type delivery struct {
	at     time.Time
	url    string
	header http.Header
	body   string
}

func (r *receiver) RoundTrip(request *http.Request) (*http.Response, error) {
	body := string(testkit.Body(request))
	r.mu.Lock()
	r.received = append(r.received, delivery{time.Now(), request.Method + " " + request.URL.String(), request.Header, body})
	attempt, answer := len(r.received), r.answer
	r.mu.Unlock()
	status := 200
	if answer != nil {
		status = answer(attempt)
	}
	switch status {
	case 0:
		<-request.Context().Done()
		return nil, request.Context().Err()
	case -1:
		return nil, errors.New("broken")
	}
	return testkit.Reply(status, ""), nil
}

// last returns the payload of the latest delivery.
func (r *receiver) last(t *testing.T) map[string]any {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotEmpty(t, r.received)
	var payload map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.received[len(r.received)-1].body), &payload))
	return payload
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.received)
}

func TestPanicIsServerError(t *testing.T) {
	inWorld(t, func(w *world) {
		w.endpoints = append(w.endpoints, get("/v1/broken", "", one("Any"), func(*call) (any, error) { panic("secret detail") }))
		status, answer := w.do("GET", "/v1/broken", DefaultAccounts()[0].Token, "")
		assert.Equal(t, 500, status)
		assert.Equal(t, map[string]any{
			"error": map[string]any{"code": "INTERNAL_ERROR", "message": "The server failed.", "details": map[string]any{}},
		}, answer)
		status, _ = w.do("GET", "/v1/whoami", DefaultAccounts()[0].Token, "")
		assert.Equal(t, 200, status, "the service goes on")
	})
}

func TestLargeBodyIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		status, answer := w.do("POST", "/v1/chats", DefaultAccounts()[0].Token, `{"title":"`+strings.Repeat("a", maxBody)+`"}`)
		assert.Equal(t, 400, status)
		assert.Contains(t, answer["error"].(map[string]any)["message"], "10485760 bytes")
	})
}

// TestAccounts requires the default budget, and that a misspelled endpoint is noticed.
func TestAccounts(t *testing.T) {
	s := New(Options{Accounts: []Account{{Token: "a", Organization: "o"}}})
	defer s.Close()
	assert.Equal(t, 60, s.accounts["a"].PerMinute)
	assert.PanicsWithValue(t, "standin: there is no endpoint GET /chats", func() {
		New(Options{Accounts: []Account{{Token: "a", Organization: "o", Forbidden: []string{"GET /chats"}}}})
	})
}

// TestSeed requires that a seed decides the data, the ids of runs and the keys.
func TestSeed(t *testing.T) {
	answers := func(seed uint64) (text string) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{t: t, Service: New(Options{Seed: seed, BaseURL: "https://platform.example/"})}
			defer w.Close()
			w.key = w.newKey()
			text = w.key + w.trigger()
			for _, path := range []string{
				"/v1/chats?archived=true&limit=100", "/v1/vault/files?limit=100", "/v1/workflows", "/v1/dashboards",
				"/api/v2/workflows/workflow_3/runs", "/v1/vault/files/file_1",
			} {
				_, answer := w.do("GET", path, DefaultAccounts()[0].Token, "")
				text += string(encoded(answer))
			}
		})
		return text
	}
	first := answers(1)
	assert.Equal(t, first, answers(1))
	assert.NotEqual(t, first, answers(2))
	assert.Contains(t, first, "https://platform.example/download/file_1", "BaseURL begins absolute URLs")
}

// TestSeededData requires what users of the seeded data rely on: an organization
// for each account, lists of more than a page, and runs with jobs.
func TestSeededData(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, a := range DefaultAccounts() {
			o := w.organizations[a.Organization]
			assert.Greater(t, len(o.files), 20)
			assert.NotEmpty(t, o.chats)
			jobs := 0
			for _, workflow := range o.workflows {
				for _, r := range workflow.runs {
					jobs += len(r.jobs)
				}
			}
			assert.Positive(t, jobs)
			assert.Equal(t, active, o.workflows[0].status)
			assert.Equal(t, draft, o.workflows[1].status)
		}
	})
}

// TestConcurrentUse lets the race detector see requests, runs, streams and
// deliveries at the same time.
func TestConcurrentUse(t *testing.T) {
	inWorld(t, func(w *world) {
		token := DefaultAccounts()[1].Token
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				run := w.trigger()
				lines, _ := w.open(run)
				for range 5 {
					time.Sleep(time.Second)
					w.do("GET", "/api/v2/workflows/workflow_1/runs", DefaultAccounts()[0].Token, "")
					w.do("POST", "/v1/chats", token, `{"title":"A"}`)
					w.do("GET", "/v1/chats", token, "")
				}
				assert.NoError(t, w.Cancel(run))
				assert.NotEmpty(t, readEvents(t, lines))
			})
		}
		group.Wait()
		synctest.Wait()
		assert.Equal(t, 8, w.receiver.count(), "each run paused and was cancelled")
	})
}
