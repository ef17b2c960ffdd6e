package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// CreateUploadInput is the input of CreateUpload.
type CreateUploadInput struct {
	CardID string `json:"cardId" maxLength:"64" doc:"The id of the card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	File   string `json:"fileName,omitempty" maxLength:"1024" doc:"The file name. Folders and control characters are removed." example:"Tour.mp4"`
	Size   int64  `json:"size" minimum:"1" maximum:"1099511627776" doc:"The size of the file in bytes." example:"48211160"`
}

// CreateUpload announces a file that the client then sends in parts.
func CreateUpload(ctx context.Context, tx *store.Tx, in CreateUploadInput) (board.Upload, error) {
	card, err := tx.Card(ctx, in.CardID, board.Edit)
	if err != nil {
		return board.Upload{}, err
	}
	if err := board.CheckLimit("attachments on a card", card.Attachments, 1, tx.Limits().Attachments); err != nil {
		return board.Upload{}, err
	}
	organization := tx.On(card.BoardID).OrganizationID
	if err := tx.CheckUpload(ctx, organization, board.Bytes(in.Size)); err != nil {
		return board.Upload{}, err
	}
	u := board.Upload{ID: tx.NewID("upl_"), CardID: card.ID, Name: board.FileName(in.File), Size: in.Size}
	return u, tx.InsertUpload(ctx, organization, &u)
}

// UploadInput identifies an upload.
type UploadInput struct {
	UploadID string `json:"uploadId" maxLength:"64" doc:"The id of the upload." example:"upl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetUpload returns the progress of an upload.
func GetUpload(ctx context.Context, v *store.View, in UploadInput) (board.Upload, error) {
	return v.Upload(ctx, in.UploadID, board.View)
}

// AppendUploadInput is the input of AppendUpload.
type AppendUploadInput struct {
	UploadInput

	file *board.StoredFile
}

// TakeFile sets the complete file.
func (in *AppendUploadInput) TakeFile(f *board.StoredFile) { in.file = f }

// AppendUpload attaches a file whose last part has arrived.
func AppendUpload(ctx context.Context, tx *store.Tx, in AppendUploadInput) (board.Attachment, error) {
	u, err := tx.Upload(ctx, in.UploadID, board.Edit)
	if err != nil {
		return board.Attachment{}, err
	}
	a, err := AddAttachment(ctx, tx, AddAttachmentInput{CardInput: CardInput{CardID: u.CardID}, file: in.file})
	if err != nil {
		return a, err
	}
	return a, tx.CompleteUpload(ctx, u, a.ID)
}

// DeleteUpload ends an upload. If the file is complete, it stays attached.
func DeleteUpload(ctx context.Context, tx *store.Tx, in UploadInput) (Deleted, error) {
	u, err := tx.Upload(ctx, in.UploadID, board.Edit)
	if err != nil {
		return Deleted{}, err
	}
	return Deleted{u.ID}, tx.DeleteUpload(ctx, u.ID)
}

func registerUploads(r *op.Registry) {
	op.Command(r, "create_upload", "POST /uploads",
		"Announce a file that is sent in parts, so that an interrupted upload can continue. Send the parts with append_upload "+
			"within 24 hours. These operations are also the core of tus 1.0 with its extensions creation, expiration and "+
			"termination: a tus client sends Upload-Length instead of a body, and the keys cardId and filename in Upload-Metadata.",
		CreateUpload, op.Creates, op.NoTool)
	op.Query(r, "get_upload", "GET /uploads/{uploadId}",
		"Get the progress of an upload. The headers of the response, also to HEAD, contain Upload-Offset and Upload-Length.",
		GetUpload, op.NoTool)
	op.Parts(r, "append_upload", "PATCH /uploads/{uploadId}",
		"Send the next part of a file. Parts can have any size; usually a client sends the rest of the file. If the connection is lost, "+
			"the server keeps what has arrived: continue at the offset that get_upload returns. The last part attaches the file to the card.",
		AppendUpload)
	op.Command(r, "delete_upload", "DELETE /uploads/{uploadId}",
		"Cancel an upload, and remove what the server has stored of it. If the file is complete, it stays attached.",
		DeleteUpload, op.NoTool)
}
