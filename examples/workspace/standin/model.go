package standin

import (
	"encoding/json"
	"time"
)

// The objects of the general API, as answers show them. Each has the members
// that the documents show, and no other.

type user struct {
	ID             string `json:"id"`
	Email          string `json:"email"`
	Name           string `json:"name"`
	AvatarURL      string `json:"avatar_url"`
	OrganizationID string `json:"organization_id"`
	CreatedAt      string `json:"created_at"`
}

type chatItem struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
	Archived  bool   `json:"archived"`
}

type message struct {
	ID        string `json:"id"`
	Role      string `json:"role"`
	Content   string `json:"content"`
	CreatedAt string `json:"created_at"`
}

type fileItem struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Type      string `json:"type"`
	Size      int    `json:"size"`
	FolderID  string `json:"folder_id"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

// directory has no documented fields. It has those of a file that make sense.
type directory struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	FolderID  string `json:"folder_id"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

type workflowItem struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Status      string `json:"status"`
	TriggerType string `json:"trigger_type"`
	LastRun     string `json:"last_run,omitempty"`
	CreatedAt   string `json:"created_at"`
}

type trigger struct {
	Type   *string        `json:"type" validate:"required"`
	Config map[string]any `json:"config"`
}

type node struct {
	ID     string         `json:"id"`
	Type   *string        `json:"type" validate:"required"`
	Config map[string]any `json:"config"`
}

type dashboardItem struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	CreatedAt string `json:"created_at"`
}

type widget struct {
	ID       string         `json:"id"`
	Type     *string        `json:"type" validate:"required"`
	Config   map[string]any `json:"config"`
	Position position       `json:"position"`
}

type position struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// record is an object of a resource whose fields the documents do not show: an
// id and whatever the request that created it carried.
type record map[string]any

// What is stored: one organization and all that belongs to it.

type organization struct {
	id          string
	users       []*user
	chats       []*chat
	files       []*file
	directories []*directory
	trash       []trashed
	workflows   []*workflow
	dashboards  []*dashboardState
	records     map[string][]record
}

type chat struct {
	item     chatItem
	messages []message
}

type file struct {
	item    fileItem
	content []byte
}

// trashed is a file or a directory in the trash: exactly one of the two is set.
type trashed struct {
	file      *file
	directory *directory
}

type workflow struct {
	org         *organization
	id          string
	name        string
	description string
	status      string
	trigger     trigger
	nodes       []node
	createdAt   time.Time
	runs        []*run
	keys        []*apiKey
}

type dashboardState struct {
	item    dashboardItem
	widgets []widget
}

// encoded returns v as JSON. It panics for values that have no JSON, which the
// types of this package all have.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
