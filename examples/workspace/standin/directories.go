package standin

import (
	"encoding/json"
	"slices"
)

// directories lists directories, then files. The parameter folder_id narrows the
// list to the content of one directory, as it narrows a list of files.
func (c *call) directories() (any, error) {
	entries := []json.RawMessage{}
	for _, d := range c.org.directories {
		entries = append(entries, encoded(d))
	}
	for _, f := range c.org.files {
		entries = append(entries, encoded(f.item))
	}
	return listOf(c, entries)
}

func (c *call) createDirectory() (any, error) {
	var in struct {
		Name     *string `json:"name" validate:"required"`
		FolderID string  `json:"folder_id"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	now := stamp(c.now)
	d := &directory{ID: c.nextID("directory"), Name: *in.Name, FolderID: in.FolderID, CreatedAt: now, UpdatedAt: now}
	c.org.directories = append(c.org.directories, d)
	return d, nil
}

func theDirectory(c *call) (*directory, error) {
	return find(c.org.directories, c.params["id"], "The directory", func(d *directory) string { return d.ID })
}

func (c *call) renameDirectory(d *directory) (any, error) {
	if err := c.decodeName(&d.Name); err != nil {
		return nil, err
	}
	d.UpdatedAt = stamp(c.now)
	return d, nil
}

func (c *call) moveDirectory(d *directory) (any, error) {
	if err := c.decodeFolder(&d.FolderID); err != nil {
		return nil, err
	}
	d.UpdatedAt = stamp(c.now)
	return d, nil
}

// deleteDirectory moves the directory to the trash. What it contains stays.
func (c *call) deleteDirectory(d *directory) (any, error) {
	c.org.directories = without(c.org.directories, d)
	c.org.trash = append(c.org.trash, trashed{directory: d})
	return nil, nil
}

// entry returns what lists show of an item of the trash, and its id.
func (t trashed) entry() (entry any, id string) {
	if t.file != nil {
		return t.file.item, t.file.item.ID
	}
	return t.directory, t.directory.ID
}

func (c *call) trash() (any, error) {
	entries := []json.RawMessage{}
	for _, t := range c.org.trash {
		entry, _ := t.entry()
		entries = append(entries, encoded(entry))
	}
	return listOf(c, entries)
}

// takeFromTrash removes the item that the body names from the trash and returns it.
func (c *call) takeFromTrash() (trashed, error) {
	var in struct {
		ID *string `json:"id" validate:"required"`
	}
	if err := c.decode(&in); err != nil {
		return trashed{}, err
	}
	for i, t := range c.org.trash {
		if _, id := t.entry(); id == *in.ID {
			c.org.trash = slices.Delete(c.org.trash, i, i+1)
			return t, nil
		}
	}
	return trashed{}, notFound("The item")
}

func (c *call) restore() (any, error) {
	t, err := c.takeFromTrash()
	if err != nil {
		return nil, err
	}
	if t.file != nil {
		c.org.files = append(c.org.files, t.file)
	} else {
		c.org.directories = append(c.org.directories, t.directory)
	}
	entry, _ := t.entry()
	return entry, nil
}

func (c *call) deleteForGood() (any, error) {
	_, err := c.takeFromTrash()
	return nil, err
}

func (c *call) emptyTrash() (any, error) {
	c.org.trash = nil
	return nil, nil
}
