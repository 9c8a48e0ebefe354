package api

import (
	"encoding/json"
	"time"
)

// The types have the fields that the document shows and no others. A field that only
// some answers have says so, and is zero in the others.

// User is a person or the owner of a token.
type User struct {
	ID             string    `json:"id"`
	Email          string    `json:"email"`
	Name           string    `json:"name"`
	AvatarURL      string    `json:"avatar_url"`
	OrganizationID string    `json:"organization_id"`
	CreatedAt      time.Time `json:"created_at"`
}

// Chat is a conversation with the assistant.
type Chat struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"` // in lists
	Archived  bool      `json:"archived"`   // in lists
	Messages  []Message `json:"messages"`   // of a single chat
}

// Message is one message of a chat.
type Message struct {
	ID        string    `json:"id"`
	Role      string    `json:"role"` // such as "user" or "assistant"
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at"`
}

// Attachment is a file that a new message refers to.
type Attachment struct {
	FileID string `json:"file_id"`
	Type   string `json:"type"` // such as "vault_file"
}

// NewMessage is a message to be added to a chat.
type NewMessage struct {
	Content     string       `json:"content"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// File is a file of the vault.
type File struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Type        string    `json:"type"` // its media type
	Size        int64     `json:"size"`
	FolderID    string    `json:"folder_id"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`   // in lists
	DownloadURL string    `json:"download_url"` // of a single file
	// SharedWith is in the answer of a single file. What it holds is not shown.
	SharedWith []json.RawMessage `json:"shared_with"`
}

// Download is a link to a file's content. Anyone with the link can read the file.
// Request it without the token: it may lead to another host.
type Download struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Workflow is a workflow.
type Workflow struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Status      string    `json:"status"`       // such as "active" or "draft"
	TriggerType string    `json:"trigger_type"` // in lists, such as "schedule"
	LastRun     time.Time `json:"last_run"`     // in lists; zero if it never ran
	CreatedAt   time.Time `json:"created_at"`
	Trigger     *Trigger  `json:"trigger"` // of a single workflow
	Nodes       []Node    `json:"nodes"`   // of a single workflow
}

// Trigger is what starts a workflow.
type Trigger struct {
	Type   string          `json:"type"`             // such as "manual" or "schedule"
	Config json.RawMessage `json:"config,omitempty"` // an object; that of a schedule has "cron"
}

// Node is one step of a workflow.
type Node struct {
	ID     string          `json:"id"`
	Type   string          `json:"type"` // such as "ai_task"
	Config json.RawMessage `json:"config,omitempty"`
}

// NewWorkflow is a workflow to be created.
type NewWorkflow struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Trigger     Trigger `json:"trigger"`
	Nodes       []Node  `json:"nodes"`
}

// WorkflowChange changes a workflow. A nil member leaves its field as it is.
type WorkflowChange struct {
	Name   *string `json:"name,omitempty"`
	Status *string `json:"status,omitempty"`
}

// Execution is a run that was started by hand.
type Execution struct {
	ExecutionID string    `json:"execution_id"`
	Status      string    `json:"status"` // such as "running"
	StartedAt   time.Time `json:"started_at"`
}

// Dashboard is a page of widgets.
type Dashboard struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"` // in lists
	Widgets   []Widget  `json:"widgets"`    // of a single dashboard
}

// Widget is one part of a dashboard.
type Widget struct {
	ID       string          `json:"id,omitempty"`
	Type     string          `json:"type"` // such as "metric"
	Config   json.RawMessage `json:"config,omitempty"`
	Position Position        `json:"position"`
}

// Position is the place of a widget on its dashboard.
type Position struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// NewDashboard is a dashboard to be created.
type NewDashboard struct {
	Name    string   `json:"name"`
	Widgets []Widget `json:"widgets"`
}

func (u *User) identity() string      { return u.ID }
func (c *Chat) identity() string      { return c.ID }
func (m *Message) identity() string   { return m.ID }
func (f *File) identity() string      { return f.ID }
func (w *Workflow) identity() string  { return w.ID }
func (e *Execution) identity() string { return e.ExecutionID }
func (d *Dashboard) identity() string { return d.ID }
