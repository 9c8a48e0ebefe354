package standin

import "slices"

func (c *call) whoami() (any, error) { return c.account.user, nil }

// ownOrganization answers an empty object if the path names the organization of
// the caller: another one is 403, and one that does not exist 404.
func (c *call) ownOrganization() (any, error) {
	switch id := c.params["id"]; {
	case c.organizations[id] == nil:
		return nil, notFound("The organization")
	case id != c.org.id:
		return nil, forbidden("The token belongs to another organization.")
	}
	return record{}, nil
}

func (c *call) users() (any, error) {
	return listOf(c, c.org.users)
}

func (c *call) searchUsers() (any, error) {
	return listOf(c, containing(c, "search", c.org.users, func(u *user) string { return u.Name }))
}

func (c *call) addUser() (any, error) {
	var in struct {
		Email     *string `json:"email" validate:"required"`
		Name      string  `json:"name"`
		AvatarURL string  `json:"avatar_url"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	u := &user{ID: c.nextID("user"), Email: *in.Email, Name: in.Name, AvatarURL: in.AvatarURL,
		OrganizationID: c.org.id, CreatedAt: stamp(c.now)}
	c.org.users = append(c.org.users, u)
	return u, nil
}

// updateRoles checks the request and changes nothing: a user has no role among
// the fields that the documents show.
func (c *call) updateRoles() (any, error) {
	if err := c.decode(&struct{}{}); err != nil {
		return nil, err
	}
	return c.ownOrganization()
}

func (c *call) departments() (any, error) {
	return listOf(c, c.org.records["departments"])
}

// empty answers an object without members, for resources without shown fields.
func empty(*call) (any, error) { return record{}, nil }

// records returns the handler of a list of objects without shown fields.
func records(kind string) func(*call) (any, error) {
	return func(c *call) (any, error) { return listOf(c, c.org.records[kind]) }
}

// addRecord returns the handler that creates such an object. It keeps what the
// request says and gives it an id.
func addRecord(kind, prefix string) func(*call) (any, error) {
	return func(c *call) (any, error) { return c.add(kind, prefix) }
}

func (c *call) add(kind, prefix string) (record, error) {
	if err := c.decode(&struct{}{}); err != nil {
		return nil, err
	}
	var r record
	if err := decodeAny(c.body, &r); err != nil {
		return nil, err
	}
	r["id"] = c.nextID(prefix)
	c.org.records[kind] = append(c.org.records[kind], r)
	return r, nil
}

func (c *call) artifact() (any, error) {
	i := indexRecord(c.org.records["artifacts"], c.params["id"])
	if i < 0 {
		return nil, notFound("The artifact")
	}
	return c.org.records["artifacts"][i], nil
}

// sharesOf returns the kind under which the shares of a resource are kept.
func (c *call) sharesOf() string {
	return "shares of " + c.params["resourceType"] + " " + c.params["resourceId"]
}

func (c *call) shares() (any, error) { return listOf(c, c.org.records[c.sharesOf()]) }

func (c *call) createShare() (any, error) { return c.add(c.sharesOf(), "share") }

func (c *call) connect() (any, error) {
	r := record{"id": c.nextID("connection")}
	c.org.records["connections"] = append(c.org.records["connections"], r)
	return r, nil
}

func (c *call) disconnect() (any, error) {
	kept := c.org.records["connections"]
	i := indexRecord(kept, c.params["id"])
	if i < 0 {
		return nil, notFound("The connection")
	}
	c.org.records["connections"] = slices.Delete(kept, i, i+1)
	return nil, nil
}

func indexRecord(records []record, id string) int {
	return slices.IndexFunc(records, func(r record) bool { return r["id"] == id })
}
