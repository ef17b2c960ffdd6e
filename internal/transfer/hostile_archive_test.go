package transfer_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/file"
)

// entry is an entry of an archive that a test writes.
type entry struct {
	name, content string
	lie           func(*zip.FileHeader) // changes the header; may be nil
	deflate       bool
}

// packEntries returns an archive with any entries.
func packEntries(t *testing.T, all ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, e := range all {
		h := zip.FileHeader{Name: e.name, CRC32: crc32.ChecksumIEEE([]byte(e.content)), UncompressedSize64: uint64(len(e.content))}
		if e.deflate {
			var packed bytes.Buffer
			w, err := flate.NewWriter(&packed, flate.BestCompression)
			if err == nil {
				_, err = w.Write([]byte(e.content))
			}
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			h.Method, e.content = zip.Deflate, packed.String()
		}
		h.CompressedSize64 = uint64(len(e.content))
		if e.lie != nil {
			e.lie(&h)
		}
		w, err := out.CreateRaw(&h)
		if err == nil {
			_, err = w.Write([]byte(e.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// boardWithFile returns the entries of an archive with a board and the attached file "plan"
// whose content is "0123456789".
func boardWithFile(t *testing.T, ada *apptest.Person, workspace string) (document, content entry) {
	t.Helper()
	id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": id, "name": "To do"}).ID()
	card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Venue"}).ID()
	ada.Attach(card, "plan", []byte("0123456789"))
	all := entries(t, pack(t, ada.Service, id))
	name := fmt.Sprintf("files/%x", sha256.Sum256([]byte("0123456789")))
	return entry{name: "cardwall.json", content: all["cardwall.json"]}, entry{name: name, content: all[name]}
}

// A hostile or damaged archive is refused with a message that says what is wrong. Nothing of it
// is imported or stored.
func TestHostileArchivesAreRefused(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	document, content := boardWithFile(t, ada, ada.Workspace("Engines", board.PlanTeam))
	workspace := ada.Workspace("Copies", board.PlanTeam)
	good := packEntries(t, document, content)
	lie := func(e entry, change func(*zip.FileHeader)) entry {
		e.lie = change
		return e
	}
	with := func(e entry, text string) entry {
		e.content = text
		return e
	}
	edited := func(old, new string) entry {
		if strings.Count(document.content, old) != 1 {
			t.Fatalf("the document does not contain %s once: %s", old, document.content)
		}
		return with(document, strings.Replace(document.content, old, new, 1))
	}
	zeros := strings.Repeat("\x00", 20<<20)
	hash := strings.TrimPrefix(content.name, "files/")
	damaged := bytes.Replace(good, []byte("0123456789"), []byte("0123456780"), 1)
	damagedDocument := bytes.Replace(good, []byte("Venue"), []byte("Menue"), 1)
	manyEntries := []entry{document, content}
	for n := range 1100 { // the comments are in the directory, which is read into memory
		manyEntries = append(manyEntries, lie(with(content, ""), func(h *zip.FileHeader) {
			h.Name, h.Comment = fmt.Sprintf("files/%064x", n), zeros[:65_000]
		}))
	}
	for what, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"a path":                  {packEntries(t, document, content, entry{name: "files/../../../etc/passwd"}), "not part of an export"},
		"a path with backslashes": {packEntries(t, document, content, entry{name: `files\x`}), "not part of an export"},
		"an absolute path":        {packEntries(t, document, content, entry{name: "/cardwall.json"}), "not part of an export"},
		"another entry":           {packEntries(t, document, content, entry{name: "notes.txt"}), "not part of an export"},
		"a second document":       {packEntries(t, document, content, document), "cardwall.json twice"},
		"a file twice":            {packEntries(t, document, content, content), hash + " twice"},
		"no document":             {packEntries(t, content), "does not contain cardwall.json"},
		"a missing file":          {packEntries(t, document), `"plan" (files/` + hash + ") is missing"},
		"other content":           {packEntries(t, document, with(content, "9876543210")), "differs from the file that was exported"},
		"longer content":          {packEntries(t, document, with(content, "0123456789!")), "has 11 bytes instead of 10"},
		"a bomb": {packEntries(t, document, entry{name: content.name, content: zeros, deflate: true}),
			"has 20971520 bytes instead of 10"},
		"a bomb that declares another size": {packEntries(t, document, entry{name: content.name, content: zeros, deflate: true,
			lie: func(h *zip.FileHeader) { h.UncompressedSize64 = 10 }}), "incomplete or damaged"},
		"a bomb as the document": {packEntries(t, entry{name: "cardwall.json", content: zeros[:1<<20], deflate: true,
			lie: func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 }}), "larger than"},
		"a bomb as the document that declares another size": {packEntries(t, entry{name: "cardwall.json", content: zeros, deflate: true,
			lie: func(h *zip.FileHeader) { h.UncompressedSize64 = 1 }}), "incomplete or damaged"},
		"a size above what fits": {packEntries(t, document, lie(content, func(h *zip.FileHeader) {
			h.UncompressedSize64, h.CompressedSize64 = 1<<63, 1<<63
		})), "instead of 10"},
		"two sizes of stored content": {packEntries(t, document, lie(content, func(h *zip.FileHeader) { h.CompressedSize64 = 5 })),
			"incomplete or damaged"},
		"an encrypted entry":     {packEntries(t, document, lie(content, func(h *zip.FileHeader) { h.Flags |= 1 })), "encrypted"},
		"an unknown method":      {packEntries(t, document, lie(content, func(h *zip.FileHeader) { h.Method = 99 })), "method 99"},
		"a truncated archive":    {good[:len(good)/2], "incomplete or damaged"},
		"one byte too few":       {good[:len(good)-1], "incomplete or damaged"},
		"a damaged file":         {damaged, "incomplete or damaged"},
		"a damaged document":     {damagedDocument, "incomplete or damaged"},
		"too many entries":       {packEntries(t, manyEntries...), "too many entries"},
		"an incomplete document": {packEntries(t, with(document, document.content[:len(document.content)/2]), content), "cut off"},
		"a hash with a path":     {packEntries(t, edited(hash, "../../../../etc/passwd"), content), "sha256 must be"},
		"a negative size":        {packEntries(t, edited(`"size":10`, `"size":-10`), content), "size must be"},
		"another size in the document": {packEntries(t, edited(`"size":10`, `"size":9`), content),
			"has 10 bytes instead of 9"},
		"a file above the plan's limit": {packEntries(t, edited(`"size":10`, `"size":250000001`), content), `"plan" is larger than 250 MB`},
	} {
		before := blobNames(t, s)
		_, err := importArchive(ada, workspace, c.archive)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", what, err, c.want)
		}
		if got := ada.All("list_boards", "id", apptest.Fields{"workspaceId": workspace}); len(got) > 0 {
			t.Fatalf("%s: a board was imported", what)
		}
		if got := blobNames(t, s); got != before {
			t.Errorf("%s: got the blobs %s, want %s", what, got, before)
		}
	}
	if _, err := importArchive(ada, workspace, packEntries(t, entry{name: "files/"}, document, content)); err != nil {
		t.Errorf("an archive that was packed again: %v", err)
	}
	compressed := entry{name: content.name, content: content.content, deflate: true}
	unused := entry{name: "files/" + strings.Repeat("0", 64), content: "x"}
	if _, err := importArchive(ada, workspace, packEntries(t, unused, compressed, document)); err != nil {
		t.Errorf("a compressed archive with an unused file: %v", err)
	}
}

// blobNames returns the names of all blobs in the storage of a service.
func blobNames(t *testing.T, s *apptest.Service) string {
	t.Helper()
	var names []string
	if err := s.Files.Blobs.List(t.Context(), "", func(i file.Info) error {
		names = append(names, i.Name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// Imported files count toward the organization's storage before any of them is stored.
func TestArchiveNeedsStorage(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{Storage: map[board.Plan]board.Bytes{board.PlanFree: 10_000}}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		id, _ := boardWithFiles(t, ada, ada.Workspace("Engines", board.PlanTeam), 0)
		before := blobNames(t, s)
		_, err := importArchive(ada, ada.Workspace("Small", board.PlanFree), pack(t, s, id))
		if f, ok := board.AsFault(err); !ok || f.Code != board.CodePlanLimit {
			t.Errorf("got error %v, want plan_limit", err)
		}
		if got := blobNames(t, s); got != before {
			t.Errorf("got the blobs %s, want %s", got, before)
		}
	})
}

// An upload of an archive is refused with a message that names the command for it.
func TestUploadedArchiveIsRefused(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	for _, format := range []string{"cardwall", "trello"} {
		status, lines := upload(ada, workspace, format, "application/json", string(packEntries(t, entry{name: "cardwall.json"})))
		if status != http.StatusBadRequest || !strings.Contains(lines[0].Error.Message, "zip archive") {
			t.Errorf("%s: got status %d, body %+v; want a message about the zip archive", format, status, lines)
		}
	}
}
