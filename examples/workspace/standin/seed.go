package standin

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// epoch is when the seeded data begins. It is fixed, so that every start gives
// the same data.
var epoch = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)

// seed fills the service: the organizations of the accounts, and in each of them
// enough rows that some lists have more than one page.
func (s *Service) seed() {
	for _, a := range s.options.Accounts {
		if a.PerMinute == 0 {
			a.PerMinute = Standard
		}
		for _, name := range a.Forbidden {
			if !slices.ContainsFunc(s.endpoints, func(e Endpoint) bool { return e.name() == name }) {
				panic("standin: there is no endpoint " + name)
			}
		}
		o := s.organizations[a.Organization]
		if o == nil {
			o = &organization{id: a.Organization, records: map[string][]record{}}
			s.organizations[o.id] = o
			s.seedOrganization(o)
		}
		// The account's own user comes on top of the seeded ones.
		s.accounts[a.Token] = &account{Account: a, user: s.seedUser(o)}
	}
}

func (s *Service) seedOrganization(o *organization) {
	n := s.options.Items
	for range max(n, 6) {
		s.seedUser(o)
	}
	for range max(n, 12) {
		s.seedChat(o)
	}
	for i := range max(n, 3) {
		at := stamp(s.moment())
		name := []string{"Contracts", "Invoices", "Reports"}[i%3]
		o.directories = append(o.directories, &directory{ID: s.nextID("directory"), Name: name, CreatedAt: at, UpdatedAt: at})
	}
	for range max(n, 45) {
		s.seedFile(o)
	}
	for i := range max(n, 6) {
		s.seedWorkflow(o, i)
	}
	for range max(n, 4) {
		s.seedDashboard(o)
	}
	s.seedLists(o, n)
}

// seedLists gives the lists that are empty or belong to one resource at least n
// items: for the latter, those of the organization's first resource of the kind.
func (s *Service) seedLists(o *organization, n int) {
	for i := len(o.chats[0].messages); i < n; i++ {
		o.chats[0].messages = append(o.chats[0].messages, message{ID: s.nextID("message"), Role: "user", Content: "Go on.",
			CreatedAt: o.chats[0].item.UpdatedAt})
	}
	w := o.workflows[0]
	for i := len(w.runs); i < n; i++ {
		s.seedRun(w, w.createdAt.Add(time.Duration(i)*time.Hour))
	}
	metric := "metric"
	for d := o.dashboards[0]; len(d.widgets) < n; {
		d.widgets = append(d.widgets, widget{ID: s.nextID("widget"), Type: &metric, Config: map[string]any{},
			Position: position{Y: len(d.widgets), W: 12, H: 1}})
	}
	for range n {
		w.keys = append(w.keys, &apiKey{id: s.nextID("key"), label: "A seeded key, whose secret nobody has", workflow: w})
		f := *o.files[0]
		f.item.ID = s.nextID("file")
		o.trash = append(o.trash, trashed{file: &f})
		for _, kind := range []string{"departments", "agents", "tools", "integrations", "services", "connections",
			"shares of workflow " + w.id} {
			o.records[kind] = append(o.records[kind], record{"id": s.nextID("record")})
		}
	}
}

// moment returns a random time of the four months after the epoch, in whole seconds.
func (s *Service) moment() time.Time {
	return epoch.Add(time.Duration(s.random.IntN(120*24*3600)) * time.Second)
}

func pick[T any](s *Service, values ...T) T { return values[s.random.IntN(len(values))] }

func (s *Service) seedUser(o *organization) *user {
	id := s.nextID("user")
	first := pick(s, "Ada", "Grace", "Alan", "Edsger", "Barbara", "Tony", "Niklaus", "Frances")
	last := pick(s, "Hill", "Stone", "Rivers", "Field", "Woods", "Lake")
	number := strings.TrimPrefix(id, "user_")
	u := &user{
		ID:             id,
		Email:          strings.ToLower(first) + "." + strings.ToLower(last) + number + "@example.com",
		Name:           first + " " + last,
		AvatarURL:      "https://avatars.example.com/" + id + ".png",
		OrganizationID: o.id,
		CreatedAt:      stamp(s.moment()),
	}
	o.users = append(o.users, u)
	return u
}

func (s *Service) seedChat(o *organization) {
	at := s.moment()
	c := &chat{item: chatItem{
		ID:        s.nextID("chat"),
		Title:     pick(s, "Plans for", "Questions about", "Summary of") + " " + pick(s, "the budget", "hiring", "the launch", "Q2"),
		CreatedAt: stamp(at),
		Archived:  s.random.IntN(4) == 0,
	}}
	for i := range 1 + s.random.IntN(4) {
		at = at.Add(time.Duration(1+s.random.IntN(300)) * time.Second)
		c.messages = append(c.messages, message{
			ID:        s.nextID("message"),
			Role:      []string{"user", "assistant"}[i%2],
			Content:   pick(s, "What changed since Monday?", "Here is a summary.", "List the open points.", "Two are open: \"A\", ü."),
			CreatedAt: stamp(at),
		})
	}
	c.item.UpdatedAt = stamp(at)
	o.chats = append(o.chats, c)
}

func (s *Service) seedFile(o *organization) {
	at := s.moment()
	id := s.nextID("file")
	kind := pick(s, "text/plain", "text/csv", "application/json")
	ending := map[string]string{"text/plain": ".txt", "text/csv": ".csv", "application/json": ".json"}[kind]
	content := strings.Repeat("content of "+id+"\n", 1+s.random.IntN(9))
	f := &file{content: []byte(content), item: fileItem{
		ID:        id,
		Name:      pick(s, "notes", "orders", "prices", "minutes") + "-" + strings.TrimPrefix(id, "file_") + ending,
		Type:      kind,
		Size:      len(content),
		CreatedAt: stamp(at),
		UpdatedAt: stamp(at.Add(time.Duration(s.random.IntN(1000)) * time.Minute)),
	}}
	if i := s.random.IntN(len(o.directories) + 1); i < len(o.directories) {
		f.item.FolderID = o.directories[i].ID
	}
	o.files = append(o.files, f)
}

// seedWorkflow adds a workflow and some runs that have completed. The first one
// is active and has two Human Input steps; the second one is a draft.
func (s *Service) seedWorkflow(o *organization, index int) {
	w := &workflow{
		org:         o,
		id:          s.nextID("workflow"),
		name:        pick(s, "Weekly report", "Lead intake", "Invoice check", "Onboarding") + fmt.Sprintf(" %d", index+1),
		description: "A seeded workflow.",
		status:      pick(s, draft, active),
		createdAt:   s.moment(),
	}
	kind := pick(s, "manual", "schedule")
	w.trigger = trigger{Type: &kind, Config: map[string]any{}}
	if kind == "schedule" {
		w.trigger.Config["cron"] = fmt.Sprintf("0 %d * * 1", 6+s.random.IntN(12))
	}
	types := []string{"ai_task", "ai_task", "ai_task"}[:1+s.random.IntN(3)]
	switch index {
	case 0:
		w.status, types = active, []string{"ai_task", humanInput, humanInput, "ai_task"}
	case 1:
		w.status = draft
	}
	for _, t := range types {
		w.nodes = append(w.nodes, node{ID: s.nextID("node"), Type: &t, Config: map[string]any{}})
	}
	at := w.createdAt
	for range s.random.IntN(5) {
		at = at.Add(time.Duration(1+s.random.IntN(48)) * time.Hour)
		s.seedRun(w, at)
	}
	o.workflows = append(o.workflows, w)
}

func (s *Service) seedRun(w *workflow, at time.Time) {
	r := s.newRun(w, "manual", at)
	for _, j := range r.jobs {
		j.set(completed)
	}
	r.state, r.step = completed, len(r.jobs)
	r.ended = at.Add(time.Duration(10+s.random.IntN(600)) * time.Second)
	r.message("done", struct{}{})
}

func (s *Service) seedDashboard(o *organization) {
	d := &dashboardState{item: dashboardItem{
		ID:        s.nextID("dashboard"),
		Name:      pick(s, "Usage", "Sales", "Support", "Costs"),
		CreatedAt: stamp(s.moment()),
	}}
	for i := range 1 + s.random.IntN(4) {
		kind := "metric"
		d.widgets = append(d.widgets, widget{
			ID:       s.nextID("widget"),
			Type:     &kind,
			Config:   map[string]any{},
			Position: position{X: 4 * (i % 3), Y: 2 * (i / 3), W: 4, H: 2},
		})
	}
	o.dashboards = append(o.dashboards, d)
}
