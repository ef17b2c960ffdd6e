package archive

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"cardwall/internal/board"
	"cardwall/internal/file"
)

const (
	documentName = "cardwall.json"
	filesFolder  = "files/"
)

// An archive has at most maxFiles different files, so that its directory is not larger than
// maxDirectory bytes, which is the most that Open reads into memory.
const (
	maxFiles     = 400_000
	maxDirectory = 64 << 20
)

// Write writes an archive. It calls document, which must write the document to w and call
// file for each attached file in it. Then it copies the content of these files from blobs.
// After an error, the archive is incomplete, which readers detect because its directory is
// missing. It is an error if content is missing, or does not have its hash and size.
func Write(ctx context.Context, to io.Writer, blobs file.Blobs, document func(w io.Writer, file func(board.Attachment)) error) error {
	out := zip.NewWriter(to)
	w, err := out.CreateHeader(&zip.FileHeader{Name: documentName, Method: zip.Store})
	if err != nil {
		return err
	}
	var files []board.Attachment
	seen := map[string]bool{}
	if err := document(w, func(a board.Attachment) {
		if !seen[a.Blob.Hash] {
			seen[a.Blob.Hash] = true
			files = append(files, a)
		}
	}); err != nil {
		return err
	}
	if len(files) > maxFiles {
		return fmt.Errorf("the export has %d different files, but an archive can contain at most %d; export the boards separately",
			len(files), maxFiles)
	}
	for _, a := range files {
		w, err := out.CreateHeader(&zip.FileHeader{Name: filesFolder + a.Blob.Hash, Method: zip.Store})
		if err == nil {
			err = copyBlob(ctx, w, blobs, a)
		}
		if err != nil {
			return fmt.Errorf("export the attached file %q (%s): %w", a.Name, a.ID, err)
		}
	}
	return out.Close()
}

// copyBlob writes the content of an attached file to w.
func copyBlob(ctx context.Context, w io.Writer, blobs file.Blobs, a board.Attachment) error {
	content, err := blobs.Open(ctx, file.Name(a.Blob.OrganizationID, a.Blob.Hash))
	if errors.Is(err, file.ErrMissing) {
		return errors.New("its content is missing in the storage for files; to export without files, omit --with-files")
	}
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), reader{ctx, content})
	if err := errors.Join(err, content.Close()); err != nil {
		return err
	}
	if n != *a.Size || fmt.Sprintf("%x", sum.Sum(nil)) != a.Blob.Hash {
		return errors.New("its content in the storage for files is damaged; cardwall doctor --all-files lists all damaged files")
	}
	return nil
}

// reader reads from r until ctx ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
