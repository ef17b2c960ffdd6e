package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

var (
	// ErrMissing means that there is no blob with the given name.
	ErrMissing = errors.New("the file does not exist")
	// ErrFull means that the disk or the bucket has no room for the blob.
	ErrFull = errors.New("the storage for files is full")
	// ErrUnavailable means that the storage cannot be used at the moment. A retry may
	// succeed.
	ErrUnavailable = errors.New("the storage for files is unavailable")
)

// Blobs is a store of blobs. It is safe for concurrent use, also by several servers.
type Blobs interface {
	// Put stores what r returns until io.EOF under a name, and returns its size in bytes. It
	// replaces a blob with the same name. If r returns another error, Put stores nothing and
	// returns that error.
	Put(ctx context.Context, name string, r io.Reader) (size int64, err error)
	// Open opens a blob. It returns ErrMissing if the blob does not exist.
	Open(ctx context.Context, name string) (io.ReadSeekCloser, error)
	// Move renames a blob, and replaces any blob with the new name. It returns ErrMissing if
	// there is no blob with the old name. If it fails, both names may exist.
	Move(ctx context.Context, from, to string) error
	// Remove deletes a blob. It does nothing if the blob does not exist.
	Remove(ctx context.Context, name string) error
	// List calls fn for each blob whose name begins with a prefix, in no particular order. A
	// blob that is added or removed meanwhile may be listed or not. List stops at the first
	// error of fn and returns it.
	List(ctx context.Context, prefix string, fn func(Info) error) error
	// RemoveUnfinished deletes partial blobs that interrupted calls of Put have left, such as
	// those of a killed server. It keeps partial blobs that are not older than before,
	// because a server may still be writing them.
	RemoveUnfinished(ctx context.Context, before time.Time) error
}

// Open opens the storage at an address: an s3:// URL, as for OpenBucket, or the path of a
// folder, which is created if it does not exist. The caller must call closeBlobs.
func Open(ctx context.Context, address string) (b Blobs, closeBlobs func() error, err error) {
	if IsBucket(address) {
		b, err := OpenBucket(ctx, address)
		return b, func() error { return nil }, err
	}
	f, err := OpenFolder(address)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// OpenToRead is like Open, but the caller may only read. It returns an error if a folder does not
// exist, and writes nothing, so that a folder can be on a medium that is mounted read-only.
func OpenToRead(ctx context.Context, address string) (b Blobs, closeBlobs func() error, err error) {
	if IsBucket(address) {
		return Open(ctx, address)
	}
	f, err := openExisting(address)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// IsBucket reports whether an address is that of a bucket, and not that of a folder.
func IsBucket(address string) bool { return strings.HasPrefix(address, "s3://") }

// Info describes a blob.
type Info struct {
	Name    string
	Size    int64 // in bytes
	Changed time.Time
}

// Name returns the name of an organization's blob with a SHA-256 hash in hexadecimal. Equal
// content of an organization is stored once, and nothing is shared between organizations.
func Name(organizationID, hash string) string {
	return organizationID + "/" + hash[:2] + "/" + hash
}

var validName = regexp.MustCompile(`^[a-z0-9_-][a-z0-9_.-]*(/[a-z0-9_-][a-z0-9_.-]*)*$`)

const maxName = 200

// checkName returns an error if a name is not valid. Except for the prefix in a bucket's
// address, names consist of ids and hashes, so an invalid name is a bug.
func checkName(names ...string) error {
	for _, name := range names {
		if len(name) > maxName || !validName.MatchString(name) {
			return fmt.Errorf("%q is not a valid name for a file", name)
		}
	}
	return nil
}

// source reads from r until ctx ends. It remembers the first error other than io.EOF, so
// that the caller can distinguish it from errors of the storage.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	if err == io.EOF {
		return n, err
	}
	if err != nil {
		s.err = err
		// Some libraries treat io.ErrUnexpectedEOF like the end.
		err = fmt.Errorf("read the content: %w", sourceError{err})
	}
	return n, err
}

// sourceError hides the identity of an error from errors.Is.
type sourceError struct{ err error }

func (e sourceError) Error() string { return e.err.Error() }

// InTurn returns a writer that holds turn during each write to w. Uploads share a turn, so that
// together they occupy one processor and the disk for one write at a time. Other requests
// would otherwise wait for each of the uploads. A turn is not held while an upload waits for its
// client.
func InTurn(turn *sync.Mutex, w io.Writer) io.Writer { return &inTurn{turn, w} }

type inTurn struct {
	turn *sync.Mutex
	w    io.Writer
}

func (i *inTurn) Write(p []byte) (int, error) {
	i.turn.Lock()
	defer i.turn.Unlock()
	return i.w.Write(p)
}
