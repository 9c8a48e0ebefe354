package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/webhook"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// The payloads of the document's four events.
const (
	paused1 = `{"event":"awaiting_input","run_id":"run_1","workflow_id":"wf_1","state":"waiting","summary":"","duration":3,` +
		`"task_name":"Approve","job_id":"job_2","resume_url":"https://platform.example.com/resume?sig=abc"}`
	paused2 = `{"event":"awaiting_input","run_id":"run_1","workflow_id":"wf_1","state":"waiting","summary":"","duration":9,` +
		`"task_name":"Sign","job_id":"job_4","resume_url":"https://platform.example.com/resume?sig=def"}`
	completed = `{"event":"completed","run_id":"run_1","workflow_id":"wf_1","state":"completed","summary":"Done","duration":12.5}`
	failed    = `{"event":"failed","run_id":"run_2","workflow_id":"wf_1","state":"failed","summary":"No access","duration":1}`
	cancelled = `{"event":"cancelled","run_id":"run_3","workflow_id":"wf_1","state":"cancelled","summary":"","duration":0}`
)

func TestParse(t *testing.T) {
	run := func(id, state, summary string, duration float64) webhook.Run {
		return webhook.Run{RunID: id, WorkflowID: "wf_1", State: state, Summary: summary, Duration: duration}
	}
	for body, want := range map[string]webhook.Delivery{
		paused1: &webhook.Paused{Run: run("run_1", "waiting", "", 3), TaskName: "Approve", JobID: "job_2",
			ResumeURL: "https://platform.example.com/resume?sig=abc"},
		completed: &webhook.Finished{Run: run("run_1", "completed", "Done", 12.5)},
		failed:    &webhook.Failure{Run: run("run_2", "failed", "No access", 1)},
		cancelled: &webhook.Cancellation{Run: run("run_3", "cancelled", "", 0)},
	} {
		got := testkit.Must(webhook.Parse([]byte(body)))(t)
		assert.Equal(t, want, got)
		assert.Equal(t, want.About().RunID, got.Key().RunID)
		assert.Equal(t, got.Event(), got.Key().Event)
		assert.Contains(t, body, fmt.Sprintf(`"event":%q`, got.Event()))
	}
	for _, bad := range []string{
		"", "null", "[]", completed[:50], completed + "x", `{"event":"completed"}`, `{"run_id":"run_1"}`,
		`{"event":"paused","run_id":"run_1"}`,
		`{"event":"awaiting_input","run_id":"run_1","resume_url":"https://platform.example.com/"}`,
		`{"event":"awaiting_input","run_id":"run_1","job_id":"job_1"}`,
		`{"event":"completed","run_id":7}`,
	} {
		_, err := webhook.Parse([]byte(bad))
		assert.ErrorIs(t, err, webhook.ErrPayload, bad)
	}
}

// inbox counts what a receiver handles.
type inbox struct {
	*webhook.Receiver
	got  []webhook.Key
	fail error
}

func newInbox(t *testing.T, options *webhook.Options) *inbox {
	t.Helper()
	in := &inbox{}
	secrets := []webhook.Secret{webhook.NewSecret("svc_wf_another"), webhook.NewSecret(key)}
	in.Receiver = testkit.Must(webhook.NewReceiver(secrets, func(_ context.Context, d webhook.Delivery, _ []byte) error {
		in.got = append(in.got, d.Key())
		return in.fail
	}, options))(t)
	return in
}

// deliver sends a signed body and returns the status of the answer.
func (in *inbox) deliver(body string) int {
	return in.send(httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(body)), webhook.NewSecret(key).Sign([]byte(body)))
}

func (in *inbox) send(r *http.Request, signature string) int {
	r.Header.Set(webhook.HeaderSignature, signature)
	w := httptest.NewRecorder()
	in.ServeHTTP(w, r)
	return w.Code
}

// TestRepeatedDeliveries: what comes again is acknowledged and not handled again. Two
// pauses of one run are two deliveries.
func TestRepeatedDeliveries(t *testing.T) {
	in := newInbox(t, nil)
	for _, body := range []string{paused1, paused1, paused2, paused1, completed, paused2, completed} {
		assert.Equal(t, 204, in.deliver(body))
	}
	assert.Equal(t, []webhook.Key{
		{RunID: "run_1", Event: webhook.AwaitingInput, JobID: "job_2"},
		{RunID: "run_1", Event: webhook.AwaitingInput, JobID: "job_4"},
		{RunID: "run_1", Event: webhook.Completed},
	}, in.got)
}

// TestFailedHandling: the service tries again, and so does the receiver.
func TestFailedHandling(t *testing.T) {
	in := newInbox(t, nil)
	in.fail = errors.New("the disk is full")
	assert.Equal(t, 500, in.deliver(completed))
	assert.Equal(t, 500, in.deliver(completed))
	in.fail = nil
	assert.Equal(t, 204, in.deliver(completed))
	assert.Equal(t, 204, in.deliver(completed))
	assert.Len(t, in.got, 3)
}

func TestRemember(t *testing.T) {
	in := newInbox(t, &webhook.Options{Remember: 2})
	in.Remember(webhook.Key{RunID: "run_1", Event: webhook.Completed})
	for _, body := range []string{completed, failed, completed, cancelled} {
		assert.Equal(t, 204, in.deliver(body))
	}
	assert.Len(t, in.got, 2, "completed was known from earlier")
	assert.Equal(t, 204, in.deliver(completed))
	assert.Len(t, in.got, 3, "and was forgotten as the oldest of three")
}

// TestRefusals: nothing that is not signed is parsed, and nothing of it is handled.
func TestRefusals(t *testing.T) {
	in := newInbox(t, &webhook.Options{MaxBody: 1000})
	sign := func(body string) string { return webhook.NewSecret(key).Sign([]byte(body)) }
	post := func(body io.Reader) *http.Request { return httptest.NewRequest(http.MethodPost, "/hook", body) }
	large := completed + strings.Repeat(" ", 1000-len(completed)+1)

	assert.Equal(t, 405, in.send(httptest.NewRequest(http.MethodGet, "/hook", nil), ""))
	assert.Equal(t, 401, in.send(post(strings.NewReader(completed)), ""))
	assert.Equal(t, 401, in.send(post(strings.NewReader(completed)), sign(failed)))
	assert.Equal(t, 401, in.send(post(strings.NewReader("{")), sign("[")), "401 before 400: the signature is checked first")
	assert.Equal(t, 400, in.deliver("{"))
	assert.Equal(t, 400, in.deliver(`{"event":"unheard of","run_id":"run_1"}`))
	assert.Equal(t, 413, in.deliver(large))
	cut := io.MultiReader(strings.NewReader(completed), iotest.ErrReader(io.ErrUnexpectedEOF))
	assert.Equal(t, 400, in.send(post(cut), sign(completed)))

	twice := post(strings.NewReader(completed))
	twice.Header[webhook.HeaderSignature] = []string{sign(completed), sign(completed)}
	w := httptest.NewRecorder()
	in.ServeHTTP(w, twice)
	assert.Equal(t, 401, w.Code)
	assert.Empty(t, w.Body.String(), "a refusal explains nothing")

	assert.Empty(t, in.got)
	assert.Equal(t, 204, in.deliver(large[:1000]), "the largest body")
}

// TestHeadersAreNotBelieved: only the body is signed.
func TestHeadersAreNotBelieved(t *testing.T) {
	in := newInbox(t, nil)
	r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(completed))
	r.Header.Set(webhook.HeaderEvent, "failed")
	r.Header.Set(webhook.HeaderRunID, "run_9")
	assert.Equal(t, 204, in.send(r, webhook.NewSecret(key).Sign([]byte(completed))))
	assert.Equal(t, []webhook.Key{{RunID: "run_1", Event: webhook.Completed}}, in.got)
}

// TestSlowHandling: the service cuts an attempt off after 30 seconds and tries again
// while the first is still being handled. It is handled once.
func TestSlowHandling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		handle := func(ctx context.Context, _ webhook.Delivery, _ []byte) error {
			calls++
			time.Sleep(45 * time.Second)
			return ctx.Err()
		}
		receiver := testkit.Must(webhook.NewReceiver([]webhook.Secret{webhook.NewSecret(key)}, handle, nil))(t)
		in := &inbox{Receiver: receiver}
		attempt := func() int {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(completed)).WithContext(ctx)
			return in.send(r, webhook.NewSecret(key).Sign([]byte(completed)))
		}
		first := make(chan int)
		go func() { first <- attempt() }()
		time.Sleep(5 * time.Second)
		assert.Equal(t, 500, attempt(), "cut off while it waited")
		assert.Equal(t, 204, attempt(), "done in the meantime")
		assert.Equal(t, 204, <-first)
		assert.Equal(t, 1, calls)
	})
}

// TestPanic: a handler that panics does not leave repetitions waiting.
func TestPanic(t *testing.T) {
	calls := 0
	receiver, err := webhook.NewReceiver([]webhook.Secret{webhook.NewSecret(key)}, func(context.Context, webhook.Delivery, []byte) error {
		if calls++; calls == 1 {
			panic("a bug")
		}
		return nil
	}, nil)
	require.NoError(t, err)
	in := &inbox{Receiver: receiver}
	assert.Panics(t, func() { in.deliver(completed) })
	assert.Equal(t, 204, in.deliver(completed))
}

func TestNewReceiver(t *testing.T) {
	handle := func(context.Context, webhook.Delivery, []byte) error { return nil }
	_, err := webhook.NewReceiver(nil, handle, nil)
	require.Error(t, err)
	_, err = webhook.NewReceiver([]webhook.Secret{webhook.NewSecret(key)}, nil, nil)
	require.Error(t, err)
}

const key = "svc_wf_3f6c1e0a9b7d4c52"

// vectors were computed by openssl. For a key K and a body B:
//
//	S=$(printf %s "$K" | openssl dgst -sha256 -r | cut -d' ' -f1)
//	printf %s "$B" | openssl dgst -sha256 -hmac "$S" -r
var vectors = []struct{ key, body, digest string }{
	{key, `{"event":"completed","run_id":"run_1","workflow_id":"wf_1","state":"completed","summary":"Done: 3 files","duration":12.5}`,
		"3403ca4fd65bfbf1e3d94fe5b196249618408c0462265913833d88fac96f503f"},
	{key, "{ \"event\" : \"awaiting_input\",\n  \"summary\": \"Prüfen 🙂\" }\n",
		"db741da7fa64885c26b3ca56b7b45c04f40fa4bdf3fd4017a798f331fb28d5d3"},
	{key, "", "f76ae62db46e7599f6ed5b9517413e066c1a9d300e60134277ab477bcfe11d76"},
	{"svc_wf_ü", `{"event":"completed","run_id":"run_1","workflow_id":"wf_1","state":"completed","summary":"Done: 3 files","duration":12.5}`,
		"c627899980b667fb147756ec70c21f71c0f0782b4c66eb52e6472787eea6802f"},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		secret := webhook.NewSecret(v.key)
		assert.Equal(t, "sha256="+v.digest, secret.Sign([]byte(v.body)))
		require.NoError(t, secret.Verify("sha256="+v.digest, []byte(v.body)))
	}
}

func TestVerifyRefuses(t *testing.T) {
	v := vectors[0]
	secret := webhook.NewSecret(v.key)
	for name, header := range map[string]string{
		"nothing":             "",
		"no prefix":           v.digest,
		"another prefix":      "sha1=" + v.digest,
		"upper case":          "sha256=" + strings.ToUpper(v.digest),
		"cut off":             "sha256=" + v.digest[:62],
		"too long":            "sha256=" + v.digest + "00",
		"one bit":             "sha256=" + strings.Replace(v.digest, "3", "2", 1),
		"of another body":     "sha256=" + vectors[1].digest,
		"of another key":      "sha256=" + vectors[3].digest,
		"signed with the key": "sha256=789780683876c761011bd181c8d9ac85c099ef1c2913c4355f5feb3a82d352e7", // -hmac "$K"
		"signed with bytes":   "sha256=0d388f7fc40711a3b0e661e874fa3469ad4b0354f10234b316463dd8425b23dc", // -mac HMAC -macopt hexkey:"$S"
		"with a space":        " sha256=" + v.digest,
	} {
		assert.ErrorIs(t, secret.Verify(header, []byte(v.body)), webhook.ErrSignature, name)
	}
	// The body counts as it was received, to the last blank.
	assert.ErrorIs(t, secret.Verify("sha256="+v.digest, []byte(v.body+"\n")), webhook.ErrSignature)
	assert.ErrorIs(t, webhook.Secret{}.Verify("sha256="+v.digest, []byte(v.body)), webhook.ErrSignature, "the zero secret")
}

func TestSecretIsNotPrinted(t *testing.T) {
	const digest = "3b990d1695328845406c1d7dae03a98a88788f6f6f8de38bd38f13901101697c"
	secret := webhook.NewSecret(key)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		printed := fmt.Sprintf(verb, struct{ S webhook.Secret }{secret})
		assert.NotContains(t, printed, digest)
		assert.NotContains(t, printed, key)
	}
}
