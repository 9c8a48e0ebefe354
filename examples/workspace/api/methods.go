package api

import (
	"context"
	"iter"
	"net/url"
)

// The methods below call the endpoints of reference set B, whose payloads the
// document shows.

// Whoami returns the user to whom the token belongs.
func (c *Client) Whoami(ctx context.Context) (User, error) {
	return Call[User](ctx, c, "GET /v1/whoami", nil)
}

// Chats returns the chats. The query may hold limit, offset and archived=true, which
// includes archived chats.
func (c *Client) Chats(ctx context.Context, query url.Values) iter.Seq2[Chat, error] {
	return List[Chat](ctx, c, "GET /v1/chats", &Args{Query: query})
}

// Chat returns a chat with its messages.
func (c *Client) Chat(ctx context.Context, id string) (Chat, error) {
	return Call[Chat](ctx, c, "GET /v1/chats/:id", &Args{Path: Path{"id": id}})
}

// CreateChat creates a chat.
func (c *Client) CreateChat(ctx context.Context, title string) (Chat, error) {
	return Call[Chat](ctx, c, "POST /v1/chats", &Args{Body: map[string]string{"title": title}})
}

// AddMessage adds a message to a chat.
func (c *Client) AddMessage(ctx context.Context, chat string, m NewMessage) (Message, error) {
	return Call[Message](ctx, c, "POST /v1/chats/:id/messages", &Args{Path: Path{"id": chat}, Body: m})
}

// DeleteChat deletes a chat.
func (c *Client) DeleteChat(ctx context.Context, id string) error {
	return c.Do(ctx, "DELETE /v1/chats/:id", &Args{Path: Path{"id": id}})
}

// Files returns the files of the vault. The query may hold folder_id, search (in the
// file's name), type, limit and offset.
func (c *Client) Files(ctx context.Context, query url.Values) iter.Seq2[File, error] {
	return List[File](ctx, c, "GET /v1/vault/files", &Args{Query: query})
}

// File returns a file's record.
func (c *Client) File(ctx context.Context, id string) (File, error) {
	return Call[File](ctx, c, "GET /v1/vault/files/:id", &Args{Path: Path{"id": id}})
}

// Download returns a link to a file's content.
func (c *Client) Download(ctx context.Context, id string) (Download, error) {
	return Call[Download](ctx, c, "GET /v1/vault/files/:id/download", &Args{Path: Path{"id": id}})
}

// DeleteFile moves a file to the trash.
func (c *Client) DeleteFile(ctx context.Context, id string) error {
	return c.Do(ctx, "DELETE /v1/vault/files/:id", &Args{Path: Path{"id": id}})
}

// Workflows returns the workflows. The query may hold status, limit and offset.
func (c *Client) Workflows(ctx context.Context, query url.Values) iter.Seq2[Workflow, error] {
	return List[Workflow](ctx, c, "GET /v1/workflows", &Args{Query: query})
}

// Workflow returns a workflow with its trigger and nodes.
func (c *Client) Workflow(ctx context.Context, id string) (Workflow, error) {
	return Call[Workflow](ctx, c, "GET /v1/workflows/:id", &Args{Path: Path{"id": id}})
}

// CreateWorkflow creates a workflow, which is a draft at first.
func (c *Client) CreateWorkflow(ctx context.Context, w NewWorkflow) (Workflow, error) {
	if w.Nodes == nil {
		w.Nodes = []Node{} // the member is a list
	}
	return Call[Workflow](ctx, c, "POST /v1/workflows", &Args{Body: w})
}

// UpdateWorkflow changes a workflow's name, its status, or both.
func (c *Client) UpdateWorkflow(ctx context.Context, id string, change WorkflowChange) (Workflow, error) {
	return Call[Workflow](ctx, c, "PUT /v1/workflows/:id", &Args{Path: Path{"id": id}, Body: change})
}

// DeleteWorkflow deletes a workflow.
func (c *Client) DeleteWorkflow(ctx context.Context, id string) error {
	return c.Do(ctx, "DELETE /v1/workflows/:id", &Args{Path: Path{"id": id}})
}

// RunWorkflow starts a workflow by hand. What its inputs are named is the workflow's
// affair.
func (c *Client) RunWorkflow(ctx context.Context, id string, inputs map[string]any) (Execution, error) {
	if inputs == nil {
		inputs = map[string]any{}
	}
	return Call[Execution](ctx, c, "POST /v1/workflows/:id/run", &Args{Path: Path{"id": id}, Body: map[string]any{"inputs": inputs}})
}

// Dashboards returns the dashboards, without their widgets.
func (c *Client) Dashboards(ctx context.Context) iter.Seq2[Dashboard, error] {
	return List[Dashboard](ctx, c, "GET /v1/dashboards", nil)
}

// Dashboard returns a dashboard with its widgets.
func (c *Client) Dashboard(ctx context.Context, id string) (Dashboard, error) {
	return Call[Dashboard](ctx, c, "GET /v1/dashboards/:id", &Args{Path: Path{"id": id}})
}

// CreateDashboard creates a dashboard.
func (c *Client) CreateDashboard(ctx context.Context, d NewDashboard) (Dashboard, error) {
	if d.Widgets == nil {
		d.Widgets = []Widget{} // the member is a list
	}
	return Call[Dashboard](ctx, c, "POST /v1/dashboards", &Args{Body: d})
}
