package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/fetch"
	"cardwall/internal/hook"
	"cardwall/internal/transfer"
)

// fileServer serves files in the ways in which servers serve them, and fail to.
type fileServer struct {
	*httptest.Server
	fails    atomic.Int64 // requests for /unstable that still fail
	requests atomic.Int64
}

func newFileServer(t *testing.T) *fileServer {
	t.Helper()
	s := &fileServer{}
	png := picture(t)
	mux := http.NewServeMux()
	send := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	mux.Handle("/picture.png", send(png))
	mux.Handle("/moved", redirect("/picture.png#top"))
	mux.Handle("/private", status(http.StatusUnauthorized))
	mux.Handle("/login", send([]byte("<!doctype html><title>Sign in</title>")))
	mux.Handle("/outside", redirect("http://127.0.0.2:9/secret"))
	mux.Handle("/credentials", redirect("http://169.254.169.254/latest"))
	mux.Handle("/plain", redirect("http://files.example.com:443/")) // the guard allows it only with https
	mux.Handle("/loop", redirect("/loop"))
	mux.HandleFunc("/encoded", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(png)
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 1<<20); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/declared", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(int64(1)<<40))
		_, _ = w.Write(png)
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(png)
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(png)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/unstable", func(w http.ResponseWriter, _ *http.Request) {
		if s.fails.Add(-1) >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("a plan"))
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// document returns a Trello export of a card whose cover is the first attachment. Each attachment
// is a file whose name is its path.
func (s *fileServer) document(paths ...string) string {
	var files []string
	for n, path := range paths {
		files = append(files, fmt.Sprintf(`{"id": "t%d", "name": "%s", "url": "%s/%[2]s", "isUpload": true}`, n, path, s.URL))
	}
	return `{"id": "b", "name": "Launch", "lists": [{"id": "l", "name": "To do"}], "cards": [{"id": "c", "idList": "l", "name": "Venue",
		"cover": {"idAttachment": "t0"}, "attachments": [` + strings.Join(files, ",") + `,
		{"id": "link", "name": "Site", "url": "` + s.URL + `/picture.png", "isUpload": false}]}]}`
}

// download imports a Trello export with its files.
func download(p *apptest.Person, workspace, document string, o hook.GuardOptions) (transfer.Report, error) {
	p.T.Helper()
	guard, err := hook.NewGuard(o)
	if err != nil {
		p.T.Fatal(err)
	}
	caller := board.Person(p.ID)
	fetcher := fetch.New(fetch.Options{Guard: guard, Files: p.Files, Caller: caller, Log: slog.New(slog.DiscardHandler),
		Idle: 2 * time.Second, Pause: time.Millisecond})
	defer fetcher.Close()
	imports := transfer.Importer{DB: p.DB, Jobs: p.Jobs, Holder: "test:upload"}
	return imports.ImportFile(p.T.Context(), transfer.File{Format: "trello", WorkspaceID: workspace, Caller: caller,
		Open: func() io.Reader { return strings.NewReader(document) }, Downloads: fetcher})
}

// here allows servers on this machine.
var here = hook.GuardOptions{Allow: []string{"127.0.0.1"}}

// attachmentsOf returns the attachments of the only card of an imported board, and the card.
func attachmentsOf(p *apptest.Person, r transfer.Report) (attachments, card apptest.Response) {
	p.T.Helper()
	card = p.Must("list_cards", apptest.Fields{"boardId": r.Boards[0].ID})
	return p.Must("list_attachments", apptest.Fields{"cardId": card.Text("0.id")}), card
}

// The files that anyone can download are attached. The others stay links, and the report says why.
func TestFilesOfTrelloAreDownloaded(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanFree)
		server := newFileServer(t)
		paths := []string{"picture.png", "moved", "unstable", "private", "login", "missing", "outside", "credentials", "loop", "encoded",
			"endless", "declared", "cut", "slow"}
		var first string
		for range 2 {
			server.fails.Store(2)
			r, err := download(ada, workspace, server.document(paths...), here)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.NewReplacer(r.Boards[0].ID, "brd_…", server.URL, "…").Replace(r.String())
			golden(t, "download.report", got)
			attachments, card := attachmentsOf(ada, r)
			kinds := attachments.Each("kind")
			if want := append(slices.Repeat([]string{"file"}, 3), slices.Repeat([]string{"link"}, len(paths)-2)...); !slices.Equal(kinds, want) {
				t.Errorf("got the kinds %q, want %q", kinds, want)
			}
			if got := attachments.Each("name"); !slices.Equal(got, append(slices.Clone(paths), "Site")) {
				t.Errorf("got the names %q, want %q and Site", got, paths)
			}
			for path, want := range map[string]any{"0.mediaType": "image/png", "0.width": 40.0, "0.height": 20.0, "0.cover": true,
				"1.cover": false, "0.url": nil, "2.mediaType": "text/plain", "2.size": 6.0, "3.url": server.URL + "/private"} {
				if got := attachments.Get(path); got != want {
					t.Errorf("attachments: got %s %v, want %v", path, got, want)
				}
			}
			if got := card.Text("0.cover.attachmentId"); got != attachments.Text("0.id") {
				t.Errorf("got the cover %q, want the first attachment", got)
			}
			if content := ada.Download(attachments.Text("0.id"), nil).Raw; !bytes.Equal(content, picture(t)) {
				t.Errorf("got a file of %d bytes, want the picture", len(content))
			}
			shown := strings.Join(append(kinds, r.String()[strings.Index(r.String(), "."):]), " ")
			if first == "" {
				first = shown
			}
			if shown != first {
				t.Errorf("the second import got %q, want %q", shown, first)
			}
		}
	})
}

// Without an exception, the guard refuses to connect to this machine.
func TestGuardOfDownloads(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "test.db"), apptest.Options{})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanFree)
	server := newFileServer(t)
	r, err := download(ada, workspace, server.document("picture.png"), hook.GuardOptions{})
	if err != nil {
		t.Fatal(err)
	}
	attachments, _ := attachmentsOf(ada, r)
	if got := attachments.Each("kind"); !slices.Equal(got, []string{"link", "link"}) || !strings.Contains(r.String(),
		"Attached files that were not downloaded (the address is not allowed), now links: 1 (\"picture.png\")") {
		t.Errorf("got the attachments %s and the report %s, want two links and the reason", attachments.Raw, r.String())
	}
	if n := server.requests.Load(); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
	if !strings.Contains(r.String(), "Covers: 1") {
		t.Errorf("got the report %s, want that it counts a cover", r.String())
	}
}

// The guard resolves the names of servers, and is asked before a redirect is followed.
func TestGuardResolvesNamesOfDownloads(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "test.db"), apptest.Options{})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanFree)
	server := newFileServer(t)
	var lookups atomic.Int64
	o := here
	o.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		lookups.Add(1)
		return nil, errors.New("unplugged")
	}}
	for _, c := range []struct {
		document, want string
		lookups        bool
	}{
		{server.document("plain"), "(the address is not allowed), now links: 1", false},
		{strings.ReplaceAll(server.document("named"), server.URL, "https://files.example.com"), "(the connection failed), now links: 1", true},
	} {
		lookups.Store(0)
		r, err := download(ada, workspace, c.document, o)
		if err != nil || !strings.Contains(r.String(), c.want) || lookups.Load() > 0 != c.lookups {
			t.Errorf("got the report %s (%v) and %d lookups, want %q", r.String(), err, lookups.Load(), c.want)
		}
	}
}

// Files for which the organization has no storage stay links. A file that the export states to be
// too large is not requested. Nothing is downloaded if the document is refused.
func TestStorageOfDownloads(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "test.db"), apptest.Options{Storage: map[board.Plan]board.Bytes{board.PlanFree: 20_000}})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanFree)
	server := newFileServer(t)
	document := server.document("picture.png", "private", "unstable")
	document = strings.Replace(document, `"name": "private"`, `"name": "private", "bytes": 100000000`, 1)
	document = strings.Replace(document, `"name": "unstable"`, `"name": "unstable", "bytes": 20000`, 1)
	r, err := download(ada, workspace, document, here)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(larger than 25 MB), now links: 1", "(no storage is left), now links: 1", "Imported attached files: 1"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("got the report %s, want that it contains %q", r.String(), want)
		}
	}
	if n := server.requests.Load(); n != 1 {
		t.Errorf("got %d requests, want 1", n)
	}
	if _, err := download(ada, workspace, strings.Replace(document, `"cards": [`, `"cards": [7,`, 1), here); err == nil {
		t.Error("an invalid document was imported")
	}
	if n := server.requests.Load(); n != 1 {
		t.Errorf("after an invalid document, got %d requests, want 1", n)
	}
}
