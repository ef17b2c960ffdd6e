package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"cardwall/internal/board"
)

// UploadLifetime is how long an upload can be continued after it was created.
const UploadLifetime = 24 * time.Hour

const uploadLoad = "SELECT " + accessColumns + ", p.id, p.card_id, p.name, p.size, p.received, p.attachment_id, p.created_at" +
	" FROM uploads p JOIN cards c ON c.id = p.card_id JOIN boards b ON b.id = c.board_id" + accessJoins + "WHERE p.id = $1 AND " + shownCard

// UploadPart is a part of a file, stored as a blob with a temporary name.
type UploadPart struct {
	Start, Size int64 // in bytes
	Blob        string
}

// Upload loads an upload that has not expired. It returns an error unless the caller has
// the capability on the board of its card.
func (v *View) Upload(ctx context.Context, id string, need board.Capability) (board.Upload, error) {
	var u board.Upload
	err := v.authorized(ctx, need, uploadLoad, id, &u.ID, &u.CardID, &u.Name, &u.Size, &u.Offset, &u.AttachmentID, &u.CreatedAt)
	u.ExpiresAt = uploadEnd(u)
	if err == nil && u.ExpiresAt <= v.now {
		err = board.NotFound()
	}
	return u, err
}

func uploadEnd(u board.Upload) board.Instant {
	return u.CreatedAt + board.Instant(UploadLifetime.Milliseconds())
}

// UploadParts returns the parts of a loaded upload in order.
func (v *View) UploadParts(ctx context.Context, id string) (out []UploadPart, err error) {
	err = v.each(ctx, "SELECT start, size, blob FROM upload_parts WHERE upload_id = $1 ORDER BY start", []any{id},
		func(rows *sql.Rows) error {
			var p UploadPart
			err := rows.Scan(&p.Start, &p.Size, &p.Blob)
			out = append(out, p)
			return err
		})
	return out, err
}

// CheckUpload returns a plan_limit error if a file is too large for the plan of an
// organization, or if its storage would be full once the file and all other files that are
// being uploaded are complete.
func (v *View) CheckUpload(ctx context.Context, organizationID string, size board.Bytes) error {
	limit, err := v.FileLimit(ctx, organizationID)
	if err != nil {
		return err
	}
	if size > limit {
		return board.FileTooLarge(limit)
	}
	var expected board.Bytes
	if _, err := v.one(ctx, `SELECT CAST(COALESCE(sum(size), 0) AS BIGINT) FROM uploads
		WHERE organization_id = $1 AND created_at > $2 AND attachment_id IS NULL`,
		[]any{organizationID, int64(v.now) - UploadLifetime.Milliseconds()}, &expected); err != nil {
		return fmt.Errorf("add up the uploads: %w", err)
	}
	return v.CheckStorage(ctx, organizationID, expected+size)
}

// InsertUpload writes a new upload to a card of an organization.
func (tx *Tx) InsertUpload(ctx context.Context, organizationID string, u *board.Upload) error {
	u.CreatedAt = tx.now
	u.ExpiresAt = uploadEnd(*u)
	return tx.exec(ctx, `INSERT INTO uploads (id, card_id, organization_id, name, size, received, created_at)
		VALUES ($1, $2, $3, $4, $5, 0, $6)`, u.ID, u.CardID, organizationID, u.Name, u.Size, int64(u.CreatedAt))
}

// AppendPart records the next part of an upload, whose blob is already stored. It returns an
// error if another request has stored a part in the meantime, if the upload has expired, or
// if the caller may no longer change the card.
func (tx *Tx) AppendPart(ctx context.Context, id string, p UploadPart) error {
	u, err := tx.Upload(ctx, id, board.Edit)
	if err != nil {
		return err
	}
	n, err := tx.affected(ctx, "UPDATE uploads SET received = received + $1 WHERE id = $2 AND received = $3 AND attachment_id IS NULL",
		p.Size, id, p.Start)
	if err != nil {
		return fmt.Errorf("update upload: %w", err)
	}
	if n == 0 {
		return movedOn(u)
	}
	return tx.exec(ctx, "INSERT INTO upload_parts (upload_id, start, size, blob) VALUES ($1, $2, $3, $4)", id, p.Start, p.Size, p.Blob)
}

// CompleteUpload records the attachment of an upload, and forgets the parts. It returns an
// error if another request has completed the upload.
func (tx *Tx) CompleteUpload(ctx context.Context, u board.Upload, attachmentID string) error {
	n, err := tx.affected(ctx, "UPDATE uploads SET received = size, attachment_id = $1 WHERE id = $2 AND attachment_id IS NULL",
		attachmentID, u.ID)
	if err != nil {
		return fmt.Errorf("complete upload: %w", err)
	}
	if n == 0 {
		return movedOn(u)
	}
	return tx.exec(ctx, "DELETE FROM upload_parts WHERE upload_id = $1", u.ID)
}

// movedOn returns the fault for a change to an upload that another request has changed
// since it was loaded.
func movedOn(u board.Upload) error {
	f := board.Invalid("Another request is sending the same part of %s. Ask for the offset again, and continue there.", u.ID)
	f.Cause = board.CauseOffset
	return f
}

// DeleteUpload deletes an upload. The sweep of the storage for files removes its parts.
func (tx *Tx) DeleteUpload(ctx context.Context, id string) error {
	return tx.exec(ctx, "DELETE FROM uploads WHERE id = $1", id)
}

// PurgeUploads deletes at most limit expired uploads. It returns the number of uploads
// deleted.
func (tx *Tx) PurgeUploads(ctx context.Context, limit int) (int64, error) {
	return tx.purge(ctx, "uploads", "id", "created_at <= $2", limit, int64(tx.now)-UploadLifetime.Milliseconds())
}
