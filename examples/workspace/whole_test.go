package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/standin"
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
		list := testkit.Must(service.Stored(account.Token, path))(t)
		return list
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
