package main

import (
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// definition says what a tenant types into the connect form.
var definition = connector.Definition{
	Slug: "workspace",
	Credentials: []wire.CredentialField{
		{Key: "baseUrl", Label: "Address", Type: wire.CredentialText, Placeholder: "https://platform.example.com",
			Help: "The address of your workspace, without a path."},
		{Key: "token", Label: "Access token", Type: wire.CredentialPassword, Help: "Whatever the token may read becomes tables."},
	},
	// The plan Standard allows 60 requests a minute: more at once would only wait.
	Limits: wire.Limits{Concurrency: 2},
}

// generalAPI is the API of the platform. Each tenant types where it is.
var generalAPI = restsource.API{
	Base:      "{baseUrl}",
	Authorize: restsource.Bearer("token"),
	Check:     "/v1/whoami",
}

// paged is how the lists of the API are split into pages of the largest size.
var paged = restsource.Pages{By: restsource.PagingOffset, Param: "offset", SizeParam: "limit", Size: 100}

// whole is an endpoint whose answer has everything.
var whole = restsource.Pages{By: restsource.OnePage}

func text(name, path string) restsource.Column {
	return restsource.Column{Name: name, Path: path, Type: wire.TypeString}
}

func number(name, path string) restsource.Column {
	return restsource.Column{Name: name, Path: path, Type: wire.TypeNumber}
}

func moment(name string) restsource.Column {
	return restsource.Column{Name: name, Type: wire.TypeDatetime}
}

// of returns the column of a child table that refers to the row above it.
func of(name, parent string) restsource.Column {
	return restsource.Column{Name: name, OfParent: parent, Type: wire.TypeReference}
}

// tables has the resources whose fields the documents show, and no other columns than
// these fields.
var tables = []restsource.Table{{
	Name: "users", Description: "The user to whom the token belongs. The document shows no fields of other users.",
	Path: "/v1/whoami", Rows: "data", Key: []string{"id"}, Pages: whole,
	Columns: []restsource.Column{text("id", ""), text("email", ""), text("name", ""), text("avatar_url", ""),
		text("organization_id", ""), moment("created_at")},
}, {
	Name: "chats", Description: "A conversation with the assistant, archived ones included",
	Path: "/v1/chats", Query: "archived=true", Rows: "data", Key: []string{"id"}, Pages: paged, Total: "pagination.total",
	Columns: []restsource.Column{text("id", ""), text("title", ""), moment("created_at"), moment("updated_at"),
		{Name: "archived", Type: wire.TypeBoolean}},
}, {
	Name: "messages", Description: "One message of a chat", Parent: "chats",
	Path: "/v1/chats/{id}", Rows: "data.messages", Key: []string{"chat_id", "id"}, Pages: whole,
	Columns: []restsource.Column{of("chat_id", "id"), text("id", ""), text("role", ""), text("content", ""), moment("created_at")},
}, {
	Name: "files", Description: "A file of the vault",
	Path: "/v1/vault/files", Rows: "data", Key: []string{"id"}, Pages: paged,
	Columns: []restsource.Column{text("id", ""), text("name", ""), text("type", ""), number("size", ""),
		{Name: "folder_id", Type: wire.TypeReference}, moment("created_at"), moment("updated_at")},
	// The parameter search is not pushed: the document does not say how it compares.
	Filters: []restsource.Param{
		{Column: "folder_id", Op: wire.OpEq, Name: "folder_id"},
		{Column: "type", Op: wire.OpEq, Name: "type"},
	},
}, {
	Name: "workflows", Description: "A workflow: what starts it, and when it last ran",
	Path: "/v1/workflows", Rows: "data", Key: []string{"id"}, Pages: paged,
	Columns: []restsource.Column{text("id", ""), text("name", ""), text("status", ""), text("trigger_type", ""),
		moment("last_run"), moment("created_at")},
	Filters: []restsource.Param{{Column: "status", Op: wire.OpEq, Name: "status"}},
}, {
	Name: "workflow_nodes", Description: "One step of a workflow", Parent: "workflows",
	Path: "/v1/workflows/{id}", Rows: "data.nodes", Key: []string{"workflow_id", "id"}, Pages: whole,
	Columns: []restsource.Column{of("workflow_id", "id"), text("id", ""), text("type", ""), {Name: "config", Type: wire.TypeJSON}},
}, {
	Name: "runs", Description: "A run of a workflow. The unit of duration is not shown.", Parent: "workflows",
	Path: "/api/v2/workflows/{id}/runs", Rows: "data", Key: []string{"id"}, Pages: paged,
	Columns: []restsource.Column{text("id", ""), of("workflow_id", "id"), text("state", ""), text("summary", ""),
		number("duration", ""), text("trigger", "")},
}, {
	Name: "jobs", Description: "One step of a run", Parent: "runs",
	Path: "/api/v2/workflows/{workflow_id}/runs/{id}", Rows: "data.jobs", Key: []string{"run_id", "id"}, Pages: whole,
	Columns: []restsource.Column{of("run_id", "id"), text("id", ""), {Name: "node_id", Path: "nodeId", Type: wire.TypeReference},
		text("state", ""), text("summary", ""), {Name: "result", Type: wire.TypeJSON}},
}, {
	Name: "dashboards", Description: "A page of widgets",
	Path: "/v1/dashboards", Rows: "data", Key: []string{"id"}, Pages: paged,
	Columns: []restsource.Column{text("id", ""), text("name", ""), moment("created_at")},
}, {
	Name: "widgets", Description: "One part of a dashboard, and its place there", Parent: "dashboards",
	Path: "/v1/dashboards/{id}", Rows: "data.widgets", Key: []string{"dashboard_id", "id"}, Pages: whole,
	Columns: []restsource.Column{of("dashboard_id", "id"), text("id", ""), text("type", ""), {Name: "config", Type: wire.TypeJSON},
		number("x", "position.x"), number("y", "position.y"), number("w", "position.w"), number("h", "position.h")},
}}

// newHandler returns the connector.
func newHandler(token wire.Token, options *restsource.Options) (*connector.Handler, error) {
	source, err := restsource.New(generalAPI, tables, options)
	if err != nil {
		return nil, err
	}
	return connector.New(definition, source, token, nil)
}
