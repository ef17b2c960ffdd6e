package dbtool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"cardwall/internal/store"
)

// EachUsedBlob calls fn for each blob to which an attachment in a backup refers, even a removed
// one, ordered by organization and hash. The backup must have been verified. EachUsedBlob stops at
// the first error of fn and returns it.
func EachUsedBlob(ctx context.Context, backup string, fn func(store.UsedBlob) error) (err error) {
	b, err := openBackup(ctx, backup)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return b.each(ctx, `SELECT organization_id, hash, max(size), min(id) FROM attachments WHERE hash IS NOT NULL
		GROUP BY organization_id, hash ORDER BY organization_id, hash`, nil, func(rows *sql.Rows) error {
		var u store.UsedBlob
		if err := rows.Scan(&u.Blob.OrganizationID, &u.Blob.Hash, &u.Size, &u.AttachmentID); err != nil {
			return fmt.Errorf("read the attachments of %s: %w", backup, err)
		}
		return fn(u)
	})
}

// CountUsedBlobs returns the number of blobs for which EachUsedBlob calls its function, and their
// size in bytes.
func CountUsedBlobs(ctx context.Context, backup string) (count int, size int64, err error) {
	err = EachUsedBlob(ctx, backup, func(u store.UsedBlob) error {
		count++
		size += u.Size
		return nil
	})
	return count, size, err
}
