package attach

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/file"
	"cardwall/internal/store"
)

// EachOrphan calls report for each blob, scaled picture and unfinished upload in the storage
// that nothing refers to, although it was stored more than a day ago. Sweep removes them.
func (f *Files) EachOrphan(ctx context.Context, report func(file.Info)) error {
	return f.eachStray(ctx, f.DB.Now().Add(-store.RemovedLifetime), func(_ string, strays []file.Info) error {
		for _, i := range strays {
			report(i)
		}
		return nil
	})
}

// eachStray calls fn with blobs that were stored before a time and that have no record. It
// calls fn for one organization at a time, and with organization "" for blobs with a
// temporary name. It ignores names that this program does not use.
func (f *Files) eachStray(ctx context.Context, before time.Time, fn func(organization string, strays []file.Info) error) error {
	batch := map[string][]file.Info{} // by organization
	pending := 0
	flush := func() error {
		for organization, found := range batch {
			strays, err := f.unknown(ctx, organization, found)
			if err == nil && len(strays) > 0 {
				err = fn(organization, strays)
			}
			if err != nil {
				return err
			}
		}
		clear(batch)
		pending = 0
		return nil
	}
	if err := f.Blobs.List(ctx, "", func(i file.Info) error {
		b, ok := blobOf(i.Name)
		if !i.Changed.Before(before) || !ok && !strings.HasPrefix(i.Name, temporary) {
			return nil
		}
		batch[b.OrganizationID] = append(batch[b.OrganizationID], i)
		if pending++; pending < sweepBatch {
			return nil
		}
		return flush()
	}); err != nil {
		return err
	}
	return flush()
}

// unknown returns those blobs of an organization that have no record. It returns all blobs
// with a temporary name.
func (f *Files) unknown(ctx context.Context, organization string, found []file.Info) (strays []file.Info, err error) {
	if organization == "" {
		return found, nil
	}
	var known map[string]bool
	if err := f.DB.Read(ctx, board.System(), func(v *store.View) (err error) {
		known, err = v.KnownBlobs(ctx, organization, hashesOf(found))
		return err
	}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(i file.Info) bool {
		b, _ := blobOf(i.Name)
		return known[b.Hash]
	}), nil
}

// hashesOf returns the hashes of blobs, each of them once. A scaled picture has the hash of
// its blob.
func hashesOf(found []file.Info) []string {
	hashes := make([]string, len(found))
	for n, i := range found {
		b, _ := blobOf(i.Name)
		hashes[n] = b.Hash
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

var (
	nameOfBlob      = regexp.MustCompile(`^(org_[0-9a-z]+)/[0-9a-f]{2}/([0-9a-f]{64})$`)
	nameOfThumbnail = regexp.MustCompile(`^thumbs/(org_[0-9a-z]+)/([0-9a-f]{64})/[a-z]+$`)
)

// blobOf returns the blob to which a name in the storage belongs: its own name, or that of
// a scaled picture. It returns false for a name that this program does not use, and for a
// temporary name.
func blobOf(name string) (b board.Blob, ok bool) {
	for _, pattern := range []*regexp.Regexp{nameOfBlob, nameOfThumbnail} {
		if m := pattern.FindStringSubmatch(name); m != nil {
			return board.Blob{OrganizationID: m[1], Hash: m[2]}, true
		}
	}
	return b, false
}
