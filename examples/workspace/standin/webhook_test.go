package standin

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestSignatureVector compares signatures with those of openssl:
//
//	KEY=svc_wf_0123456789abcdef
//	BODY='{"event":"completed","run_id":"7f9c3a52-3f0e-4c8e-9d57-0a1b2c3d4e5f"}'
//	SECRET=$(printf %s "$KEY" | openssl dgst -sha256 -r | cut -d' ' -f1)
//	printf %s "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r
func TestSignatureVector(t *testing.T) {
	secret := hashKey("svc_wf_0123456789abcdef")
	assert.Equal(t, "b596305cdf81e9d3aa77ab217f3e4d614fa5840f39a9e126396aadd700c84b0f", secret)
	assert.Equal(t, "7d5f6e23e88c22e83d0c59e51614224201be007c69b4e4064148507a60db8003",
		sign([]byte(secret), []byte(`{"event":"completed","run_id":"7f9c3a52-3f0e-4c8e-9d57-0a1b2c3d4e5f"}`)))
}

// TestWebhooks follows a run with two Human Input steps through its webhooks.
func TestWebhooks(t *testing.T) {
	inWorld(t, func(w *world) {
		run := w.trigger()
		w.pass(3 * time.Second)
		assert.Zero(t, w.receiver.count(), "nothing to say while the run runs")
		w.pass(2 * time.Second)
		require.Equal(t, 1, w.receiver.count())
		pause := w.receiver.last(t)
		link, _ := pause["resume_url"].(string)
		assert.True(t, strings.HasPrefix(link, "http://example.com/api/v3/workflows/runs/"+run), link)
		assert.Equal(t, map[string]any{
			"event": "awaiting_input", "run_id": run, "workflow_id": "workflow_1", "state": "awaiting_input", "summary": "Step 2 of 4.",
			"duration": 4.0, "task_name": "node_2", "job_id": pause["job_id"], "resume_url": link,
		}, pause)

		d := w.receiver.received[0]
		assert.Equal(t, "POST https://receiver.example/hook", d.url)
		assert.Equal(t, "application/json", d.header.Get("Content-Type"))
		assert.Equal(t, run, d.header.Get("X-Service-Run-Id"))
		assert.Equal(t, "awaiting_input", d.header.Get("X-Service-Event"))
		assert.Equal(t, "sha256="+sign([]byte(hashKey(w.key)), []byte(d.body)), d.header.Get("X-Service-Signature"))

		w.resume()
		w.pass(2 * time.Second)
		require.Equal(t, 2, w.receiver.count())
		second := w.receiver.last(t)
		assert.Equal(t, "node_3", second["task_name"])
		assert.NotEqual(t, pause["job_id"], second["job_id"], "the second pause is another job")
		assert.NotEqual(t, link, second["resume_url"])

		w.resume()
		w.pass(2 * time.Second)
		require.Equal(t, 3, w.receiver.count())
		assert.Equal(t, map[string]any{
			"event": "completed", "run_id": run, "workflow_id": "workflow_1", "state": "completed",
			"summary": "The run ended as completed after 4 of 4 steps.", "duration": 9.0,
		}, w.receiver.last(t))
		w.pass(time.Hour)
		assert.Equal(t, 3, w.receiver.count())
	})
}

// TestEndings requires the webhooks of runs that fail or are cancelled.
func TestEndings(t *testing.T) {
	for event, end := range map[string]func(*Service, string) error{"failed": (*Service).Fail, "cancelled": (*Service).Cancel} {
		t.Run(event, func(t *testing.T) {
			inWorld(t, func(w *world) {
				run := w.trigger()
				w.pass(3 * time.Second)
				require.NoError(t, end(w.Service, run))
				w.pass(time.Minute)
				require.Equal(t, 1, w.receiver.count())
				assert.Equal(t, map[string]any{
					"event": event, "run_id": run, "workflow_id": "workflow_1", "state": event,
					"summary": "The run ended as " + event + " after 1 of 4 steps.", "duration": 3.0,
				}, w.receiver.last(t))
				assert.Equal(t, event, w.state(run))
				assert.Error(t, end(w.Service, run), "it has ended")
				assert.Error(t, end(w.Service, "none"))
			})
		})
	}
}

// TestNoWebhooks requires that only runs with a key and a callbackUrl send any.
func TestNoWebhooks(t *testing.T) {
	inWorld(t, func(w *world) {
		require.NoError(t, w.Cancel(w.triggerWith(`{}`)))
		status, answer := w.do("POST", "/v1/workflows/workflow_1/run", DefaultAccounts()[0].Token, `{"inputs":{}}`)
		require.Equal(t, 200, status)
		require.NoError(t, w.Cancel(answer["data"].(map[string]any)["execution_id"].(string)))
		w.pass(time.Hour)
		assert.Zero(t, w.receiver.count())
	})
}

// TestAttempts requires how often and when a delivery is tried. Backoff is 1, 2,
// 4 and 8 seconds; an attempt without an answer takes 30 seconds.
func TestAttempts(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/attempts.tsv", 3) {
		var statuses []int
		for word := range strings.FieldsSeq(row[1]) {
			statuses = append(statuses, testkit.Must(strconv.Atoi(word))(t))
		}
		t.Run(row[0], func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.receiver.answer = func(n int) int { return statuses[min(n, len(statuses))-1] }
				require.NoError(t, w.Cancel(w.trigger()))
				w.pass(time.Hour)
				seconds := []int{}
				for _, d := range w.receiver.received {
					seconds = append(seconds, int(d.at.Sub(w.receiver.received[0].at).Seconds()))
					assert.Equal(t, w.receiver.received[0].body, d.body)
					assert.Equal(t, w.receiver.received[0].header, d.header)
				}
				assert.Equal(t, row[2], fmt.Sprint(seconds))
			})
		})
	}
}

// TestCloseEndsDeliveries requires that Close waits neither for retries nor for a receiver that
// does not answer.
func TestCloseEndsDeliveries(t *testing.T) {
	for status, attempts := range map[int]int{500: 2, 0: 1} {
		inWorld(t, func(w *world) {
			w.receiver.answer = func(int) int { return status }
			require.NoError(t, w.Cancel(w.trigger()))
			w.pass(2 * time.Second)
			before := time.Now()
			w.Close()
			assert.Zero(t, time.Since(before))
			w.pass(time.Hour)
			assert.Equal(t, attempts, w.receiver.count())
		})
	}
}

// TestDeletedWorkflow requires what becomes of a workflow's runs and keys: runs
// that have not ended are cancelled, keys no longer authenticate.
func TestDeletedWorkflow(t *testing.T) {
	inWorld(t, func(w *world) {
		ended, open := w.trigger(), w.trigger()
		require.NoError(t, w.Fail(ended))
		w.pass(time.Second)
		status, _ := w.do("DELETE", "/v1/workflows/workflow_1", DefaultAccounts()[0].Token, "")
		require.Equal(t, 204, status)
		w.pass(time.Second)
		require.Equal(t, 2, w.receiver.count(), "failed, cancelled")
		assert.Equal(t, "cancelled", w.receiver.last(t)["event"])
		assert.Equal(t, open, w.receiver.last(t)["run_id"])
		status, _ = w.do("GET", "/api/v3/workflows/runs/"+open, w.key, "")
		assert.Equal(t, 401, status, "the key")
		status, _ = w.do("GET", "/api/v3/workflows/runs/"+open, DefaultAccounts()[0].Token, "")
		assert.Equal(t, 404, status, "the run")
	})
}

// TestKeyIsKeptAsHash requires that the service forgets the secret of a key.
func TestKeyIsKeptAsHash(t *testing.T) {
	inWorld(t, func(w *world) {
		require.Len(t, w.keys, 1)
		for hash, k := range w.keys {
			assert.Equal(t, hashKey(w.key), hash)
			assert.NotContains(t, fmt.Sprintf("%+v", *k), strings.TrimPrefix(w.key, "svc_wf_"))
		}
		assert.True(t, strings.HasPrefix(w.key, "svc_wf_"), w.key)
	})
}

// TestResumeRefusals requires what a resume request needs, beginning with a good
// link to the second step of a run that waits there.
func TestResumeRefusals(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/resume.tsv", 6) {
		t.Run(row[0], func(t *testing.T) {
			inWorld(t, func(w *world) {
				run := w.trigger()
				w.pass(5 * time.Second)
				require.Equal(t, waiting, w.state(run))
				link, token := w.receiver.last(t)["resume_url"].(string), DefaultAccounts()[0].Token
				send := func(key string) (int, map[string]any) { return w.do("POST", link, key, row[3]) }
				switch row[1] {
				case "resume":
					w.resume()
				case "resume and wait":
					w.resume()
					w.pass(time.Minute)
				case "cancel":
					require.NoError(t, w.Cancel(run))
				case "revoke":
					status, _ := w.do("DELETE", workflowPath+"/api-keys/key_1", token, "")
					require.Equal(t, 204, status)
				case "another":
					link = strings.Replace(link, run, w.trigger(), 1)
				case "":
				default:
					old, changed, _ := strings.Cut(row[1], " => ")
					link = regexp.MustCompile(old).ReplaceAllString(link, changed)
				}
				key := map[string]string{"own": w.key, "token": token, "none": ""}[row[2]]
				if row[2] == "another" || row[2] == "signs" {
					key = w.newKey()
				}
				if row[2] == "signs" { // its owner knows what signs its own links
					before, after, _ := strings.Cut(link, "job=")
					job, _, _ := strings.Cut(after, "&")
					link = before + "job=" + job + "&signature=" + sign([]byte(hashKey(key)), []byte(run+" "+job))
				}
				status, answer := send(key)
				assert.Equal(t, row[4], fmt.Sprint(status), answer)
				if row[5] != "-" {
					assert.Equal(t, row[5], answer["error"].(map[string]any)["details"].(map[string]any)["field"])
				}
				if status == 200 {
					assert.Equal(t, running, answer["state"])
				}
			})
		})
	}
}

// TestPublicAddress covers the ranges that no URL of the exchanges shows.
func TestPublicAddress(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/addresses.txt", 3) {
		assert.Equal(t, row[0] == "yes", publicAddress(netip.MustParseAddr(row[1])), "%s: %s", row[1], row[2])
	}
}

// TestCallbackHosts covers other spellings of this machine.
func TestCallbackHosts(t *testing.T) {
	for _, row := range testkit.Table(t, "testdata/callbacks.txt", 2) {
		assert.Equal(t, row[0] == "yes", checkCallback(row[1]) == nil, row[1])
	}
	for _, url := range []string{"https://127。0。0。1/", "https://ⓛocalhost/", "https://bücher.example/"} {
		assert.EqualError(t, checkCallback(url), "must have a host in ASCII; write an international name in its xn-- form", url)
	}
}

// TestPublicTransport requires that a name that leads to this machine is refused
// when it is dialled, before anything is sent.
func TestPublicTransport(t *testing.T) {
	for _, host := range []string{"127.0.0.1:1", "[::1]:1", "localhost:1"} {
		r := testkit.Must(http.NewRequest("POST", "https://"+host, nil))(t)
		_, err := publicTransport().RoundTrip(r) //nolint:bodyclose // there is none
		assert.ErrorContains(t, err, "the callback's address is not public", host)
	}
}
