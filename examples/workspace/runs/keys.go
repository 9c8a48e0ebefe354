package runs

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// keyPrefix is how every key begins.
const keyPrefix = "svc_wf_"

// KeyRecord is what the service tells about a key. The document does not show the
// names of its members.
type KeyRecord map[string]json.RawMessage

// NewKey is a key to be created. The document does not show the member of the label;
// this client calls it "label".
type NewKey struct {
	Label     string     `json:"label"`               // for its owner; callers do not see it
	ExpiresAt *time.Time `json:"expiresAt,omitempty"` // after it, the key stops authenticating
}

// CreatedKey is a key that was just created. Printing it does not show the key.
type CreatedKey struct {
	Record KeyRecord // without the key
	key    wire.Credentials
}

// Reveal returns the key. The service does not show it again, because it keeps only
// a hash.
func (k CreatedKey) Reveal() string { return k.key.Get("key") }

// Keys lists the keys of a workflow, expired ones included.
func (c *Client) Keys(ctx context.Context, workflow string) ([]KeyRecord, error) {
	var all []KeyRecord
	args := &api.Args{Path: api.Path{"workflowId": workflow}}
	for record, err := range api.List[KeyRecord](ctx, c.api, "GET /api/v3/workflows/:workflowId/api-keys", args) {
		if err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	return all, nil
}

// CreateKey creates a key for a workflow.
func (c *Client) CreateKey(ctx context.Context, workflow string, k NewKey) (CreatedKey, error) {
	const endpoint = "POST /api/v3/workflows/:workflowId/api-keys"
	record, err := api.Call[KeyRecord](ctx, c.api, endpoint, &api.Args{Path: api.Path{"workflowId": workflow}, Body: k})
	if err != nil {
		return CreatedKey{}, err
	}
	created := CreatedKey{Record: record}
	member := ""
	for name, value := range record {
		// The name of the member is not shown, but how a key begins is. Its start alone, or a mask, may stand there too.
		var text string
		isKey := json.Unmarshal(value, &text) == nil && strings.HasPrefix(text, keyPrefix) && !strings.Contains(text, "*")
		if isKey && len(text) > len(created.Reveal()) {
			created.key = wire.NewCredentials(map[string]string{"key": text})
			member = name
		}
	}
	delete(record, member)
	if created.Reveal() == "" {
		return created, &api.AnswerError{Endpoint: endpoint, Problem: "the key was created, but the answer does not show it"}
	}
	return created, nil
}

// RevokeKey revokes a key at once and for ever.
func (c *Client) RevokeKey(ctx context.Context, workflow, key string) error {
	args := &api.Args{Path: api.Path{"workflowId": workflow, "keyId": key}}
	return c.api.Do(ctx, "DELETE /api/v3/workflows/:workflowId/api-keys/:keyId", args)
}
