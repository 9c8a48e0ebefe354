package standin

import "net/url"

// input is what fills a Human Input step: prepared in the trigger request, or
// sent to a run that waits.
type input struct {
	Text  *string `json:"text" validate:"required"`
	Files []any   `json:"files" validate:"required"`
}

func (c *call) trigger() (any, error) {
	if c.key.workflow.id != c.params["workflowId"] {
		return nil, forbidden("The key belongs to another workflow.")
	}
	w := c.key.workflow
	if w.status != active {
		return nil, invalid("", "The workflow is not published.")
	}
	var in struct {
		CallbackURL *string          `json:"callbackUrl"`
		Inputs      map[string]input `json:"inputs" validate:"dive"`
	}
	if err := c.decodeOptional(&in); err != nil {
		return nil, err
	}
	hook := &hook{hash: c.key.hash, base: c.baseURL()}
	if in.CallbackURL != nil {
		if err := checkCallback(*in.CallbackURL); err != nil {
			return nil, invalid("callbackUrl", "callbackUrl %s.", err)
		}
		hook.callback = *in.CallbackURL
	}
	r := c.start(w, "api", hook)
	for id := range in.Inputs {
		r.prepared[id] = true
	}
	return record{"runId": r.id, "statusUrl": c.baseURL() + "/api/v3/workflows/runs/" + r.id}, nil
}

// theRun returns the run of the path if the caller may see it: a key sees the
// runs of its workflow, a token those of its organization.
func theRun(c *call) (*run, error) {
	r := c.runs[c.params["runId"]]
	switch {
	case r == nil || r.workflow.org != c.org:
		return nil, notFound("The run")
	case c.key != nil && c.key.workflow != r.workflow:
		return nil, forbidden("The key belongs to another workflow.")
	}
	return r, nil
}

func (c *call) runStatus(r *run) (any, error) {
	return r.view(c.now), nil
}

// resumeURL returns the signed URL that answers a waiting step. The hash of the
// key signs it, so that no other key can use it.
func (r *run) resumeURL(j *job) string {
	query := url.Values{"job": {j.ID}, "signature": {sign([]byte(r.hook.hash), []byte(r.id+" "+j.ID))}}
	return r.hook.base + "/api/v3/workflows/runs/" + r.id + "/resume?" + query.Encode()
}

// resume answers a paused run. The request carries the key that started the run,
// and a link that was signed for it. The link is judged first, then the body,
// then whether the run still waits at that step.
func (c *call) resume() (any, error) {
	r := c.runs[c.params["runId"]]
	id := c.query.Get("job")
	if r == nil || r.hook == nil || r.hook.hash != c.key.hash ||
		!signed([]byte(c.key.hash), []byte(r.id+" "+id), c.query.Get("signature")) {
		return nil, forbidden("The link is not valid for this run and key.")
	}
	var in struct {
		Input *input `json:"input" validate:"required"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if r.state != waiting || r.current().ID != id {
		return nil, invalid("", "The run does not wait for this input.")
	}
	c.resumeRun(r)
	return r.view(c.now), nil
}
