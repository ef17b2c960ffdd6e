package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
)

// File is a file to attach to a card. Its name is also the idempotency key of the requests.
type File struct {
	Card, Name string
	Content    io.Reader
	Size       int64 // bytes
}

// Attach attaches a file with one request and returns the id of the attachment.
func (c *Client) Attach(ctx context.Context, addr string, f File) (id string, err error) {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	if _, err := form.CreateFormFile("file", f.Name); err != nil {
		return "", err
	}
	tail := "\r\n--" + form.Boundary() + "--\r\n"
	size := int64(head.Len()) + f.Size + int64(len(tail))
	header := http.Header{"Content-Type": {form.FormDataContentType()}, "Idempotency-Key": {f.Name}}
	res, err := c.Open(ctx, "POST", "http://"+addr+"/api/public/v1/cards/"+f.Card+"/attachments", header,
		io.MultiReader(&head, f.Content, strings.NewReader(tail)), size)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var created Response
	err = json.NewDecoder(res.Body).Decode(&created)
	return created.Data.ID, err
}

// maxPart is the maximum size of a request of AttachInParts in bytes, which is also that of the pages.
const maxPart = 64_000_000

// AttachInParts attaches a file with a resumable upload and returns the id of the attachment.
func (c *Client) AttachInParts(ctx context.Context, addr string, f File) (id string, err error) {
	var upload struct {
		Data struct{ ID, AttachmentID string }
	}
	in := map[string]any{"cardId": f.Card, "fileName": f.Name, "size": f.Size}
	if err := c.Do(ctx, "POST", addr, "/uploads", f.Name, in, &upload); err != nil {
		return "", err
	}
	path := "/uploads/" + upload.Data.ID
	for offset := int64(0); offset < f.Size; offset += maxPart {
		size := min(maxPart, f.Size-offset)
		header := http.Header{"Content-Type": {"application/offset+octet-stream"}, "Upload-Offset": {strconv.FormatInt(offset, 10)}}
		res, err := c.Open(ctx, "PATCH", "http://"+addr+"/api/public/v1"+path, header, io.LimitReader(f.Content, size), size)
		if err != nil {
			return "", err
		}
		res.Body.Close()
	}
	err = c.Do(ctx, "GET", addr, path, "", nil, &upload)
	return upload.Data.AttachmentID, err
}
