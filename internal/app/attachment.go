package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListAttachmentsInput is the input of ListAttachments.
type ListAttachmentsInput struct {
	CardInput
	op.Paging
}

// ListAttachments returns the files and links on a card, oldest first.
func ListAttachments(ctx context.Context, v *store.View, in ListAttachmentsInput) (op.Page[board.Attachment], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.Attachment]{}, err
	}
	if _, err := v.Card(ctx, in.CardID, board.View); err != nil {
		return op.Page[board.Attachment]{}, err
	}
	attachments, err := v.Attachments(ctx, in.CardID, after, in.Size()+1)
	return op.Cut(attachments, in.Size(), func(a board.Attachment) any { return a.ID }), err
}

// AttachmentInput identifies an attachment.
type AttachmentInput struct {
	AttachmentID string `json:"attachmentId" maxLength:"64" doc:"The id of the attachment." example:"att_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetAttachment returns an attachment, without the content of its file.
func GetAttachment(ctx context.Context, v *store.View, in AttachmentInput) (board.Attachment, error) {
	return v.Attachment(ctx, in.AttachmentID, board.View)
}

// DownloadAttachmentInput is the input of DownloadAttachment.
type DownloadAttachmentInput struct {
	AttachmentInput
	Size board.PictureSize `json:"size,omitempty" enum:"small,medium,large" doc:"Scale a picture down to 320, 800 or 1,600 pixels on its longer side. Has no effect on other files, or on a picture that is smaller." example:"medium"`
}

// DownloadAttachment returns the content of an attached file.
func DownloadAttachment(ctx context.Context, v *store.View, in DownloadAttachmentInput) (board.Content, error) {
	a, err := v.Attachment(ctx, in.AttachmentID, board.View)
	if err != nil {
		return board.Content{}, err
	}
	return ContentOf(a, in.Size)
}

// ContentOf returns the content of an attached file, scaled to a size unless the size is "".
func ContentOf(a board.Attachment, size board.PictureSize) (board.Content, error) {
	if a.Kind != board.AttachedFile {
		return board.Content{}, board.Invalid("The attachment is a link and has no content. Its url field is the address.")
	}
	return board.Content{Blob: a.Blob, Name: a.Name, MediaType: *a.MediaType, At: a.CreatedAt, Scale: size}, nil
}

// AddAttachmentInput is the input of AddAttachment.
type AddAttachmentInput struct {
	CardInput
	URL  string `json:"url,omitempty" maxLength:"2048" doc:"The link's URL." example:"https://example.com/brief"`
	Name string `json:"name,omitempty" maxLength:"255" doc:"The name. Defaults to the URL or file name." example:"Brief"`

	file *board.StoredFile
}

// TakeFile sets the file of the request.
func (in *AddAttachmentInput) TakeFile(f *board.StoredFile) { in.file = f }

// AddAttachment adds a file or a link to a card. It does not make a picture the card's
// cover, even if the card has none.
func AddAttachment(ctx context.Context, tx *store.Tx, in AddAttachmentInput) (board.Attachment, error) {
	card, err := tx.Card(ctx, in.CardID, board.Edit)
	if err != nil {
		return board.Attachment{}, err
	}
	a := board.Attachment{ID: tx.NewID("att_"), CardID: card.ID, BoardID: card.BoardID, CreatedBy: tx.Caller().Person()}
	switch {
	case in.file == nil && in.URL == "":
		return a, board.Invalid("url is required, unless the request contains a file as multipart/form-data.").In("url", board.RuleRequired)
	case in.file != nil && in.URL != "":
		return a, board.Invalid("url and a file must not both be given.").In("url", board.RuleValue)
	case in.file != nil && in.file.Blob.OrganizationID == "": // it is not stored, because the response to its key was
		return a, board.Refuse(board.CodeUnavailable, "The idempotency key has just expired. Try again.")
	case in.file != nil:
		f := *in.file
		a.Kind, a.Name, a.MediaType, a.Size, a.SHA256, a.Blob = board.AttachedFile, f.Name, &f.MediaType, &f.Size, &f.Blob.Hash, f.Blob
		a.Width, a.Height = f.Width, f.Height
	default:
		if !board.IsLink(in.URL) {
			return a, board.Invalid("url must be an absolute http or https URL without credentials.").In("url", board.RuleValue)
		}
		a.Kind, a.Name, a.URL = board.AttachedLink, in.URL, &in.URL
	}
	a.Name = attachmentName(a)
	if in.Name != "" {
		if a.Name, err = title("name", in.Name); err != nil {
			return a, err
		}
	}
	if err := board.CheckLimit("attachments on a card", card.Attachments, 1, tx.Limits().Attachments); err != nil {
		return a, err
	}
	if err := tx.InsertAttachment(ctx, &a); err != nil {
		return a, err
	}
	card.Attachments++
	tx.Emit(card.BoardID, board.AttachmentAdded(card, a))
	return a, tx.TouchCard(ctx, &card)
}

// attachmentName returns the default name of an attachment: the file name without folders,
// or the URL. It removes control characters and characters that change the direction of
// text. A name field with such characters is refused instead.
func attachmentName(a board.Attachment) string {
	if a.Kind == board.AttachedLink {
		return board.LinkName(a.Name)
	}
	return board.FileName(a.Name)
}

// UpdateAttachmentInput holds the fields to change. Absent fields stay unchanged.
type UpdateAttachmentInput struct {
	AttachmentInput
	Name  *string `json:"name,omitempty" maxLength:"255" doc:"The new name." example:"Brief"`
	Cover *bool   `json:"cover,omitempty" doc:"Whether it is the cover." example:"true"`
}

// UpdateAttachment renames an attachment, or makes a picture the card's cover. It records
// two events if it changes both.
func UpdateAttachment(ctx context.Context, tx *store.Tx, in UpdateAttachmentInput) (board.Attachment, error) {
	a, card, err := tx.Attachment(ctx, in.AttachmentID, board.Edit, false)
	if err != nil {
		return a, err
	}
	if in.Name != nil {
		before := a.Name
		if a.Name, err = title("name", *in.Name); err != nil {
			return a, err
		}
		if a.Name != before {
			tx.Emit(card.BoardID, board.AttachmentRenamed(card, a, before))
			if err := tx.RenameAttachment(ctx, &a); err != nil {
				return a, err
			}
			if err := tx.TouchCard(ctx, &card); err != nil {
				return a, err
			}
		}
	}
	if in.Cover == nil || *in.Cover == a.Cover {
		return a, nil
	}
	if !a.CanBeCover() {
		return a, board.Invalid("cover: only a picture can be the cover of a card.").In("cover", board.RuleValue)
	}
	a.Cover = *in.Cover
	var cover *board.Cover
	if a.Cover {
		cover = &board.Cover{AttachmentID: a.ID, Width: *a.Width, Height: *a.Height}
	}
	return a, setCover(ctx, tx, card, cover)
}

// setCover changes the picture on a card's tile.
func setCover(ctx context.Context, tx *store.Tx, card board.Card, cover *board.Cover) error {
	before := card.Cover
	card.Cover = cover
	tx.Emit(card.BoardID, board.CardCoverChanged(card, before))
	return tx.SetCover(ctx, &card)
}

// DeleteAttachment removes an attachment from its card.
func DeleteAttachment(ctx context.Context, tx *store.Tx, in AttachmentInput) (Deleted, error) {
	a, card, err := tx.Attachment(ctx, in.AttachmentID, board.Edit, false)
	if err != nil {
		return Deleted{}, err
	}
	if a.Cover {
		if err := setCover(ctx, tx, card, nil); err != nil {
			return Deleted{}, err
		}
		card.Cover = nil
	}
	card.Attachments--
	tx.Emit(card.BoardID, board.AttachmentRemoved(card, a))
	if err := tx.RemoveAttachment(ctx, a); err != nil {
		return Deleted{}, err
	}
	return Deleted{a.ID}, tx.TouchCard(ctx, &card)
}

// RestoreAttachment restores an attachment that was removed within the last 24 hours.
func RestoreAttachment(ctx context.Context, tx *store.Tx, in AttachmentInput) (board.Attachment, error) {
	a, card, err := tx.Attachment(ctx, in.AttachmentID, board.Edit, true)
	if err != nil {
		return a, err
	}
	if err := board.CheckLimit("attachments on a card", card.Attachments, 1, tx.Limits().Attachments); err != nil {
		return a, err
	}
	if err := tx.RestoreAttachment(ctx, &a); err != nil {
		return a, err
	}
	card.Attachments++
	tx.Emit(card.BoardID, board.AttachmentAdded(card, a))
	return a, tx.TouchCard(ctx, &card)
}

func registerAttachments(r *op.Registry) {
	r.In("Attachments", "Files and links on cards.")
	op.Query(r, "list_attachments", "GET /cards/{cardId}/attachments",
		"List the attachments of a card, oldest first.", ListAttachments)
	op.Command(r, "add_attachment", "POST /cards/{cardId}/attachments",
		"Add a link or a file to a card.", AddAttachment, op.Creates)
	op.Query(r, "get_attachment", "GET /attachments/{attachmentId}", "Get an attachment.", GetAttachment)
	op.Command(r, "update_attachment", "PATCH /attachments/{attachmentId}",
		"Rename an attachment, or make it the cover.", UpdateAttachment)
	op.Command(r, "delete_attachment", "DELETE /attachments/{attachmentId}", "Remove an attachment.", DeleteAttachment)
	op.Contents(r, "download_attachment", "GET /attachments/{attachmentId}/content",
		"Download an attached file. Supports range requests and If-None-Match. Pictures, PDF, video and plain text can be "+
			"shown by a browser. Other files are always downloaded.",
		DownloadAttachment)
	op.Command(r, "restore_attachment", "POST /attachments/{attachmentId}/restore",
		"Restore an attachment that was removed within the last 24 hours.", RestoreAttachment, op.Application)
}
