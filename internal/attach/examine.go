package attach

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Damage describes an attachment whose file is missing or damaged.
type Damage struct {
	AttachmentID string
	Problem      string // completes "the file of the attachment …"
}

// Examine calls report once for each file that is missing or has the wrong size, with one
// of the attachments that refer to the file. If all is true, Examine also reads each file
// and compares its hash. It stops at the first error of the storage.
func (f *Files) Examine(ctx context.Context, all bool, report func(Damage)) error {
	for after := (board.Blob{}); ; {
		var used []store.UsedBlob
		if err := f.DB.Read(ctx, board.System(), func(v *store.View) (err error) {
			used, err = v.UsedBlobs(ctx, after, sweepBatch)
			return err
		}); err != nil || len(used) == 0 {
			return err
		}
		for _, u := range used {
			problem, err := f.examine(ctx, u, all)
			if err != nil {
				return err
			}
			if problem != "" {
				report(Damage{u.AttachmentID, problem})
			}
		}
		after = used[len(used)-1].Blob
	}
}

// examine returns what is wrong with a blob, or "" if nothing is.
func (f *Files) examine(ctx context.Context, u store.UsedBlob, all bool) (problem string, err error) {
	content, problem, err := openUsed(ctx, f.Blobs, u)
	if err != nil || problem != "" {
		return problem, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if !all {
		return "", nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return "", fmt.Errorf("read a file: %w", err)
	}
	if fmt.Sprintf("%x", sum.Sum(nil)) != u.Blob.Hash {
		return differs, nil
	}
	return "", nil
}
