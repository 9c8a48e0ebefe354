package standin

// The states of a workflow that the documents show. A workflow can be triggered
// by key when it is active, which is what we take "published" to mean.
const (
	draft  = "draft"
	active = "active"
)

// humanInput is the type of a node at which a run waits for input. The documents
// show the step but not the name of its type.
const humanInput = "human_input"

func (c *call) workflows() (any, error) {
	items := []workflowItem{}
	for _, w := range c.org.workflows {
		item := workflowItem{ID: w.id, Name: w.name, Status: w.status, TriggerType: *w.trigger.Type, CreatedAt: stamp(w.createdAt)}
		if n := len(w.runs); n > 0 {
			item.LastRun = stamp(w.runs[n-1].started)
		}
		items = append(items, item)
	}
	return listOf(c, items)
}

// workflowInput is the body of a request that creates a workflow. On the main
// surface all but the name may be left out.
type workflowInput struct {
	Name        *string  `json:"name" validate:"required"`
	Description string   `json:"description"`
	Trigger     *trigger `json:"trigger"`
	Nodes       []node   `json:"nodes" validate:"dive"`
}

func (c *call) createWorkflow() (any, error) {
	var in workflowInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return c.addWorkflow(in)
}

func (c *call) createWorkflowB() (any, error) {
	var in struct {
		Name        *string  `json:"name" validate:"required"`
		Description string   `json:"description"`
		Trigger     *trigger `json:"trigger" validate:"required"`
		Nodes       []node   `json:"nodes" validate:"required,dive"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return c.addWorkflow(workflowInput(in))
}

func (c *call) addWorkflow(in workflowInput) (any, error) {
	manual := "manual"
	w := &workflow{org: c.org, id: c.nextID("workflow"), name: *in.Name, description: in.Description,
		status: draft, trigger: trigger{Type: &manual}, nodes: in.Nodes, createdAt: c.now}
	if in.Trigger != nil {
		w.trigger = *in.Trigger
	}
	if w.trigger.Config == nil {
		w.trigger.Config = map[string]any{}
	}
	for i := range w.nodes {
		if w.nodes[i].ID == "" {
			w.nodes[i].ID = c.nextID("node")
		}
		if w.nodes[i].Config == nil {
			w.nodes[i].Config = map[string]any{}
		}
	}
	c.org.workflows = append(c.org.workflows, w)
	return record{"id": w.id, "name": w.name, "status": w.status, "created_at": stamp(w.createdAt)}, nil
}

// theWorkflow returns what finds the workflow of the path parameter with this name.
func theWorkflow(param string) func(*call) (*workflow, error) {
	return func(c *call) (*workflow, error) {
		return find(c.org.workflows, c.params[param], "The workflow", func(w *workflow) string { return w.id })
	}
}

func (c *call) workflow(w *workflow) (any, error) {
	return w.details(), nil
}

func (w *workflow) details() record {
	return record{
		"id":          w.id,
		"name":        w.name,
		"description": w.description,
		"status":      w.status,
		"trigger":     w.trigger,
		"nodes":       append([]node{}, w.nodes...),
		"created_at":  stamp(w.createdAt),
	}
}

func (c *call) updateWorkflow(w *workflow) (any, error) {
	var in struct {
		Name   *string `json:"name" validate:"required_without=Status"`
		Status *string `json:"status" validate:"omitempty,oneof=draft active"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.Name != nil {
		w.name = *in.Name
	}
	if in.Status != nil {
		w.status = *in.Status
	}
	return w.details(), nil
}

// deleteWorkflow also revokes the workflow's keys and cancels its runs: nothing
// of them can be reached without it.
func (c *call) deleteWorkflow(w *workflow) (any, error) {
	for _, r := range w.runs {
		c.end(r, "cancelled")
		delete(c.Service.runs, r.id)
	}
	for _, k := range w.keys {
		delete(c.keys, k.hash)
	}
	c.org.workflows = without(c.org.workflows, w)
	return nil, nil
}

func nodeOptions(c *call) (any, error) {
	return listOf(c, []record{{"type": "ai_task"}, {"type": humanInput}})
}

// runWorkflow starts a run by hand. Such a run sends no webhooks.
func (c *call) runWorkflow(w *workflow) (any, error) {
	var in struct {
		Inputs map[string]any `json:"inputs" validate:"required"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	r := c.start(w, "manual", nil)
	return record{"execution_id": r.id, "status": "running", "started_at": stamp(r.started)}, nil
}

func (c *call) workflowRuns(w *workflow) (any, error) {
	views := []runView{}
	for _, r := range w.runs {
		views = append(views, r.view(c.now))
	}
	return listOf(c, views)
}

func (c *call) workflowRun(w *workflow) (any, error) {
	r, err := find(w.runs, c.params["run_id"], "The run", func(r *run) string { return r.id })
	if err != nil {
		return nil, err
	}
	return r.view(c.now), nil
}
