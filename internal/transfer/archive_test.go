package transfer_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/archive"
	"cardwall/internal/board"
	"cardwall/internal/file"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
	"cardwall/internal/transfer"
)

// pack returns the archive of a board.
func pack(t *testing.T, s *apptest.Service, boardID string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := archive.Write(t.Context(), &b, s.Files.Blobs, func(w io.Writer, file func(board.Attachment)) error {
		return s.DB.Stream(t.Context(), board.System(), func(v *store.View) error {
			return transfer.Exporter{File: file}.Board(t.Context(), v, boardID, w)
		})
	}); err != nil {
		t.Fatalf("export with files: %v", err)
	}
	return b.Bytes()
}

// importArchive imports an archive as a person.
func importArchive(p *apptest.Person, workspaceID string, packed []byte) (transfer.Report, error) {
	return importSlowly(p, workspaceID, packed, func() {})
}

// importSlowly imports an archive as a person. It calls before before it stores each file.
func importSlowly(p *apptest.Person, workspaceID string, packed []byte, before func()) (transfer.Report, error) {
	a, err := archive.Open(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return transfer.Report{}, err
	}
	caller := board.Person(p.ID)
	imports := transfer.Importer{DB: p.DB, Jobs: p.Jobs, Holder: "test:upload"}
	return imports.ImportFile(p.T.Context(), transfer.File{Format: "cardwall", WorkspaceID: workspaceID, Caller: caller,
		Open: a.Document, Contents: slowContents{archive.Contents{Archive: a, Files: p.Files, Caller: caller}, before}})
}

type slowContents struct {
	archive.Contents
	before func()
}

func (c slowContents) Store(ctx context.Context, blob board.Blob, size int64) (*board.StoredFile, error) {
	c.before()
	return c.Contents.Store(ctx, blob, size)
}

// entries returns the entries of an archive by name.
func entries(t *testing.T, packed []byte) map[string]string {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if f.Method != zip.Store {
			t.Errorf("%s is compressed, want it to be stored", f.Name)
		}
		out[f.Name] = string(content)
	}
	return out
}

// picture returns a PNG of 40 by 20 pixels.
func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 20))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// boardWithFiles creates a board with a cover, other files, a link, and the given number of
// other cards. It returns the board, and the contents of its files.
func boardWithFiles(t *testing.T, ada *apptest.Person, workspace string, cards int) (boardID string, contents []string) {
	t.Helper()
	boardID = ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": boardID, "name": "To do"}).ID()
	for range cards / 100 {
		var titles []apptest.Fields
		for n := range 100 {
			titles = append(titles, apptest.Fields{"listId": list, "title": fmt.Sprint("Card ", n)})
		}
		ada.Must("create_cards", apptest.Fields{"boardId": boardID, "cards": titles})
	}
	venue := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Venue"}).ID()
	other := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Other"}).ID()
	contents = []string{"Guten Tag", string(picture(t)), "", strings.Repeat("0123456789", 300_000)}
	ada.Attach(venue, "Grüße 长城 – план.txt", []byte(contents[0]))
	cover := ada.Attach(venue, "Cover.png", []byte(contents[1])).ID()
	ada.Must("update_attachment", apptest.Fields{"attachmentId": cover, "cover": true})
	ada.Must("add_attachment", apptest.Fields{"cardId": venue, "url": "https://example.com/brief", "name": "Brief"})
	ada.Attach(other, "the same", []byte(contents[0]))
	ada.Attach(other, "empty", []byte(contents[2]))
	ada.Attach(other, "large.bin", []byte(contents[3]))
	removed := ada.Attach(other, "removed", []byte("removed")).ID()
	ada.Must("delete_attachment", apptest.Fields{"attachmentId": removed})
	return boardID, contents
}

// An archive can be imported on a server with the other database and the other storage for
// files, and on its own. The export of the import has the same document and the same files.
// A board that is imported by a job has them, too.
func TestArchiveRoundTrip(t *testing.T) {
	t.Parallel()
	type side struct{ ada, bob *apptest.Person }
	sides := map[string]side{}
	for _, database := range []string{t.TempDir() + "/cardwall.db", apptest.PostgresURL(t)} {
		var opts apptest.Options
		if sqldb.IsPostgres(database) {
			opts.Files = apptest.StartBucket(t).Address
		}
		s := apptest.New(t, database, opts)
		sides[string(s.DB.Dialect())] = side{s.Person("Ada"), s.Person("Bob")}
	}
	for _, cards := range []int{0, 400} {
		for from, in := range sides {
			ada := in.ada
			id, contents := boardWithFiles(t, ada, ada.Workspace("Engines", board.PlanTeam), cards)
			packed := pack(t, ada.Service, id)
			first := entries(t, packed)
			mustEqual(t, "the document and an export without files", []byte(first["cardwall.json"]), export(t, ada.Service, board.System(), id))
			want := []string{"cardwall.json"}
			for _, c := range contents {
				want = append(want, fmt.Sprintf("files/%x", sha256.Sum256([]byte(c))))
			}
			if got := slices.Sorted(maps.Keys(first)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Fatalf("got the entries %q, want %q", got, want)
			}
			for to, in := range sides {
				what, bob := fmt.Sprintf("%d cards from %s to %s", cards, from, to), in.bob
				r, err := importArchive(bob, bob.Workspace("Copies", board.PlanTeam), packed)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				for _, n := range r.Notes {
					if !strings.HasPrefix(n.What, "People who are not") {
						t.Errorf("%s: got the note %+v, want none", what, n)
					}
				}
				if r.Files != len(contents) {
					t.Errorf("%s: got %d files in the report, want %d", what, r.Files, len(contents))
				}
				imported := r.Boards[0].ID
				second := entries(t, pack(t, bob.Service, imported))
				mustEqual(t, what, []byte(first["cardwall.json"]), []byte(second["cardwall.json"]))
				for name, content := range first {
					if name != "cardwall.json" && second[name] != content {
						t.Errorf("%s: %s has other content after the import", what, name)
					}
				}
				if len(second) != len(first) {
					t.Errorf("%s: got %d entries, want %d", what, len(second), len(first))
				}
				checkFiles(t, bob, imported, contents, what)
			}
		}
	}
}

// checkFiles checks that the pages of an imported board show its cover and its files.
func checkFiles(t *testing.T, bob *apptest.Person, boardID string, contents []string, what string) {
	t.Helper()
	for _, c := range []struct {
		title string
		names map[string]string // contents by name
	}{
		{"Venue", map[string]string{"Grüße 长城 – план.txt": contents[0], "Cover.png": contents[1]}},
		{"Other", map[string]string{"the same": contents[0], "empty": contents[2], "large.bin": contents[3]}},
	} {
		id := bob.All("search_cards", "id", apptest.Fields{"q": "title:" + c.title + " board:" + boardID})[0]
		card := bob.Must("get_card", apptest.Fields{"cardId": id})
		all := bob.Must("list_attachments", apptest.Fields{"cardId": id})
		for n := range int(card.Get("attachments").(float64)) {
			at := fmt.Sprint(n, ".")
			name, attachment := all.Text(at+"name"), all.Text(at+"id")
			if name == "Brief" {
				continue
			}
			if a := bob.Download(attachment, nil); a.Status != http.StatusOK || string(a.Raw) != c.names[name] {
				t.Errorf("%s: %q: got status %d and %d bytes, want its content", what, name, a.Status, len(a.Raw))
			}
			delete(c.names, name)
			if name == "Cover.png" && (card.Get("cover.attachmentId") != attachment || card.Get("cover.width") != 40.0 ||
				card.Get("cover.height") != 20.0 || all.Text(at+"mediaType") != "image/png") {
				t.Errorf("%s: the card with the cover %s is %s", what, all.Raw, card.Raw)
			}
		}
		if len(c.names) > 0 {
			t.Errorf("%s: the card %s has no attachments with the contents %q", what, c.title, c.names)
		}
	}
}

// A sweep during an import that takes days keeps the files that were already stored.
func TestSlowImportKeepsItsFiles(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		id, contents := boardWithFiles(t, ada, ada.Workspace("Engines", board.PlanTeam), 0)
		packed := pack(t, s, id)
		r, err := importSlowly(ada, ada.Workspace("Copies", board.PlanTeam), packed, func() {
			s.Clock.Advance(store.RemovedLifetime / 2)
			if _, err := s.Files.Sweep(t.Context(), func() (bool, error) { return true, nil }); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := entries(t, pack(t, s, r.Boards[0].ID)); len(got) != 1+len(contents) {
			t.Errorf("got %d entries, want a document and %d files", len(got), len(contents))
		}
	})
}

// If the storage fails while files are stored, nothing is imported.
func TestFailedImportOfFiles(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	id, _ := boardWithFiles(t, ada, ada.Workspace("Engines", board.PlanTeam), 0)
	packed, workspace := pack(t, s, id), ada.Workspace("Copies", board.PlanTeam)
	blobs, calls := s.Files.Blobs, 0
	_, err := importSlowly(ada, workspace, packed, func() {
		if calls++; calls == 3 {
			s.Files.Blobs = full{blobs}
		}
	})
	if !errors.Is(err, file.ErrFull) || !board.IsCode(err, board.CodeUnavailable) {
		t.Errorf("got error %v, want that the storage is full", err)
	}
	if got := ada.All("list_boards", "id", apptest.Fields{"workspaceId": workspace}); calls != 3 || len(got) > 0 {
		t.Errorf("after %d files, got the boards %q, want none", calls, got)
	}
	s.Files.Blobs = blobs
	if _, err := importArchive(ada, workspace, packed); err != nil {
		t.Errorf("a second attempt: %v", err)
	}
}

// full is a storage that has no room.
type full struct{ file.Blobs }

func (full) Put(context.Context, string, io.Reader) (int64, error) { return 0, file.ErrFull }
