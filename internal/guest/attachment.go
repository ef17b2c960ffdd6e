package guest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// SharedAttachment is the part of an attachment that guests see.
type SharedAttachment struct {
	File      *string `json:"file" doc:"Identifies the file on this page, for get_guest_file; null for a link." example:"9f2c7d3a9e1b4c2d8f6a7b90"`
	Name      string  `json:"name" doc:"The file name, or the text of the link." example:"Cover photo.jpg"`
	URL       *string `json:"url" format:"uri" doc:"The URL of a link; null for a file." example:"https://example.com/brief"`
	MediaType *string `json:"mediaType" doc:"The media type of a file, determined from its content; null for a link." example:"image/jpeg"`
	Size      *int64  `json:"size" doc:"The size of a file in bytes; null for a link." example:"248116"`
	Width     *int    `json:"width" doc:"The width of a picture in pixels; null if the attachment is not a picture." example:"1600"`
	Height    *int    `json:"height" doc:"The height of a picture in pixels; null if the attachment is not a picture." example:"900"`
}

// SharedCover is the picture on a card's tile.
type SharedCover struct {
	File   string `json:"file" doc:"Identifies the picture on this page, for get_guest_file." example:"9f2c7d3a9e1b4c2d8f6a7b90"`
	Width  int    `json:"width" doc:"The width of the picture in pixels." example:"1600"`
	Height int    `json:"height" doc:"The height of the picture in pixels." example:"900"`
}

// GetFileInput is the input of GetFile.
type GetFileInput struct {
	KeyInput
	CardNumberInput
	File string            `json:"file" maxLength:"64" doc:"Identifies the file: the file field of an attachment or of a cover on the page." example:"9f2c7d3a9e1b4c2d8f6a7b90"`
	Size board.PictureSize `json:"size,omitempty" enum:"small,medium,large" doc:"Scale a picture down to 320, 800 or 1,600 pixels on its longer side. Has no effect on other files, or on a picture that is smaller." example:"medium"`
}

// GetFile returns the content of an attached file on the page. It returns a not_found error
// unless the page shows attachments and the card.
func GetFile(ctx context.Context, v *store.View, in GetFileInput) (board.Content, error) {
	b, p, err := v.GuestPage(ctx)
	if err != nil {
		return board.Content{}, err
	}
	card, _, err := cardOnPage(ctx, v, b, p, in.Number)
	if err == nil && !p.Attachments {
		err = board.NotFound()
	}
	if err != nil {
		return board.Content{}, err
	}
	attachments, err := attachmentsOf(ctx, v, card)
	if err != nil {
		return board.Content{}, err
	}
	for _, a := range attachments {
		if a.Kind == board.AttachedFile && fileOnPage(v, a.ID) == in.File {
			return app.ContentOf(a, in.Size)
		}
	}
	return board.Content{}, board.NotFound()
}

// attachmentsOf returns all attachments of a card.
func attachmentsOf(ctx context.Context, v *store.View, card board.Card) ([]board.Attachment, error) {
	return v.Attachments(ctx, card.ID, "", max(card.Attachments, 1))
}

// fileOnPage returns what identifies an attachment on the page of the caller. It differs from
// the attachment's id, and between the addresses of a page.
func fileOnPage(v *store.View, attachmentID string) string {
	sum := sha256.Sum256(slices.Concat(v.Caller().Guest.Key, []byte(attachmentID)))
	return hex.EncodeToString(sum[:12])
}

// sharedAttachment returns the part of an attachment that guests see.
func sharedAttachment(v *store.View, a board.Attachment) SharedAttachment {
	out := SharedAttachment{Name: a.Name, URL: a.URL, MediaType: a.MediaType, Size: a.Size, Width: a.Width, Height: a.Height}
	if a.Kind == board.AttachedFile {
		out.File = new(fileOnPage(v, a.ID))
	}
	return out
}
