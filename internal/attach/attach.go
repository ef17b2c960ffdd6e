package attach

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/file"
	"cardwall/internal/store"
)

// temporary is the prefix of the names of blobs that are being received.
const temporary = "uploads/"

// retryAfter is the Retry-After header of temporary errors.
const retryAfter = 5 * time.Second

// Files stores and opens the files of attachments.
type Files struct {
	DB    *store.DB
	Blobs file.Blobs

	scaling sync.Mutex // held while a picture is scaled
	hashing sync.Mutex // held while a part of a file is hashed

	uploads board.AtOnce
}

const (
	uploadsPerPerson = 4  // maximum number of concurrent uploads of a person
	maxUploads       = 24 // maximum number of concurrent uploads of the server
)

// enter counts an upload until leave is called. It returns a rate_limited fault if the limit
// of the person or of the server is reached.
func (f *Files) enter(userID string) (leave func(), err error) {
	return f.uploads.Start(userID, "uploads", uploadsPerPerson, maxUploads)
}

// Store stores the content that r returns until io.EOF, as a file for a card. It returns
// an error and stores nothing if the caller may not change the card, if the file is larger
// than the plan of the organization allows, or if the organization's storage is full. If r
// returns an error, Store returns it.
func (f *Files) Store(ctx context.Context, caller board.Caller, cardID, name string, r io.Reader) (*board.StoredFile, error) {
	organization, limit, err := f.target(ctx, caller, cardID)
	if err != nil {
		return nil, err
	}
	leave, err := f.enter(caller.UserID)
	if err != nil {
		return nil, err
	}
	defer leave()
	return f.store(ctx, caller, organization, limit, name, r)
}

// store stores a file of an organization.
func (f *Files) store(ctx context.Context, caller board.Caller, organization string, limit board.Bytes, name string,
	r io.Reader) (*board.StoredFile, error) {
	limited := &limitReader{r: r, left: int64(limit), fault: board.FileTooLarge(limit)}
	return f.receive(ctx, caller, organization, limited, func(s *board.StoredFile) error {
		s.Name = name
		return nil
	})
}

// Receive stores the content that r returns until io.EOF as a blob of an organization, for
// attachments that an import adds within store.RemovedLifetime. It returns an error and stores
// nothing if the content is larger than limit, or if the organization's storage is full. If r
// returns an error, Receive returns it. The caller must limit the number of concurrent calls.
func (f *Files) Receive(ctx context.Context, caller board.Caller, organization string, limit board.Bytes,
	r io.Reader) (*board.StoredFile, error) {
	return f.store(ctx, caller, organization, limit, "", r)
}

// Import stores the content that r returns until io.EOF as a blob, for attachments that an
// import adds within store.RemovedLifetime. It returns an error and stores nothing if the
// content does not have the hash of the blob and the given size, or if the organization's
// storage is full. The caller must have checked the maximum size of a file.
func (f *Files) Import(ctx context.Context, caller board.Caller, blob board.Blob, size int64, r io.Reader) (*board.StoredFile, error) {
	limited := &limitReader{r: r, left: size, fault: errDifferent}
	return f.receive(ctx, caller, blob.OrganizationID, limited, func(s *board.StoredFile) error {
		if s.Size != size || s.Blob != blob {
			return errDifferent
		}
		return nil
	})
}

// receive stores the content of r as a blob of an organization, unless check returns an error.
func (f *Files) receive(ctx context.Context, caller board.Caller, organization string, r *limitReader,
	check func(*board.StoredFile) error) (*board.StoredFile, error) {
	sum := sha256.New()
	received := temporary + store.NewID("fil_")
	size, err := f.Blobs.Put(ctx, received, io.TeeReader(r, file.InTurn(&f.hashing, sum)))
	if err != nil {
		return nil, storageFault(err)
	}
	stored := &board.StoredFile{Size: size, Blob: board.Blob{OrganizationID: organization, Hash: fmt.Sprintf("%x", sum.Sum(nil))}}
	if err = check(stored); err == nil {
		err = f.keep(ctx, caller, received, stored)
	}
	if err != nil {
		// The context may have ended, which must not keep the blob from being removed.
		return nil, errors.Join(storageFault(err), f.Blobs.Remove(context.WithoutCancel(ctx), received))
	}
	return stored, nil
}

// errDifferent means that imported content is not the content that was exported.
var errDifferent = errors.New("the content differs from the file that was exported: its size or SHA-256 hash is wrong")

// target checks whether the caller may attach a file to a card. It returns the
// organization of the card and the maximum size of a file.
func (f *Files) target(ctx context.Context, caller board.Caller, cardID string) (organization string, limit board.Bytes, err error) {
	err = f.DB.Read(ctx, caller, func(v *store.View) error {
		card, err := v.Card(ctx, cardID, board.Edit)
		if err != nil {
			return err
		}
		organization = v.On(card.BoardID).OrganizationID
		if limit, err = v.FileLimit(ctx, organization); err != nil {
			return err
		}
		if err := board.CheckLimit("attachments on a card", card.Attachments, 1, v.Limits().Attachments); err != nil {
			return err
		}
		return v.CheckStorage(ctx, organization, 1)
	})
	return organization, limit, err
}

// keep gives a received blob its final name, and determines what kind of file it is.
func (f *Files) keep(ctx context.Context, caller board.Caller, received string, s *board.StoredFile) error {
	if err := f.DB.Read(ctx, caller, func(v *store.View) error {
		return v.CheckStorage(ctx, s.Blob.OrganizationID, board.Bytes(s.Size))
	}); err != nil {
		return err
	}
	content, err := f.Blobs.Open(ctx, received)
	if err != nil {
		return err
	}
	s.MediaType, s.Width, s.Height, err = inspect(content)
	if err := errors.Join(err, content.Close()); err != nil {
		return err
	}
	if err := f.DB.ClaimBlob(ctx, caller, s.Blob, s.Size); err != nil {
		return err
	}
	return f.Blobs.Move(ctx, received, blobName(s.Blob))
}

// Open opens the content of a file, and returns its media type. If c is a picture that is not
// stored as a blob, Open reads it from c. If c asks for a smaller picture, Open scales it. Open
// returns an error if the storage is unavailable or the blob is missing.
func (f *Files) Open(ctx context.Context, c board.Content) (content io.ReadSeekCloser, mediaType string, err error) {
	if c.Picture != nil {
		return picture{bytes.NewReader(c.Picture.Content)}, c.Picture.MediaType, nil
	}
	if c.Scale != "" && decodable(c.MediaType) {
		content, err = f.openScaled(ctx, c.Blob, c.Scale)
		if err == nil {
			if mediaType, err = scaledType(content); err != nil {
				err = errors.Join(err, content.Close())
			}
		}
		if !errors.Is(err, errUnscaled) {
			return content, mediaType, storageFault(err)
		}
	}
	content, err = f.Blobs.Open(ctx, blobName(c.Blob))
	return content, c.MediaType, storageFault(err)
}

// picture is an open picture that is not stored as a blob.
type picture struct{ *bytes.Reader }

// Close implements io.Closer.
func (picture) Close() error { return nil }

// scaledType returns the media type of a scaled picture. It returns errUnscaled if the
// picture could not be decoded.
func scaledType(content io.ReadSeeker) (string, error) {
	var first [1]byte
	_, err := io.ReadFull(content, first[:])
	if err == io.EOF {
		return "", errUnscaled
	}
	if err == nil {
		_, err = content.Seek(0, io.SeekStart)
	}
	if first[0] == 0xff {
		return "image/jpeg", err
	}
	return "image/png", err
}

func blobName(b board.Blob) string { return file.Name(b.OrganizationID, b.Hash) }

// storageFault returns the fault for an error of the storage for files. It returns other
// errors unchanged.
func storageFault(err error) error {
	unavailable := func(message string) error {
		return fmt.Errorf("%w: %w", &board.Fault{Code: board.CodeUnavailable, RetryAfter: retryAfter, Message: message}, err)
	}
	switch {
	case errors.Is(err, file.ErrFull):
		return unavailable("The server has no room for files at the moment. Try again later.")
	case errors.Is(err, file.ErrUnavailable):
		return unavailable("The storage for files does not respond. Try again later.")
	case errors.Is(err, store.ErrBlobRemoving):
		return unavailable("A file with the same content is being removed. Try again.")
	}
	return err
}

// limitReader reads from r. It returns fault if r has more than left bytes.
type limitReader struct {
	r     io.Reader
	left  int64
	fault error
}

func (l *limitReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, l.fault
	}
	return n, err
}
