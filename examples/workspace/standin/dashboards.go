package standin

import "slices"

func (c *call) dashboards() (any, error) {
	items := []dashboardItem{}
	for _, d := range c.org.dashboards {
		items = append(items, d.item)
	}
	return listOf(c, items)
}

// dashboardInput is the body of a request that creates a dashboard. The main
// surface shows no body: there, widgets may be left out.
type dashboardInput struct {
	Name    *string  `json:"name" validate:"required"`
	Widgets []widget `json:"widgets" validate:"dive"`
}

func (c *call) createDashboard() (any, error) {
	var in dashboardInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return c.addDashboard(in)
}

func (c *call) createDashboardB() (any, error) {
	var in struct {
		Name    *string  `json:"name" validate:"required"`
		Widgets []widget `json:"widgets" validate:"required,dive"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return c.addDashboard(dashboardInput(in))
}

func (c *call) addDashboard(in dashboardInput) (any, error) {
	d := &dashboardState{item: dashboardItem{ID: c.nextID("dashboard"), Name: *in.Name, CreatedAt: stamp(c.now)}}
	for _, w := range in.Widgets {
		d.widgets = append(d.widgets, c.complete(w))
	}
	c.org.dashboards = append(c.org.dashboards, d)
	return d.details(), nil
}

// complete gives a widget what the request left out.
func (c *call) complete(w widget) widget {
	if w.ID == "" {
		w.ID = c.nextID("widget")
	}
	if w.Config == nil {
		w.Config = map[string]any{}
	}
	return w
}

func (d *dashboardState) details() record {
	return record{"id": d.item.ID, "name": d.item.Name, "widgets": append([]widget{}, d.widgets...)}
}

func theDashboard(c *call) (*dashboardState, error) {
	return find(c.org.dashboards, c.params["id"], "The dashboard", func(d *dashboardState) string { return d.item.ID })
}

func (c *call) dashboard(d *dashboardState) (any, error) {
	return d.details(), nil
}

func (c *call) updateDashboard(d *dashboardState) (any, error) {
	if err := c.decodeName(&d.item.Name); err != nil {
		return nil, err
	}
	return d.details(), nil
}

func (c *call) addWidget(d *dashboardState) (any, error) {
	var w widget
	if err := c.decode(&w); err != nil {
		return nil, err
	}
	w = c.complete(w)
	d.widgets = append(d.widgets, w)
	return w, nil
}

func (c *call) removeWidget(d *dashboardState) (any, error) {
	i := slices.IndexFunc(d.widgets, func(w widget) bool { return w.ID == c.params["widget_id"] })
	if i < 0 {
		return nil, notFound("The widget")
	}
	d.widgets = slices.Delete(d.widgets, i, i+1)
	return nil, nil
}
