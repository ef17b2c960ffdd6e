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

// A sweep removes what nothing refers to, after a day, and nothing else.
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
		sweep("after a day", 3) // two files that are used, and one that is not of this program
		if a := p.ada.Download(kept, nil); string(a.Raw) != "kept" {
			t.Errorf("the file that was kept: got status %d, body %s", a.Status, a.Raw)
		}
		if n := apptest.Select(t, s.DB, "SELECT hash FROM blobs"); len(n) != 2 {
			t.Errorf("got records of blobs %q, want two", n)
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
