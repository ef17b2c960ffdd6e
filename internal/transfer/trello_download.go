package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	downloadsAtOnce = 3
	// downloadTime limits all downloads of an import, so that stored files still exist when
	// they are attached.
	downloadTime = store.RemovedLifetime / 4
)

// Downloads downloads files to which a document refers.
type Downloads interface {
	// Fetch downloads a file and stores it as a blob of an organization. The limit is the
	// maximum size of the file. If the file cannot be downloaded, Fetch returns a problem
	// for people, such as "not found, HTTP 404". It returns an error only if ctx has ended.
	Fetch(ctx context.Context, organization, address string, limit board.Bytes) (f *board.StoredFile, problem string, err error)
}

// downloadedFiles are the files of a Trello document. The document is read at least twice: the
// first time to find the files, and again after they were downloaded.
type downloadedFiles struct {
	downloads    Downloads
	organization string
	wanted       []*download // in the order of the document
	byAddress    map[string]*download
	text         board.Bytes // storage that the board needs without its files
	complete     bool        // whether store has ended
}

// download is a file to download, and then the result.
type download struct {
	address string
	size    int64 // as the document states it; -1 if it does not
	uses    int64 // number of attachments
	file    *board.StoredFile
	problem string // if file is nil
}

// begin is called before the document is read.
func (f *downloadedFiles) begin(organization string) {
	if !f.complete {
		f.organization, f.wanted, f.byAddress = organization, nil, map[string]*download{}
	}
}

// planned is called after the document was read. The text is the storage that the board needs.
func (f *downloadedFiles) planned(text board.Bytes) {
	if !f.complete {
		f.text = text
	}
}

// file returns a downloaded file. If it was not downloaded, file returns nil and the problem.
// Before the downloads, it returns neither.
func (f *downloadedFiles) file(a trelloAttachment) (*board.StoredFile, string) {
	if d := f.byAddress[a.URL]; f.complete && d != nil {
		return d.file, d.problem
	}
	if f.complete {
		return nil, "the document has changed during the import"
	}
	d := f.byAddress[a.URL]
	if d == nil {
		d = &download{address: a.URL, size: -1}
		if n := a.Bytes.value; n != nil && *n >= 0 && *n < 1<<53 {
			d.size = int64(*n)
		}
		f.byAddress[a.URL] = d
		f.wanted = append(f.wanted, d)
	}
	d.uses++
	return nil, ""
}

// store downloads the files and stores them. It returns an error only if ctx has ended, or if
// the database cannot be read.
func (f *downloadedFiles) store(ctx context.Context, db *store.DB, caller board.Caller, progress Progress) error {
	var limit, left board.Bytes
	if err := db.Read(ctx, caller, func(v *store.View) (err error) {
		if limit, err = v.FileLimit(ctx, f.organization); err != nil {
			return err
		}
		left, err = v.StorageLeft(ctx, f.organization)
		return err
	}); err != nil {
		return err
	}
	s := downloading{downloadedFiles: f, limit: limit, left: left - f.text, progress: progress}
	bounded, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	var running sync.WaitGroup
	next := make(chan *download)
	for range downloadsAtOnce {
		running.Go(func() {
			for d := range next {
				s.one(bounded, d)
			}
		})
	}
	for _, d := range f.wanted {
		next <- d
	}
	close(next)
	running.Wait()
	f.complete = true
	return ctx.Err()
}

// count returns how many different files were stored.
func (f *downloadedFiles) count() int {
	stored := map[board.Blob]bool{}
	for _, d := range f.wanted {
		if d.file != nil {
			stored[d.file.Blob] = true
		}
	}
	return len(stored)
}

// downloading is the state of downloads that are running.
type downloading struct {
	*downloadedFiles
	limit    board.Bytes // maximum size of a file
	progress Progress

	mu   sync.Mutex
	left board.Bytes // storage that the remaining files can use
	done int
}

// one downloads a file.
func (s *downloading) one(ctx context.Context, d *download) {
	d.file, d.problem = s.fetch(ctx, d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	s.progress(s.done, len(s.wanted))
}

func (s *downloading) fetch(ctx context.Context, d *download) (*board.StoredFile, string) {
	const full = "no storage is left"
	switch {
	case d.size > int64(s.limit):
		return nil, "larger than " + s.limit.String()
	case !s.take(0, d.uses*max(d.size, 1)):
		return nil, full
	}
	stored, problem, err := s.downloads.Fetch(ctx, s.organization, d.address, s.limit)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Sprintf("all downloads together took longer than %d hours", downloadTime/time.Hour)
	case err != nil || problem != "":
		return nil, problem
	case stored.MediaType == "text/html" && stored.Size != d.size:
		return nil, "the response is a web page" // asks people to sign in, for example
	case !s.take(stored.Size*d.uses, stored.Size*d.uses):
		return nil, full
	}
	return stored, ""
}

// take reserves n bytes of storage. It reports whether as many as needed were left.
func (s *downloading) take(n, needed int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int64(s.left) < needed {
		return false
	}
	s.left -= board.Bytes(n)
	return true
}
