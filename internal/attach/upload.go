package attach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"cardwall/internal/board"
	"cardwall/internal/file"
	"cardwall/internal/store"
)

// partSize is the maximum size of a part of an upload in bytes. If the server is killed, it
// loses at most this much of what it has received.
const partSize = 8 << 20

// Append stores what r returns as the next part of an upload, which must begin at offset, and
// returns the upload as it is afterwards. If the file is then complete, Append calls add
// with it. If r returns an error, Append keeps what it has read and returns the error.
func (f *Files) Append(ctx context.Context, caller board.Caller, uploadID string, offset int64, r io.Reader,
	add func(*board.StoredFile) error) (u board.Upload, err error) {
	if err := f.DB.Read(ctx, caller, func(v *store.View) error {
		u, err = v.Upload(ctx, uploadID, board.Edit)
		return err
	}); err != nil {
		return u, err
	}
	if err := u.At(offset); err != nil {
		return u, err
	}
	leave, err := f.enter(caller.UserID)
	if err != nil {
		return u, err
	}
	defer leave()
	received := &untilError{r: r}
	body := bufio.NewReader(received)
	more := func() bool {
		_, err := body.Peek(1)
		return err == nil
	}
	for u.Offset < u.Size && more() {
		part := store.UploadPart{Start: u.Offset, Blob: temporary + u.ID + "." + store.NewID("prt_")}
		part.Size, err = f.Blobs.Put(ctx, part.Blob, io.LimitReader(body, min(partSize, u.Size-u.Offset)))
		if err != nil {
			return u, storageFault(err)
		}
		switch {
		case u.Offset+part.Size < u.Size:
			err = f.DB.Write(ctx, caller, func(tx *store.Tx) error { return tx.AppendPart(ctx, u.ID, part) })
		case more():
			err = board.Invalid("The upload is larger than its size, %d bytes.", u.Size)
		default:
			err = f.complete(ctx, caller, u, part, add)
		}
		if err != nil {
			return u, errors.Join(err, f.Blobs.Remove(ctx, part.Blob))
		}
		if u.Offset += part.Size; u.Offset == u.Size {
			return u, nil
		}
	}
	return u, received.err
}

// complete puts the parts of an upload together, of which the last is not recorded yet, and
// calls add with the file. Then it removes the parts.
func (f *Files) complete(ctx context.Context, caller board.Caller, u board.Upload, last store.UploadPart,
	add func(*board.StoredFile) error) error {
	organization, limit, err := f.target(ctx, caller, u.CardID)
	if err != nil {
		return err
	}
	var parts []store.UploadPart
	if err := f.DB.Read(ctx, caller, func(v *store.View) (err error) {
		parts, err = v.UploadParts(ctx, u.ID)
		return err
	}); err != nil {
		return err
	}
	if endOf(parts) != last.Start {
		return f.partMissing(ctx, caller, u)
	}
	parts = append(parts, last)
	content := &partsReader{ctx: ctx, blobs: f.Blobs, rest: parts}
	stored, err := f.store(ctx, caller, organization, limit, u.Name, content)
	if err = errors.Join(err, content.close()); errors.Is(err, file.ErrMissing) {
		return f.partMissing(ctx, caller, u)
	}
	if err != nil {
		return err
	}
	if stored.Size != u.Size {
		return fmt.Errorf("the parts of %s have %d bytes, want %d", u.ID, stored.Size, u.Size)
	}
	if err := add(stored); err != nil {
		return err
	}
	for _, part := range parts {
		_ = f.Blobs.Remove(ctx, part.Blob) // the sweep removes it later if this fails
	}
	return nil
}

// endOf returns where the last of the parts ends.
func endOf(parts []store.UploadPart) int64 {
	if len(parts) == 0 {
		return 0
	}
	last := parts[len(parts)-1]
	return last.Start + last.Size
}

// partMissing returns the fault for an upload that lacks a part: either another request has
// just completed or continued the upload, or the storage was restored from an older backup,
// for example. In the second case, the client must start again.
func (f *Files) partMissing(ctx context.Context, caller board.Caller, u board.Upload) error {
	err := f.DB.Write(ctx, caller, func(tx *store.Tx) error {
		now, err := tx.Upload(ctx, u.ID, board.Edit)
		if err != nil {
			return err
		}
		if err := now.At(u.Offset); err != nil {
			return err
		}
		return tx.DeleteUpload(ctx, u.ID)
	})
	if err != nil {
		return err
	}
	return board.NotFound()
}

// untilError reads from r. It returns io.EOF for every error of r, and remembers any other
// error.
type untilError struct {
	r   io.Reader
	err error
}

func (u *untilError) Read(p []byte) (int, error) {
	if u.err != nil {
		return 0, io.EOF
	}
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		u.err = err
		err = io.EOF
	}
	return n, err
}

// partsReader reads the parts of an upload one after the other.
type partsReader struct {
	ctx   context.Context
	blobs file.Blobs
	rest  []store.UploadPart
	open  io.ReadCloser // nil between parts
}

func (p *partsReader) Read(b []byte) (int, error) {
	for {
		if p.open == nil {
			if len(p.rest) == 0 {
				return 0, io.EOF
			}
			var err error
			if p.open, err = p.blobs.Open(p.ctx, p.rest[0].Blob); err != nil {
				p.open = nil
				return 0, fmt.Errorf("open a part of an upload: %w", err)
			}
			p.rest = p.rest[1:]
		}
		n, err := p.open.Read(b)
		if err != io.EOF {
			return n, err
		}
		if err := p.close(); n > 0 || err != nil {
			return n, err
		}
	}
}

func (p *partsReader) close() error {
	if p.open == nil {
		return nil
	}
	err := p.open.Close()
	p.open = nil
	return err
}
