package standin

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

// theChat returns what finds the chat of the path parameter with this name.
func theChat(param string) func(*call) (*chat, error) {
	return func(c *call) (*chat, error) {
		return find(c.org.chats, c.params[param], "The chat", func(chat *chat) string { return chat.item.ID })
	}
}

func (c *call) chat(chat *chat) (any, error) {
	return record{
		"id":         chat.item.ID,
		"title":      chat.item.Title,
		"created_at": chat.item.CreatedAt,
		"messages":   append([]message{}, chat.messages...),
	}, nil
}

func (c *call) history(chat *chat) (any, error) {
	return listOf(c, chat.messages)
}

// createMessage adds the caller's message. No assistant answers it.
func (c *call) createMessage(chat *chat) (any, error) {
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

func (c *call) deleteChat(chat *chat) (any, error) {
	c.org.chats = without(c.org.chats, chat)
	return nil, nil
}
