package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/internal/exchange"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/standin"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// load reads the members of a file of JSON, without the reason that it begins with.
func load(t *testing.T, file string) map[string]json.RawMessage {
	t.Helper()
	text := testkit.Must(os.ReadFile(file))(t)
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &members))
	delete(members, "reason")
	return members
}

// TestTables reads every table of answers that were written from the documents.
func TestTables(t *testing.T) {
	shown := load(t, "testdata/answers.json") // by the documents
	transport := exchange.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, ok := shown[r.URL.Path]
		var items []json.RawMessage
		switch {
		case r.Header.Get("Authorization") != "Bearer a-token":
			testkit.JSON(401, `{"error":{"code":"UNAUTHORIZED","message":"invalid token"}}`)(w, r)
		case !ok:
			testkit.JSON(404, `{"error":{"code":"NOT_FOUND","message":"no such resource"}}`)(w, r)
		case json.Unmarshal(data, &items) != nil:
			testkit.JSON(200, `{"data":`+string(data)+`}`)(w, r)
		default:
			offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
			text, _ := json.Marshal(map[string]any{"data": items[min(offset, len(items)):], "pagination": map[string]any{
				"total": len(items), "limit": 100, "offset": offset, "hasMore": false}})
			testkit.JSON(200, string(text))(w, r)
		}
	})
	source := testkit.Must(restsource.New(generalAPI, tables, &restsource.Options{Transport: transport}))(t)
	tenant := connectortest.Start(t, definition, source, nil).As(map[string]string{"baseUrl": platform, "token": "a-token"})
	require.NoError(t, tenant.Check())
	want := load(t, "testdata/rows.json")
	require.Len(t, tables, len(want))
	for _, table := range tables {
		var fields []string
		for _, column := range table.Columns {
			fields = append(fields, column.Name)
		}
		answer := testkit.Must(tenant.In(t).Query(wire.QueryRequest{Table: table.Name, Fields: fields}))(t, table.Name)
		assert.JSONEq(t, string(want[table.Name]), answer.JSON(), table.Name)
	}
}

// TestDiscovery: keys, and the foreign keys between the tables.
func TestDiscovery(t *testing.T) {
	service := start(t, standin.Options{})
	tenant := connectortest.Start(t, definition, service.source(t), nil).As(tenant(standin.DefaultAccounts()[1]))
	discovery := testkit.Must(tenant.Discover())(t)
	assert.Empty(t, discovery.Warnings)
	require.Len(t, discovery.Tables, 10)
	var links []string
	for _, table := range discovery.Tables {
		assert.NotEmpty(t, table.PrimaryKey, table.Name)
		for _, key := range table.ForeignKeys {
			links = append(links, table.Name+"."+key.Field+" -> "+key.TargetTable+"."+key.TargetField)
		}
	}
	assert.ElementsMatch(t, []string{
		"messages.chat_id -> chats.id",
		"workflow_nodes.workflow_id -> workflows.id",
		"runs.workflow_id -> workflows.id",
		"jobs.run_id -> runs.id",
		"widgets.dashboard_id -> dashboards.id",
	}, links)
}

// TestPushed: what the API can filter by, it is asked to.
func TestPushed(t *testing.T) {
	service := start(t, standin.Options{})
	tenant := connectortest.Start(t, definition, service.source(t), nil).As(tenant(standin.DefaultAccounts()[1])).Unverified()
	for _, tt := range []struct{ table, column, value, want string }{
		{"workflows", "status", "active", "/v1/workflows?limit=100&offset=0&status=active"},
		{"files", "type", "text/csv", "/v1/vault/files?limit=100&offset=0&type=text%2Fcsv"},
		{"files", "folder_id", "directory_4", "/v1/vault/files?folder_id=directory_4&limit=100&offset=0"},
	} {
		service.paths = nil
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: tt.table, Fields: []string{"id", tt.column},
			Where: wire.Where{And: []wire.Filter{{Field: tt.column, Op: wire.OpEq, Value: wire.Text(tt.value)}}}}))(t)
		require.NotEmpty(t, answer.Rows)
		for _, cell := range answer.Column(tt.column) {
			assert.Equal(t, wire.Text(tt.value), cell)
		}
		assert.Equal(t, tt.want, service.paths[0])
	}
	// A filter on the parent's id asks that parent's endpoint alone.
	service.paths = nil
	_, err := tenant.Query(wire.QueryRequest{Table: "widgets", Fields: []string{"id"},
		Where: wire.Where{And: []wire.Filter{{Field: "dashboard_id", Op: wire.OpEq, Value: wire.Text("dashboard_5")}}}})
	require.NoError(t, err)
	// The parent is asked for while the next page of parents is on its way: either may arrive first.
	assert.ElementsMatch(t, []string{"/v1/dashboards?limit=100&offset=0", "/v1/dashboards?limit=100&offset=4",
		"/v1/dashboards/dashboard_5"}, service.paths)
	service.paths = nil
	assert.Equal(t, int64(12), testkit.Must(tenant.Count(wire.CountRequest{Table: "chats"}))(t))
	assert.Len(t, service.paths, 1, "the API counts the chats")
	assert.Contains(t, service.paths[0], "/v1/chats?archived=true&", "with those that it leaves out by default")
}

// TestRequests: what reading a table costs of the budget. README.md says so too.
func TestRequests(t *testing.T) {
	service := start(t, standin.Options{})
	tenant := connectortest.Start(t, definition, service.source(t), nil).As(tenant(standin.DefaultAccounts()[1])).Unverified()
	const chats, workflows, dashboards = 12, 6, 4
	answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "runs", Fields: []string{"workflow_id"}}))(t)
	runs, ran := len(answer.Rows), map[string]bool{}
	for _, cell := range answer.Column("workflow_id") {
		ran[cell.String()] = true
	}
	ofRuns := 2 + workflows + len(ran)
	for table, want := range map[string]int{
		"users": 1, "chats": 1, "messages": 1 + chats, "files": 3, "workflows": 2, "workflow_nodes": 2 + workflows,
		"runs": ofRuns, "jobs": ofRuns + runs, "dashboards": 2, "widgets": 2 + dashboards,
	} {
		service.paths = nil
		testkit.Must(tenant.Query(wire.QueryRequest{Table: table, Fields: []string{"id"}}))(t)
		assert.Len(t, service.paths, want, table)
	}
	assert.LessOrEqual(t, ofRuns+runs, 40, "so a pace of 40 seconds is within 60 requests a minute")
}

// TestForbidden: a table that a token may not read is left out, and discovery says so.
func TestForbidden(t *testing.T) {
	account := standin.Account{Token: "a-token-that-may-not-read-all", Organization: "org_1", PerMinute: standin.Professional,
		Forbidden: []string{"GET /v1/dashboards"}}
	service := start(t, standin.Options{Accounts: []standin.Account{account}})
	tenant := connectortest.Start(t, definition, service.source(t), nil).As(tenant(account)).Unverified()
	discovery := testkit.Must(tenant.Discover())(t)
	for _, table := range discovery.Tables {
		assert.NotContains(t, []string{"dashboards", "widgets"}, table.Name)
	}
	require.NotEmpty(t, discovery.Warnings)
	assert.Contains(t, strings.Join(discovery.Warnings, "\n"), "dashboards")
	_, err := tenant.Query(wire.QueryRequest{Table: "dashboards", Fields: []string{"id"}})
	assert.Equal(t, wire.CodeBadRequest, wire.CodeOf(err))
}

// TestCheck: a person who types something wrong gets a sentence about it.
func TestCheck(t *testing.T) {
	service := start(t, standin.Options{})
	server := connectortest.Start(t, definition, service.source(t), nil)
	good := tenant(standin.DefaultAccounts()[0])
	require.NoError(t, server.As(good).Check())
	err := server.As(map[string]string{"baseUrl": platform, "token": "wrong-token-0123456789"}).Check()
	require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err))
	assert.NotContains(t, err.Error(), "wrong-token")
	err = server.As(map[string]string{"baseUrl": "http://platform.example.com", "token": good["token"]}).Check()
	require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err), "the token does not travel in the clear")
	err = server.As(map[string]string{"baseUrl": platform + "/elsewhere", "token": good["token"]}).Check()
	require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err), "no API there")
}

// TestHostileUpstreams: whatever the API does, a query ends with an error that the
// platform can show. The log has the cause of an internal one. Neither has the token.
// Package restsource has tests of many more.
func TestHostileUpstreams(t *testing.T) {
	const token = "token-of-a-tenant-0123456789"
	for _, row := range testkit.Table(t, "testdata/hostile.tsv", 4) {
		testkit.Bubble(t, row[0], func(t *testing.T) {
			transport, _ := exchange.Answers(t, row[1], "token", token)
			source := testkit.Must(restsource.New(generalAPI, tables, &restsource.Options{Transport: transport}))(t)
			log := &testkit.Log{}
			server := connectortest.Start(t, definition, source, connectors.Logging(log))
			tenant := server.As(map[string]string{"baseUrl": platform, "token": token}).Unverified()
			_, err := tenant.Query(wire.QueryRequest{Table: "files", Fields: []string{"id", "size"}})
			var failure *wire.Error
			require.True(t, errors.As(err, &failure), "%v", err)
			assert.Equal(t, row[2], string(failure.Code), failure.Message)
			assert.Contains(t, log.String(), strings.TrimPrefix(row[3], "-"))
			assert.NotContains(t, failure.Message+log.String(), token)
		})
	}
}
