package standin

import (
	"net/http"
	"slices"
)

// endpoints returns the table of all endpoints. signIn are the paths of routes
// with the sign-in budget.
func endpoints(signIn []string) []Endpoint {
	return slices.Concat(mainSurface(), referenceSetB(), workflowRuns(), otherRoutes(signIn))
}

// mainSurface returns the endpoints with the prefix /api/v2.
func mainSurface() []Endpoint {
	const (
		v2      = "/api/v2"
		org     = v2 + "/organizations/{id}"
		ai      = v2 + "/assistant"
		storage = v2 + "/object-storage"
		shares  = v2 + "/sharing/{resourceType}/{resourceId}"
		mcp     = v2 + "/mcp-integrations"
		put     = http.MethodPut
		post    = http.MethodPost
		patch   = http.MethodPatch
	)
	return []Endpoint{
		get(v2+"/whoami", "current user", one("User"), (*call).whoami),
		get(org+"/users", "list organization users", list("User"), own((*call).users)),
		get(org+"/users/search", "search users", list("User"), own((*call).searchUsers)),
		create(org+"/users", "add a user to an organization", "UserCreate", one("User"), own((*call).addUser)),
		write(put, org+"/users/roles", "update user roles", "Any", one("Any"), (*call).updateRoles),
		get(org+"/users/tree", "user organization tree", one("Any"), (*call).ownOrganization),
		get(v2+"/departments/organization/{id}", "departments of an organization", list("Any"), own((*call).departments)),
		get(ai+"/history/{chat_id}", "chat history", list("Message"), on(theChat("chat_id"), (*call).history)),
		get(ai+"/agents", "list available agents", list("Record"), records("agents")),
		create(ai+"/agents", "create a custom agent", "Any", one("Record"), addRecord("agents", "agent")),
		get(ai+"/tools", "list available tools", list("Record"), records("tools")),
		get(ai+"/analytics/token-usage-aggregates", "token usage analytics", one("Any"), empty),
		get(ai+"/analytics/message-counts", "message count analytics", one("Any"), empty),
		get(ai+"/analytics/tool-usage", "tool usage statistics", one("Any"), empty),
		get(ai+"/artifact/{id}", "get an artifact", one("Record"), (*call).artifact),
		create(ai+"/artifact", "create an artifact", "Any", one("Record"), addRecord("artifacts", "artifact")),
		get(v2+"/integrations", "list user integrations", list("Record"), records("integrations")),
		get(storage+"/directories", "list directory contents", list("DirectoryEntry"), (*call).directories),
		create(storage+"/directories", "create a directory", "DirectoryCreate", one("DirectoryEntry"), (*call).createDirectory),
		write(post, storage+"/directories/{id}/rename", "rename a directory", "Rename", one("DirectoryEntry"),
			on(theDirectory, (*call).renameDirectory)),
		write(post, storage+"/directories/{id}/move", "move a directory", "Move", one("DirectoryEntry"),
			on(theDirectory, (*call).moveDirectory)),
		remove(storage+"/directories/{id}", "delete a directory", on(theDirectory, (*call).deleteDirectory)),
		create(storage+"/create", "upload a file", "Upload", one("FileCreated"), (*call).upload).uploads(),
		get(storage+"/objects/{id}", "file details", one("File"), on(theFile, (*call).file)),
		write(post, storage+"/rename/{id}", "rename a file", "Rename", one("File"), on(theFile, (*call).renameFile)),
		write(post, storage+"/objects/{id}/move", "move a file", "Move", one("File"), on(theFile, (*call).moveFile)),
		remove(storage+"/objects/{id}", "delete a file", on(theFile, (*call).deleteFile)),
		get(storage+"/trash", "list trash items", list("DirectoryEntry"), (*call).trash),
		write(post, storage+"/arbitrary/restore", "restore from trash", "TrashItem", one("DirectoryEntry"), (*call).restore),
		write(post, storage+"/arbitrary/delete", "delete from trash", "TrashItem", shape{}, (*call).deleteForGood).deletes(),
		remove(storage+"/trash/empty", "empty the trash", (*call).emptyTrash),
		get(v2+"/workflows", "list workflows", list("WorkflowItem"), (*call).workflows),
		create(v2+"/workflows", "create a workflow", "WorkflowName", one("WorkflowCreated"), (*call).createWorkflow),
		get(v2+"/workflows/{id}", "get a workflow", one("Workflow"), on(theWorkflow("id"), (*call).workflow)),
		write(patch, v2+"/workflows/{id}", "update a workflow", "WorkflowUpdate", one("Workflow"),
			on(theWorkflow("id"), (*call).updateWorkflow)),
		get(v2+"/workflows/{id}/runs", "runs of a workflow", list("Run"), on(theWorkflow("id"), (*call).workflowRuns)),
		get(v2+"/workflows/{id}/runs/{run_id}", "one run", one("Run"), on(theWorkflow("id"), (*call).workflowRun)),
		get(v2+"/workflows/node-options", "available node options", list("Any"), nodeOptions),
		get(v2+"/dashboards", "list dashboards", list("DashboardItem"), (*call).dashboards),
		create(v2+"/dashboards", "create a dashboard", "DashboardName", one("Dashboard"), (*call).createDashboard),
		get(v2+"/dashboards/{id}", "get a dashboard", one("Dashboard"), on(theDashboard, (*call).dashboard)),
		write(patch, v2+"/dashboards/{id}", "update a dashboard", "DashboardName", one("Dashboard"),
			on(theDashboard, (*call).updateDashboard)),
		create(v2+"/dashboards/{id}/widgets", "add a widget", "WidgetCreate", one("Widget"),
			on(theDashboard, (*call).addWidget)),
		remove(v2+"/dashboards/{id}/widgets/{widget_id}", "remove a widget", on(theDashboard, (*call).removeWidget)),
		get(shares+"/shares", "list shares", list("Record"), (*call).shares),
		create(shares+"/shares", "create a share", "Any", one("Record"), (*call).createShare),
		get(shares+"/permission", "permission level", one("Any"), empty),
		get(mcp+"/services", "list MCP services", list("Record"), records("services")),
		get(mcp+"/connections", "list user connections", list("Record"), records("connections")),
		get(mcp+"/connect/{serviceSlug}", "connect to a service", one("Record"), (*call).connect),
		remove(mcp+"/connections/{id}", "disconnect a service", (*call).disconnect),
	}
}

// referenceSetB returns the endpoints with the prefix /v1. Their lists have the
// pagination member only where the documents show it.
func referenceSetB() []Endpoint {
	const put = http.MethodPut
	return []Endpoint{
		get("/v1/whoami", "current user", one("User"), (*call).whoami),
		get("/v1/chats", "list chats", list("ChatItem"), (*call).chats).queries("archived"),
		create("/v1/chats", "create a chat", "ChatCreate", one("ChatCreated"), (*call).createChat),
		get("/v1/chats/{id}", "get a chat", one("Chat"), on(theChat("id"), (*call).chat)),
		create("/v1/chats/{id}/messages", "add a message", "MessageCreate", one("Message"),
			on(theChat("id"), (*call).createMessage)),
		remove("/v1/chats/{id}", "delete a chat", on(theChat("id"), (*call).deleteChat)),
		get("/v1/vault/files", "list files", inRows("FileItem"), (*call).files).queries("folder_id", "search", "type"),
		create("/v1/vault/files", "upload a file", "Upload", one("FileCreated"), (*call).upload).uploads(),
		get("/v1/vault/files/{id}", "get a file", one("File"), on(theFile, (*call).file)),
		get("/v1/vault/files/{id}/download", "get a download link", one("Download"), on(theFile, (*call).download)),
		remove("/v1/vault/files/{id}", "delete a file", on(theFile, (*call).deleteFile)),
		get("/v1/workflows", "list workflows", inRows("WorkflowItem"), (*call).workflows).queries("status"),
		create("/v1/workflows", "create a workflow", "WorkflowCreate", one("WorkflowCreated"), (*call).createWorkflowB),
		get("/v1/workflows/{id}", "get a workflow", one("Workflow"), on(theWorkflow("id"), (*call).workflow)),
		write(put, "/v1/workflows/{id}", "update a workflow", "WorkflowUpdate", one("Workflow"),
			on(theWorkflow("id"), (*call).updateWorkflow)),
		remove("/v1/workflows/{id}", "delete a workflow", on(theWorkflow("id"), (*call).deleteWorkflow)),
		write(http.MethodPost, "/v1/workflows/{id}/run", "run a workflow", "RunCreate", one("Execution"),
			on(theWorkflow("id"), (*call).runWorkflow)),
		get("/v1/dashboards", "list dashboards", inRows("DashboardItem"), (*call).dashboards),
		create("/v1/dashboards", "create a dashboard", "DashboardCreate", one("Dashboard"), (*call).createDashboardB),
		get("/v1/dashboards/{id}", "get a dashboard", one("Dashboard"), on(theDashboard, (*call).dashboard)),
	}
}

// workflowRuns returns the endpoints with the prefix /api/v3 that the document about
// runs shows.
func workflowRuns() []Endpoint {
	const (
		post = http.MethodPost
		keys = "/api/v3/workflows/{workflowId}/api-keys"
		runs = "/api/v3/workflows/runs/{runId}"
	)
	return []Endpoint{
		get(keys, "list the keys of a workflow", plain("Keys"), on(theWorkflow("workflowId"), (*call).listKeys)),
		create(keys, "create a key", "KeyCreate", plain("KeyCreated"),
			on(theWorkflow("workflowId"), (*call).createKey)),
		remove(keys+"/{keyId}", "revoke a key", on(theWorkflow("workflowId"), (*call).revokeKey)),
		write(post, "/api/v3/workflows/{workflowId}/trigger", "start a run", "Trigger", plain("Triggered"), (*call).trigger).
			takes(byKey).budget(TriggerBudget),
		get(runs, "status of a run", plain("Run"), on(theRun, (*call).runStatus)).takes(byBoth),
		get(runs+"/stream", "events of a run", shape{form: events},
			on(theRun, (*call).stream)).takes(byBoth).budget(TriggerBudget),
		write(post, runs+"/resume", "answer a paused run", "Resume", plain("Run"), (*call).resume).takes(byKey),
	}
}

// otherRoutes returns swagger.json, the target of download links, and the routes of
// which the documents show a budget and nothing else: they answer an empty object.
func otherRoutes(signIn []string) []Endpoint {
	budgetOnly := func(path, purpose string, b Budget) Endpoint {
		return write(http.MethodPost, path, purpose, "", one("Any"), empty).takes(open).budget(b)
	}
	table := []Endpoint{
		get("/swagger.json", "this description", plain("Any"), (*call).description),
		get("/download/{id}", "the content of a file, by a signed link", shape{form: raw}, (*call).content).takes(open).budget(NoBudget),
		budgetOnly("/api/v3/contact", "contact", ContactBudget),
		budgetOnly("/api/v3/privacy-requests", "privacy request", PrivacyBudget),
		budgetOnly("/api/v3/desktop/wake", "desktop wake", WakeBudget),
	}
	for _, path := range signIn {
		table = append(table, budgetOnly(path, "sign-in", SignInBudget))
	}
	return table
}
