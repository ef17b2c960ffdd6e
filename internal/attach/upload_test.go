package attach_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/rest"
)

// partSize is the maximum size of a part that the server stores, in bytes.
const partSize = 8 << 20

// randomBytes returns n bytes that depend only on the seed.
func randomBytes(seed uint64, n int) []byte {
	content := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(content) // never fails
	return content
}

// upload announces a file and returns the path of the upload.
func (p *place) upload(size int) (path string) {
	p.T.Helper()
	a := p.ada.Must("create_upload", apptest.Fields{"cardId": p.card, "fileName": "Tour.mp4", "size": size})
	return "/uploads/" + a.ID()
}

// send sends a part of a file with a body of unknown length.
func (p *place) send(path string, offset int, body io.Reader) apptest.Response {
	p.T.Helper()
	r := httptest.NewRequest(http.MethodPatch, rest.Prefix+path, body)
	r.Header.Set("Content-Type", op.PartMedia)
	r.Header.Set("Upload-Offset", strconv.Itoa(offset))
	return p.ada.Do(r)
}

// offset asks for the offset of an upload, as a tus client does.
func (p *place) offset(path string) int {
	p.T.Helper()
	a := p.ada.Send(http.MethodHead, path, "")
	n, err := strconv.Atoi(a.Header.Get("Upload-Offset"))
	if a.Status != http.StatusOK || err != nil || a.Header.Get("Cache-Control") != "no-store" {
		p.T.Fatalf("HEAD %s: got status %d, headers %v; want an offset that is not stored", path, a.Status, a.Header)
	}
	return n
}

// attached returns the content of the file of a complete upload.
func (p *place) attached(path string) []byte {
	p.T.Helper()
	id := p.ada.Must("get_upload", apptest.Fields{"uploadId": strings.TrimPrefix(path, "/uploads/")}).Text("attachmentId")
	return p.ada.Download(id, nil).Raw
}

// An upload whose connection is lost again and again continues with each byte that arrived.
// Afterwards, the storage contains only the file.
func TestUploadContinuesAfterLostConnections(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		content := randomBytes(1, 2*partSize+700_000)
		path := p.upload(len(content))
		at := 0
		for _, arrive := range []int{1, 3_000_000, 0, partSize, partSize + 5} {
			lost := io.MultiReader(bytes.NewReader(content[at:at+arrive]), iotest.ErrReader(errors.New("connection reset")))
			if a := p.send(path, at, lost); a.Status != http.StatusBadRequest || !strings.Contains(a.Message, "not received completely") {
				t.Errorf("a lost connection after %d bytes: got status %d, body %s; want 400", arrive, a.Status, a.Raw)
			}
			if at += arrive; p.offset(path) != at {
				t.Fatalf("the offset after %d more bytes: got %d, want %d", arrive, p.offset(path), at)
			}
			if at > len(content)-partSize {
				break
			}
		}
		if a := p.send(path, at, bytes.NewReader(content[at:])); a.Status != http.StatusNoContent {
			t.Fatalf("the rest: got status %d, body %s; want 204", a.Status, a.Raw)
		}
		if got := p.attached(path); p.offset(path) != len(content) || !bytes.Equal(got, content) {
			t.Errorf("the attached file: got %d bytes, want the %d that were sent", len(got), len(content))
		}
		if blobs := p.blobs(); len(blobs) != 1 {
			t.Errorf("the storage contains %q, want only the file", blobs)
		}
	})
}

// Of several requests that send the same part, one succeeds.
func TestPartIsStoredOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		content := randomBytes(2, 300_000)
		path := p.upload(len(content))
		for _, end := range []int{100_000, len(content)} {
			at := p.offset(path)
			statuses := make([]int, 3)
			var wg sync.WaitGroup
			for n := range statuses {
				wg.Go(func() { statuses[n] = p.send(path, at, bytes.NewReader(content[at:end])).Status })
			}
			wg.Wait()
			slices.Sort(statuses)
			if !slices.Equal(statuses, []int{http.StatusNoContent, http.StatusConflict, http.StatusConflict}) {
				t.Errorf("three requests with the same part: got the statuses %v, want 204 once and 409 twice", statuses)
			}
		}
		if got := p.attached(path); !bytes.Equal(got, content) {
			t.Errorf("the attached file: got %d bytes, want the %d that were sent", len(got), len(content))
		}
		if got := p.ada.All("list_attachments", "name", apptest.Fields{"cardId": p.card}); !slices.Equal(got, []string{"Tour.mp4"}) {
			t.Errorf("the attachments: got %q, want the file once", got)
		}
	})
}

// The part of a person who loses access while it arrives is not stored.
func TestUploadEndsWithAccess(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		path := p.upload(100)
		for _, part := range []string{strings.Repeat("x", 50), strings.Repeat("x", 100)} { // one that completes the file, too
			boardID := p.ada.Must("get_card", apptest.Fields{"cardId": p.card}).Text("boardId")
			archives := &onRead{Reader: strings.NewReader(part), do: func() {
				p.ada.Must("archive_board", apptest.Fields{"boardId": boardID})
			}}
			if a := p.send(path, 0, archives); a.Code != board.CodeBoardArchived {
				t.Errorf("a part that arrives after the board was archived: got status %d, body %s; want board_archived", a.Status, a.Raw)
			}
			p.ada.Must("restore_board", apptest.Fields{"boardId": boardID})
			if got := p.offset(path); got != 0 {
				t.Errorf("the offset: got %d, want 0", got)
			}
		}
		for _, name := range p.blobs() {
			if strings.HasPrefix(name, "uploads/") {
				t.Errorf("the storage still contains %s", name)
			}
		}
	})
}

// onRead calls do before the first read.
type onRead struct {
	io.Reader
	do func()
}

func (o *onRead) Read(p []byte) (int, error) {
	if o.do != nil {
		o.do()
		o.do = nil
	}
	return o.Reader.Read(p)
}

// An upload whose parts are gone, such as after a backup was restored, ends with an error
// after which the client starts again.
func TestUploadEndsWhenPartsAreGone(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		path := p.upload(10)
		p.send(path, 0, strings.NewReader("01234"))
		for _, name := range p.blobs() {
			if err := p.Files.Blobs.Remove(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		if a := p.send(path, 5, strings.NewReader("56789")); a.Code != board.CodeNotFound {
			t.Errorf("the last part: got status %d, body %s; want not_found", a.Status, a.Raw)
		}
		p.ada.Refused(board.CodeNotFound, "get_upload", apptest.Fields{"uploadId": strings.TrimPrefix(path, "/uploads/")})
	})
}
