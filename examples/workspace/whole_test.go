package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/internal/exchange"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/runs"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/standin"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/webhook"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// TestListsAreWhole reads every list of the stand-in while it has two and a half
// pages, through the client and through the connector, and compares them with the
// store.
func TestListsAreWhole(t *testing.T) {
	const items = 250 // of pages of 100
	account := standin.Account{Token: "a-token-for-long-lists-0123456789", Organization: "org_1", PerMinute: 1 << 30}
	service := start(t, standin.Options{Accounts: []standin.Account{account}, Items: items})
	client := testkit.Must(api.New(platform, account.Token, &api.Options{Transport: service.transport}))(t)
	tenant := connectortest.Start(t, definition, service.source(t), nil).As(tenant(account)).Unverified()

	stored := func(path string) []json.RawMessage {
		t.Helper()
		return testkit.Must(service.Stored(account.Token, path))(t)
	}
	// What stands in the path of a list that belongs to one resource.
	first := map[string]string{"id": "org_1", "chat_id": "chat_1", "workflowId": "workflow_1",
		"resourceType": "workflow", "resourceId": "workflow_1"}
	lists := 0
	for _, e := range service.Endpoints() {
		if !e.IsList() {
			continue
		}
		lists++
		args := &api.Args{Path: api.Path{}}
		path := parameter.ReplaceAllStringFunc(e.Path, func(p string) string {
			name := strings.Trim(p, "{}")
			args.Path[name] = first[name]
			if strings.Contains(e.Path, "/workflows/{id}/") {
				args.Path[name] = "workflow_1"
			}
			return args.Path[name]
		})
		want := stored(path)
		if e.Path != "/api/v2/workflows/node-options" { // which has one for each type of node
			require.GreaterOrEqual(t, len(want), items*3/5, e.Path)
		}
		name := "GET " + parameter.ReplaceAllString(e.Path, ":$1")
		var got []json.RawMessage
		for item, err := range api.List[json.RawMessage](t.Context(), client, name, args) {
			require.NoError(t, err, name)
			got = append(got, item)
		}
		assert.True(t, slices.EqualFunc(want, got, slices.Equal), "%s: %d items of %d", name, len(got), len(want))
	}
	assert.Equal(t, 21, lists)

	// Of each table, the parent's list and the list itself, or the member that has it.
	for _, tt := range []struct{ table, parents, list, member, why string }{
		{"chats", "", "/v1/chats?archived=true", "", "archived ones included"},
		{"messages", "/v1/chats?archived=true", "/api/v2/assistant/history/{id}", "", "of every chat"},
		{"files", "", "/v1/vault/files", "", "in every folder"},
		{"workflows", "", "/v1/workflows", "", "a list without pagination"},
		{"workflow_nodes", "/v1/workflows", "/v1/workflows/{id}", "nodes", "of every workflow"},
		{"runs", "/v1/workflows", "/api/v2/workflows/{id}/runs", "", "250 of one workflow"},
		{"dashboards", "", "/v1/dashboards", "", "a list of which the documents show no parameters"},
		{"widgets", "/v1/dashboards", "/v1/dashboards/{id}", "widgets", "of the dashboards of every page"},
	} {
		var want []string
		parents := []json.RawMessage{[]byte(`{}`)}
		if tt.parents != "" {
			parents = stored(tt.parents)
		}
		for _, parent := range parents {
			path := strings.ReplaceAll(tt.list, "{id}", idOf(t, parent))
			var list []json.RawMessage
			if tt.member == "" {
				list = stored(path)
			} else {
				object, err := api.Call[map[string]json.RawMessage](t.Context(), client,
					"GET "+parameter.ReplaceAllString(tt.list, ":$1"), &api.Args{Path: api.Path{"id": idOf(t, parent)}})
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(object[tt.member], &list))
			}
			for _, item := range list {
				want = append(want, idOf(t, item))
			}
		}
		require.GreaterOrEqual(t, len(want), items, tt.table)
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: tt.table, Fields: []string{"id"}}))(t, tt.table)
		var got []string
		for _, cell := range answer.Column("id") {
			got = append(got, cell.Text())
		}
		slices.Sort(want)
		slices.Sort(got)
		assert.True(t, slices.Equal(want, got), "%s (%s): %d rows of %d", tt.table, tt.why, len(got), len(want))
		n := testkit.Must(tenant.Count(wire.CountRequest{Table: tt.table}))(t, tt.table)
		assert.Equal(t, int64(len(want)), n, tt.table)
	}
}

// idOf returns the id of an object, or "" if it has none.
func idOf(t *testing.T, object []byte) string {
	t.Helper()
	var identified struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal(object, &identified))
	return identified.ID
}

// TestStory: clients and stand-in, which were written apart, work together. A key is
// made for a workflow with two Human Input steps. One run is answered when its webhooks
// come, another in advance.
func TestStory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deliveries := make(chan webhook.Delivery, 10)
		var resume func(ctx context.Context, p *webhook.Paused) error
		var receiver *webhook.Receiver
		callbacks := exchange.Serve(t, func(w http.ResponseWriter, r *http.Request) { receiver.ServeHTTP(w, r) })
		service := start(t, standin.Options{BaseURL: platform, Callbacks: callbacks})
		account := standin.DefaultAccounts()[0]
		general := testkit.Must(api.New(platform, account.Token, &api.Options{Transport: service.transport}))(t)

		var workflow api.Workflow
		for w, err := range general.Workflows(t.Context(), url.Values{"status": {"active"}}) {
			require.NoError(t, err)
			workflow = testkit.Must(general.Workflow(t.Context(), w.ID))(t)
			break
		}
		owner := testkit.Must(runs.New(platform, account.Token, &runs.Options{API: api.Options{Transport: service.transport}}))(t)
		key := testkit.Must(owner.CreateKey(t.Context(), workflow.ID, runs.NewKey{Label: "story"}))(t)
		client := testkit.Must(runs.New(platform, key.Reveal(), &runs.Options{API: api.Options{Transport: service.transport}}))(t)

		handle := func(ctx context.Context, d webhook.Delivery, _ []byte) error {
			deliveries <- d
			if paused, ok := d.(*webhook.Paused); ok {
				return resume(ctx, paused)
			}
			return nil
		}
		receiver = testkit.Must(webhook.NewReceiver([]webhook.Secret{webhook.NewSecret(key.Reveal())}, handle, nil))(t)
		resume = func(ctx context.Context, p *webhook.Paused) error {
			return client.Resume(ctx, p.ResumeURL, runs.Input{Text: "Go on"})
		}

		run := testkit.Must(client.Trigger(t.Context(), workflow.ID, runs.Trigger{CallbackURL: "https://me.example.net/hook"}))(t)
		var types []string
		for event, err := range client.Follow(t.Context(), run.RunID) {
			require.NoError(t, err)
			types = append(types, event.Type)
		}
		assert.Equal(t, runs.State, types[0])
		assert.Equal(t, runs.Done, types[len(types)-1])
		assert.Equal(t, "completed", testkit.Must(client.Status(t.Context(), run))(t).State)

		first, second, last := <-deliveries, <-deliveries, <-deliveries
		assert.Equal(t, webhook.AwaitingInput, first.Event())
		assert.Equal(t, webhook.AwaitingInput, second.Event())
		assert.NotEqual(t, first.Key(), second.Key(), "two pauses of one run are two deliveries")
		assert.Equal(t, webhook.Completed, last.Event())

		// With prepared inputs it pauses nowhere.
		inputs := map[string]runs.Input{}
		for _, node := range workflow.Nodes {
			inputs[node.ID] = runs.Input{Text: "Prepared"}
		}
		run, err := client.Trigger(t.Context(), workflow.ID, runs.Trigger{CallbackURL: "https://me.example.net/hook", Inputs: inputs})
		require.NoError(t, err)
		for _, err := range client.Follow(t.Context(), run.RunID) {
			require.NoError(t, err)
		}
		assert.Equal(t, webhook.Completed, (<-deliveries).Event())
		time.Sleep(time.Minute)
		assert.Empty(t, deliveries, "nothing else is delivered")

		// The run is over: its stream and its links say so.
		types = nil
		for event, err := range client.Follow(t.Context(), run.RunID) {
			require.NoError(t, err)
			types = append(types, event.Type)
		}
		assert.Equal(t, []string{runs.State, runs.Done}, types)
		testkit.Must(owner.Keys(t.Context(), workflow.ID))(t)
	})
}

// TestEveryList: the client reads every endpoint that needs no parameter, uploads a
// file and finds it.
func TestEveryList(t *testing.T) {
	service := start(t, standin.Options{})
	client := testkit.Must(api.New(platform, standin.DefaultAccounts()[1].Token, &api.Options{Transport: service.transport}))(t)
	for _, e := range api.Endpoints() {
		if e.Method != http.MethodGet || strings.Contains(e.Path, ":") {
			continue
		}
		if e.Answer == api.Pages || e.Answer == api.Whole {
			for _, err := range api.List[json.RawMessage](t.Context(), client, e.Name(), nil) {
				require.NoError(t, err)
			}
		} else {
			testkit.Must(api.Call[json.RawMessage](t.Context(), client, e.Name(), nil))(t)
		}
	}
	uploaded, err := client.Upload(t.Context(), api.Upload{Filename: "a.txt", Type: "text/plain", Content: strings.NewReader("hello")})
	require.NoError(t, err)
	assert.Equal(t, int64(5), uploaded.Size)
	found := 0
	for file, err := range client.Files(t.Context(), url.Values{"limit": {"7"}}) {
		require.NoError(t, err)
		if file.ID == uploaded.ID {
			found++
		}
	}
	assert.Equal(t, 1, found, "over pages of seven")
	_, err = api.Call[json.RawMessage](t.Context(), client, "POST /api/v2/object-storage/create",
		&api.Args{Body: api.Upload{Filename: "b.txt", Content: strings.NewReader("hello")}})
	require.NoError(t, err, "the main surface takes a file too")
	for _, err := range client.Files(t.Context(), url.Values{"limit": {"101"}}) {
		var failure *api.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, "limit", failure.Field)
	}
}
