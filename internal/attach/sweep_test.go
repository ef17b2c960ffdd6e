package attach_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// sweep deletes what has expired, and then unused files.
func (p *place) sweep() {
	p.T.Helper()
	if _, err := app.Housekeep(p.T.Context(), p.DB, "test"); err != nil {
		p.T.Fatal(err)
	}
	if _, err := p.Files.Sweep(p.T.Context(), func() (bool, error) { return true, nil }); err != nil {
		p.T.Fatalf("sweep: %v", err)
	}
}

// A sweep removes what nothing has referred to for a day, and nothing else.
func TestSweepRemovesUnusedFiles(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		kept := p.ada.Attach(p.card, "kept", []byte("kept")).ID()
		shared := p.ada.Attach(p.card, "shared", []byte("shared")).ID()
		p.ada.Attach(p.card, "shared too", []byte("shared"))
		gone := p.ada.Attach(p.card, "gone.png", photo(t, 1000, 500, false)).ID()
		if a := p.ada.Call("download_attachment", apptest.Fields{"attachmentId": gone, "size": "small"}); a.Status != http.StatusOK {
			t.Fatalf("scale a picture: got status %d, body %s", a.Status, a.Raw)
		}
		for _, id := range []string{shared, gone} {
			p.ada.Must("delete_attachment", apptest.Fields{"attachmentId": id})
		}
		// What killed servers leave: a record without a blob, a blob without a record, and a
		// blob with a temporary name.
		claimed := board.Blob{OrganizationID: "org_x", Hash: strings.Repeat("a", 64)}
		if err := s.DB.ClaimBlob(t.Context(), board.System(), claimed, 1); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"org_y/bb/" + strings.Repeat("b", 64), "uploads/upl_x", "photos/20/2026.jpg"} {
			if _, err := p.Files.Blobs.Put(t.Context(), name, strings.NewReader("x")); err != nil {
				t.Fatal(err)
			}
		}
		sweep := func(when string, want int) {
			t.Helper()
			p.sweep()
			if got := p.blobs(); len(got) != want {
				t.Errorf("%s: got blobs %q, want %d", when, got, want)
			}
		}
		sweep("at once", 7)
		s.Clock.Advance(store.RemovedLifetime + time.Hour)
		sweep("after a day", 5) // attachments can no longer be restored, but a backup may contain them
		s.Clock.Advance(store.RemovedLifetime + time.Hour)
		sweep("after two days", 3) // two files that are used, and one that is not of this program
		if a := p.ada.Download(kept, nil); string(a.Raw) != "kept" {
			t.Errorf("the file that was kept: got status %d, body %s", a.Status, a.Raw)
		}
		if n := apptest.Select(t, s.DB, "SELECT hash FROM blobs"); len(n) != 2 {
			t.Errorf("got records of blobs %q, want two", n)
		}
	})
}

// The files of a board that is deleted for good are kept for another day, because a backup
// of the database from the last moment needs them. Before, the next sweep removed them.
func TestSweepKeepsFilesOfDeletedBoardForADay(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		p.ada.Attach(p.card, "brief", []byte("brief"))
		boardID := p.ada.Must("get_card", apptest.Fields{"cardId": p.card}).Get("boardId")
		p.ada.Must("trash_board", apptest.Fields{"boardId": boardID})
		s.Clock.Advance(store.TrashLifetime + time.Hour)
		p.sweep()
		if n := apptest.Select(t, s.DB, "SELECT id FROM attachments"); len(n) > 0 {
			t.Fatalf("got attachments %q after the board was purged, want none", n)
		}
		for _, after := range []struct {
			time time.Duration
			want int
		}{{0, 1}, {store.RemovedLifetime - time.Hour, 1}, {2 * time.Hour, 0}} {
			s.Clock.Advance(after.time)
			p.sweep()
			if got := p.blobs(); len(got) != after.want {
				t.Errorf("another %v after the board was purged: got blobs %q, want %d", after.time, got, after.want)
			}
		}
	})
}

// A file that is used again, in whatever way, is kept until it has been unused for a day
// without interruption. A sweep that has read an outdated record does not remove it either.
func TestSweepKeepsFilesThatAreUsedAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		id := p.ada.Attach(p.card, "brief", []byte("brief")).ID()
		record := func() store.BlobRecord {
			t.Helper()
			var all []store.BlobRecord
			if err := s.DB.Read(t.Context(), board.System(), func(v *store.View) (err error) {
				all, err = v.BlobRecords(t.Context(), board.Blob{}, 10)
				return err
			}); err != nil || len(all) != 1 {
				t.Fatalf("got records %v and error %v, want one record", all, err)
			}
			return all[0]
		}
		blob := record().Blob
		use := func(hash string) {
			t.Helper()
			apptest.Change(t, s.DB, "UPDATE attachments SET hash = $1 WHERE id = $2", hash, id)
		}
		use("none")
		p.sweep()
		if r := record(); r.Used || r.UnusedSince == nil {
			t.Fatalf("an unused blob: got record %+v, want when a sweep found it", r)
		}
		use(blob.Hash) // like a copy of which nothing was visible to the sweep
		s.Clock.Advance(store.RemovedLifetime + time.Hour)
		if _, err := s.DB.WriteSlice(t.Context(), func(tx *store.Tx) error {
			marked, err := tx.BeginBlobRemoval(t.Context(), []board.Blob{blob})
			if len(marked) > 0 {
				t.Errorf("got %v marked for removal, want none, because it is used again", marked)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		p.sweep()
		if r := record(); !r.Used || r.UnusedSince != nil || r.Removing {
			t.Errorf("a blob that is used again: got record %+v, want no mark", r)
		}
		use("none")
		p.sweep()
		s.Clock.Advance(store.RemovedLifetime - time.Hour)
		use(blob.Hash)
		p.ada.Attach(p.card, "again", []byte("brief")) // claims the blob
		if r := record(); r.UnusedSince != nil {
			t.Errorf("a claimed blob: got record %+v, want no mark", r)
		}
		p.sweep()
		if a := p.ada.Download(id, nil); a.Status != http.StatusOK {
			t.Errorf("the file: got status %d, body %s; want it to be kept", a.Status, a.Raw)
		}
	})
}

// A blob without a record is kept if an attachment refers to it.
func TestSweepKeepsUsedFilesWithoutRecord(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		id := p.ada.Attach(p.card, "brief", []byte("brief")).ID()
		apptest.Change(t, s.DB, "DELETE FROM blobs")
		s.Clock.Advance(store.RemovedLifetime + time.Hour)
		p.sweep()
		if a := p.ada.Download(id, nil); a.Status != http.StatusOK {
			t.Errorf("the file: got status %d, body %s; want it to be kept", a.Status, a.Raw)
		}
	})
}
