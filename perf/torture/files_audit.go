package main

import (
	"fmt"
)

// eachFile calls fn with each file that was sent.
func (w *fileWork) eachFile(fn func(*sentFile)) {
	for _, v := range w.writers {
		for _, s := range v.files {
			fn(s)
		}
	}
}

// countFiles returns the number of sent files that match.
func (w *fileWork) countFiles(match func(*sentFile) bool) (n int) {
	w.eachFile(func(s *sentFile) {
		if match(s) {
			n++
		}
	})
	return n
}

// attachment is an attachment in the response of list_attachments.
type attachment struct {
	ID, Name, SHA256 string
	Size             int
}

// attachments returns the attachments of all cards by name, and the number of attachments.
func (w *fileWork) attachments() (found map[string][]attachment, n int, err error) {
	found = map[string][]attachment{}
	cards := map[string]bool{}
	w.eachFile(func(s *sentFile) { cards[s.card] = true })
	for card := range cards {
		for cursor := ""; ; {
			var page struct {
				Data       []attachment
				NextCursor string
			}
			path := "/cards/" + card + "/attachments?limit=100&cursor=" + cursor
			if err := w.client.Do(w.ctx, "GET", w.Server.Addr, path, "", nil, &page); err != nil {
				return nil, 0, fmt.Errorf("list attachments: %w", err)
			}
			for _, a := range page.Data {
				found[a.Name] = append(found[a.Name], a)
				n++
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
	}
	return found, n, nil
}

// compareRecords compares the attachments with the acknowledged requests. It returns the hashes of the files that must
// be stored. A file that was sent only once may exist, and then gets the id of its attachment.
func (w *fileWork) compareRecords() (used map[string]bool, err error) {
	found, n, err := w.attachments()
	if err != nil {
		return nil, err
	}
	used = map[string]bool{}
	w.eachFile(func(s *sentFile) {
		all := found[s.name]
		n -= len(all)
		w.duplicated += max(0, len(all)-1)
		acknowledged := s.id != ""
		switch {
		case s.removed && len(all) > 0:
			w.fail("attachment %s exists although its removal was acknowledged", s.id)
		case s.removed:
		case acknowledged && (len(all) == 0 || all[0].ID != s.id):
			w.lost++
		case len(all) > 0:
			s.id = all[0].ID
			hash := hashOf(s.content())
			used[hash] = true
			if all[0].SHA256 != hash || all[0].Size != s.size {
				w.fail("attachment %s has hash %s and %d bytes, want %s and %d", s.id, all[0].SHA256, all[0].Size, hash, s.size)
			}
		}
	})
	if n > 0 {
		w.fail("there are %d attachments that were not sent", n)
	}
	if w.lost > 0 {
		w.fail("%d acknowledged attachments were lost", w.lost)
	}
	if w.duplicated > 0 {
		w.fail("%d files were attached twice", w.duplicated)
	}
	return used, nil
}

// compareContent downloads each attachment and compares its content with what was sent.
func (w *fileWork) compareContent() {
	w.eachFile(func(s *sentFile) {
		if s.id == "" || s.removed || w.ctx.Err() != nil {
			return
		}
		if err := w.read(w.ctx, s); err != nil {
			w.lost++
			w.fail("read an acknowledged file: %v", err)
		}
	})
}
