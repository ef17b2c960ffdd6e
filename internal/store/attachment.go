package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

// RemovedLifetime is how long a removed attachment can be restored, and how long a blob is
// kept at least after it was stored, and after its last attachment was permanently deleted.
const RemovedLifetime = 24 * time.Hour

const (
	attachmentColumns = `t.id, t.card_id, c.board_id, t.name, t.url, t.organization_id, t.hash, t.media_type, t.size, t.width, t.height,
		CASE WHEN c.cover_id = t.id THEN 1 ELSE 0 END, t.created_by, t.created_at, t.updated_at, t.removed_at`
	attachmentFrom = " FROM attachments t JOIN cards c ON c.id = t.card_id JOIN boards b ON b.id = c.board_id"
	attachmentLoad = "SELECT " + accessColumns + ", " + attachmentColumns + attachmentFrom + accessJoins + "WHERE t.id = $1"
	attachmentLock = "SELECT b.id FROM boards b JOIN cards c ON c.board_id = b.id JOIN attachments t ON t.card_id = c.id " +
		"WHERE t.id = $1 FOR UPDATE OF b"
)

// attachmentScan collects the columns of an attachment.
type attachmentScan struct {
	attachment         board.Attachment
	organization, hash sql.NullString
	size, cover        int64
	removedAt          *board.Instant
}

func (s *attachmentScan) dest() []any {
	a := &s.attachment
	return []any{&a.ID, &a.CardID, &a.BoardID, &a.Name, &a.URL, &s.organization, &s.hash, &a.MediaType, &s.size, &a.Width, &a.Height,
		&s.cover, &a.CreatedBy, &a.CreatedAt, &a.UpdatedAt, &s.removedAt}
}

func (s *attachmentScan) result() board.Attachment {
	a := s.attachment
	a.Kind, a.Cover = board.AttachedLink, s.cover != 0
	if s.hash.Valid {
		a.Kind, a.Size, a.SHA256 = board.AttachedFile, &s.size, &s.hash.String
		a.Blob = board.Blob{OrganizationID: s.organization.String, Hash: s.hash.String}
	}
	return a
}

// attachmentTexts returns the text fields that count as storage.
func attachmentTexts(a board.Attachment) []string {
	if a.URL != nil {
		return []string{a.Name, *a.URL}
	}
	return []string{a.Name}
}

// Attachment loads an attachment that was not removed. It returns an error unless the
// caller has the capability on its board.
func (v *View) Attachment(ctx context.Context, id string, need board.Capability) (board.Attachment, error) {
	var s attachmentScan
	if err := v.authorized(ctx, need, attachmentLoad+" AND "+shownCard, id, s.dest()...); err != nil {
		return board.Attachment{}, err
	}
	if s.removedAt != nil {
		return board.Attachment{}, board.NotFound()
	}
	return s.result(), nil
}

// Attachment locks the board and loads an attachment and its card for a change. If removed
// is true, the attachment must have been removed; otherwise it must not.
func (tx *Tx) Attachment(ctx context.Context, id string, need board.Capability, removed bool) (board.Attachment, board.Card, error) {
	var s attachmentScan
	if err := tx.lockToLoad(ctx, attachmentLock, attachmentLoad, id); err != nil {
		return board.Attachment{}, board.Card{}, err
	}
	if err := tx.authorized(ctx, need, attachmentLoad, id, s.dest()...); err != nil {
		return board.Attachment{}, board.Card{}, err
	}
	if (s.removedAt != nil) != removed {
		return board.Attachment{}, board.Card{}, board.NotFound()
	}
	a := s.result()
	card, err := tx.Card(ctx, a.CardID, need)
	if err == nil && !removed {
		tx.loadedBytes(a.ID, card.BoardID, s.size, attachmentTexts(a)...)
	}
	return a, card, err
}

// Attachments returns a page of the attachments of a loaded card, oldest first, starting
// after the given id.
func (v *View) Attachments(ctx context.Context, cardID, after string, limit int) ([]board.Attachment, error) {
	return v.attachments(ctx, "t.card_id = $1 AND t.id > $2 AND t.removed_at IS NULL ORDER BY t.id LIMIT $3", cardID, after, limit)
}

// AttachmentsOn returns the attachments of loaded cards, grouped by card and oldest first.
func (v *View) AttachmentsOn(ctx context.Context, cardIDs []string) ([]board.Attachment, error) {
	return onCards(cardIDs, func(in string, args []any) ([]board.Attachment, error) {
		return v.attachments(ctx, "t.card_id IN ("+in+") AND t.removed_at IS NULL ORDER BY t.card_id, t.id", args...)
	})
}

func (v *View) attachments(ctx context.Context, where string, args ...any) ([]board.Attachment, error) {
	out := []board.Attachment{}
	err := v.each(ctx, "SELECT "+attachmentColumns+attachmentFrom+" WHERE "+where, args, func(rows *sql.Rows) error {
		var s attachmentScan
		err := rows.Scan(s.dest()...)
		out = append(out, s.result())
		return err
	})
	return out, err
}

// addAttachments loads the attachments of cards and sets them.
func (v *View) addAttachments(ctx context.Context, cards []WholeCard) error {
	byID := map[string]*WholeCard{}
	var ids []string
	for i := range cards {
		if c := &cards[i]; c.Attachments > 0 {
			byID[c.ID] = c
			ids = append(ids, c.ID)
		}
	}
	attachments, err := v.AttachmentsOn(ctx, ids)
	for _, a := range attachments {
		c := byID[a.CardID]
		c.setAttachments(append(c.AttachmentList, a))
	}
	return err
}

// attachmentInto names the columns of attachmentRow.
const attachmentInto = "attachments (id, card_id, name, url, organization_id, hash, media_type, size, width, height, created_by, " +
	"created_at, updated_at)"

func attachmentRow(a board.Attachment) []any {
	return []any{a.ID, a.CardID, a.Name, a.URL, null(a.Blob.OrganizationID), null(a.Blob.Hash), a.MediaType, sizeOfFile(a), a.Width, a.Height,
		a.CreatedBy, int64(a.CreatedAt), int64(a.UpdatedAt)}
}

func sizeOfFile(a board.Attachment) int64 {
	if a.Size == nil {
		return 0
	}
	return *a.Size
}

// InsertAttachment writes a new attachment. The blob of a file must be claimed. The caller
// must update the card's number of attachments.
func (tx *Tx) InsertAttachment(ctx context.Context, a *board.Attachment) error {
	a.CreatedAt, a.UpdatedAt = tx.now, tx.now
	tx.storedBytes(a.ID, a.BoardID, sizeOfFile(*a), attachmentTexts(*a)...)
	if err := tx.insert(ctx, attachmentInto, [][]any{attachmentRow(*a)}); err != nil {
		return fmt.Errorf("insert attachment: %w", err)
	}
	return tx.addText(ctx, a.CardID, query.InAttachment, a.ID, a.Name)
}

// RenameAttachment writes the name of an attachment.
func (tx *Tx) RenameAttachment(ctx context.Context, a *board.Attachment) error {
	a.UpdatedAt = tx.now
	tx.storedBytes(a.ID, a.BoardID, sizeOfFile(*a), attachmentTexts(*a)...)
	if err := tx.exec(ctx, "UPDATE attachments SET name = $1, updated_at = $2 WHERE id = $3", a.Name, int64(tx.now), a.ID); err != nil {
		return err
	}
	return tx.indexText(ctx, a.CardID, query.InAttachment, a.ID, a.Name)
}

// RemoveAttachment removes an attachment. RestoreAttachment can restore it for
// RemovedLifetime.
func (tx *Tx) RemoveAttachment(ctx context.Context, a board.Attachment) error {
	tx.deletedRecord(a.ID)
	if err := tx.exec(ctx, "UPDATE attachments SET removed_at = $1 WHERE id = $2", int64(tx.now), a.ID); err != nil {
		return err
	}
	return tx.dropText(ctx, a.CardID, query.InAttachment, a.ID)
}

// RestoreAttachment restores a removed attachment.
func (tx *Tx) RestoreAttachment(ctx context.Context, a *board.Attachment) error {
	a.UpdatedAt = tx.now
	tx.storedBytes(a.ID, a.BoardID, sizeOfFile(*a), attachmentTexts(*a)...)
	n, err := tx.affected(ctx, "UPDATE attachments SET removed_at = NULL, updated_at = $1 WHERE id = $2", int64(tx.now), a.ID)
	if err != nil {
		return err
	}
	if n == 0 { // housekeeping has deleted it in the meantime
		return board.NotFound()
	}
	return tx.addText(ctx, a.CardID, query.InAttachment, a.ID, a.Name)
}

// SetCover writes the picture on a card's tile.
func (tx *Tx) SetCover(ctx context.Context, c *board.Card) error {
	c.UpdatedAt = tx.now
	id, width, height := coverColumns(c.Cover)
	return tx.exec(ctx, "UPDATE cards SET cover_id = $1, cover_width = $2, cover_height = $3, updated_at = $4 WHERE id = $5",
		id, width, height, int64(c.UpdatedAt), c.ID)
}

func coverColumns(c *board.Cover) (id, width, height any) {
	if c == nil {
		return nil, nil, nil
	}
	return c.AttachmentID, c.Width, c.Height
}

// ErrBlobRemoving means that a blob is being removed and cannot be used at the moment.
var ErrBlobRemoving = errors.New("the blob is being removed")

// ClaimBlob records that a blob is about to be stored. The caller must call it before it
// stores the blob. The blob is then kept for RemovedLifetime, even if it has no attachments
// yet. ClaimBlob returns ErrBlobRemoving if the blob was marked by BeginBlobRemoval. A retry
// succeeds after EndBlobRemoval.
func (db *DB) ClaimBlob(ctx context.Context, caller board.Caller, blob board.Blob, size int64) error {
	return db.Write(ctx, caller, func(tx *Tx) error {
		n, err := tx.affected(ctx, `INSERT INTO blobs (organization_id, hash, size, stored_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (organization_id, hash) DO UPDATE SET stored_at = excluded.stored_at, unused_since = NULL
			WHERE blobs.removing_at IS NULL`, blob.OrganizationID, blob.Hash, size, int64(tx.now))
		if err == nil && n == 0 {
			err = ErrBlobRemoving
		}
		return err
	})
}

// PurgeAttachments permanently deletes at most limit attachments that were removed more
// than RemovedLifetime ago. It returns the number of attachments deleted.
func (tx *Tx) PurgeAttachments(ctx context.Context, limit int) (int64, error) {
	return tx.purge(ctx, "attachments", "id", "removed_at < $2", limit, int64(tx.now)-RemovedLifetime.Milliseconds())
}

// BlobRecord is the record of a blob.
type BlobRecord struct {
	board.Blob
	Used        bool           // whether an attachment refers to the blob, even a removed one
	UnusedSince *board.Instant // set by MarkUnusedBlobs
	Removing    bool           // whether BeginBlobRemoval or BeginStrayRemoval has marked it
}

// BlobRecords returns at most limit records of blobs, ordered by organization and hash, after
// the given one.
func (v *View) BlobRecords(ctx context.Context, after board.Blob, limit int) (out []BlobRecord, err error) {
	err = v.each(ctx, `SELECT organization_id, hash, unused_since, CASE WHEN removing_at IS NULL THEN 0 ELSE 1 END,
		CASE WHEN `+unusedBlob+` THEN 0 ELSE 1 END FROM blobs
		WHERE (organization_id, hash) > ($1, $2) ORDER BY organization_id, hash LIMIT $3`,
		[]any{after.OrganizationID, after.Hash, limit}, func(rows *sql.Rows) error {
			var (
				r              BlobRecord
				removing, used int64
			)
			err := rows.Scan(&r.OrganizationID, &r.Hash, &r.UnusedSince, &removing, &used)
			r.Removing, r.Used = removing != 0, used != 0
			out = append(out, r)
			return err
		})
	return out, err
}

// unusedBlob is an SQL condition that selects the rows of blobs without attachments.
const unusedBlob = "NOT EXISTS (SELECT 1 FROM attachments t WHERE t.organization_id = blobs.organization_id AND t.hash = blobs.hash)"

// MarkUnusedBlobs records that blobs are unused as of now, if they have no attachments and
// are not marked yet.
func (tx *Tx) MarkUnusedBlobs(ctx context.Context, blobs []board.Blob) error {
	return eachBlobs(blobs, func(in string, args []any, next string) error {
		return tx.exec(ctx, "UPDATE blobs SET unused_since = "+next+" WHERE "+in+" AND unused_since IS NULL AND removing_at IS NULL AND "+
			unusedBlob, append(args, int64(tx.now))...)
	})
}

// UnmarkBlobs reverts MarkUnusedBlobs. It keeps the marks of blobs that are being removed.
func (tx *Tx) UnmarkBlobs(ctx context.Context, blobs []board.Blob) error {
	return eachBlobs(blobs, func(in string, args []any, _ string) error {
		return tx.exec(ctx, "UPDATE blobs SET unused_since = NULL WHERE "+in+" AND removing_at IS NULL", args...)
	})
}

// eachBlobs calls fn with an SQL condition that selects some of the blobs, its arguments,
// and the parameter of the next argument, until all blobs were selected.
func eachBlobs(blobs []board.Blob, fn func(in string, args []any, next string) error) error {
	keys := make([][]any, len(blobs))
	for i, b := range blobs {
		keys[i] = []any{b.OrganizationID, b.Hash}
	}
	return sqldb.Batches(keys, func(n int, args []any) error {
		return fn("(organization_id, hash) IN (VALUES "+sqldb.Values(n, 2)+")", args, fmt.Sprintf("$%d", len(args)+1))
	})
}

// BeginBlobRemoval marks those of the blobs for removal that have been unused for more than
// RemovedLifetime. It returns them, and those that earlier calls marked. The caller removes
// each of them from the storage for files, and then calls EndBlobRemoval.
//
// The conditions are checked again here, because a blob can be used again after it was read.
func (tx *Tx) BeginBlobRemoval(ctx context.Context, blobs []board.Blob) (marked []board.Blob, err error) {
	now := int64(tx.now)
	err = eachBlobs(blobs, func(in string, args []any, next string) error {
		before := fmt.Sprintf("$%d", len(args)+2)
		// A server of the previous version sets stored_at, but keeps unused_since.
		return tx.each(ctx, "UPDATE blobs SET removing_at = COALESCE(removing_at, "+next+") WHERE "+in+" AND (removing_at IS NOT NULL OR "+
			"unused_since < "+before+" AND stored_at < "+before+" AND "+unusedBlob+") RETURNING organization_id, hash",
			append(args, now, now-RemovedLifetime.Milliseconds()), func(rows *sql.Rows) error {
				var b board.Blob
				err := rows.Scan(&b.OrganizationID, &b.Hash)
				marked = append(marked, b)
				return err
			})
	})
	return marked, err
}

// BeginStrayRemoval records blobs of an organization that are in the storage but not in the
// database, and marks them. It returns those that it marked. The caller removes each of
// them from the storage, and then calls EndBlobRemoval.
func (tx *Tx) BeginStrayRemoval(ctx context.Context, organizationID string, hashes []string) (marked []board.Blob, err error) {
	for _, hash := range hashes {
		n, err := tx.affected(ctx, `INSERT INTO blobs (organization_id, hash, size, stored_at, removing_at) VALUES ($1, $2, 0, $3, $3)
			ON CONFLICT (organization_id, hash) DO NOTHING`, organizationID, hash, int64(tx.now))
		if err != nil {
			return nil, fmt.Errorf("mark a file without a record: %w", err)
		}
		if n > 0 {
			marked = append(marked, board.Blob{OrganizationID: organizationID, Hash: hash})
		}
	}
	return marked, nil
}

// EndBlobRemoval deletes the record of a blob that was removed from the storage.
func (tx *Tx) EndBlobRemoval(ctx context.Context, b board.Blob) error {
	return tx.exec(ctx, "DELETE FROM blobs WHERE organization_id = $1 AND hash = $2 AND removing_at IS NOT NULL", b.OrganizationID, b.Hash)
}

// KnownBlobs returns those of the given hashes of an organization's blobs that are recorded,
// or to which an attachment refers.
func (v *View) KnownBlobs(ctx context.Context, organizationID string, hashes []string) (map[string]bool, error) {
	known := map[string]bool{}
	for _, table := range []string{"blobs", "attachments"} {
		if err := sqldb.InChunks(hashes, func(in string, args []any) error {
			found, err := v.texts(ctx, fmt.Sprintf("SELECT hash FROM %s WHERE hash IN (%s) AND organization_id = $%d", table, in, len(args)+1),
				append(args, organizationID)...)
			for _, hash := range found {
				known[hash] = true
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// UsedBlob is a blob to which an attachment refers.
type UsedBlob struct {
	Blob         board.Blob
	Size         int64
	AttachmentID string // one of the attachments
}

// UsedBlobs returns at most limit blobs with attachments, ordered by organization and hash,
// after the given one.
func (v *View) UsedBlobs(ctx context.Context, after board.Blob, limit int) (out []UsedBlob, err error) {
	err = v.each(ctx, `SELECT t.organization_id, t.hash, max(t.size), min(t.id) FROM attachments t
		WHERE (t.organization_id, t.hash) > ($1, $2) GROUP BY t.organization_id, t.hash ORDER BY t.organization_id, t.hash LIMIT $3`,
		[]any{after.OrganizationID, after.Hash, limit}, func(rows *sql.Rows) error {
			var u UsedBlob
			err := rows.Scan(&u.Blob.OrganizationID, &u.Blob.Hash, &u.Size, &u.AttachmentID)
			out = append(out, u)
			return err
		})
	return out, err
}
