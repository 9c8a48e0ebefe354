package standin

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// linkLifetime is how long a download link works. The documents show no number.
const linkLifetime = 15 * time.Minute

func (c *call) files() (any, error) {
	return listOf(c, fileItems(containing(c, "search", c.org.files, func(f *file) string { return f.item.Name })))
}

func fileItems(files []*file) []fileItem {
	items := []fileItem{}
	for _, f := range files {
		items = append(items, f.item)
	}
	return items
}

// theFile returns the file of the path. A file in the trash is gone.
func theFile(c *call) (*file, error) {
	return find(c.org.files, c.params["id"], "The file", func(f *file) string { return f.item.ID })
}

func (c *call) file(f *file) (any, error) {
	return c.fileDetails(f), nil
}

func (c *call) fileDetails(f *file) record {
	link, _ := c.link(f)
	return record{
		"id":           f.item.ID,
		"name":         f.item.Name,
		"type":         f.item.Type,
		"size":         f.item.Size,
		"folder_id":    f.item.FolderID,
		"created_at":   f.item.CreatedAt,
		"download_url": link,
		"shared_with":  []any{},
	}
}

func (c *call) download(f *file) (any, error) {
	link, expires := c.link(f)
	return record{"url": link, "expires_at": stamp(expires)}, nil
}

// link returns a signed link to a file's content and when it stops working.
func (c *call) link(f *file) (link string, expires time.Time) {
	expires = c.now.Add(linkLifetime)
	until := strconv.FormatInt(expires.Unix(), 10)
	query := url.Values{"expires": {until}, "signature": {sign(c.secret, []byte(f.item.ID+" "+until))}}
	return c.baseURL() + "/download/" + url.PathEscape(f.item.ID) + "?" + query.Encode(), expires
}

// content answers the bytes of a file to anyone with the link.
func (c *call) content() (any, error) {
	id, until := c.params["id"], c.query.Get("expires")
	if !signed(c.secret, []byte(id+" "+until), c.query.Get("signature")) {
		return nil, forbidden("The link is not valid.")
	}
	if unix, err := strconv.ParseInt(until, 10, 64); err != nil || c.now.Unix() >= unix {
		return nil, forbidden("The link has expired.")
	}
	for _, o := range c.organizations {
		for _, f := range o.files {
			if f.item.ID == id {
				media, content := f.item.Type, f.content
				return func(w http.ResponseWriter) {
					w.Header().Set("Content-Type", media)
					_, _ = w.Write(content) // an error means that the client has gone
				}, nil
			}
		}
	}
	return nil, notFound("The file")
}

// upload reads multipart/form-data with the parts file, folder_id and name.
func (c *call) upload() (any, error) {
	media, params, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return nil, invalid("", "Send the file as multipart/form-data.")
	}
	form, err := multipart.NewReader(bytes.NewReader(c.body), params["boundary"]).ReadForm(maxBody)
	if err != nil {
		return nil, invalid("", "The body is not multipart/form-data.")
	}
	defer form.RemoveAll() //nolint:errcheck // the form is in memory
	if len(form.File["file"]) == 0 {
		return nil, invalid("file", "file is required.")
	}
	header := form.File["file"][0]
	part, err := header.Open()
	if err != nil {
		return nil, err
	}
	defer part.Close()
	content, err := io.ReadAll(part)
	if err != nil {
		return nil, err
	}
	item := fileItem{
		ID:        c.nextID("file"),
		Name:      header.Filename,
		Type:      header.Header.Get("Content-Type"),
		Size:      len(content),
		CreatedAt: stamp(c.now),
		UpdatedAt: stamp(c.now),
	}
	if item.Type == "" {
		item.Type = "application/octet-stream"
	}
	if name := form.Value["name"]; len(name) > 0 {
		item.Name = name[0]
	}
	if folder := form.Value["folder_id"]; len(folder) > 0 {
		item.FolderID = folder[0]
	}
	c.org.files = append(c.org.files, &file{item, content})
	return record{"id": item.ID, "name": item.Name, "type": item.Type, "size": item.Size, "created_at": item.CreatedAt}, nil
}

func (c *call) renameFile(f *file) (any, error) {
	if err := c.decodeName(&f.item.Name); err != nil {
		return nil, err
	}
	f.item.UpdatedAt = stamp(c.now)
	return c.fileDetails(f), nil
}

func (c *call) moveFile(f *file) (any, error) {
	if err := c.decodeFolder(&f.item.FolderID); err != nil {
		return nil, err
	}
	f.item.UpdatedAt = stamp(c.now)
	return c.fileDetails(f), nil
}

func (c *call) deleteFile(f *file) (any, error) {
	c.org.files = without(c.org.files, f)
	c.org.trash = append(c.org.trash, trashed{file: f})
	return nil, nil
}

// decodeName reads a body with the member name.
func (c *call) decodeName(name *string) error {
	var in struct {
		Name *string `json:"name" validate:"required"`
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	*name = *in.Name
	return nil
}

// decodeFolder reads a body with the member folder_id.
func (c *call) decodeFolder(folder *string) error {
	var in struct {
		FolderID *string `json:"folder_id" validate:"required"`
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	*folder = *in.FolderID
	return nil
}

// decodeAny reads JSON of any shape.
func decodeAny(body []byte, dst any) error {
	if err := json.Unmarshal(body, dst); err != nil {
		return invalid("", "The body is not a JSON object.")
	}
	return nil
}
