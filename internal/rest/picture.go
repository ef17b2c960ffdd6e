package rest

import (
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// readPicture reads a request that is a picture. The Content-Type only has to be that of any
// picture: the content determines what the file is.
func (h *handler) readPicture(w http.ResponseWriter, r *http.Request, call *op.Call) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "image/") {
		return &board.Fault{
			Code: board.CodeInvalidRequest, Cause: board.CauseMediaType,
			Message: "Content-Type must be that of a picture, such as image/jpeg.",
		}
	}
	if err := h.Engine.Permit(r.Context(), *call); err != nil {
		return err
	}
	body := h.pace(w, r)
	defer body.end()
	picture, err := h.Files.Picture(r.Context(), call.Caller, call.Operation.Picture, body)
	if err != nil {
		return receiveFault(err)
	}
	call.Picture = &picture
	return nil
}

// describePicture describes the request of an operation that takes a picture.
func describePicture(entry *huma.Operation) {
	entry.RequestBody = &huma.RequestBody{
		Required: true, Description: "A JPEG, PNG, GIF or WebP file of at most " + board.MaxPictureUpload.String() + ".",
		Content: map[string]*huma.MediaType{op.PictureMedia: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}
}
