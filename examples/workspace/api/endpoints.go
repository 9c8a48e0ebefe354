package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A Budget is a number of requests that several endpoints share. The client keeps a
// pace for each.
type Budget string

// The budgets of the document.
const (
	PerPlan    Budget = "60 per minute with the plan Standard, 300 with Professional"
	PerContact Budget = "10 per minute and address"
	PerPrivacy Budget = "3 per hour and address"
	PerWake    Budget = "5 per minute and address"
	PerRun     Budget = "60 per minute and user, for triggers and run streams together"
)

// An Answer says what an endpoint answers with.
type Answer string

// The kinds of answers.
const (
	One      Answer = "an object"
	Pages    Answer = "a list, split by limit and offset"
	Whole    Answer = "a list, of which no parameters are shown" // read in pages as well: every list may have them
	Nothing  Answer = "no content"
	NotShown Answer = "not shown" // the document says nothing, and the caller decodes it
	Stream   Answer = "server-sent events"
)

// An Endpoint is one row of the document's tables.
type Endpoint struct {
	Method  string
	Path    string // below the base address; :id is a parameter
	Purpose string
	Answer  Answer
	Budget  Budget
	// Bare says that the document shows the answer without the member "data" around
	// it. Both spellings are read.
	Bare bool
}

// Name returns the method and the path, by which an endpoint is called.
func (e Endpoint) Name() string { return e.Method + " " + e.Path }

// statuses are the statuses of failures and their meanings.
var statuses = map[int]string{
	http.StatusBadRequest:          "invalid input",
	http.StatusUnauthorized:        "invalid or missing token",
	http.StatusForbidden:           "insufficient permissions",
	http.StatusNotFound:            "resource does not exist",
	http.StatusTooManyRequests:     "rate limited",
	http.StatusInternalServerError: "server error",
}

// Errors returns the statuses of failures that the endpoint can answer with. The
// document has one list for all of them. An endpoint without a parameter names no
// resource that could be missing.
func (e Endpoint) Errors() []int {
	all := []int{400, 401, 403, 404, 429, 500}
	if !strings.Contains(e.Path, ":") {
		all = slices.DeleteFunc(all, func(status int) bool { return status == http.StatusNotFound })
	}
	return all
}

// Endpoints returns all endpoints: the main surface (/api/v2), reference set B
// (/v1), the description of the API, and of /api/v3 those of the table of limits and
// those of workflow runs.
func Endpoints() []Endpoint { return slices.Clone(endpoints) }

// find returns an endpoint by its name.
func find(name string) (Endpoint, error) {
	for _, e := range endpoints {
		if e.Name() == name {
			return e, nil
		}
	}
	return Endpoint{}, fmt.Errorf("api: there is no endpoint %q; Endpoints returns all of them", name)
}

// expand returns the path with its parameters filled in.
func (e Endpoint) expand(params Path) (string, error) {
	parts := strings.Split(e.Path, "/")
	used := 0
	for i, part := range parts {
		name, isParam := strings.CutPrefix(part, ":")
		if !isParam {
			continue
		}
		value := params[name]
		// A server takes "." and ".." for directories, and another endpoint answers.
		if value == "" || value == "." || value == ".." {
			return "", fmt.Errorf("api: %s: the parameter %q must name one resource", e.Name(), name)
		}
		parts[i] = url.PathEscape(value)
		used++
	}
	if used != len(params) {
		return "", fmt.Errorf("api: %s takes %d parameters in its path, got %d", e.Name(), used, len(params))
	}
	return strings.Join(parts, "/"), nil
}

var endpoints = []Endpoint{
	// Main surface.
	{"GET", "/api/v2/whoami", "current user", One, PerPlan, false},
	{"GET", "/api/v2/organizations/:id/users", "list organization users", Pages, PerPlan, false},
	{"GET", "/api/v2/organizations/:id/users/search", "search users", Pages, PerPlan, false},
	{"POST", "/api/v2/organizations/:id/users", "add a user to an organization", NotShown, PerPlan, false},
	{"PUT", "/api/v2/organizations/:id/users/roles", "update user roles", NotShown, PerPlan, false},
	{"GET", "/api/v2/organizations/:id/users/tree", "user organization tree", NotShown, PerPlan, false},
	{"GET", "/api/v2/departments/organization/:id", "departments of an organization", Pages, PerPlan, false},
	{"GET", "/api/v2/assistant/history/:chat_id", "chat history", NotShown, PerPlan, false},
	{"GET", "/api/v2/assistant/agents", "list available agents", Pages, PerPlan, false},
	{"POST", "/api/v2/assistant/agents", "create a custom agent", NotShown, PerPlan, false},
	{"GET", "/api/v2/assistant/tools", "list available tools", Pages, PerPlan, false},
	{"GET", "/api/v2/assistant/analytics/token-usage-aggregates", "token usage analytics", NotShown, PerPlan, false},
	{"GET", "/api/v2/assistant/analytics/message-counts", "message count analytics", NotShown, PerPlan, false},
	{"GET", "/api/v2/assistant/analytics/tool-usage", "tool usage statistics", NotShown, PerPlan, false},
	{"GET", "/api/v2/assistant/artifact/:id", "get an artifact", NotShown, PerPlan, false},
	{"POST", "/api/v2/assistant/artifact", "create an artifact", NotShown, PerPlan, false},
	{"GET", "/api/v2/integrations", "list user integrations", Pages, PerPlan, false},
	{"GET", "/api/v2/object-storage/directories", "list directory contents", Pages, PerPlan, false},
	{"POST", "/api/v2/object-storage/directories", "create a directory", NotShown, PerPlan, false},
	{"POST", "/api/v2/object-storage/directories/:id/rename", "rename a directory", NotShown, PerPlan, false},
	{"POST", "/api/v2/object-storage/directories/:id/move", "move a directory", NotShown, PerPlan, false},
	{"DELETE", "/api/v2/object-storage/directories/:id", "delete a directory", Nothing, PerPlan, false},
	{"POST", "/api/v2/object-storage/create", "upload a file", NotShown, PerPlan, false},
	{"GET", "/api/v2/object-storage/objects/:id", "file details", One, PerPlan, false},
	{"POST", "/api/v2/object-storage/rename/:id", "rename a file", NotShown, PerPlan, false},
	{"POST", "/api/v2/object-storage/objects/:id/move", "move a file", NotShown, PerPlan, false},
	{"DELETE", "/api/v2/object-storage/objects/:id", "delete a file", Nothing, PerPlan, false},
	{"GET", "/api/v2/object-storage/trash", "list trash items", Pages, PerPlan, false},
	{"POST", "/api/v2/object-storage/arbitrary/restore", "restore from trash", NotShown, PerPlan, false},
	{"POST", "/api/v2/object-storage/arbitrary/delete", "delete from trash", NotShown, PerPlan, false},
	{"DELETE", "/api/v2/object-storage/trash/empty", "empty the trash", Nothing, PerPlan, false},
	{"GET", "/api/v2/workflows", "list workflows", Pages, PerPlan, false},
	{"POST", "/api/v2/workflows", "create a workflow", One, PerPlan, false},
	{"GET", "/api/v2/workflows/:id", "get a workflow", One, PerPlan, false},
	{"PATCH", "/api/v2/workflows/:id", "update a workflow", One, PerPlan, false},
	{"GET", "/api/v2/workflows/:id/runs", "runs of a workflow", Pages, PerPlan, false},
	{"GET", "/api/v2/workflows/:id/runs/:run_id", "one run", NotShown, PerPlan, false},
	{"GET", "/api/v2/workflows/node-options", "available node options", NotShown, PerPlan, false},
	{"GET", "/api/v2/dashboards", "list dashboards", Pages, PerPlan, false},
	{"POST", "/api/v2/dashboards", "create a dashboard", One, PerPlan, false},
	{"GET", "/api/v2/dashboards/:id", "get a dashboard", One, PerPlan, false},
	{"PATCH", "/api/v2/dashboards/:id", "update a dashboard", One, PerPlan, false},
	{"POST", "/api/v2/dashboards/:id/widgets", "add a widget", NotShown, PerPlan, false},
	{"DELETE", "/api/v2/dashboards/:id/widgets/:widget_id", "remove a widget", Nothing, PerPlan, false},
	{"GET", "/api/v2/sharing/:resourceType/:resourceId/shares", "list shares", Pages, PerPlan, false},
	{"POST", "/api/v2/sharing/:resourceType/:resourceId/shares", "create a share", NotShown, PerPlan, false},
	{"GET", "/api/v2/sharing/:resourceType/:resourceId/permission", "permission level", NotShown, PerPlan, false},
	{"GET", "/api/v2/mcp-integrations/services", "list MCP services", Pages, PerPlan, false},
	{"GET", "/api/v2/mcp-integrations/connections", "list user connections", Pages, PerPlan, false},
	{"GET", "/api/v2/mcp-integrations/connect/:serviceSlug", "connect to a service", NotShown, PerPlan, false},
	{"DELETE", "/api/v2/mcp-integrations/connections/:id", "disconnect a service", Nothing, PerPlan, false},

	// Reference set B.
	{"GET", "/v1/whoami", "current user", One, PerPlan, false},
	{"GET", "/v1/chats", "list chats", Pages, PerPlan, false},
	{"POST", "/v1/chats", "create a chat", One, PerPlan, false},
	{"GET", "/v1/chats/:id", "get a chat with its messages", One, PerPlan, false},
	{"POST", "/v1/chats/:id/messages", "add a message", One, PerPlan, false},
	{"DELETE", "/v1/chats/:id", "delete a chat", Nothing, PerPlan, false},
	{"GET", "/v1/vault/files", "list files", Pages, PerPlan, false},
	{"POST", "/v1/vault/files", "upload a file", One, PerPlan, false},
	{"GET", "/v1/vault/files/:id", "get a file", One, PerPlan, false},
	{"GET", "/v1/vault/files/:id/download", "get a download link", One, PerPlan, false},
	{"DELETE", "/v1/vault/files/:id", "move a file to the trash", Nothing, PerPlan, false},
	{"GET", "/v1/workflows", "list workflows", Pages, PerPlan, false},
	{"POST", "/v1/workflows", "create a workflow", One, PerPlan, false},
	{"GET", "/v1/workflows/:id", "get a workflow with its trigger and nodes", One, PerPlan, false},
	{"PUT", "/v1/workflows/:id", "update a workflow", One, PerPlan, false},
	{"DELETE", "/v1/workflows/:id", "delete a workflow", Nothing, PerPlan, false},
	{"POST", "/v1/workflows/:id/run", "run a workflow by hand", One, PerPlan, false},
	{"GET", "/v1/dashboards", "list dashboards", Whole, PerPlan, false},
	{"POST", "/v1/dashboards", "create a dashboard", One, PerPlan, false},
	{"GET", "/v1/dashboards/:id", "get a dashboard with its widgets", One, PerPlan, false},

	{"GET", "/swagger.json", "OpenAPI description", NotShown, PerPlan, true},

	// Routes of which only the budget is shown.
	{"POST", "/api/v3/contact", "not shown", NotShown, PerContact, true},
	{"POST", "/api/v3/privacy-requests", "not shown", NotShown, PerPrivacy, true},
	{"POST", "/api/v3/desktop/wake", "not shown", NotShown, PerWake, true},

	// Workflow runs: package runs has their methods.
	{"GET", "/api/v3/workflows/:workflowId/api-keys", "list the keys of a workflow", Whole, PerPlan, true},
	{"POST", "/api/v3/workflows/:workflowId/api-keys", "create a key", One, PerPlan, true},
	{"DELETE", "/api/v3/workflows/:workflowId/api-keys/:keyId", "revoke a key", Nothing, PerPlan, true},
	{"POST", "/api/v3/workflows/:workflowId/trigger", "start a run", One, PerRun, true},
	{"GET", "/api/v3/workflows/runs/:runId", "status of a run", One, PerPlan, true},
	{"GET", "/api/v3/workflows/runs/:runId/stream", "follow a run", Stream, PerRun, true},
	{"POST", "{resume_url}", "answer a paused run", NotShown, PerPlan, true},
}
