package archive

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cardwall/internal/attach"
	"cardwall/internal/board"
)

// maxCompressed is the maximum size of a document that is stored with compression. A document
// without compression can have any size, because it is not larger than its archive.
const maxCompressed = 256 << 20

// Reader is an opened archive.
type Reader struct {
	document *zip.File
	files    map[string]*zip.File // by hash
}

// Open opens an archive and reads all of its document. It returns an error if the archive is
// damaged or has entries that Write does not write. It does not read the files.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	limited := &directoryReader{r: r, left: maxDirectory}
	in, err := zip.NewReader(limited, size)
	if err != nil {
		return nil, damaged(err)
	}
	limited.opened = true
	a := &Reader{files: map[string]*zip.File{}}
	for _, f := range in.File {
		if err := a.add(f); err != nil {
			return nil, err
		}
	}
	if a.document == nil {
		return nil, fmt.Errorf("the archive does not contain %s", documentName)
	}
	if a.document.Method != zip.Store && a.document.UncompressedSize64 > maxCompressed {
		return nil, fmt.Errorf("%s in the archive is larger than %s; store it without compression", documentName, board.Bytes(maxCompressed))
	}
	if _, err := io.Copy(io.Discard, a.Document()); err != nil {
		return nil, fmt.Errorf("read %s: %w", documentName, err)
	}
	return a, nil
}

// add adds an entry of the archive.
func (a *Reader) add(f *zip.File) error {
	hash, isFile := strings.CutPrefix(f.Name, filesFolder)
	switch {
	case f.Name == filesFolder:
		return nil
	case f.Name != documentName && (!isFile || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != ""):
		return fmt.Errorf("the archive contains %.100q, which is not part of an export", f.Name)
	case f.Flags&1 != 0:
		return fmt.Errorf("%s in the archive is encrypted", f.Name)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Errorf("%s in the archive is compressed with method %d; only methods 0 and 8 are supported", f.Name, f.Method)
	case f.Name == documentName && a.document != nil || a.files[hash] != nil:
		return fmt.Errorf("the archive contains %s twice", f.Name)
	case f.Name == documentName:
		a.document = f
	default:
		a.files[hash] = f
	}
	return nil
}

// Document returns a new reader of the document.
func (a *Reader) Document() io.Reader { return &entryReader{file: a.document} }

// damaged returns the error for an archive that cannot be read.
func damaged(err error) error { return fmt.Errorf("the archive is incomplete or damaged: %w", err) }

// entryReader reads an entry of an archive.
type entryReader struct {
	file    *zip.File
	content io.Reader // nil before the first read
}

func (r *entryReader) Read(p []byte) (int, error) {
	if r.content == nil {
		// Its Close method has nothing to release.
		content, err := r.file.Open()
		if err != nil {
			return 0, damaged(err)
		}
		r.content = content
	}
	n, err := r.content.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

// directoryReader limits how much is read before the archive is opened.
type directoryReader struct {
	r      io.ReaderAt
	left   int
	opened bool
}

func (d *directoryReader) ReadAt(p []byte, at int64) (int, error) {
	if !d.opened {
		if d.left -= len(p); d.left < 0 {
			return 0, errors.New("its directory has too many entries")
		}
	}
	return d.r.ReadAt(p, at)
}

// Contents stores the files of an archive for an import.
type Contents struct {
	Archive *Reader
	Files   *attach.Files
	Caller  board.Caller // the person who imports the archive
}

// Size returns the size of the content with a SHA-256 hash in hexadecimal, as the archive
// declares it. It returns false if the archive does not contain it.
func (c Contents) Size(hash string) (int64, bool) {
	f, ok := c.Archive.files[hash]
	if !ok {
		return 0, false
	}
	return int64(f.UncompressedSize64), true
}

// Store stores content that is in the archive as a blob. It returns an error, and the blob
// does not exist, if the content does not have the hash of the blob and the given size. It
// never decompresses more than that size.
func (c Contents) Store(ctx context.Context, blob board.Blob, size int64) (*board.StoredFile, error) {
	return c.Files.Import(ctx, c.Caller, blob, size, &entryReader{file: c.Archive.files[blob.Hash]})
}
