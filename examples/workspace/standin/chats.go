package standin

import "slices"

func (c *call) chats() (any, error) {
	withArchived, err := c.boolParam("archived")
	if err != nil {
		return nil, err
	}
	c.query.Del("archived") // it widens the list: it is no filter
	items := []chatItem{}
	for _, chat := range c.org.chats {
		if withArchived || !chat.item.Archived {
			items = append(items, chat.item)
		}
	}
	return listOf(c, items)
}

func (c *call) createChat() (any, error) {
	var in struct {
		Title *string `json:"title" validate:"required"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	now := stamp(c.now)
	item := chatItem{ID: c.nextID("chat"), Title: *in.Title, CreatedAt: now, UpdatedAt: now}
	c.org.chats = append(c.org.chats, &chat{item: item})
	return record{"id": item.ID, "title": item.Title, "created_at": item.CreatedAt}, nil
}

// findChat returns the chat of the path parameter with this name, and its index.
func (c *call) findChat(param string) (*chat, int, error) {
	i := slices.IndexFunc(c.org.chats, func(chat *chat) bool { return chat.item.ID == c.params[param] })
	if i < 0 {
		return nil, i, notFound("The chat")
	}
	return c.org.chats[i], i, nil
}

func (c *call) chat() (any, error) {
	chat, _, err := c.findChat("id")
	if err != nil {
		return nil, err
	}
	return record{
		"id":         chat.item.ID,
		"title":      chat.item.Title,
		"created_at": chat.item.CreatedAt,
		"messages":   append([]message{}, chat.messages...),
	}, nil
}

func (c *call) history() (any, error) {
	chat, _, err := c.findChat("chat_id")
	if err != nil {
		return nil, err
	}
	return listOf(c, chat.messages)
}

// createMessage adds the caller's message. No assistant answers it.
func (c *call) createMessage() (any, error) {
	chat, _, err := c.findChat("id")
	if err != nil {
		return nil, err
	}
	var in struct {
		Content     *string `json:"content" validate:"required"`
		Attachments []struct {
			FileID *string `json:"file_id" validate:"required"`
			Type   *string `json:"type" validate:"required"`
		} `json:"attachments" validate:"dive"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	m := message{ID: c.nextID("message"), Role: "user", Content: *in.Content, CreatedAt: stamp(c.now)}
	chat.messages = append(chat.messages, m)
	chat.item.UpdatedAt = m.CreatedAt
	return m, nil
}

func (c *call) deleteChat() (any, error) {
	_, i, err := c.findChat("id")
	if err != nil {
		return nil, err
	}
	c.org.chats = slices.Delete(c.org.chats, i, i+1)
	return nil, nil
}
