package apptest

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"

	"cardwall/internal/rest"
)

// Picture returns a gray PNG file of the given size in pixels.
func Picture(width, height int) string {
	var b strings.Builder
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))) // fails only if writing fails
	return b.String()
}

// Attach sends a file to add_attachment. It fails the test unless the file is added.
func (p *Person) Attach(cardID, name string, content []byte) Response {
	p.T.Helper()
	a := p.TryAttach(cardID, name, content, nil)
	if a.Status != http.StatusCreated {
		p.T.Fatalf("attach %q: got status %d, body %s; want 201", name, a.Status, a.Raw)
	}
	return a
}

// TryAttach sends a file to add_attachment, with the given headers in addition to those of
// the form.
func (p *Person) TryAttach(cardID, name string, content []byte, header http.Header) Response {
	p.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(content)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		p.T.Fatalf("write the form: %v", err)
	}
	r := httptest.NewRequest(http.MethodPost, rest.Prefix+"/cards/"+cardID+"/attachments", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Authorization", "Bearer "+p.Token)
	for key, values := range header {
		r.Header[key] = values
	}
	return p.Do(r)
}

// Download requests the content of an attachment, with the given headers.
func (p *Person) Download(attachmentID string, header http.Header) Response {
	p.T.Helper()
	r := httptest.NewRequest(http.MethodGet, rest.Prefix+"/attachments/"+attachmentID+"/content", nil)
	r.Header.Set("Authorization", "Bearer "+p.Token)
	for key, values := range header {
		r.Header[key] = values
	}
	return p.Do(r)
}
