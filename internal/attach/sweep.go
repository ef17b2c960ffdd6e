package attach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/file"
	"cardwall/internal/store"
)

const (
	sweepBatch  = 200  // maximum number of blobs that one step of a sweep removes
	recordBatch = 1000 // maximum number of records that one step of a sweep reads
)

// Swept counts what Sweep removed.
type Swept struct {
	Blobs   int // without attachments
	Strays  int // without a record
	Partial int // with a temporary name, of uploads that were not completed
}

// Sweep removes blobs that no attachment has referred to for a day, blobs without a record,
// and what interrupted uploads have left. It keeps everything that was stored within the last
// day. A copy of the storage that is made within a day of a database backup therefore contains
// every file of the backup.
//
// Only one server may run it at a time: before each batch, Sweep calls hold, and it stops if
// hold returns false. After an error with one blob, it continues with the others.
func (f *Files) Sweep(ctx context.Context, hold func() (bool, error)) (done Swept, err error) {
	s := sweep{Files: f, hold: hold, before: f.DB.Now().Add(-store.RemovedLifetime), done: &done}
	for _, step := range []struct {
		what string
		run  func(context.Context) error
	}{
		{"remove unused files", s.removeUnused},
		{"remove unfinished files", func(ctx context.Context) error { return f.Blobs.RemoveUnfinished(ctx, s.before) }},
		{"remove files without a record", s.removeStrays},
	} {
		if stepErr := step.run(ctx); errors.Is(stepErr, errNotHeld) {
			return done, err
		} else if stepErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", step.what, stepErr))
		}
	}
	return done, err
}

var errNotHeld = errors.New("another server has taken over the sweep")

// sweep is one run of Sweep.
type sweep struct {
	*Files
	hold   func() (bool, error)
	before time.Time
	done   *Swept
}

// held returns errNotHeld if another server has taken over.
func (s *sweep) held() error {
	held, err := s.hold()
	if err == nil && !held {
		err = errNotHeld
	}
	return err
}

// removeUnused looks at the records of all blobs. It marks those that have become unused, and
// removes the blobs that have been marked for a day: first the blob, then its record.
func (s *sweep) removeUnused(ctx context.Context) error {
	for after := (board.Blob{}); ; {
		if err := s.held(); err != nil {
			return err
		}
		var records []store.BlobRecord
		if err := s.DB.Read(ctx, board.System(), func(v *store.View) (err error) {
			records, err = v.BlobRecords(ctx, after, recordBatch)
			return err
		}); err != nil || len(records) == 0 {
			return err
		}
		if err := s.removeOf(ctx, records); err != nil {
			return err
		}
		after = records[len(records)-1].Blob
	}
}

// removeOf does the work of removeUnused for some records. It writes nothing if there is
// nothing to change.
func (s *sweep) removeOf(ctx context.Context, records []store.BlobRecord) error {
	var unused, used, expired []board.Blob
	before := board.Instant(s.before.UnixMilli())
	for _, r := range records {
		switch {
		case r.Removing:
			expired = append(expired, r.Blob)
		case r.Used && r.UnusedSince != nil:
			used = append(used, r.Blob)
		case !r.Used && r.UnusedSince == nil:
			unused = append(unused, r.Blob)
		case !r.Used && *r.UnusedSince < before:
			expired = append(expired, r.Blob)
		}
	}
	if len(unused)+len(used) > 0 {
		if _, err := s.DB.WriteSlice(ctx, func(tx *store.Tx) error {
			return errors.Join(tx.MarkUnusedBlobs(ctx, unused), tx.UnmarkBlobs(ctx, used))
		}); err != nil {
			return err
		}
	}
	for batch := range slices.Chunk(expired, sweepBatch) {
		if err := s.held(); err != nil {
			return err
		}
		var marked []board.Blob
		if _, err := s.DB.WriteSlice(ctx, func(tx *store.Tx) (err error) {
			marked, err = tx.BeginBlobRemoval(ctx, batch)
			return err
		}); err != nil {
			return err
		}
		removed, err := s.end(ctx, marked)
		s.done.Blobs += removed
		if err != nil {
			return err
		}
	}
	return nil
}

// end removes marked blobs from the storage, and then their records. It returns the number
// of blobs removed.
func (s *sweep) end(ctx context.Context, blobs []board.Blob) (removed int, err error) {
	var gone []board.Blob
	for _, b := range blobs {
		if removeErr := s.remove(ctx, b); removeErr != nil {
			err = errors.Join(err, removeErr)
			continue
		}
		gone = append(gone, b)
	}
	if len(gone) == 0 {
		return 0, err
	}
	_, writeErr := s.DB.WriteSlice(ctx, func(tx *store.Tx) (err error) {
		for _, b := range gone {
			err = errors.Join(err, tx.EndBlobRemoval(ctx, b))
		}
		return err
	})
	return len(gone), errors.Join(err, writeErr)
}

// removeStrays removes old blobs that have no record, and old blobs with a temporary name.
func (s *sweep) removeStrays(ctx context.Context) error {
	return s.eachStray(ctx, s.before, func(organization string, strays []file.Info) error {
		if err := s.held(); err != nil {
			return err
		}
		if organization != "" {
			return s.removeUnknown(ctx, organization, strays)
		}
		for _, i := range strays {
			if err := s.Blobs.Remove(ctx, i.Name); err != nil {
				return err
			}
			s.done.Partial++
		}
		return nil
	})
}

// removeUnknown removes blobs of an organization that have no record. It first records and
// marks them, so that no upload uses them in the meantime.
func (s *sweep) removeUnknown(ctx context.Context, organization string, strays []file.Info) error {
	var marked []board.Blob
	if _, err := s.DB.WriteSlice(ctx, func(tx *store.Tx) (err error) {
		marked, err = tx.BeginStrayRemoval(ctx, organization, hashesOf(strays))
		return err
	}); err != nil {
		return err
	}
	removed, err := s.end(ctx, marked)
	s.done.Strays += removed
	return err
}

// remove removes a blob and its scaled pictures.
func (f *Files) remove(ctx context.Context, b board.Blob) error {
	for size := range sides() {
		if err := f.Blobs.Remove(ctx, thumbnailName(b, size)); err != nil {
			return err
		}
	}
	return f.Blobs.Remove(ctx, blobName(b))
}
