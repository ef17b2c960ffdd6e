package attach

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/file"
	"cardwall/internal/store"
)

const (
	copiers          = 4  // number of blobs that Copy copies at the same time
	maxUnreadable    = 10 // number of blobs in a row that cannot be read, after which Copy stops
	maxNamed         = 10 // maximum number of blobs that CopyError names
	progressInterval = 2 * time.Second
)

// CopyOptions configures Copy.
type CopyOptions struct {
	From, To file.Blobs
	// Each calls fn for each blob to copy. It stops at the first error of fn and returns it.
	Each     func(ctx context.Context, fn func(store.UsedBlob) error) error
	Count    int          // number of these blobs
	Size     int64        // of these blobs in bytes
	Progress func(string) // called with messages about the progress; may be nil
}

// Copied counts what Copy did.
type Copied struct {
	Blobs   int // copied, complete and with the right hash
	Present int // not copied, because they were already there
}

// CopyError means that some blobs were not copied, because they are missing or damaged in the
// storage from which they were copied. All others were copied.
type CopyError struct {
	Count int
	Named []string // what is wrong with some of them, sorted
}

// Error implements error.
func (e *CopyError) Error() string {
	text := strings.Join(e.Named, "; ")
	if more := e.Count - len(e.Named); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("%d not copied: %s", e.Count, text)
}

// Copy copies blobs between two storages, and keeps their names. It computes the hash of each blob
// while it copies the blob, and does not keep one with another hash. Blobs that are already there
// with the right size are not copied again. So Copy continues where an interrupted call has
// stopped. After all others have been copied, Copy returns a *CopyError if blobs are missing,
// damaged or unreadable. It stops at the first blob that cannot be written, and if it cannot read
// ten in a row.
func Copy(ctx context.Context, opts CopyOptions) (Copied, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &copier{CopyOptions: opts, last: time.Now()}
	queue := make(chan store.UsedBlob)
	var group sync.WaitGroup
	for range copiers {
		group.Go(func() {
			for u := range queue {
				if err := c.copy(ctx, u); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := opts.Each(ctx, func(u store.UsedBlob) error {
		select {
		case queue <- u:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(queue)
	group.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil && c.failed.Count > 0 {
		slices.Sort(c.failed.Named)
		err = &c.failed
	}
	return c.done, err
}

// copier is one run of Copy.
type copier struct {
	CopyOptions

	mu         sync.Mutex // protects the fields below
	done       Copied
	failed     CopyError
	unreadable int       // number of blobs that could not be read since the last one that could
	size       int64     // processed, in bytes
	last       time.Time // when progress was last reported
}

// copy copies a blob, unless it is already there. It returns an error if Copy must stop.
func (c *copier) copy(ctx context.Context, u store.UsedBlob) error {
	there, problem, err := openUsed(ctx, c.To, u)
	if err != nil {
		return err
	}
	if problem == "" {
		c.processed(u.Size)
		return errors.Join(c.end(&c.done.Present), there.Close())
	}
	content, problem, err := openUsed(ctx, c.From, u)
	if err != nil {
		return c.unread(ctx, u, err)
	}
	if problem != "" {
		return c.fail(u, problem)
	}
	defer func() { _ = content.Close() }() // the blob is only read
	r := &verifier{r: content, sum: sha256.New(), blob: u, read: c.processed}
	_, err = c.To.Put(ctx, blobName(u.Blob), r)
	switch {
	case err == nil:
		return c.end(&c.done.Blobs)
	case errors.Is(r.err, errDamaged):
		return c.fail(u, differs)
	case r.err != nil:
		return c.unread(ctx, u, r.err)
	}
	return fmt.Errorf("copy a file: %w", err)
}

// end increments a counter of complete blobs.
func (c *copier) end(count *int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	*count++
	c.unreadable = 0
	return nil
}

// fail records that a blob was not copied.
func (c *copier) fail(u store.UsedBlob, problem string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed.Count++
	if len(c.failed.Named) < maxNamed {
		c.failed.Named = append(c.failed.Named, fmt.Sprintf("%s of the attachment %s %s", blobName(u.Blob), u.AttachmentID, problem))
	}
	return nil
}

// unread records that a blob cannot be read. It returns an error if Copy must stop.
func (c *copier) unread(ctx context.Context, u store.UsedBlob, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_ = c.fail(u, fmt.Sprintf("cannot be read (%v)", err))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreadable++; c.unreadable >= maxUnreadable {
		return fmt.Errorf("%d attached files in a row cannot be read; the last one: %w", c.unreadable, err)
	}
	return nil
}

// processed counts bytes, and reports the progress once in a while.
func (c *copier) processed(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size += n
	if now := time.Now(); c.Progress != nil && now.Sub(c.last) >= progressInterval {
		c.last = now
		c.Progress(fmt.Sprintf("copying files: %d of %d, %s of %s", c.done.Blobs+c.done.Present+c.failed.Count, c.Count,
			board.Bytes(c.size), board.Bytes(c.Size)))
	}
}

// differs completes "the file of the attachment …".
const differs = "has different content from the file that was added"

var errDamaged = errors.New("the content of the file has changed")

// verifier reads a blob. At the end, it returns errDamaged instead of io.EOF if the content does
// not have the blob's hash, so that it is not stored.
type verifier struct {
	r    io.Reader
	sum  hash.Hash
	blob store.UsedBlob
	read func(n int64) // called for each part with its size in bytes
	err  error         // the first error other than io.EOF
}

// Read implements io.Reader.
func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.r.Read(p)
	_, _ = v.sum.Write(p[:n]) // hash.Hash never returns an error
	v.read(int64(n))
	if err == io.EOF && fmt.Sprintf("%x", v.sum.Sum(nil)) != v.blob.Blob.Hash {
		err = errDamaged
	}
	if err != nil && err != io.EOF {
		v.err = err
	}
	return n, err
}

// openUsed opens a blob. If it is missing or has the wrong size, openUsed returns what is wrong,
// and no content.
func openUsed(ctx context.Context, blobs file.Blobs, u store.UsedBlob) (content io.ReadSeekCloser, problem string, err error) {
	content, err = blobs.Open(ctx, blobName(u.Blob))
	if errors.Is(err, file.ErrMissing) {
		return nil, "is missing", nil
	}
	if err != nil {
		return nil, "", err
	}
	size, err := content.Seek(0, io.SeekEnd)
	if err == nil && size != u.Size {
		return nil, fmt.Sprintf("has %d bytes instead of %d", size, u.Size), content.Close()
	}
	if err == nil {
		_, err = content.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("read the size of a file: %w", err), content.Close())
	}
	return content, "", nil
}
