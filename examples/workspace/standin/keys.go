package standin

import "time"

// apiKey is a workflow key. The service keeps the hash of the secret only.
type apiKey struct {
	id        string
	label     string
	hash      string
	workflow  *workflow
	owner     *account
	expiresAt *time.Time
}

// valid reports whether the key still authenticates. A revoked key is not found
// in the first place.
func (k *apiKey) valid(now time.Time) bool { return k.expiresAt == nil || now.Before(*k.expiresAt) }

// keyView is a key as answers show it. Secret is set in the answer that creates
// the key and in no other.
type keyView struct {
	ID         string  `json:"id"`
	WorkflowID string  `json:"workflowId"`
	Label      string  `json:"label"`
	ExpiresAt  *string `json:"expiresAt"`
	Secret     string  `json:"secret,omitempty"`
}

func (k *apiKey) view() keyView {
	v := keyView{ID: k.id, WorkflowID: k.workflow.id, Label: k.label}
	if k.expiresAt != nil {
		at := stamp(*k.expiresAt)
		v.ExpiresAt = &at
	}
	return v
}

func (c *call) listKeys(w *workflow) (any, error) {
	views := []keyView{}
	for _, k := range w.keys {
		views = append(views, k.view())
	}
	return views, nil
}

func (c *call) createKey(w *workflow) (any, error) {
	var in struct {
		Label     *string    `json:"label" validate:"required"`
		ExpiresAt *time.Time `json:"expiresAt"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	secret := "svc_wf_" + c.hex(24)
	k := &apiKey{id: c.nextID("key"), label: *in.Label, hash: hashKey(secret), workflow: w, owner: c.account, expiresAt: in.ExpiresAt}
	w.keys = append(w.keys, k)
	c.keys[k.hash] = k
	v := k.view()
	v.Secret = secret
	return v, nil
}

func (c *call) revokeKey(w *workflow) (any, error) {
	k, err := find(w.keys, c.params["keyId"], "The key", func(k *apiKey) string { return k.id })
	if err != nil {
		return nil, err
	}
	delete(c.keys, k.hash)
	w.keys = without(w.keys, k)
	return nil, nil
}
