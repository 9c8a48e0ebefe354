package platform_test

import (
	"context"
	"errors"
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
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testToken = "platform-0123456789abcdef-0123456789"

// connect returns a client of a handler.
func connect(t testing.TB, h http.Handler, opts platform.Options) *platform.Client {
	t.Helper()
	var stop func()
	opts.HTTP, stop = memlisten.Client(h)
	t.Cleanup(stop)
	return clientWith(t, opts)
}

// TestConnect connects where one of the three first requests is refused. What comes
// after it is not asked.
func TestConnect(t *testing.T) {
	good := tabled(numbered(3, true), "")
	for _, c := range []struct {
		why, path string // the one that is refused
		code      wire.Code
		asked     []string // beside the document
	}{
		{"no document, no connector", wire.PathDocument, "bad_request", nil},
		{"credentials that are rejected discover nothing", wire.PathCheck, wire.CodeCheckFailed, []string{wire.PathCheck}},
		{"a refusal of discovery is passed on", wire.PathDiscovery, wire.CodeBadRequest, []string{wire.PathCheck, wire.PathDiscovery}},
	} {
		r := record(good)
		r.handler = testkit.OnPath(good, c.path, testkit.JSON(http.StatusBadRequest, `{"error":{"code":"`+string(c.code)+`","message":"no"}}`))
		_, err := platform.Connect(t.Context(), connect(t, r, platform.Options{}), nobody, nil)
		require.Equal(t, c.path != wire.PathDocument, errors.Is(err, &wire.Error{Code: c.code}), c.why)
		require.Error(t, err, c.why)
		require.Equal(t, c.asked, paths(r.asked(t)), c.why)
	}
}

// TestConnected looks at what a connection knows.
func TestConnected(t *testing.T) {
	h := instead(tabled(numbered(3, true), ""), wire.PathDiscovery,
		whole.Replace(`{"tables":[{"name":"t",<table>,"primaryKey":[],"foreignKeys":[],"fields":[]},{"name":"T",<table>,"primaryKey":[],`+
			`"foreignKeys":[],"fields":[]}],"warnings":["the folder is empty"]}`))
	c := connectTo(t, h, nil)
	require.Equal(t, []string{"the folder is empty"}, c.Warnings)
	require.Same(t, &c.Tables[0], c.Table("t"))
	require.Same(t, &c.Tables[1], c.Table("T"), "names are exact")
	require.Nil(t, c.Table("tt"))
	require.Equal(t, "corpus", c.Document.Slug)
}

// TestObserved watches the requests of one connection and not those of another, which
// have the places of limits.concurrency in common.
func TestObserved(t *testing.T) {
	c := connectTo(t, tabled(numbered(3, true), "concurrency=1"), nil)
	var first, second []string
	see := func(list *[]string) func(platform.Step) {
		return func(s platform.Step) {
			if s.Kind == "sent" {
				*list = append(*list, s.Path)
			}
		}
	}
	one, two := c.Observed(see(&first)), c.Observed(see(&second))
	answered(t, one, "size numbered")
	answered(t, two, "cardinality numbered id")
	answered(t, one, "query numbered id limit=1")
	testkit.Must(entityOf(two, "numbered").Size(t.Context()))(t)
	answered(t, c, "size numbered")
	require.Equal(t, []string{wire.PathSize, wire.PathQuery}, first)
	require.Equal(t, []string{wire.PathCardinality, wire.PathSize}, second, "an entity asks through its own connection")

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	answer := testkit.Must(one.Query(t.Context(), query("numbered id")))(t)
	for _, err := range answer.All() {
		require.NoError(t, err)
		_, _, err := two.Size(canceled, "numbered")
		require.ErrorIs(t, err, context.Canceled, "the one place is taken")
		_, _, err = casetest.Rows(canceled, two, query("numbered id"))
		require.ErrorIs(t, err, context.Canceled, "for rows too")
	}
	answered(t, two, "size numbered") // the place is free again
}

// TestEchoedCredentials reads the errors of a connector that quotes what it was sent. What
// was typed into a plain text field may stand in a failed check, which the person who typed
// it reads; no other error is theirs alone.
func TestEchoedCredentials(t *testing.T) {
	const schema = `[{"key":"url","label":"URL","type":"text"},{"key":"key","label":"Key","type":"password"},` +
		`{"key":"pem","label":"PEM","type":"textarea"}]`
	credentials := wire.NewCredentials(map[string]string{"url": "https://crm.example.com", "key": "hunter2-hunter2", "pem": "MIIB-line"})
	for _, c := range []struct {
		why      string
		document bool
		code     wire.Code
		want     string
	}{
		{"a failed check, after the document", true, wire.CodeCheckFailed, "https://crm.example.com refuses [redacted] and [redacted]"},
		{"a failed check of a client that does not know which field is a password", false, wire.CodeCheckFailed,
			"[redacted] refuses [redacted] and [redacted]"},
		{"any other refusal", true, wire.CodeUnsupported, "[redacted] refuses [redacted] and [redacted]"},
	} {
		refused := testkit.JSON(c.code.Status(), `{"error":{"code":"`+string(c.code)+
			`","message":"https://crm.example.com refuses hunter2-hunter2 and MIIB-line"}}`)
		client := connect(t, instead(refused, wire.PathDocument,
			strings.Replace(document, `"credentialSchema":[]`, `"credentialSchema":`+schema, 1)+"}"), platform.Options{})
		if c.document {
			testkit.Must(client.Document(t.Context()))(t)
		}
		require.Equal(t, &wire.Error{Code: c.code, Message: c.want}, client.Check(t.Context(), credentials), c.why)
	}
}

// TestObserve watches requests: their bodies without credentials, every line with its
// time, and no secret that the connector repeats.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var steps []platform.Step
		refused := testkit.JSON(http.StatusBadRequest, `{"error":{"code":"bad_request","message":"`+testToken+` and s3cret-value"}}`)
		client := connect(t, testkit.OnPath(refused, wire.PathQuery, func(w http.ResponseWriter, _ *http.Request) {
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
