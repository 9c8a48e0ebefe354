package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/webhook"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

const (
	key    = "svc_wf_3f6c1e0a9b7d4c52"
	paused = `{"event":"awaiting_input","run_id":"run_1","workflow_id":"wf_1","state":"waiting","summary":"","duration":3,
"task_name":"Approve","job_id":"job_2","resume_url":"https://platform.example.com/resume?sig=abc"}`
	completed = `{"event":"completed","run_id":"run_1","workflow_id":"wf_1","state":"completed","summary":"Done","duration":12.5}`
)

// start runs the receiver until stop is called.
func start(t *testing.T, keys, out string) (address string, printed *testkit.Log, stop func()) {
	t.Helper()
	printed, stop = testkit.Launch(t, func(ctx context.Context, writer io.Writer) error {
		return run(ctx, []string{"-keys", keys, "-out", out}, func(string) string { return "0" }, writer)
	})
	return strings.TrimSuffix(strings.Fields(printed.Await(t, "http://"))[2], ","), printed, stop
}

// TestReceiver starts the program, delivers, stops it and starts it again.
func TestReceiver(t *testing.T) {
	dir := t.TempDir()
	keys, out := filepath.Join(dir, "keys.txt"), filepath.Join(dir, "deliveries.ndjson")
	require.NoError(t, os.WriteFile(keys, []byte("svc_wf_another\n\n"+key+"\n"), 0o600))
	secret := webhook.NewSecret(key)
	deliver := func(address, body, signed string) int {
		r := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body)))(t)
		r.Header.Set(webhook.HeaderSignature, secret.Sign([]byte(signed)))
		res := testkit.Must(http.DefaultClient.Do(r))(t)
		_ = res.Body.Close()
		return res.StatusCode
	}

	address, printed, stop := start(t, keys, out)
	assert.Equal(t, 401, deliver(address, paused, completed))
	assert.Equal(t, 204, deliver(address, paused, paused))
	assert.Equal(t, "run run_1 awaiting_input job_2\n", printed.Await(t, "run_1"), "without the address that resumes it")
	assert.Equal(t, 204, deliver(address, paused, paused))
	stop()

	// A program that was killed while it wrote leaves half a line.
	file := testkit.Must(os.OpenFile(out, os.O_APPEND|os.O_WRONLY, 0))(t)
	testkit.Must(file.WriteString(completed[:40]))(t)
	require.NoError(t, file.Close())

	address, _, stop = start(t, keys, out)
	assert.Equal(t, 204, deliver(address, paused, paused), "known from the file")
	assert.Equal(t, 204, deliver(address, completed, completed))
	stop()
	text := testkit.Must(os.ReadFile(out))(t)
	assert.Equal(t, strings.ReplaceAll(paused, "\n", "")+"\n"+completed+"\n", string(text))
	assert.Equal(t, os.FileMode(0o600), testkit.Must(os.Stat(out))(t).Mode().Perm())
}

func TestFaultyStart(t *testing.T) {
	dir := t.TempDir()
	keys, empty, broken := filepath.Join(dir, "keys"), filepath.Join(dir, "empty"), filepath.Join(dir, "broken")
	require.NoError(t, os.WriteFile(keys, []byte(key), 0o600))
	require.NoError(t, os.WriteFile(empty, []byte("\n"), 0o600))
	require.NoError(t, os.WriteFile(broken, []byte("{}\n"), 0o600))
	for _, args := range [][]string{
		{},
		{"-keys", keys, "more"},
		{"-keys", filepath.Join(dir, "nothing")},
		{"-keys", empty},
		{"-keys", keys, "-out", broken},
		{"-keys", keys, "-out", dir},
		{"-keys", keys, "-out", filepath.Join(dir, "new"), "-x"},
	} {
		err := run(t.Context(), args, func(string) string { return "0" }, io.Discard)
		require.Error(t, err, args)
		assert.NotContains(t, err.Error(), key)
	}
}
