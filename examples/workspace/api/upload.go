package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
)

// Upload is a file to be put into the vault: by [Client.Upload], or as the Args.Body of
// another endpoint that takes a file.
type Upload struct {
	Filename string
	Type     string // its media type; empty: application/octet-stream
	Content  io.Reader
	Size     int64  // of the content; 0: unknown
	FolderID string // empty: none
	Name     string // overrides the filename, if it is not empty
}

// Upload puts a file into the vault. The content is sent as it is read, so an upload
// that fails is not repeated.
func (c *Client) Upload(ctx context.Context, u Upload) (File, error) {
	return Call[File](ctx, c, "POST /v1/vault/files", &Args{Body: u})
}

// form returns the multipart form of the upload, and its length, or -1 if that is not
// known. The file comes last: only the frame around it is in memory.
func (u Upload) form() (content io.Reader, contentType string, length int64, err error) {
	media := u.Type
	if media == "" {
		media = "application/octet-stream"
	}
	if _, _, err := mime.ParseMediaType(media); err != nil {
		return nil, "", 0, fmt.Errorf("api: Upload.Type: %w", err)
	}
	var frame bytes.Buffer
	w := multipart.NewWriter(&frame)
	for _, field := range []struct{ name, value string }{{"folder_id", u.FolderID}, {"name", u.Name}} {
		if field.value == "" {
			continue
		}
		if err := w.WriteField(field.name, field.value); err != nil {
			return nil, "", 0, err
		}
	}
	if _, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition("file", u.Filename)},
		"Content-Type":        {media},
	}); err != nil {
		return nil, "", 0, err
	}
	before := frame.Len()
	if err := w.Close(); err != nil {
		return nil, "", 0, err
	}
	length = -1
	if u.Size > 0 {
		length = int64(frame.Len()) + u.Size
	}
	content = io.MultiReader(bytes.NewReader(frame.Bytes()[:before]), u.Content, bytes.NewReader(frame.Bytes()[before:]))
	return content, w.FormDataContentType(), length, nil
}
