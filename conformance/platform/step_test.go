package platform_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestObserve watches requests: their bodies without credentials, every line with its
// time, and no secret that the connector repeats.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var steps []platform.Step
		refused := refusal(http.StatusBadRequest, `{"error":{"code":"bad_request","message":"`+testToken+` and s3cret-value"}}`)
		client := connect(t, onPath(refused, wire.PathQuery, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", terms.MediaNDJSON)
			for line := range strings.Lines(stream) {
				time.Sleep(time.Second)
				_, _ = io.WriteString(w, strings.ReplaceAll(line, "Zoë", "s3cret-value"))
				_ = http.NewResponseController(w).Flush()
			}
		}), platform.Options{Observe: func(s platform.Step) {
			mu.Lock()
			defer mu.Unlock()
			steps = append(steps, s)
		}})
		own := wire.NewCredentials(map[string]string{"key": "s3cret-value"})
		rows := testkit.Must(client.Query(t.Context(), own, query("t id"), columns))(t)
		for row, err := range rows.All() {
			require.NoError(t, err)
			if row[0].Int64() == 1 {
				require.Equal(t, "s3cret-value", row[4].Text(), "cells are not changed")
			}
		}
		require.Error(t, client.Check(t.Context(), own))

		var shown []string
		for _, s := range steps {
			shown = append(shown, fmt.Sprintf("%d %s %s %s %d %s", s.ID, s.Path, s.Kind, s.At, s.Status, s.Text))
		}
		text := strings.Join(shown, "\n")
		require.NotContains(t, text, testToken)
		require.NotContains(t, text, "s3cret-value")
		require.Contains(t, string(steps[0].Request), `"credentials":{}`)
		require.Equal(t, []string{
			"1 /query sent 0s 0 ",
			"1 /query answered 1s 200 ",
			`1 /query text 1s 0 {"served":{"filters":true,"sort":true,"window":false}}`,
		}, shown[:3])
		require.Contains(t, shown[3], "note\":\"[redacted]\"")
		require.Equal(t, `1 /query text 3s 0 {"ping":1}`, shown[4])
		require.Equal(t, `1 /query text 5s 0 {"end":1}`, shown[6])
		require.Equal(t, "done", steps[7].Kind)
		require.NoError(t, steps[7].Err)
		last := steps[len(steps)-1]
		require.Equal(t, "done", last.Kind)
		require.ErrorIs(t, last.Err, &wire.Error{Code: wire.CodeBadRequest})
		require.NotContains(t, last.Err.Error(), testToken)
	})
}

// TestStepText shows answers in pieces, cut short, and longer than a step shows.
func TestStepText(t *testing.T) {
	const most = 64 << 10
	long := `{"ok":true,"x":"` + strings.Repeat("x", 2*most) + `"}`
	// The token begins before what is shown ends.
	edge := `{"ok":true,"x":"` + strings.Repeat("x", most-30) + testToken + strings.Repeat("y", 99) + `"}`
	for _, c := range []struct {
		why, path, body string
		want            []string
		bytes           []int
	}{
		{"a body as it is", wire.PathCheck, `{"ok":true}`, []string{`{"ok":true}`}, []int{11}},
		{"a long body", wire.PathCheck, long, []string{long[:most]}, []int{len(long)}},
		{"a secret at the end of what is shown", wire.PathCheck, edge,
			[]string{strings.ReplaceAll(edge, testToken, "[redacted]")[:most]}, []int{len(edge)}},
		{"a stream in pieces", wire.PathQuery, "{\"ping\":1}\n{\"end\":1}\n", []string{`{"ping":1}`, `{"end":1}`}, []int{10, 9}},
		{"a stream that breaks off", wire.PathQuery, "{\"ping\":1}\n{\"ro", []string{`{"ping":1}`, `{"ro`}, []int{10, 4}},
	} {
		var texts []string
		var bytes []int
		ids := map[int64]bool{}
		media := terms.MediaJSON
		if c.path == wire.PathQuery {
			media = terms.MediaNDJSON
		}
		inPieces := canned(media, func() io.Reader { return iotest.OneByteReader(strings.NewReader(c.body)) })
		web := &http.Client{Transport: inPieces}
		client := clientWith(t, platform.Options{HTTP: web, Observe: func(s platform.Step) {
			ids[s.ID] = true
			if s.Kind == "text" {
				texts, bytes = append(texts, s.Text), append(bytes, s.Bytes)
			}
		}})
		_ = asks[c.path](t.Context(), client)
		require.Equal(t, c.want, texts, c.why)
		require.Equal(t, c.bytes, bytes, c.why)
		_ = asks[c.path](t.Context(), client)
		require.Equal(t, map[int64]bool{1: true, 2: true}, ids, "each request has an id")
	}
}

// TestPrintsNoSecret prints what holds a token.
func TestPrintsNoSecret(t *testing.T) {
	client := clientWith(t, platform.Options{})
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", client, client, client), testToken)
}
