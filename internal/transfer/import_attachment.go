package transfer

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Contents has the content of attached files that a document describes. It identifies
// content by its SHA-256 hash in hexadecimal.
type Contents interface {
	// Size returns the size of content in bytes. It returns false if the content is missing.
	Size(hash string) (int64, bool)
	// Store stores content as a blob. It returns an error, and the blob does not exist, if the
	// content does not have the hash of the blob and the given size.
	Store(ctx context.Context, blob board.Blob, size int64) (*board.StoredFile, error)
}

// importedFiles are the files of a document. The document is read at least twice: the first
// time to check it, and again after all of its files were stored.
type importedFiles struct {
	contents Contents
	wanted   []wantedFile                 // of the document, one for each content
	stored   map[string]*board.StoredFile // by hash; nil for one that is not stored yet
	complete bool                         // whether store has ended
	limit    board.Bytes                  // maximum size of a file; 0 until it is read
}

type wantedFile struct {
	name string // of the first attachment with this content
	blob board.Blob
	size int64
}

// claimEvery is how long stored blobs without attachments are kept without another claim.
const claimEvery = store.RemovedLifetime / 4

// attachedFiles are the files of a document, which are stored between the first and the second
// time that the document is read.
type attachedFiles interface {
	// store stores the files and calls progress with the number of files.
	store(ctx context.Context, db *store.DB, caller board.Caller, progress Progress) error
	// count returns how many different files were stored.
	count() int
}

// count returns how many different files were stored.
func (f *importedFiles) count() int { return len(f.wanted) }

// store stores the content of all files. If it fails, some of them may have been stored.
// These have no attachments and are removed later like those of interrupted uploads.
func (f *importedFiles) store(ctx context.Context, db *store.DB, caller board.Caller, progress Progress) error {
	var now, claimed time.Time
	for n, w := range f.wanted {
		if err := db.Read(ctx, caller, func(v *store.View) error {
			now = v.Time()
			return nil
		}); err != nil {
			return err
		}
		if n == 0 || now.Sub(claimed) > claimEvery {
			claimed = now
			if err := f.claim(ctx, db, caller, f.wanted[:n]); err != nil {
				return err
			}
		}
		stored, err := f.contents.Store(ctx, w.blob, w.size)
		if err != nil {
			return fmt.Errorf("store the attached file %q: %w", w.name, err)
		}
		f.stored[w.blob.Hash] = stored
		progress(n+1, len(f.wanted))
	}
	f.complete = true
	return nil
}

// claim keeps stored files, which have no attachments yet, for another day.
func (f *importedFiles) claim(ctx context.Context, db *store.DB, caller board.Caller, files []wantedFile) error {
	for _, w := range files {
		if err := db.ClaimBlob(ctx, caller, w.blob, w.size); err != nil {
			return fmt.Errorf("keep the attached file %q: %w", w.name, err)
		}
	}
	return nil
}

// attachments returns the attachments of a card, and sets its cover.
func (r *boardReader) attachments(at string, c *board.Card, in []attachmentRecord) (out []board.Attachment, err error) {
	if err := checkLimit("attachments on a card", len(in), r.v.Limits().Attachments); err != nil {
		return nil, err
	}
	for n, record := range in {
		at := fmt.Sprintf("%s.attachments[%d]", at, n)
		r.counts.Attachments++
		id, err := r.newRecordID(at, record.ID, "att_")
		if err := first(err, r.title(at+".name", &record.Name), r.times(at, record.CreatedAt, record.UpdatedAt)); err != nil {
			return nil, err
		}
		a := board.Attachment{ID: id, CardID: c.ID, BoardID: c.BoardID, Name: record.Name, URL: record.URL,
			CreatedAt: record.CreatedAt, UpdatedAt: record.UpdatedAt}
		switch {
		case record.URL != nil:
			if !board.IsLink(*record.URL) || utf8.RuneCountInString(*record.URL) > board.LinkLength {
				return nil, board.Invalid("%s.url must be an absolute http or https URL of at most %d characters.", at, board.LinkLength)
			}
		case r.files == nil:
			r.report.note("Attached files, because the document does not contain their content", record.Name)
			continue
		default:
			if err := r.file(at, record, &a); err != nil {
				return nil, err
			}
		}
		if a.CreatedBy, err = r.optionalPerson(at+".createdBy", record.CreatedBy); err != nil {
			return nil, err
		}
		if record.Cover {
			if err := r.cover(at, c, a); err != nil {
				return nil, err
			}
		}
		out = append(out, a)
	}
	return out, nil
}

// file sets the fields of an attached file. Before the file is stored, it checks the file
// and sets only the size, which counts as storage.
func (r *boardReader) file(at string, in attachmentRecord, a *board.Attachment) error {
	if in.SHA256 == nil || len(*in.SHA256) != 64 || strings.Trim(*in.SHA256, "0123456789abcdef") != "" {
		return board.Invalid("%s.sha256 must be a SHA-256 hash in lowercase hexadecimal.", at)
	}
	if in.Size == nil || *in.Size < 0 {
		return board.Invalid("%s.size must be the size of the file in bytes.", at)
	}
	a.Kind, a.SHA256, a.Size = board.AttachedFile, in.SHA256, in.Size
	a.Blob = board.Blob{OrganizationID: r.workspace.OrganizationID, Hash: *in.SHA256}
	stored, known := r.files.stored[*in.SHA256]
	if stored != nil && stored.Size == *in.Size {
		a.MediaType, a.Width, a.Height = &stored.MediaType, stored.Width, stored.Height
		return nil
	}
	if r.files.complete {
		return board.Invalid("The file to import has changed during the import. Try again.")
	}
	if r.files.limit == 0 {
		var err error
		if r.files.limit, err = r.v.FileLimit(r.ctx, r.workspace.OrganizationID); err != nil {
			return err
		}
	}
	if *in.Size > int64(r.files.limit) {
		return board.Refuse(board.CodePlanLimit, "The attached file %q is larger than %s, the limit of the organization's plan.",
			in.Name, r.files.limit)
	}
	switch size, ok := r.files.contents.Size(*in.SHA256); {
	case !ok:
		return board.Invalid("The content of the attached file %q (files/%s) is missing in the archive.", in.Name, *in.SHA256)
	case size != *in.Size:
		return board.Invalid("The content of the attached file %q (files/%s) has %d bytes instead of %d.", in.Name, *in.SHA256,
			size, *in.Size)
	}
	if !known {
		r.files.stored[*in.SHA256] = nil
		r.files.wanted = append(r.files.wanted, wantedFile{in.Name, a.Blob, *in.Size})
	}
	return nil
}

// cover makes a picture the cover of its card.
func (r *boardReader) cover(at string, c *board.Card, a board.Attachment) error {
	switch {
	case c.Cover != nil:
		return board.Invalid("%s.cover must not be true for two attachments of a card.", at)
	case a.CanBeCover():
		c.Cover = &board.Cover{AttachmentID: a.ID, Width: *a.Width, Height: *a.Height}
	default:
		r.report.note("Covers that are not pictures of a supported type", a.Name)
	}
	return nil
}
