package attach_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/file"
	"cardwall/internal/sqldb"
)

// place is a card on one of Ada's boards.
type place struct {
	*apptest.Service
	ada             *apptest.Person
	workspace, card string
}

func newPlace(s *apptest.Service, plan board.Plan) *place {
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", plan)
	boardID := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": boardID, "name": "To do"}).ID()
	return &place{s, ada, workspace, ada.Must("create_card", apptest.Fields{"listId": list, "title": "Venue"}).ID()}
}

// both runs a test with a folder on SQLite, and with a bucket on PostgreSQL.
func both(t *testing.T, fn func(t *testing.T, s *apptest.Service)) {
	apptest.Databases(t, func(t *testing.T, database string) {
		var opts apptest.Options
		if sqldb.IsPostgres(database) {
			opts.Files = apptest.StartBucket(t).Address
		}
		fn(t, apptest.New(t, database, opts))
	})
}

// blobs returns the names of all blobs in the storage.
func (p *place) blobs() (names []string) {
	p.T.Helper()
	if err := p.Files.Blobs.List(p.T.Context(), "", func(i file.Info) error {
		names = append(names, i.Name)
		return nil
	}); err != nil {
		p.T.Fatal(err)
	}
	return names
}

// A downloaded file has the content and the name with which it was added. A client can
// request a range of it. A client that already has it gets a response without a body.
func TestFileIsDownloaded(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		content := []byte(strings.Repeat("0123456789", 100_000))
		id := p.ada.Attach(p.card, "Grüße.txt", content).ID()
		if a := p.ada.Call("download_attachment", apptest.Fields{"attachmentId": id}); !bytes.Equal(a.Raw, content) {
			t.Errorf("download_attachment: got status %d and %d bytes, want the file", a.Status, len(a.Raw))
		}
		whole := p.ada.Download(id, nil)
		for name, want := range map[string]string{
			"Content-Type": "text/plain; charset=utf-8", "Content-Length": "1000000", "Accept-Ranges": "bytes",
			"Content-Disposition": `inline; filename="Gr__e.txt"; filename*=utf-8''Gr%C3%BC%C3%9Fe.txt`,
			"Etag":                fmt.Sprintf(`"%x"`, sha256.Sum256(content)), "Cache-Control": "private, no-cache",
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := whole.Header.Get(name); got != want {
				t.Errorf("header %s: got %q, want %q", name, got, want)
			}
		}
		if whole.Status != http.StatusOK || !bytes.Equal(whole.Raw, content) {
			t.Errorf("the file: got status %d and %d bytes, want the %d that were added", whole.Status, len(whole.Raw), len(content))
		}
		part := p.ada.Download(id, http.Header{"Range": {"bytes=10-14"}})
		if part.Status != http.StatusPartialContent || string(part.Raw) != "01234" {
			t.Errorf("a range: got status %d and %q, want 206 and 01234", part.Status, part.Raw)
		}
		if a := p.ada.Download(id, http.Header{"Range": {"bytes=2000000-"}}); a.Status != http.StatusRequestedRangeNotSatisfiable {
			t.Errorf("a range after the end: got status %d, want 416", a.Status)
		}
		again := p.ada.Download(id, http.Header{"If-None-Match": {whole.Header.Get("ETag")}})
		if again.Status != http.StatusNotModified || len(again.Raw) > 0 {
			t.Errorf("an unchanged file: got status %d and %d bytes, want 304", again.Status, len(again.Raw))
		}
		link := p.ada.Must("add_attachment", apptest.Fields{"cardId": p.card, "url": "https://example.com"}).ID()
		p.ada.Refused(board.CodeInvalidRequest, "download_attachment", apptest.Fields{"attachmentId": link})
	})
}

// A browser never runs a script of a file in the origin of the server, whatever the file's
// name and content. HTML, SVG and unknown types are sent as downloads of binary data, and
// every response is sandboxed.
func TestHostileFilesAreOnlyDownloaded(t *testing.T) {
	t.Parallel()
	p := newPlace(apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}), board.PlanTeam)
	const script = "<script>alert(document.domain)</script>"
	gif := "GIF89a/*\x00\x01\x00\x01\x00\x00\x00\x00;*/=1;alert(1)"
	for _, c := range []struct {
		name, content, shown string
		kind                 string // of the response; "" for a download
	}{
		{"page.html", "<!doctype html>" + script, "page.html", ""},
		{"page.png", "<html>" + script, "page.png", ""},
		{"x.svg", `<svg xmlns="http://www.w3.org/2000/svg">` + script + "</svg>", "x.svg", ""},
		{"x.xml", `<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>`, "x.xml", ""},
		{"x.js", "#!/usr/bin/env node\nalert(1)", "x.js", ""},
		{"x.zip", "PK\x03\x04" + script, "x.zip", ""},
		{"x.exe", "MZ" + script, "x.exe", ""},
		{"x", "", "x", "text/plain; charset=utf-8"},
		{"polyglot.gif", gif, "polyglot.gif", "image/gif"},
		{"x.mp4", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + script, "x.mp4", "video/mp4"},
		{"x.pdf", "%PDF-1.7\n" + script, "x.pdf", "application/pdf"},
		{"note.html", "plain words", "note.html", "text/plain; charset=utf-8"},
		{"../../etc/passwd", "root:x", "passwd", "text/plain; charset=utf-8"},
		{`..\..\boot.ini`, "x", "boot.ini", "text/plain; charset=utf-8"},
		{"a\r\nSet-Cookie: x=1.txt", "x", "a%0D%0ASet-Cookie- x=1.txt", "text/plain; charset=utf-8"},
		{"invoice\u202excod.exe", "MZ", "invoicexcod.exe", ""},
		{"..", "x", "File", "text/plain; charset=utf-8"},
		{strings.Repeat("长", 300) + ".txt", "x", strings.Repeat("长", 53), "text/plain; charset=utf-8"},
	} {
		a := p.ada.Download(p.ada.Attach(p.card, c.name, []byte(c.content)).ID(), nil)
		want := c.kind
		if want == "" {
			want = "application/octet-stream"
		}
		policy := "sandbox; default-src 'none'"
		if c.kind == "video/mp4" {
			policy = "sandbox allow-same-origin; default-src 'none'; media-src 'self'"
		}
		disposition, inline := a.Header.Get("Content-Disposition"), c.kind != ""
		if got := a.Header.Get("Content-Type"); got != want || strings.HasPrefix(disposition, "inline") != inline ||
			a.Header.Get("Content-Security-Policy") != policy || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%q: got type %s, disposition %s; want type %s, inline %t, in a sandbox", c.name, got, disposition, want, inline)
		}
		_, params, err := mime.ParseMediaType(disposition)
		if err != nil || params["filename"] != c.shown || strings.ContainsAny(disposition, "\r\n") {
			t.Errorf("%q: got disposition %s, want the name %q", c.name, disposition, c.shown)
		}
		if string(a.Raw) != c.content {
			t.Errorf("%q: got content %q, want %q", c.name, a.Raw, c.content)
		}
	}
}

// A refused or incomplete file leaves nothing in the storage.
func TestRefusedFilesAreNotStored(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanFree)
		bob := s.Person("Bob").Joins(p.workspace, board.WorkspaceGuest)
		const limit = 25_000_000
		for what, a := range map[string]apptest.Response{
			"a file above the plan's limit": p.ada.TryAttach(p.card, "large", make([]byte, limit+1), nil),
			"without the write scope":       p.ada.With(board.ScopeRead).TryAttach(p.card, "x", []byte("x"), nil),
			"without access":                bob.TryAttach(p.card, "x", []byte("x"), nil),
			"a form with another boundary": p.ada.TryAttach(p.card, "x", []byte("x"), http.Header{
				"Content-Type": {"multipart/form-data; boundary=other"}}),
			"a form without a boundary": p.ada.TryAttach(p.card, "x", []byte("x"), http.Header{"Content-Type": {"multipart/form-data"}}),
			"another content type":      p.ada.TryAttach(p.card, "x", []byte("x"), http.Header{"Content-Type": {"text/plain"}}),
		} {
			if a.Status < 400 || a.Status >= 500 || a.Message == "" {
				t.Errorf("%s: got status %d, body %s; want a refusal", what, a.Status, a.Raw)
			}
		}
		if got := p.blobs(); len(got) > 0 {
			t.Errorf("got blobs %q, want none", got)
		}
		if a := p.ada.Attach(p.card, "as large as allowed", make([]byte, limit)); a.Get("size") != float64(limit) {
			t.Errorf("a file of the maximum size: got %s, want it to be added", a.Raw)
		}
	})
}

// A retry with the same idempotency key and the same file adds it once. Equal files of an
// organization share a blob.
func TestFileIsAddedOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		key := http.Header{"Idempotency-Key": {"photo"}}
		first, second := p.ada.TryAttach(p.card, "a", []byte("a"), key), p.ada.TryAttach(p.card, "a", []byte("a"), key)
		if first.Status != http.StatusCreated || second.ID() != first.ID() || second.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("a retry: got %s, want the first response %s", second.Raw, first.Raw)
		}
		for what, a := range map[string]apptest.Response{
			"another file": p.ada.TryAttach(p.card, "a", []byte("b"), key), "another name": p.ada.TryAttach(p.card, "b", []byte("a"), key),
		} {
			if a.Code != board.CodeInvalidRequest {
				t.Errorf("%s with the same key: got %s, want invalid_request", what, a.Raw)
			}
		}
		p.ada.Attach(p.card, "a again", []byte("a"))
		if got := p.blobs(); len(got) != 1 {
			t.Errorf("got blobs %q, want one, because the content is the same", got)
		}
	})
}

// Two people who remove the same file at the same time: one removes it, and the other gets
// not_found.
func TestFileIsRemovedOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		bob := s.Person("Bob").Joins(p.workspace, board.WorkspaceMember)
		for range 5 {
			in := apptest.Fields{"attachmentId": p.ada.Attach(p.card, "a", []byte("a")).ID()}
			statuses := make([]int, 2)
			var both sync.WaitGroup
			for i, person := range []*apptest.Person{p.ada, bob} {
				both.Go(func() { statuses[i] = person.Call("delete_attachment", in).Status })
			}
			both.Wait()
			if statuses[0]+statuses[1] != http.StatusOK+http.StatusNotFound {
				t.Errorf("got statuses %v, want 200 and 404", statuses)
			}
		}
		if got := p.ada.Must("get_card", apptest.Fields{"cardId": p.card}).Get("attachments"); got != 0.0 {
			t.Errorf("the card has %v attachments, want 0", got)
		}
	})
}

// faulty is a storage whose methods return the given errors.
type faulty struct {
	file.Blobs
	put, open, move error
}

func (f *faulty) Put(ctx context.Context, name string, r io.Reader) (int64, error) {
	if f.put != nil {
		return 0, f.put
	}
	return f.Blobs.Put(ctx, name, r)
}

func (f *faulty) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	if f.open != nil {
		return nil, f.open
	}
	return f.Blobs.Open(ctx, name)
}

func (f *faulty) Move(ctx context.Context, from, to string) error {
	if f.move != nil {
		return f.move
	}
	return f.Blobs.Move(ctx, from, to)
}

// If the storage fails, a request is refused as unavailable, and a retry succeeds.
func TestFaultsOfTheStorageAreReported(t *testing.T) {
	t.Parallel()
	p := newPlace(apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}), board.PlanTeam)
	id := p.ada.Attach(p.card, "before", []byte("before")).ID()
	storage := &faulty{Blobs: p.Files.Blobs}
	p.Files.Blobs = storage
	key := http.Header{"Idempotency-Key": {"once"}}
	for _, fault := range []faulty{
		{put: file.ErrFull}, {put: file.ErrUnavailable}, {move: file.ErrUnavailable}, {open: file.ErrUnavailable},
	} {
		storage.put, storage.move, storage.open = fault.put, fault.move, fault.open
		a := p.ada.TryAttach(p.card, "x", []byte("x"), key)
		if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
			t.Errorf("attach with the faults %+v: got status %d, body %s; want 503", fault, a.Status, a.Raw)
		}
		if d := p.ada.Download(id, nil); fault.open != nil && d.Status != http.StatusServiceUnavailable {
			t.Errorf("download with the faults %+v: got status %d, body %s; want 503", fault, d.Status, d.Raw)
		}
	}
	storage.put, storage.move, storage.open = nil, nil, nil
	if a := p.ada.TryAttach(p.card, "x", []byte("x"), key); a.Status != http.StatusCreated {
		t.Errorf("a retry after the faults: got status %d, body %s; want 201", a.Status, a.Raw)
	}
	if got := p.blobs(); len(got) != 2 {
		t.Errorf("got blobs %q, want two", got)
	}
}

// A person who can no longer see a card can no longer download its files.
func TestFilesAreAsVisibleAsTheirCard(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		bob := s.Person("Bob").Joins(p.workspace, board.WorkspaceMember)
		id := p.ada.Attach(p.card, "a", []byte("a")).ID()
		if a := bob.Download(id, nil); a.Status != http.StatusOK {
			t.Errorf("a member: got status %d, want 200", a.Status)
		}
		p.ada.Must("remove_member", apptest.Fields{"workspaceId": p.workspace, "userId": bob.ID})
		if a := bob.Download(id, http.Header{"If-None-Match": {"*"}}); a.Status != http.StatusNotFound {
			t.Errorf("a former member: got status %d, want 404", a.Status)
		}
		nobody := *bob
		nobody.Token = "cwl_" + strings.Repeat("0", 40)
		if a := nobody.Download(id, nil); a.Status != http.StatusUnauthorized {
			t.Errorf("without a token: got status %d, want 401", a.Status)
		}
	})
}
